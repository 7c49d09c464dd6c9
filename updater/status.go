package updater

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Status is how the last run stands, as the status file shows it to everyone on the machine.
type Status struct {
	Run  string `json:"run"`
	From string `json:"from"`
	// To is empty until the manifest was read.
	To      string `json:"to"`
	Request string `json:"request,omitempty"`
	DryRun  bool   `json:"dry_run,omitempty"`
	// State is running, done, failed (nothing was changed) or rolled back.
	State string `json:"state"`
	// Step is the step that is under way, or the last one.
	Step Step `json:"step"`
	// Reason says why it failed or was rolled back.
	Reason     string        `json:"reason,omitempty"`
	StartedAt  time.Time     `json:"started_at"`
	FinishedAt *time.Time    `json:"finished_at,omitempty"`
	Steps      []StepPassage `json:"steps"`
}

// StepPassage is a step that was begun, in the words of the API.
type StepPassage struct {
	Step      Step       `json:"step"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// StatusOf reads the last run from the journal; nil when there was none.
func (l Layout) StatusOf() (*Status, error) {
	lines, err := readJournal(l.journal())
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	id := lines[len(lines)-1].Run
	first := slices.IndexFunc(lines, func(line Line) bool { return line.Run == id })
	return summary(lines[first:]), nil
}

// summary folds the lines of one run.
func summary(lines []Line) *Status {
	last := lines[len(lines)-1]
	s := &Status{Run: last.Run, State: "running", Step: last.Step.Public(), Reason: last.Text, StartedAt: lines[0].At}
	if last.Plan != nil {
		s.From, s.To, s.Request, s.DryRun = last.Plan.From, last.Plan.To, last.Plan.Request, last.Plan.DryRun
	}
	for _, line := range lines {
		if line.Step.Final() {
			s.State, s.FinishedAt = string(line.Step), &line.At
			continue
		}
		step := line.Step.Public()
		if n := len(s.Steps); n == 0 || s.Steps[n-1].Step != step {
			s.Steps = append(s.Steps, StepPassage{Step: step, StartedAt: line.At})
		}
		if line.Event == Ended {
			s.Steps[len(s.Steps)-1].EndedAt = &line.At
		}
	}
	return s
}

// show writes the status file from the journal.
func (l Layout) show() error {
	s, err := l.StatusOf()
	if err != nil || s == nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	if err := writeFile(l.Status(), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
