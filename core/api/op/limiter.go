package op

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Limits of requests without a caller, by address.
const (
	// defaultPublicRequests and defaultPublicRate let an office behind one
	// address log in, and stop a flood at once.
	defaultPublicRequests = 200
	defaultPublicRate     = 5
	// maxAddresses is how many addresses are counted at a time. Beyond that,
	// each new address replaces another one, so that a flood from very many
	// addresses locks nobody out.
	maxAddresses = 10000
)

// limiter bounds the requests of each address: a burst, and then a constant
// rate. It stores one time per address, at which the requests so far are paid
// for (the generic cell rate algorithm, ITU-T I.371).
type limiter struct {
	// gap is the time that one request costs, and burst how far an address may
	// be ahead of now.
	gap   time.Duration // that one request pays for
	burst time.Duration // how far ahead of now an address may be
	most  int
	now   func() time.Time

	mu    sync.Mutex
	paid  map[string]time.Time
	swept time.Time
}

// newLimiter returns a token bucket per address with a burst of that many
// requests.
func newLimiter(requests int, perSecond float64) *limiter {
	gap := time.Duration(float64(time.Second) / perSecond)
	return &limiter{gap: gap, burst: time.Duration(requests) * gap, most: maxAddresses, now: time.Now, paid: map[string]time.Time{}}
}

// admit counts a request of an address and returns 0, or returns how long the
// request must wait. A request that must wait is not counted.
func (l *limiter) admit(address string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	paid, known := l.paid[address]
	if paid.Before(now) {
		paid = now
	}
	paid = paid.Add(l.gap)
	if wait := paid.Sub(now) - l.burst; wait > 0 {
		return wait
	}
	if !known && len(l.paid) >= l.most {
		l.makeRoom(now)
	}
	l.paid[address] = paid
	return 0
}

// makeRoom removes the addresses that are paid for, at most once a second, and
// otherwise an arbitrary one.
func (l *limiter) makeRoom(now time.Time) {
	if now.Sub(l.swept) >= time.Second {
		l.swept = now
		for address, paid := range l.paid {
			if !paid.After(now) {
				delete(l.paid, address)
			}
		}
	}
	for address := range l.paid {
		if len(l.paid) < l.most {
			return
		}
		delete(l.paid, address)
	}
}

// limitPublic refuses a request to a public operation if its address has sent
// too many, before the body is read. A caller with a session, a key, or a
// browser that has logged in before is not affected by others at the same
// address.
func (a *API) limitPublic(ctx context.Context, q *request, r *http.Request) error {
	if !q.operation.Spec.Public {
		return nil
	}
	wait := a.public.admit(identity.Network(remoteAddress(r)))
	if wait <= 0 {
		return nil
	}
	if _, err := a.authenticate(ctx, r); err == nil {
		return nil
	}
	if a.config.Browser != nil {
		switch browser, err := a.config.Browser(ctx, r); {
		case err != nil:
			return err
		case browser != "":
			if wait = a.public.admit(browser); wait <= 0 {
				return nil
			}
		}
	}
	limited := problem.New(problem.CodeRateLimited, "too many requests from this address; wait before the next one")
	limited.RetryAfter = int(math.Ceil(wait.Seconds()))
	return limited
}
