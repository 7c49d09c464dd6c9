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
	"time"

	"github.com/hostler/hostler/updater/release"
)

// run is one update on its way.
type run struct {
	*Updater
	id   string
	plan Plan
	// known is set by download.
	manifest *release.Manifest
	file     release.File
	seen     release.Seen
	keys     []release.Key
}

// Options of Run.
type Options struct {
	// Request is the id of the request that asks for the update.
	Request string
	// Version, when set, is the only one to install: what somebody agreed to must not become another one meanwhile.
	Version string
	// DryRun stops after the trial of the migrations and leaves nothing behind.
	DryRun bool
}

// Result is the end of a run.
type Result struct {
	Run      string
	From, To string
	// Step is done, rolled back or failed. A dry run that would have come to its stop is done.
	Step Step
	// Reason says why it is not done.
	Reason error
}

// Run installs the newest release. The error says that it could not even begin: ErrBusy, ErrUnfinished, a damaged
// journal. Everything that happens from the first step on is in the result.
func (u *Updater) Run(ctx context.Context, options Options) (*Result, error) {
	release, err := u.begin()
	if err != nil {
		return nil, err
	}
	defer release()
	if line, err := u.last(); err != nil {
		return nil, err
	} else if line != nil && !line.Step.Final() {
		return nil, ErrUnfinished
	}
	from, err := u.cfg.Layout.installed()
	if err != nil {
		return nil, err
	}
	r := &run{Updater: u, id: newID(), plan: Plan{From: from, Request: options.Request, DryRun: options.DryRun}}
	if err := r.write(Line{Step: StepBackup, Event: Begun, Plan: &r.plan}); err != nil {
		return nil, err
	}
	return r.update(ctx, options), nil
}

// begin takes the lock and opens the journal; the returned function gives both back.
func (u *Updater) begin() (func(), error) {
	for _, dir := range []string{u.cfg.Layout.StateDir, u.cfg.Layout.releases(), filepath.Dir(u.cfg.Layout.quarantine("x"))} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("making a folder of the updater: %w", err)
		}
	}
	if err := os.MkdirAll(u.cfg.Layout.backups(), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of backups: %w", err)
	}
	unlock, err := takeLock(u.cfg.Layout.lock())
	if err != nil {
		return nil, err
	}
	if u.journal, err = openJournal(u.cfg.Layout.journal()); err != nil {
		unlock()
		return nil, err
	}
	return func() {
		_ = u.journal.close() // every line is on the disk
		unlock()
	}, nil
}

// last is the journal's last line, or nil.
func (u *Updater) last() (*Line, error) {
	lines, err := readJournal(u.cfg.Layout.journal())
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	return &lines[len(lines)-1], nil
}

// newID is a name for a run that also fits into a database's name.
func newID() string {
	return time.Now().UTC().Format("20060102t150405") + "_" + rand.Text()[:6]
}

// stage is one step with what it does.
type stage struct {
	step Step
	do   func(context.Context) error
}

// update makes all steps. Up to the stop a fault ends the run; from then on it puts back what was changed.
func (r *run) update(ctx context.Context, options Options) *Result {
	safe := []stage{
		{StepBackup, r.backup},
		{StepDownload, func(ctx context.Context) error { return r.download(ctx, options.Version) }},
		{StepVerify, r.verify},
		{StepTrial, r.trial},
	}
	for _, s := range safe {
		if err := r.make(ctx, s); err != nil {
			return r.abandon(s.step, err)
		}
	}
	if options.DryRun {
		return r.unmake(context.WithoutCancel(ctx))
	}
	// From here on a signal must not leave things half done: only time-outs end a step.
	ctx = context.WithoutCancel(ctx)
	for _, s := range []stage{{StepStop, r.stop}, {StepSnapshot, r.snapshot}} {
		if err := r.make(ctx, s); err != nil {
			return r.putBack(ctx, s.step.remedy(), fmt.Errorf("%s: %w", s.step, err))
		}
	}
	for _, s := range []stage{{StepMigrate, r.migrate}, {StepSwitch, r.change}, {StepHealth, r.health}} {
		if err := r.make(ctx, s); err != nil {
			return r.putBack(ctx, backward, fmt.Errorf("%s: %w", s.step, err))
		}
	}
	r.finish(ctx)
	return r.end(StepDone, nil)
}

// unmake ends a dry run: it has shown that the update would get as far as the stop, and leaves nothing behind.
func (r *run) unmake(ctx context.Context) *Result {
	r.clean(ctx)
	for _, dir := range []string{r.cfg.Layout.backup(r.id), r.cfg.Layout.release(r.plan.To)} {
		if err := os.RemoveAll(dir); err != nil {
			r.log.Warn("a folder of the dry run stays", "folder", dir, "error", err)
		}
	}
	return r.end(StepDone, nil)
}

// make writes a step into the journal before and after it.
func (r *run) make(ctx context.Context, s stage) error {
	r.hook("before " + string(s.step))
	if err := r.write(Line{Step: s.step, Event: Begun, Plan: &r.plan}); err != nil {
		return err
	}
	r.log.Info("step", "run", r.id, "step", s.step)
	r.hook("in " + string(s.step))
	if err := s.do(ctx); err != nil {
		return err
	}
	r.hook("after " + string(s.step))
	return r.write(Line{Step: s.step, Event: Ended, Plan: &r.plan})
}

// write adds a line of this run to the journal and shows it in the status file.
func (r *run) write(line Line) error {
	line.At, line.Run = time.Now().UTC(), r.id
	err := r.journal.add(line)
	// The status file is for people; a full disk must not stop a roll-back because of it.
	if shown := r.cfg.Layout.show(); shown != nil {
		r.log.Warn("the status could not be shown", "error", shown)
	}
	return err
}

// abandon ends a run that has changed nothing.
func (r *run) abandon(step Step, reason error) *Result {
	reason = fmt.Errorf("%s: %w", step.Public(), reason)
	r.clean(context.Background())
	return r.end(StepFailed, reason)
}

// end writes the last line.
func (r *run) end(step Step, reason error) *Result {
	line := Line{Step: step, Event: Ended, Plan: &r.plan}
	if reason != nil {
		line.Text = reason.Error()
	}
	if err := r.write(line); err != nil {
		reason = errors.Join(reason, err)
	}
	r.hook("after " + string(step))
	r.log.Info("end", "run", r.id, "step", step, "reason", line.Text)
	return &Result{Run: r.id, From: r.plan.From, To: r.plan.To, Step: step, Reason: reason}
}

// clean removes what a run leaves beside the releases. What cannot be removed is tried again by the next run.
func (r *run) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.cfg.Database.drop(ctx, r.trialDatabase()); err != nil {
		r.log.Warn("the trial's database stays until the next run", "error", err)
	}
	if err := os.RemoveAll(r.cfg.Layout.quarantine(r.id)); err != nil {
		r.log.Warn("the quarantine stays until the next run", "error", err)
	}
}

// loadSeen reads what manifest was seen last.
func (l Layout) loadSeen() (release.Seen, error) {
	var seen release.Seen
	text, err := os.ReadFile(l.seen())
	if errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &seen)
	}
	if err != nil {
		return seen, fmt.Errorf("reading what release was seen last: %w", err)
	}
	return seen, nil
}

func (l Layout) storeSeen(seen release.Seen) error {
	text, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("encoding what release was seen: %w", err)
	}
	if err := writeFile(l.seen(), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("noting what release was seen: %w", err)
	}
	return nil
}
