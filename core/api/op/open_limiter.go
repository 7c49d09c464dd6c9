package op

import (
	"context"
	"sync"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// How many answers that last one user may have open at a time in one instance,
// with sessions and keys together. Each costs memory and looks at the database
// for as long as it is open, and a download may hold a connection to it.
const (
	// How many long responses a user may have open at a time in one instance,
	// with all sessions and keys together. Each one uses memory and checks the
	// database as long as it is open, and a download may hold a connection to
	// it.
	maxStreams   = 64
	maxDownloads = 2
	maxSockets   = 16
	maxUploads   = 2
	// maxSocketsTotal is the limit for all users together. Each socket holds
	// two connections with their buffers.
	maxSocketsTotal = 512
)

// openLimiter counts open responses by user.
type openLimiter struct {
	most int
	// together is the limit for all users; 0 for none.
	together int

	mu   sync.Mutex
	open map[int64]int
	all  int
}

// newOpenLimiter returns a limiter of answers that are open at the same time, for
// each user.
func newOpenLimiter(most int) *openLimiter { return &openLimiter{most: most, open: map[int64]int{}} }

// enter counts one more response of the caller until leave is called, or
// returns the problem rate_limited. Unknown callers are not counted, because
// public operations have their own limits.
func (r *openLimiter) enter(ctx context.Context) (leave func(), err error) {
	caller := identity.FromContext(ctx)
	if caller == nil {
		return func() {}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[caller.UserID] >= r.most {
		busy := problem.New(problem.CodeRateLimited, "you already have %d open responses of this kind; close one first", r.most)
		busy.RetryAfter = 5
		return nil, busy
	}
	if r.together > 0 && r.all >= r.together {
		busy := problem.New(problem.CodeRateLimited, "all users together already have %d open responses of this kind", r.together)
		busy.RetryAfter = 5
		return nil, busy
	}
	r.open[caller.UserID]++
	r.all++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all--
		if r.open[caller.UserID]--; r.open[caller.UserID] == 0 {
			delete(r.open, caller.UserID)
		}
	}, nil
}
