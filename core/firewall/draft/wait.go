package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/plugin"
)

// Settings of the wait for a confirmation.
const (
	// looks is how many times in a window the nodes are asked, with at least
	// looksLeast and at most looksMost between two times.
	looks      = 40
	looksLeast = time.Second
	looksMost  = 20 * time.Second
	// silences is how many times in a row a node must not answer before that is believed.
	silences = 3
	// giveUp is how long everything is tried to be put back while the hypervisor does not answer.
	giveUp = 7 * 24 * time.Hour
)

// wait waits until the draft is confirmed, the job is canceled, or the window
// ends. Meanwhile it asks the nodes again and again: by new connections, to see
// whether these get through, and by open ones, which a firewall keeps open as
// long as they are used. A node that stops answering is a reason to restore
// everything, unless the user confirmed at the commit that this may happen.
func (w *work) wait(ctx context.Context) error {
	every := min(max(w.window()/looks, looksLeast), looksMost)
	var looked time.Time
	silent := silence{}
	for w.r.Status == waiting {
		switch {
		case w.r.ConfirmedAt != nil:
			return w.confirmed(ctx)
		case w.canceled():
			return w.back(ctx, waiting, job.Canceled, "the job was canceled")
		case w.r.Due:
			return w.back(ctx, waiting, job.Failed, "the draft was not confirmed within %s", w.window())
		}
		if time.Since(looked) >= every {
			if cut := w.look(ctx, silent); cut != "" && !w.params.Self {
				return w.back(ctx, waiting, job.Failed, "%s", cut)
			}
			looked = time.Now()
		}
		timer := time.NewTimer(cmp.Or(w.Tick, defaultTick))
		select {
		case <-timer.C:
		case <-w.run.Canceled():
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
		if err := w.readOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

// look asks the nodes that answered before, all at the same time and not longer
// than the window lasts. It returns what is cut off now; empty if nothing is.
func (w *work) look(ctx context.Context, silent silence) (cut string) {
	limit := looksMost / 2
	if w.r.Deadline != nil {
		limit = max(min(limit, time.Until(*w.r.Deadline)), looksLeast)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answers, nodes := make([]error, len(w.Answered)), make([]error, len(w.Up))
	var asked sync.WaitGroup
	for i, id := range w.Answered {
		asked.Go(func() { answers[i] = w.Hosts.Reachable(limited, id) })
	}
	for i, node := range w.Up {
		asked.Go(func() { nodes[i] = w.nodeAnswers(limited, node) })
	}
	_, _, failed := w.here(limited) // which keeps the connection open that there is
	asked.Wait()
	if ctx.Err() != nil {
		return ""
	}
	if failed != nil {
		w.note("the firewall cannot be read at the moment (%s)", job.Explain(failed))
	}
	for i, id := range w.Answered {
		cut = cmp.Or(w.recordReply(silent, fmt.Sprintf("the host %d", id), answers[i]), cut)
	}
	if failed == nil || slices.Contains(answers, nil) { // else it is the host that is away, and what is behind it is not known
		for i, node := range w.Up {
			cut = cmp.Or(w.recordReply(silent, "the node "+node, nodes[i]), cut)
		}
	}
	return cut
}

// silence counts the looks in a row in which a node did not answer.
type silence map[string]int

// recordReply records whether a node answered, and returns what is cut off after
// enough silent looks. One lost packet must not undo a draft.
func (w *work) recordReply(silent silence, who string, err error) (cut string) {
	switch {
	case err == nil:
		if silent[who] > 0 {
			w.run.Note("%s answers again", who)
		}
		silent[who] = 0
	case unreachable(err):
		if silent[who]++; silent[who] == 1 {
			w.run.Note("%s no longer answers (%s)", who, job.Explain(err))
		}
		if silent[who] >= silences {
			return fmt.Sprintf("%s no longer answers (%s)", who, job.Explain(err))
		}
	}
	return ""
}

// unreachable reports whether an error means that nobody answers.
func unreachable(err error) bool {
	var of *plugin.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &of) && (of.Kind == plugin.Unreachable || of.Kind == plugin.Timeout)
}

// askHosts records which of the cluster's hosts answer, with any token; the
// hosts by which the cluster can be changed come first.
func (w *work) askHosts(ctx context.Context) (asked int, err error) {
	rows, err := w.DB.Pool.Query(ctx, "SELECT id FROM hosts WHERE cluster_id = $1 AND id <> ALL ($2) ORDER BY id LIMIT $3", w.r.ClusterID,
		w.hosts, maxNodes)
	if err != nil {
		return 0, db.Problem(fmt.Errorf("reading the hosts of a cluster: %w", err))
	}
	others, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, db.Problem(fmt.Errorf("reading the hosts of a cluster: %w", err))
	}
	all := slices.Concat(w.hosts, others)
	all = all[:min(len(all), maxNodes)]
	limited, cancel := context.WithTimeout(ctx, looksMost/2)
	defer cancel()
	answers := make([]error, len(all))
	var each sync.WaitGroup
	for i, id := range all {
		each.Go(func() { answers[i] = w.Hosts.Reachable(limited, id) })
	}
	each.Wait()
	for i, id := range all {
		if answers[i] == nil {
			w.Answered = append(w.Answered, id)
		}
	}
	return len(all), ctx.Err()
}

// askNodes records which nodes answer through a host, among those without a
// host that has answered itself.
func (w *work) askNodes(ctx context.Context) error {
	rows, err := w.DB.Pool.Query(ctx, `SELECT n.name FROM nodes n WHERE n.cluster_id = $1 AND n.status = 'online' AND NOT EXISTS (SELECT
		FROM hosts h WHERE h.id = ANY ($3) AND h.cluster_id = n.cluster_id AND h.entry_node = n.name) ORDER BY n.name LIMIT $2`,
		w.r.ClusterID, maxNodes, w.Answered)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the nodes of a cluster: %w", err))
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return db.Problem(fmt.Errorf("reading the nodes of a cluster: %w", err))
	}
	limited, cancel := context.WithTimeout(ctx, looksMost/2)
	defer cancel()
	answers := make([]error, len(names))
	var asked sync.WaitGroup
	for i, node := range names {
		asked.Go(func() { answers[i] = w.nodeAnswers(limited, node) })
	}
	asked.Wait()
	for i, node := range names {
		if answers[i] == nil {
			w.Up = append(w.Up, node)
		}
	}
	return nil
}

// nodeAnswers asks the cluster's hosts in turn for the status of a node.
func (w *work) nodeAnswers(ctx context.Context, node string) (err error) {
	for _, id := range w.Answered {
		if _, err = w.Hosts.NodeStatus(ctx, id, node); err == nil || !unreachable(err) || ctx.Err() != nil {
			return err
		}
	}
	return cmp.Or(err, error(errNoHost))
}

// confirmed ends a confirmed draft after a last look at the present state.
func (w *work) confirmed(ctx context.Context) error {
	now, foreign, err := w.here(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case db.Unavailable(err) && !lost(err):
		return err
	case err != nil:
		return w.end(ctx, waiting, applied, fmt.Sprintf("confirmed by %s; all changes were made, but could not be read back (%s)",
			w.r.ConfirmedBy, job.Explain(err)))
	}
	for i := range now {
		foreign[i] = w.out[i] == nil && (foreign[i] || !now[i].Equal(w.r.Scopes[i].After))
	}
	if slices.Contains(foreign, true) {
		return w.end(ctx, waiting, unknown, fmt.Sprintf("confirmed by %s; someone else changed the firewall in the meantime, and "+
			"those changes stay\n%s",
			w.r.ConfirmedBy, w.texts(now, foreign)))
	}
	outcome := fmt.Sprintf("confirmed by %s; all changes stay", w.r.ConfirmedBy)
	if gone, _ := w.lacking(); gone != "" {
		outcome += "; " + gone
	}
	return w.end(ctx, waiting, applied, outcome)
}

// undo restores everything, however long the hypervisor does not answer.
// Changes by somebody else stay. After giveUp, or when the job is canceled a
// second time, the draft ends as unknown.
func (w *work) undo(ctx context.Context) error {
	w.Why = cmp.Or(w.Why, w.r.Outcome)
	if w.Status == "" && w.canceled() {
		w.Status = job.Canceled
	}
	wait := time.Duration(0)
	again := func(err error) error {
		switch {
		case err == nil:
			wait = 0
			return nil
		case w.canceled() && w.Status != job.Canceled, w.Late != nil && time.Since(*w.Late) >= giveUp:
			return err
		case w.Late == nil:
			w.Late = new(time.Now().UTC())
			if err := w.run.SaveCheckpoint(ctx, w.progress); err != nil {
				return err
			}
		}
		w.note("the hypervisor did not undo the changes (%s): trying again until it does", reason(err))
		return w.pause(ctx, &wait)
	}
	for {
		done, err := w.restore(ctx, again)
		switch {
		case done || ctx.Err() != nil || db.Unavailable(err) && !lost(err) || isVerdict(err):
			return err
		case errors.Is(err, errForeign): // it is looked at anew
			if err := w.pause(ctx, &wait); err != nil {
				return err
			}
			continue
		case w.canceled() && w.Status != job.Canceled:
			return w.end(ctx, undoing, unknown, fmt.Sprintf("the job was canceled while everything was to be undone (%s), and the "+
				"hypervisor did not do it (%s): the state of the firewall is unknown", w.Why, job.Explain(err)))
		case w.Late != nil && time.Since(*w.Late) >= giveUp:
			return w.end(ctx, undoing, unknown, fmt.Sprintf("everything was to be undone (%s), but the hypervisor has not done it for "+
				"%s (%s): the state of the firewall is unknown", w.Why, giveUp, job.Explain(err)))
		}
		if err := again(err); err != nil {
			return err
		}
	}
}

// restore is one attempt to restore everything. A scope that the hypervisor
// refuses is set aside, so that it does not hold up the others, and tried again
// after them.
func (w *work) restore(ctx context.Context, again func(error) error) (done bool, err error) {
	w.denied = map[int]error{}
	for {
		now, foreign, err := w.here(ctx)
		if err != nil {
			return false, err
		}
		w.Back = true
		err = w.walk(ctx, now, foreign, again)
		if err == nil {
			break
		}
		var of *refusal
		if !errors.As(err, &of) || !isPermanent(of.err) {
			return false, err
		}
		w.denied[of.scope] = of.err
		w.skipScope(of.scope, of.err, false)
	}
	now, foreign, err := w.here(ctx)
	if err != nil {
		return false, err
	}
	maps.DeleteFunc(w.Aside, func(i int, _ *skippedScope) bool { return w.out[i] == nil })
	if err := w.unsettled(); err != nil {
		return false, errors.Join(err, w.run.SaveCheckpoint(ctx, w.progress))
	}
	for i := range now {
		foreign[i] = w.out[i] == nil && (foreign[i] || !now[i].Equal(w.r.Scopes[i].Before))
	}
	gone, refused := w.lacking()
	outcome := w.Why
	if w.Late != nil && len(w.out) == 0 {
		outcome += "; the hypervisor did not answer when everything was to be undone, and it was undone as soon as the hypervisor answered"
	}
	if gone != "" && !strings.Contains(outcome, gone) {
		outcome += "; " + gone
	}
	changed := slices.Contains(foreign, true)
	if changed {
		outcome += ". Someone else made changes in the meantime, which were not overwritten"
	}
	if refused {
		outcome += ". The hypervisor refuses to undo all of it"
	}
	if changed || refused {
		return true, w.end(ctx, undoing, unknown, fmt.Sprintf("%s; everything else is as before the draft\n%s",
			outcome, w.texts(now, foreign)))
	}
	if gone != "" {
		return true, w.end(ctx, undoing, undone, outcome+". Everything else is as before the draft")
	}
	return true, w.end(ctx, undoing, undone, outcome+". Everything is as before the draft")
}
