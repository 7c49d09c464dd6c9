package selfupdate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// State is the state of the last update or of the last request.
type State string

// The states. All but the first two are the updater's own.
const (
	// The states. Idle and Requested come from this package, the others from
	// the updater's journal.
	StateIdle        State = "idle"
	StateRequested   State = "requested"
	StateRunning           = State(installation.StateRunning)
	StateInterrupted       = State(installation.StateInterrupted)
	StateDone              = State(installation.StateDone)
	StateFailed            = State(installation.StateFailed)
	StateRolledBack        = State(installation.StateRolledBack)
	StateRefused           = State(installation.StateRefused)
)

// busy are the states in which no other update can be requested.
var busy = []State{StateRequested, StateRunning, StateInterrupted}

// Status is everything that is known of updates. The JSON names are those of
// the API.
type Status struct {
	CurrentVersion string     `json:"current_version" example:"1.4.0"`
	Available      *Available `json:"available" doc:"Newest signed release that can replace the installed one; null if none is known"`
	LastCheck      *LastCheck `json:"last_check" doc:"Last check for releases; null if there was none"`
	Shape          Shape      `json:"shape" enum:"package,container,source" doc:"Installation method: package, container image, or built from source"`
	CanSelfApply   bool       `json:"can_self_apply" doc:"true if updates can be requested here"`
	Hint           string     `json:"hint" doc:"Why updates cannot be requested here, or what to do now; empty if there is nothing to add"`
	Channel        string     `json:"channel" example:"stable" doc:"Release channel that is followed; empty for none"`
	State          State      `json:"state" enum:"idle,requested,running,interrupted,done,failed,rolled_back,refused" doc:"State of the last update or update request"`
	Request        *Request   `json:"request" doc:"Request that the updater has not started yet; null for none"`
	Run            *Run       `json:"run" doc:"Last run of the updater, or the request that it refused; null for none"`
	Problems       []string   `json:"problems" nullable:"false" doc:"Data that could not be read and is missing from this response"`
}

// Available is a release that can replace the installed one.
type Available struct {
	Version   string    `json:"version" example:"1.5.0"`
	Channel   string    `json:"channel" example:"stable"`
	Date      time.Time `json:"date"`
	NotesURL  string    `json:"notes_url" example:"https://releases.example.org/1.5.0.html" doc:"Address of the release notes; empty if the release has none"`
	Size      int64     `json:"size" example:"31457280" doc:"Size of the download in bytes"`
	CheckedAt time.Time `json:"checked_at" doc:"When the source last listed it"`
}

// Request is a request for an update that the updater has not started yet.
type Request struct {
	ID          string    `json:"id"`
	Version     string    `json:"version" example:"1.5.0"`
	RequestedBy string    `json:"requested_by" example:"ann@example.org" doc:"User who requested the update; empty if not known"`
	RequestedAt time.Time `json:"requested_at"`
}

// Run is one run of the updater.
type Run struct {
	ID          string     `json:"id" doc:"ID of the run; empty for a request that was refused"`
	Request     string     `json:"request" doc:"ID of the request; empty if the run was started on the machine"`
	RequestedBy string     `json:"requested_by" example:"ann@example.org" doc:"User who requested the update; empty if not known"`
	From        string     `json:"from" example:"1.4.0"`
	To          string     `json:"to" example:"1.5.0" doc:"Target version; empty until it is known"`
	Step        string     `json:"step" example:"health-check" doc:"Current or last step: backup, download, verify, migrate, switch, health-check, done; rollback, rolled back, failed"`
	Steps       []Step     `json:"steps" nullable:"false"`
	Reason      string     `json:"reason" doc:"Why it failed, was refused or was rolled back; empty otherwise"`
	StartedAt   time.Time  `json:"started_at"`
	FinishedAt  *time.Time `json:"finished_at"`
	DryRun      bool       `json:"dry_run" doc:"true if it is a trial run that changes nothing"`
}

// Step is a step of a run that has started.
type Step struct {
	Step      string     `json:"step" example:"backup"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at" doc:"When the step succeeded; null until then"`
}

// Status reads everything that is known. Files of the updater that cannot be
// read are listed as problems in the result; only a failure of the database is
// an error.
func (s *Store) Status(ctx context.Context) (*Status, error) {
	st := &Status{CurrentVersion: s.version, Shape: s.shape, State: StateIdle, Problems: []string{}}
	last, err := s.lastLook(ctx)
	if err != nil {
		return nil, err
	}
	if last.at != nil {
		st.LastCheck = &LastCheck{At: last.at.UTC(), Error: last.failure}
	}
	c, err := s.configuration()
	if err != nil {
		st.problem("the updater's configuration cannot be read", err)
	}
	if c != nil && c.HasSource() {
		st.Channel = c.Channel
	}
	blocked := s.available(st, last)
	if s.shape == ShapePackage && c != nil {
		if err := s.readFiles(ctx, s.db.Pool, st, c); err != nil {
			return nil, err
		}
	}
	st.CanSelfApply = s.shape == ShapePackage && st.Channel != ""
	st.Hint = s.hint(st, c, blocked)
	return st, nil
}

func (st *Status) problem(what string, err error) {
	st.Problems = append(st.Problems, line(what+": "+plain(err)))
}

// available sets the release that can be installed, or returns why the newest
// one cannot.
func (s *Store) available(st *Status, last look) (blocked string) {
	if last.manifest == nil || st.Channel == "" {
		return ""
	}
	m := last.manifest
	if err := s.fits(m, st.Channel); err != nil {
		if errors.Is(err, release.ErrTooOld) || errors.Is(err, errArchitecture) {
			return plain(err)
		}
		return ""
	}
	file, _ := m.Tarball(s.architecture()) // fits has asked
	st.Available = &Available{Version: m.Version, Channel: m.Channel, Date: m.Date.UTC(), NotesURL: m.NotesURL, Size: file.Size,
		CheckedAt: last.found.UTC()}
	return ""
}

// errArchitecture means that a release has no file for this platform.
var errArchitecture = errors.New("the release does not support this machine")

// fits checks that a release can replace the installed one: newer, of the
// channel, not too far ahead, and for this platform.
func (s *Store) fits(m *release.Manifest, channel string) error {
	if err := m.CheckUpgrade(s.version, channel); err != nil {
		return err
	}
	if _, err := m.Tarball(s.architecture()); err != nil {
		return fmt.Errorf("%w: %w", errArchitecture, err)
	}
	return nil
}

func (s *Store) architecture() string {
	if s.cfg.Architecture != "" {
		return s.cfg.Architecture
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// grace is how long a request may wait for the updater, or the updater may be
// silent after taking it, before the status has a hint about it.
const grace = time.Minute

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// readFiles sets what the updater's files say. It reads the request file before
// the journal: a request that the updater takes in between then appears as a
// run, and does not get lost.
func (s *Store) readFiles(ctx context.Context, q querier, st *Status, c *installation.Config) error {
	asked, err := s.lastRequest(ctx, q)
	if err != nil {
		return err
	}
	// The request is looked at before the journal: one that is taken in between is found as a run.
	pending, since, err := installation.PendingRequest(c.Request)
	if err != nil {
		st.problem("the request for an update cannot be read", err)
	}
	last, err := installation.LastStatus(c.StateDir)
	if err != nil {
		st.problem("the updater's journal cannot be read, so the state of the last update is unknown", err)
	}
	if last != nil {
		if st.Run, err = runOf(ctx, q, last); err != nil {
			return err
		}
		st.State = State(last.State)
	}
	atWork, err := installation.Locked(c.StateDir)
	if err != nil {
		st.problem("could not check whether an updater is running", err)
	}
	switch {
	case st.State == StateRunning || st.State == StateInterrupted:
	case atWork && pending == nil: // it has taken a request, or was begun by hand, and has not written its first line
		st.State, st.Run = StateRunning, nil
	case pending != nil:
		st.State, st.Run, st.Request = StateRequested, nil, asked.as(pending.ID, pending.Version, since)
		if time.Since(since) > grace {
			st.Hint = fmt.Sprintf("no updater has accepted the request since %s: run systemctl status hostler-updater.path "+
				"hostler-updater.service on the machine", stamp(since))
		}
	case asked != nil && err == nil && len(st.Problems) == 0:
		s.trace(st, c, asked)
	}
	return nil
}

// trace handles a request that is neither waiting nor the last run: the updater
// has just taken it, or has lost it.
func (s *Store) trace(st *Status, c *installation.Config, asked *request) {
	if st.Run != nil && (st.Run.Request == asked.ID || st.Run.StartedAt.After(asked.RequestedAt)) {
		return
	}
	runs, err := installation.FinishedRuns(c.StateDir)
	if err != nil || slices.ContainsFunc(runs, func(run installation.Status) bool { return run.Request == asked.ID }) {
		return
	}
	if asked.age < grace { // an updater has it in its hands
		st.State, st.Run, st.Request = StateRequested, nil, &asked.Request
		return
	}
	st.Hint = fmt.Sprintf("the request for %s of %s was accepted, but the updater has reported nothing: run journalctl -u "+
		"hostler-updater.service on the machine",
		asked.Version, stamp(asked.RequestedAt))
}

// request is a request as the database has it.
type request struct {
	Request
	age time.Duration
}

// as returns the request in the file together with what the database knows of
// it. r may be nil.
func (r *request) as(id, version string, since time.Time) *Request {
	if r != nil && r.ID == id {
		return &r.Request
	}
	return &Request{ID: id, Version: version, RequestedAt: since.UTC()}
}

// lastRequest returns the last request of this machine; nil if there was none.
func (s *Store) lastRequest(ctx context.Context, q querier) (*request, error) {
	var r request
	var age float64
	err := q.QueryRow(ctx, `SELECT id, version_to, actor_email, requested_at, extract(epoch FROM clock_timestamp() - requested_at)::float8
		FROM update_requests WHERE machine = $1 ORDER BY requested_at DESC LIMIT 1`, s.machine).
		Scan(&r.ID, &r.Version, &r.RequestedBy, &r.RequestedAt, &age)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the last update request: %w", err))
	}
	r.RequestedAt, r.age = r.RequestedAt.UTC(), time.Duration(age*float64(time.Second))
	return &r, nil
}

func runOf(ctx context.Context, q querier, last *installation.Status) (*Run, error) {
	run := &Run{
		ID: line(last.Run), Request: line(last.Request), From: line(last.From), To: line(last.To), Step: line(string(last.Step)),
		Steps:  []Step{},
		Reason: line(last.Reason), StartedAt: last.StartedAt.UTC(), FinishedAt: someTimeOf(last.FinishedAt), DryRun: last.DryRun,
	}
	for _, p := range last.Steps {
		run.Steps = append(run.Steps, Step{Step: line(string(p.Step)), StartedAt: p.StartedAt.UTC(), EndedAt: someTimeOf(p.EndedAt)})
	}
	err := q.QueryRow(ctx, "SELECT actor_email FROM update_requests WHERE id = $1", run.Request).Scan(&run.RequestedBy)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, db.Problem(fmt.Errorf("reading who requested the update: %w", err))
	}
	return run, nil
}

func someTimeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// hint says why updates cannot be requested, or what to do now.
func (s *Store) hint(st *Status, c *installation.Config, blocked string) string {
	switch {
	case st.Hint != "":
		return st.Hint
	case s.shape == ShapeContainer:
		return updateTheImage
	case s.shape == ShapeSource:
		return buildAnew
	case c == nil && len(st.Problems) > 0:
		return s.mendConfiguration()
	case st.State == StateInterrupted:
		return "the update was interrupted and continues automatically, now or at the machine's next start; if nothing changes, run " +
			"journalctl -u hostler-updater-resume.service on the machine"
	case st.Channel == "":
		return s.configureSource()
	case blocked != "":
		return blocked
	case st.LastCheck == nil:
		return "releases have not been checked yet: run the schedule of update.check"
	}
	return ""
}

const (
	updateTheImage = "the service runs in a container image: pull a newer image and start the container from it"
	buildAnew      = "the service was not installed by a package: build or install a newer version the same way"
)

func (s *Store) configureSource() string {
	return "set source and channel in " + s.cfg.ConfigFile + " and restart the service"
}

func (s *Store) mendConfiguration() string {
	return "fix " + s.cfg.ConfigFile + ": it must be JSON, belong to root and be writable only by root"
}

// refuse returns the problem invalid_state with a reason for programs and a
// hint for people.
func refuse(reason, hint, format string, args ...any) *problem.Error {
	p := problem.New(problem.CodeInvalidState, format, args...).With("reason", reason)
	if hint != "" {
		p = p.With("hint", hint)
	}
	return p
}
