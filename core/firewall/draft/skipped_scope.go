package draft

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// skippedScope is a scope that the hypervisor refuses to restore or to show. The
// others are restored without it. It is tried again for a while, because a
// guest that moves to another node is unknown for a moment.
type skippedScope struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
	// Gone says that the hypervisor does not find it.
	Gone bool `json:"gone,omitempty"`
}

// maxRetries is the number of times Store.Retry after which a refusal counts as
// final: ten minutes by default.
const maxRetries = 300

// refusal is the error of a step, with its scope.
type refusal struct {
	scope int
	err   error
}

// Error returns the text of the cause.
func (r *refusal) Error() string { return r.err.Error() }

// Unwrap returns the cause.
func (r *refusal) Unwrap() error { return r.err }

// isPermanent reports whether an error concerns the object itself, so that no retry
// helps. Errors of the connection do not.
func isPermanent(err error) bool {
	var of *plugin.Error
	if errors.As(err, &of) {
		return slices.Contains([]plugin.ErrorKind{plugin.Invalid, plugin.Refused, plugin.Unsupported, plugin.NotFound}, of.Kind)
	}
	return slices.Contains([]problem.Code{problem.CodeNotFound, problem.CodeUnsupported, problem.CodeUnsupportedAtScope}, problem.CodeOf(err))
}

// notFound reports whether an error says that the object does not exist.
func notFound(err error) bool {
	return plugin.KindOf(err) == plugin.NotFound || problem.CodeOf(err) == problem.CodeNotFound
}

// reason is job.Explain, with the details of an invalid value.
func reason(err error) string {
	var of *plugin.Error
	if errors.As(err, &of) && of.Kind == plugin.Invalid {
		err = of
	}
	return job.Explain(err)
}

// skipScope records that a scope is left out of this attempt, and why. The time
// of the first refusal stays.
func (w *work) skipScope(i int, err error, gone bool) {
	if w.Aside == nil {
		w.Aside = map[int]*skippedScope{}
	}
	if w.Aside[i] == nil {
		w.Aside[i] = &skippedScope{Since: time.Now().UTC()}
		w.run.Note("%s is skipped for now (%s)", w.r.Scopes[i].title(), reason(err))
	}
	w.Aside[i].Why, w.Aside[i].Gone = reason(err), gone
	w.out[i] = err
}

// unsettled returns the error of a scope that may still be restored, or nil.
// While there is one the job does not end.
func (w *work) unsettled() error {
	for _, i := range slices.Sorted(maps.Keys(w.out)) {
		if a := w.Aside[i]; a != nil && !w.absent[i] && time.Since(a.Since) < maxRetries*cmp.Or(w.Retry, defaultRetry) {
			return w.out[i]
		}
	}
	return nil
}

// gone reports whether a scope does not exist any more.
func (w *work) gone(i int) bool {
	return w.absent[i] || w.out[i] != nil && w.denied[i] == nil && w.Aside[i] != nil && w.Aside[i].Gone
}

// lacking names the scopes that do not exist any more, in a sentence without
// its end, and reports whether others were left out.
func (w *work) lacking() (text string, others bool) {
	var all []string
	for _, i := range slices.Sorted(maps.Keys(w.out)) {
		if w.gone(i) {
			all = append(all, w.r.Scopes[i].title())
		} else {
			others = true
		}
	}
	switch {
	case len(all) == 0:
		return "", others
	case len(all) == 1:
		return all[0] + " no longer exists", others
	}
	return strings.Join(all, ", ") + " no longer exist", others
}

// readEach reads scopes one by one, and sets those aside that cannot be read
// for a reason of their own. It is used after reading all at once has failed.
func (w *work) readEach(ctx context.Context, scopes []sdk.Scope, of []int) (read map[int]sdk.State, err error) {
	read = map[int]sdk.State{}
	for k, i := range of {
		one, err := callHost(ctx, w, func(ctx context.Context, hostID int64) ([]sdk.State, error) {
			return w.read(ctx, hostID, scopes[k:k+1])
		})
		if err == nil {
			read[i] = one[0]
			continue
		}
		if ctx.Err() != nil {
			return nil, err
		}
		removed, unread := w.nodeRemoved(ctx, &w.r.Scopes[i])
		if unread != nil {
			return nil, unread
		}
		switch {
		case removed:
			w.out[i], w.absent[i] = err, true
		case isPermanent(err):
			w.skipScope(i, err, notFound(err))
		default:
			return nil, err
		}
	}
	return read, nil
}

// nodeRemoved reports whether a scope belongs to a node that the cluster does
// not have any more.
func (w *work) nodeRemoved(ctx context.Context, of *stored) (bool, error) {
	if of.Kind != "node" {
		return false, nil
	}
	var there bool
	err := w.DB.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM nodes WHERE cluster_id = $1 AND name = $2)", w.r.ClusterID, of.Name).
		Scan(&there)
	return !there, db.Problem(err)
}
