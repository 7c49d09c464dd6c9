package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// Settings of a job.
const (
	defaultTick  = 500 * time.Millisecond
	defaultRetry = 2 * time.Second
	// mostRetry is the longest time between two tries while a hypervisor does not answer.
	mostRetry = 30 * time.Second
	// mostConflicts bounds how often a list is read again because its digest was another one.
	mostConflicts = 20
)

// progress is the checkpoint of a job: the states from which its way leads, and
// where it leads.
type progress struct {
	// From are the scopes as they were when the present way was begun, in which
	// nobody else had changed anything; Back says that it leads to what was
	// before the draft.
	From []sdk.State `json:"from"`
	Back bool        `json:"back"`
	// Answered are the hosts to which new connections got through before anything was changed.
	Answered []int64 `json:"answered"`
	// Up are the nodes that answered then by way of a host, of those whose own
	// did not, or that have none.
	Up []string `json:"up,omitempty"`
	// Why says why everything is put back, for the end of the job, and Status
	// the end that this makes.
	Why    string     `json:"why,omitempty"`
	Status job.Status `json:"status,omitempty"`
	// Late is since when the hypervisor did not answer when everything was to be put back.
	Late *time.Time `json:"late,omitempty"`
	// Foreign are the scopes that somebody else has changed, which stay as they are.
	Foreign []bool `json:"foreign,omitempty"`
	// Kept are all that the present way leaves as they are, and Aside those
	// that the hypervisor would not put back or show.
	Kept  []bool                `json:"kept,omitempty"`
	Aside map[int]*skippedScope `json:"aside,omitempty"`
	// Renamed are, by scope, the names by which guests are known that were renamed meanwhile.
	Renamed map[int]string `json:"renamed,omitempty"`
}

// work is one run of a job.
type work struct {
	*Store
	params
	run *job.Run
	r   *record
	progress
	// hosts are those of the cluster by which it can be changed, the one of the draft first.
	hosts []int64
	// out are the scopes that the last look left out: those that are absent,
	// those that could not be read, and those that were denied, which the
	// hypervisor has refused in the present try to put everything back.
	out, denied map[int]error
	absent      map[int]bool
	// told is what was noted last of a hypervisor that does not answer.
	told string
}

// perform carries a draft out, waits for its confirmation, and restores
// everything without one. Its position is in the draft's row, in the job's
// checkpoint and in the firewall itself: each request names the digest of the
// list by which it was decided, so that a late or repeated one changes nothing.
func (s *Store) perform(ctx context.Context, run *job.Run) error {
	w := &work{Store: s, run: run}
	if err := errors.Join(run.Params(&w.params), run.LoadCheckpoint(&w.progress)); err != nil {
		return err
	}
	// Who cancels the job wants everything to be put back, which takes requests.
	live, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	go func() {
		select {
		case <-run.Stopping():
			stop(job.ErrStopping)
		case <-live.Done():
		}
	}()
	if w.From == nil && w.Went != nil {
		w.progress = *w.Went
	}
	err := w.reload(live)
	if err == nil {
		err = w.carry(live)
	}
	if err != nil && live.Err() != nil {
		if _, verdict := job.Verdict(err); !verdict {
			return context.Cause(live)
		}
	}
	return err
}

// reload reads the draft again, for example to see a confirmation.
func (w *work) reload(ctx context.Context) error {
	rows, err := w.DB.Pool.Query(ctx, "SELECT "+columns+" WHERE d.id = $1", w.DraftID)
	if err == nil {
		var r record
		if r, err = pgx.CollectExactlyOneRow(rows, scan); err == nil {
			w.r = &r
			return nil
		}
	}
	return readError(err)
}

// readOnce reads the columns of the draft that change while a job works on it.
func (w *work) readOnce(ctx context.Context) error {
	err := w.DB.Pool.QueryRow(ctx, `SELECT status, deadline, confirmed_at, confirmed_by, coalesce(deadline <= clock_timestamp(), false)
		FROM firewall_drafts WHERE id = $1`, w.DraftID).Scan(&w.r.Status, &w.r.Deadline, &w.r.ConfirmedAt, &w.r.ConfirmedBy, &w.r.Due)
	return readError(err)
}

// readError returns the error of a job whose draft cannot be read.
func readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return job.Fail("the draft no longer exists")
	}
	return db.Problem(fmt.Errorf("reading a draft: %w", err))
}

// carry goes from state to state until the draft has ended.
func (w *work) carry(ctx context.Context) error {
	if err := w.members(ctx); err != nil {
		return err
	}
	for {
		var err error
		switch w.r.Status {
		case committing:
			err = w.commit(ctx)
		case waiting:
			err = w.wait(ctx)
		case undoing:
			err = w.undo(ctx)
		default:
			return w.verdict()
		}
		if err != nil {
			return err
		}
		if err := w.reload(ctx); err != nil {
			return err
		}
	}
}

// isVerdict reports whether an error ends the job.
func isVerdict(err error) bool {
	_, is := job.Verdict(err)
	return is
}

// verdict returns the end of a job whose draft has ended.
func (w *work) verdict() error {
	switch {
	case w.r.Status == unknown:
		return job.Undetermined("%s", w.r.Outcome)
	case w.r.Status == applied:
		w.run.Note("%s", w.r.Outcome)
		return nil
	case w.Status == job.Canceled, w.Status == "" && w.canceled():
		return job.Stopped("%s", w.r.Outcome)
	}
	return job.Fail("%s", w.r.Outcome)
}

// members reads the hosts by which the cluster can be changed. The draft's own
// is always one of them: it may have left the cluster for another team.
func (w *work) members(ctx context.Context) error {
	rows, err := w.DB.Pool.Query(ctx, `SELECT h.id FROM hosts h WHERE h.id = $2 OR h.cluster_id = $1 AND EXISTS (SELECT FROM
		host_credentials k
		WHERE k.host_id = h.id AND k.capability = $3) ORDER BY h.cluster_id IS DISTINCT FROM $1, h.id <> $2, h.id LIMIT $4`, w.r.ClusterID,
		w.r.HostID, string(endpoint.Lifecycle), maxNodes)
	if err == nil {
		w.hosts, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	return db.Problem(err)
}

// become moves the draft from one state to another and reports whether it did.
// The condition keeps a draft that has moved already, and a confirmed one from
// being undone.
func (w *work) become(ctx context.Context, from, to, set string, args ...any) (moved bool, err error) {
	err = w.DB.Tx(ctx, func(tx *db.Tx) error {
		tag, err := tx.Pgx.Exec(ctx, "UPDATE firewall_drafts SET status = $3, updated_at = now()"+set+
			" WHERE id = $1 AND job_id = $2 AND status = $4 AND ($3 <> 'undoing' OR confirmed_at IS NULL)",
			append([]any{w.DraftID, w.run.Job().ID, to, from}, args...)...)
		if err != nil {
			return fmt.Errorf("writing a draft: %w", err)
		}
		moved = tag.RowsAffected() == 1
		if moved && slices.Contains([]string{applied, undone, unknown, open}, to) {
			_, err = tx.Pgx.Exec(ctx, "DELETE FROM firewall_draft_locks WHERE draft_id = $1", w.DraftID)
		}
		return err
	})
	return moved, err
}

// maxOutcome is the largest size of a draft's outcome in bytes.
const maxOutcome = 64 << 10

// shortened returns an outcome without the lines that exceed maxOutcome.
func shortened(outcome string) string {
	if len(outcome) <= maxOutcome {
		return outcome
	}
	kept := outcome[:strings.LastIndexByte(outcome[:maxOutcome], '\n')+1]
	return fmt.Sprintf("%s… and %d more lines", kept, strings.Count(outcome[len(kept):], "\n")+1)
}

// end ends the draft. The lines of the outcome about scopes are also written
// into the job's transcript.
func (w *work) end(ctx context.Context, from, to, outcome string) error {
	outcome = shortened(outcome)
	for n, line := range strings.Split(outcome, "\n") {
		if n > 0 {
			w.run.Note("%s", line)
		}
	}
	_, err := w.become(ctx, from, to, ", deadline = NULL, outcome = $5", outcome)
	return err
}

// back begins to restore everything, and records why.
func (w *work) back(ctx context.Context, from string, end job.Status, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	moved, err := w.become(ctx, from, undoing, ", outcome = $5", why)
	if err != nil || !moved {
		return err
	}
	w.Why, w.Status = why, end
	w.run.Note("%s; undoing all changes", why)
	return w.run.SaveCheckpoint(ctx, w.progress)
}

// goal returns the states to which the present way leads.
func (w *work) goal() (all []sdk.State) {
	for i := range w.r.Scopes {
		if w.Back {
			all = append(all, w.r.Scopes[i].Before)
		} else {
			all = append(all, w.r.Scopes[i].After)
		}
	}
	return all
}

// here reads the present states of all scopes. A scope is foreign if its state
// is nowhere on the present way, so that somebody else has changed it. Scopes
// that do not exist any more are left out, and while everything is restored
// also those that cannot be read.
func (w *work) here(ctx context.Context) (now []sdk.State, foreign []bool, err error) {
	if err := w.reload(ctx); err != nil { // clusters become one, and hosts come and go, in the time that it may take
		return nil, nil, err
	}
	if err := w.members(ctx); err != nil {
		return nil, nil, err
	}
	foreign = make([]bool, len(w.r.Scopes))
	copy(foreign, w.Foreign)
	now = slices.Clone(w.From)
	w.out, w.absent = map[int]error{}, map[int]bool{}
	maps.Copy(w.out, w.denied)
	var scopes []sdk.Scope
	var of []int
	others := map[int]*otherName{}
	for i := range w.r.Scopes {
		at, err := w.located(ctx, &w.r.Scopes[i])
		if err == nil {
			_, err = callHost(ctx, w, func(ctx context.Context, hostID int64) (any, error) { return nil, w.same(ctx, hostID, &w.r.Scopes[i]) })
			if err != nil && w.r.Status == undoing && problem.CodeOf(err) != problem.CodeNotFound && isPermanent(err) {
				err = nil // what reads its rules sets it aside, if they are refused too
			}
			var other *otherName
			if errors.As(err, &other) {
				err = nil
				if w.Renamed[i] == "" || w.Renamed[i] != other.name {
					others[i] = other
				}
			}
		}
		if problem.CodeOf(err) == problem.CodeNotFound {
			w.out[i], w.absent[i] = err, true // and its rules with it
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		scopes, of = append(scopes, at), append(of, i)
	}
	all, err := callHost(ctx, w, func(ctx context.Context, hostID int64) ([]sdk.State, error) {
		return w.read(ctx, hostID, scopes)
	})
	read := map[int]sdk.State{}
	switch {
	case err == nil:
		for k, i := range of {
			read[i] = all[k]
		}
	case w.r.Status == undoing && ctx.Err() == nil:
		read, err = w.readEach(ctx, scopes, of)
	}
	if err != nil {
		return nil, nil, err
	}
	way := w.route()
	if err := w.renamed(ctx, others, read, way); err != nil {
		return nil, nil, err
	}
	for i := range read {
		now[i] = read[i]
		foreign[i] = foreign[i] || !way.passes(i, now[i])
	}
	return now, foreign, nil
}

// errNoHost reports that there is no host to ask. That may change, so it counts
// as unreachable.
var errNoHost = plugin.Errorf(plugin.Unreachable, "no host of the cluster is enrolled with a token that may change the firewall")

// callHost asks a question by the cluster's hosts in turn until one answers. The
// error is that of the first host.
func callHost[T any](ctx context.Context, w *work, question func(ctx context.Context, hostID int64) (T, error)) (answer T, err error) {
	if len(w.hosts) == 0 {
		return answer, errNoHost
	}
	for n, id := range w.hosts {
		var failed error
		if answer, failed = question(ctx, id); failed == nil {
			return answer, nil
		}
		if n == 0 {
			err = failed
		}
		if !lost(failed) || ctx.Err() != nil {
			return answer, failed
		}
	}
	return answer, err
}

// lost reports whether an error means that the hypervisor or its plugin does
// not answer, so that asking again makes sense.
func lost(err error) bool {
	var of *plugin.Error
	switch {
	case errors.Is(err, errForeign):
		return false
	case errors.Is(err, plugin.ErrGone), errors.Is(err, context.DeadlineExceeded):
		return true
	case !errors.As(err, &of):
		return false
	}
	return slices.Contains([]plugin.ErrorKind{plugin.Unreachable, plugin.Timeout, plugin.Protocol, plugin.Busy, plugin.Internal,
		plugin.Untrusted, plugin.TokenRejected}, of.Kind)
}

// walk goes from the present states to the goal, without the scopes that are
// foreign or left out. It returns errForeign if somebody else changes something
// in between, and a refusal if the hypervisor refuses. For errors of a
// hypervisor that does not answer it calls again and returns its error; nil
// repeats the step. again(nil) reports each finished step.
func (w *work) walk(ctx context.Context, now []sdk.State, foreign []bool, again func(error) error) error {
	goal := w.goal()
	kept, naming := slices.Clone(foreign), slices.Clone(foreign)
	for i := range w.out {
		kept[i], naming[i] = true, !w.gone(i)
	}
	for i := range goal {
		if kept[i] {
			goal[i] = now[i]
		}
	}
	w.From, w.Foreign, w.Kept = now, foreign, kept
	if err := w.run.SaveCheckpoint(ctx, w.progress); err != nil {
		return err
	}
	steps, _ := inOrder(now, goal)
	at := ownedAll(now)
	stays := map[int]bool{}
	for n, st := range steps {
		if !stays[st.scope] && st.takes != nil && st.takes.namedByAny(now, naming) {
			w.run.Note("%s keeps an object that was to be deleted, because rules that stay use it", w.r.Scopes[st.scope].title())
			stays[st.scope] = true
		}
		if stays[st.scope] && !st.options { // only the cluster's switch comes after what is taken away
			continue
		}
		w.run.SetProgress(float64(n) / float64(len(steps)))
		for conflicts := 0; ; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			done, err := callHost(ctx, w, func(ctx context.Context, hostID int64) (bool, error) {
				return firewall.WithFirewall(ctx, w.Firewalls, hostID, endpoint.Monitoring, func(ctx context.Context, reader sdk.Firewall) (bool,
					error) {
					return firewall.WithFirewall(ctx, w.Firewalls, hostID, endpoint.Lifecycle, func(ctx context.Context, writer sdk.Firewall) (bool,
						error) {
						return st.act(ctx, reader, writer, at[st.scope])
					})
				})
			})
			if done {
				if err := again(nil); err != nil {
					return err
				}
				st.apply(&at[st.scope])
				break
			}
			if err != nil && lost(err) {
				if err := again(err); err != nil {
					return err
				}
				continue
			}
			if err != nil && (errors.Is(err, errForeign) || plugin.KindOf(err) != plugin.Conflict || conflicts == mostConflicts) {
				return &refusal{st.scope, err}
			}
			if err != nil {
				conflicts++
			}
		}
	}
	return nil
}

// pause waits while a hypervisor does not answer, longer each time.
func (w *work) pause(ctx context.Context, wait *time.Duration) error {
	*wait = min(max(2**wait, cmp.Or(w.Retry, defaultRetry)), mostRetry)
	timer := time.NewTimer(*wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// note is Run.Note without repetitions.
func (w *work) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != w.told {
		w.told = text
		w.run.Note("%s", text)
	}
}

// window returns how long the job waits for a confirmation.
func (w *work) window() time.Duration {
	if w.r.Window == nil {
		return time.Minute
	}
	return time.Duration(*w.r.Window) * time.Second
}

// canceled reports whether somebody has canceled the job.
func (w *work) canceled() bool {
	select {
	case <-w.run.Canceled():
		return true
	default:
		return false
	}
}

// commit makes the changes. If the hypervisor does not answer for as long as
// the window, everything is restored.
func (w *work) commit(ctx context.Context) error {
	if w.From == nil {
		for i := range w.r.Scopes {
			w.From = append(w.From, w.r.Scopes[i].Before)
		}
		all, err := w.askHosts(ctx)
		if err != nil {
			return err
		}
		if err := w.askNodes(ctx); err != nil {
			return err
		}
		w.run.Note("%d of %d hosts of the cluster answer, plus %s", len(w.Answered), all,
			plan.Plural(len(w.Up), "1 other node", "%d other nodes"))
		if w.canceled() {
			return w.nothing(ctx, job.Canceled, "canceled before anything was changed")
		}
	}
	begun, wait := time.Now(), time.Duration(0)
	again := func(err error) error {
		switch {
		case err == nil:
			wait = 0
			return nil
		case w.canceled() || time.Since(begun) >= w.window():
			return err
		}
		w.note("the hypervisor does not answer (%s); trying again", job.Explain(err))
		return w.pause(ctx, &wait)
	}
	for {
		if w.canceled() {
			return w.back(ctx, committing, job.Canceled, "the job was canceled")
		}
		now, foreign, err := w.here(ctx)
		if err == nil && (slices.Contains(foreign, true) || len(w.out) > 0) {
			return w.met(ctx, now, foreign)
		}
		if err == nil {
			err = w.walk(ctx, now, foreign, again)
		}
		switch {
		case err == nil:
			w.run.SetProgress(1)
			w.run.Note("all changes are made; they are undone in %s unless they are confirmed", w.window())
			_, err := w.become(ctx, committing, waiting, ", deadline = clock_timestamp() + make_interval(secs => window_seconds)")
			return err
		case ctx.Err() != nil, db.Unavailable(err), isVerdict(err):
			return err
		case errors.Is(err, errForeign): // it is looked at anew
			if err := w.pause(ctx, &wait); err != nil {
				return err
			}
			continue
		case !lost(err):
			return w.back(ctx, committing, job.Failed, "the hypervisor refused a change: %s", reason(err))
		case time.Since(begun) >= w.window():
			return w.back(ctx, committing, job.Failed, "the hypervisor does not answer: %s", job.Explain(err))
		}
		if err := again(err); err != nil && ctx.Err() != nil {
			return err
		}
	}
}

// nothing ends a job that has changed nothing; the draft is open again.
func (w *work) nothing(ctx context.Context, end job.Status, outcome string) error {
	w.Status = end
	if err := w.run.SaveCheckpoint(ctx, w.progress); err != nil {
		return err
	}
	return w.end(ctx, committing, open, outcome)
}

// met handles a commit that finds changes by somebody else. Nothing of them is
// overwritten.
func (w *work) met(ctx context.Context, now []sdk.State, foreign []bool) error {
	if gone, _ := w.lacking(); gone != "" && !slices.Contains(foreign, true) {
		if !w.begun() {
			return w.nothing(ctx, job.Failed, gone+"; nothing was done")
		}
		return w.back(ctx, committing, job.Failed, "%s", gone)
	}
	if !w.begun() {
		return w.nothing(ctx, job.Failed, "someone else changed the firewall since the draft was created; nothing was done\n"+
			w.texts(now, foreign))
	}
	return w.back(ctx, committing, job.Unknown, "someone else changed the firewall in the meantime")
}

// begun reports whether a request of this way may have been sent. The
// checkpoint is written before the first one.
func (w *work) begun() bool {
	var saved progress
	return w.run.LoadCheckpoint(&saved) == nil && saved.From != nil
}

// texts describes the scopes that somebody else changed, or that were left out:
// their present state, the one before and the one that the draft wants.
func (w *work) texts(now []sdk.State, foreign []bool) string {
	var b strings.Builder
	for i := range now {
		of := w.r.Scopes[i].title()
		switch {
		case w.gone(i):
			fmt.Fprintf(&b, "%s no longer exists\n", of)
			continue
		case w.denied[i] != nil:
			fmt.Fprintf(&b, "the hypervisor refuses to restore %s: %s\n", of, reason(w.denied[i]))
		case w.out[i] != nil:
			fmt.Fprintf(&b, "%s cannot be read (%s); its last known state:\n", of, reason(w.out[i]))
		case !foreign[i]:
			continue
		}
		fmt.Fprintf(&b, "%s is now:\n  %s\nbefore the draft it was:\n  %s\nwith the draft it would be:\n  %s\n", of,
			strings.Join(Text(now[i]), "\n  "), strings.Join(Text(w.r.Scopes[i].Before), "\n  "), strings.Join(Text(w.r.Scopes[i].After), "\n  "))
	}
	return strings.TrimSpace(b.String())
}
