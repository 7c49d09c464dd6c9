package updater

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// run is one update.
type run struct {
	*Updater
	id   string
	plan installation.Plan
	// tarball is set by download: what comes from a folder needs no unpacking.
	tarball bool
}

// Options of Run.
type Options struct {
	// Request is the id of the request that asks for the update.
	Request string
	// Version, when set, is the only one to install: what somebody agreed to
	// must not become another one meanwhile.
	Version string
	// DryRun stops after the trial of the migrations and leaves nothing behind.
	DryRun bool
	// tree, when set, is the folder of a release that takes the place of a download; see Install.
	tree string
}

// Result is the end of a run.
type Result struct {
	Run      string
	From, To string
	// Step is done, rolled back or failed. A dry run that would have come to its stop is done.
	Step installation.Step
	// Reason says why it is not done.
	Reason error
}

// Run installs the newest release. The error means that it could not begin:
// installation.ErrBusy, ErrUnfinished, a damaged journal. Everything from the
// first step on is in the result.
func (u *Updater) Run(ctx context.Context, options Options) (*Result, error) {
	end, err := u.beginNew()
	if err != nil {
		return nil, err
	}
	defer end()
	from, err := u.cfg.Layout.installed()
	if err != nil {
		return nil, err
	}
	return u.run(ctx, from, options)
}

// run makes a run from the installed version. The caller has called begin.
func (u *Updater) run(ctx context.Context, from string, options Options) (*Result, error) {
	if line, err := u.last(); err != nil {
		return nil, err
	} else if line != nil && !line.Step.Final() {
		return nil, ErrUnfinished
	}
	// Without the present release there would be no way back.
	if _, err := os.Stat(u.cfg.Layout.program(from)); err != nil {
		return nil, fmt.Errorf("the installed release %s is incomplete; reinstall it: %w", from, err)
	}
	id, err := u.newID()
	if err != nil {
		return nil, err
	}
	r := &run{Updater: u, id: id, plan: installation.Plan{From: from, Request: options.Request, DryRun: options.DryRun}}
	if err := r.write(installation.Line{Step: installation.StepBackup, Event: installation.EventBegun, Plan: &r.plan}); err != nil {
		return nil, err
	}
	return r.update(ctx, options), nil
}

// beginNew is begin for a new run, which needs space for its folders.
func (u *Updater) beginNew() (func(), error) {
	end, err := u.begin()
	if err != nil {
		return nil, err
	}
	if err := u.makeRoom(); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// makeRoom makes the folders that a run needs.
func (u *Updater) makeRoom() error {
	for _, dir := range []string{u.cfg.Layout.releases(), filepath.Dir(u.cfg.Layout.quarantine("x"))} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("creating a folder of the updater: %w", err)
		}
	}
	if err := os.MkdirAll(u.cfg.Layout.backups(), 0o700); err != nil {
		return fmt.Errorf("creating the folder of backups: %w", err)
	}
	return u.journal.reserve()
}

// begin takes the lock and opens the journal; the returned function releases
// both. After an earlier run it needs no space on the disk, because an
// unfinished run must be completed on a full disk too.
func (u *Updater) begin() (func(), error) {
	if err := os.MkdirAll(u.cfg.Layout.StateDir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the updater's folder: %w", err)
	}
	unlock, err := installation.Lock(u.cfg.Layout.StateDir)
	if err != nil {
		return nil, err
	}
	if u.journal, err = openJournal(installation.Journal(u.cfg.Layout.StateDir)); err != nil {
		unlock()
		return nil, err
	}
	return func() {
		_ = u.journal.close() // every line is on the disk
		unlock()
	}, nil
}

// last returns the last line of the journal, or nil.
func (u *Updater) last() (*installation.Line, error) {
	lines, err := installation.ReadJournal(installation.Journal(u.cfg.Layout.StateDir))
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	return &lines[len(lines)-1], nil
}

// idTime is the beginning of a run's id.
const idTime = "20060102t150405"

// newID returns a name for a run that can also be a part of a database's name.
// The names are in the order of the runs, even if the clock was set back:
// backups are kept and removed in that order.
func (u *Updater) newID() (string, error) {
	known, err := u.backupNames()
	if err != nil {
		return "", err
	}
	line, err := u.last()
	if err != nil {
		return "", err
	}
	if line != nil {
		known = append(known, line.Run)
	}
	at := u.cfg.Now().UTC().Truncate(time.Second)
	for _, id := range known {
		if earlier, err := time.Parse(idTime, id[:min(len(idTime), len(id))]); err == nil && !at.After(earlier) {
			at = earlier.Add(time.Second)
		}
	}
	return at.Format(idTime) + "_" + rand.Text()[:6], nil
}

// stage is one step with its function.
type stage struct {
	step installation.Step
	do   func(context.Context) error
}

// update makes all steps. Up to the stop an error ends the run; from then on
// the run undoes its changes.
func (r *run) update(ctx context.Context, options Options) *Result {
	safe := []stage{
		{installation.StepBackup, r.backup},
		{installation.StepDownload, func(ctx context.Context) error {
			if options.tree != "" {
				return r.takeTree(ctx, options.tree)
			}
			return r.download(ctx, options.Version)
		}},
		{installation.StepVerify, r.verify},
		{installation.StepTrial, r.trial},
	}
	for _, s := range safe {
		if err := r.make(ctx, s); err != nil {
			return r.abandon(s.step, err)
		}
	}
	if options.DryRun {
		return r.unmake(context.WithoutCancel(ctx))
	}
	// A journal on a full disk has used its reserve by now, and a running
	// service is not stopped without it.
	if err := r.journal.reserve(); err != nil {
		return r.abandon(installation.StepTrial, err)
	}
	// From here on a signal must not leave a half-finished change; only time
	// limits end a step.
	ctx = context.WithoutCancel(ctx)
	for _, s := range []stage{{installation.StepStop, r.stop}, {installation.StepSnapshot, r.snapshot}} {
		if err := r.make(ctx, s); err != nil {
			return r.putBack(ctx, remedyOf(s.step), fmt.Errorf("%s: %w", s.step, err))
		}
	}
	for _, s := range []stage{{installation.StepMigrate, r.migrate}, {installation.StepSwitch, r.change},
		{installation.StepHealth, r.health}} {
		if err := r.make(ctx, s); err != nil {
			return r.putBack(ctx, backward, fmt.Errorf("%s: %w", s.step, err))
		}
	}
	r.finish(ctx)
	return r.end(installation.StepDone, nil)
}

// unmake ends a dry run: it has shown that the update would get as far as the
// stop, and leaves nothing.
func (r *run) unmake(ctx context.Context) *Result {
	r.clean(ctx)
	dirs := []string{r.cfg.Layout.backup(r.id)}
	if r.plan.To != r.cfg.Layout.updaterVersion() { // as it is where an update was taken back
		dirs = append(dirs, r.cfg.Layout.release(r.plan.To))
	}
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			r.log.Warn("cannot remove a folder of the dry run", "folder", dir, "error", err)
		}
	}
	return r.end(installation.StepDone, nil)
}

// make writes a step into the journal before and after it.
func (r *run) make(ctx context.Context, s stage) error {
	r.hook("before " + string(s.step))
	if err := r.write(installation.Line{Step: s.step, Event: installation.EventBegun, Plan: &r.plan}); err != nil {
		return err
	}
	r.log.Info("step", "run", r.id, "step", s.step)
	r.hook("in " + string(s.step))
	if err := s.do(ctx); err != nil {
		return err
	}
	r.hook("after " + string(s.step))
	return r.write(installation.Line{Step: s.step, Event: installation.EventEnded, Plan: &r.plan})
}

// write adds a line of this run to the journal.
func (r *run) write(line installation.Line) error {
	line.At, line.Run, line.Text = r.cfg.Now().UTC(), r.id, installation.PrintableText(line.Text)
	return r.journal.add(line)
}

// writeOnce is write for repeated attempts, with which the journal must not
// grow. Later failures are only in the log.
func (r *run) writeOnce(line installation.Line) error {
	line.Text = installation.PrintableText(line.Text)
	lines, err := installation.ReadJournal(installation.Journal(r.cfg.Layout.StateDir))
	if err == nil && slices.ContainsFunc(lines, func(l installation.Line) bool {
		return l.Run == r.id && l.Step == line.Step && l.Event == line.Event && (l.Text == line.Text || l.Event == installation.EventFailed)
	}) {
		return nil
	}
	return r.write(line)
}

// abandon ends a run that has changed nothing.
func (r *run) abandon(step installation.Step, reason error) *Result {
	reason = fmt.Errorf("%s: %w", step.Public(), reason)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.clean(ctx)
	if err := r.cfg.Database.drop(ctx, r.beforeDatabase()); err != nil { // of a roll-back by hand
		r.log.Warn("cannot drop a database; the next run retries", "error", err)
	}
	return r.end(installation.StepFailed, reason)
}

// end writes the last line. If that fails, the run counts as unfinished, and
// Resume completes it.
func (r *run) end(step installation.Step, reason error) *Result {
	line := installation.Line{Step: step, Event: installation.EventEnded, Plan: &r.plan}
	if reason != nil {
		line.Text = reason.Error()
	}
	if err := r.write(line); err != nil {
		reason = errors.Join(reason, err)
		if last, err := r.last(); err == nil && last != nil {
			step = last.Step
		}
	}
	r.hook("after " + string(step))
	r.log.Info("end", "run", r.id, "step", step, "reason", line.Text)
	return &Result{Run: r.id, From: r.plan.From, To: r.plan.To, Step: step, Reason: reason}
}

// clean removes what a run leaves besides the releases. What cannot be removed
// is left to the next run.
func (r *run) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.cfg.Database.drop(ctx, r.trialDatabase()); err != nil {
		r.log.Warn("cannot drop the trial database; the next run retries", "error", err)
	}
	if err := os.RemoveAll(r.cfg.Layout.quarantine(r.id)); err != nil {
		r.log.Warn("cannot empty the quarantine; the next run retries", "error", err)
	}
}

// loadSeen reads what manifest was seen last.
func (l Layout) loadSeen() (release.SeenChannels, error) {
	seen := release.SeenChannels{}
	text, err := os.ReadFile(l.seen())
	if errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	if err != nil {
		return seen, fmt.Errorf("reading the last seen release: %w", err)
	}
	if err = json.Unmarshal(text, &seen); err == nil && seen == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		// Going on would let a server bring back an old release; an
		// administrator must decide that.
		return seen, fmt.Errorf("the record of the last seen release, %s, is damaged (%w): remove the file to accept the next release "+
			"regardless of its date", l.seen(), err)
	}
	return seen, nil
}

// storeSeen writes the newest releases seen. It is written before an update: a
// run that fails has still seen the release.
func (l Layout) storeSeen(seen release.SeenChannels) error {
	text, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("encoding the seen releases: %w", err)
	}
	if err := installation.WriteFile(l.seen(), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("storing the seen releases: %w", err)
	}
	return nil
}
