package installation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// State is how a run, or the request for one, stands.
type State string

// The states.
const (
	// StateRunning: an updater is at work.
	StateRunning State = "running"
	// StateInterrupted: a run is not at its end and no updater is at work; resume brings it to its end.
	StateInterrupted State = "interrupted"
	// StateRefused: a request did not become a run.
	StateRefused State = "refused"
	// StateDone: the new version is in place and healthy.
	StateDone State = "done"
	// StateFailed: the run ended before anything was changed.
	StateFailed State = "failed"
	// StateRolledBack: the old version is in place again with its data, and healthy.
	StateRolledBack State = "rolled_back"
)

// Status is how the last run stands.
type Status struct {
	// Run is the id of the run; empty for a request that was refused.
	Run  string
	From string
	// To is empty until the manifest was read.
	To      string
	Request string
	DryRun  bool
	Revert  bool
	State   State
	// Step is the step that is under way, or the last one, in the words of the API.
	Step Step
	// Reason says why it failed, was refused or rolled back, and while it is rolled back.
	Reason    string
	StartedAt time.Time
	// FinishedAt is zero while the run is not at its end.
	FinishedAt time.Time
	Steps      []StepStatus
}

// StepStatus is a step that was begun, in the words of the API. EndedAt is zero until the step went well.
type StepStatus struct {
	Step      Step
	StartedAt time.Time
	EndedAt   time.Time
}

// LastStatus is the status of the newest run, or of the request that came after it and was refused; nil when there was neither.
func LastStatus(stateDir string) (*Status, error) {
	// The lock is looked at first: a run that ends in between has written its end then.
	locked, err := Locked(stateDir)
	if err != nil {
		return nil, err
	}
	lines, err := ReadJournal(Journal(stateDir))
	if err != nil {
		return nil, err
	}
	var s *Status
	if len(lines) > 0 {
		id := lines[len(lines)-1].Run
		s = summary(lines[slices.IndexFunc(lines, func(l Line) bool { return l.Run == id }):])
		if s.State == StateRunning && !locked {
			s.State = StateInterrupted
		}
	}
	refused, err := readRefusal(stateDir)
	// The clock may have been put back in between: it does not say what came later.
	if err != nil || refused == nil || s != nil && refused.After != s.Run {
		return s, err
	}
	return refused.status(), nil
}

// summary folds the lines of one run.
func summary(lines []Line) *Status {
	last := lines[len(lines)-1]
	s := &Status{Run: last.Run, State: StateRunning, Step: last.Step.Public(), Reason: last.Text, StartedAt: lines[0].At}
	if last.Plan != nil {
		s.From, s.To, s.Request, s.DryRun, s.Revert = last.Plan.From, last.Plan.To, last.Plan.Request, last.Plan.DryRun, last.Plan.Revert
	}
	for _, line := range lines {
		if line.Step.Final() {
			s.State, s.FinishedAt = stateOf(line.Step), line.At
			continue
		}
		step := line.Step.Public()
		if n := len(s.Steps); n == 0 || s.Steps[n-1].Step != step {
			s.Steps = append(s.Steps, StepStatus{Step: step, StartedAt: line.At})
		}
		if line.Event == EventEnded {
			s.Steps[len(s.Steps)-1].EndedAt = line.At
			if start := s.Steps[len(s.Steps)-1].StartedAt; line.At.Before(start) {
				s.Steps[len(s.Steps)-1].EndedAt = start // the clock was put back
			}
		}
	}
	return s
}

func stateOf(end Step) State {
	switch end {
	case StepDone:
		return StateDone
	case StepRolledBack:
		return StateRolledBack
	}
	return StateFailed
}

// Refusal is a request that did not become a run, and why.
type Refusal struct {
	At      time.Time `json:"at"`
	Request string    `json:"request"`
	Version string    `json:"version"`
	Reason  string    `json:"reason"`
	// After is the run that was the last one then; Refuse sets it.
	After string `json:"after,omitempty"`
}

func (r *Refusal) status() *Status {
	return &Status{Request: r.Request, To: r.Version, State: StateRefused, Reason: r.Reason, StartedAt: r.At, FinishedAt: r.At}
}

func refusalPath(stateDir string) string { return filepath.Join(stateDir, "refused.json") }

// Refuse tells everyone why a request did not become a run, until the next run.
func Refuse(stateDir string, r Refusal) error {
	if lines, err := ReadJournal(Journal(stateDir)); err == nil && len(lines) > 0 {
		r.After = lines[len(lines)-1].Run
	}
	r.Reason = PrintableText(r.Reason)
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding a refusal: %w", err)
	}
	if err := WriteFile(refusalPath(stateDir), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing why the request is refused: %w", err)
	}
	return nil
}

func readRefusal(stateDir string) (*Refusal, error) {
	text, err := os.ReadFile(refusalPath(stateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading why a request was refused: %w", err)
	}
	var r Refusal
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, nil // a file that the disk has damaged must not hide how the last run stands
	}
	return &r, nil
}
