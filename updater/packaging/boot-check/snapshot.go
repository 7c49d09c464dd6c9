package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// told is the part of GET /meta/update that the steps check.
type told struct {
	CurrentVersion string `json:"current_version"`
	Available      *struct{ Version string }
	LastCheck      *struct{ Error string } `json:"last_check"`
	Shape          string
	CanSelfApply   bool `json:"can_self_apply"`
	Hint           string
	Channel        string
	State          string
	Request        *struct {
		Version     string
		RequestedBy string `json:"requested_by"`
	}
	Run *struct {
		ID, From, To, Step, Reason string
		RequestedBy                string `json:"requested_by"`
		Steps                      []struct {
			Step    string
			EndedAt *time.Time `json:"ended_at"`
		}
		FinishedAt *time.Time `json:"finished_at"`
	}
	Problems []string
}

// told reads what the service reports about updates.
func (c *check) told(ctx context.Context) (*told, error) {
	t := new(told)
	_, err := c.client.call(ctx, http.MethodGet, "/meta/update", nil, t)
	return t, err
}

// updateState is what the service should report about updates, from the end of
// one update until the next is requested.
type updateState struct {
	state, from, to, step string
	reason                string // a part of it; empty when there should be none
	by                    string // who asked
	serves, available     string
	dry                   bool // it was only tried
}

// askedFor is the reason of a rollback that an administrator requested.
const askedFor = "it was requested"

// allSteps are the steps of a successful run, in the words of the API.
var allSteps = []string{"backup", "download", "verify", "migrate", "switch", "health-check"}

// differs returns an error that names the first difference between the expected
// and the reported state.
func (w updateState) differs(t *told) error {
	if t.State != w.state || t.CurrentVersion != w.serves || t.available() != w.available || len(t.Problems) > 0 || t.Request != nil {
		return errors.New("state, version, release, problems or request")
	}
	if w.state == "idle" {
		if t.Run != nil {
			return errors.New("a run where there was none")
		}
		return nil
	}
	r := t.Run
	if r == nil || r.From != w.from || r.To != w.to || r.Step != w.step || r.RequestedBy != w.by || r.FinishedAt == nil {
		return errors.New("the run")
	}
	if !strings.Contains(r.Reason, w.reason) || (w.reason == "") != (r.Reason == "") {
		return fmt.Errorf("the reason, which should have %q", w.reason)
	}
	var steps []string
	for _, s := range r.Steps {
		if s.EndedAt != nil && slices.Contains(allSteps, s.Step) {
			steps = append(steps, s.Step)
		}
	}
	if w.state == "done" && !w.dry && !slices.Equal(steps, allSteps) {
		return errors.New("the steps")
	}
	return nil
}

// available returns the version that the service offers, or "".
func (t *told) available() string {
	if t.Available == nil {
		return ""
	}
	return t.Available.Version
}

// stands compares what the service reports with the expected state.
func (c *check) stands(ctx context.Context) error {
	t, err := c.told(ctx)
	if err != nil {
		return err
	}
	if err := c.last.differs(t); err != nil {
		text, _ := json.Marshal(t) // it came as JSON
		return fmt.Errorf("%w: it should report %+v, but reports %s", err, c.last, text)
	}
	return nil
}

// isNow sets the expected state after an update, and adds the entry that the
// audit log must contain.
func (c *check) isNow(ctx context.Context, w updateState) error {
	c.last = w
	by := w.by
	if by == "" {
		by = "hostler-updater"
	}
	action, result := w.state, map[string]string{"done": "ok", "refused": "refused"}[w.state]
	switch {
	case w.dry:
		action = "dry_run"
	case w.reason == askedFor:
		result = "ok"
	case result == "":
		result = "failed"
	}
	c.trail = append(c.trail, fmt.Sprintf("update.%s %s %s by %s", action, w.to, result, by))
	return c.stands(ctx)
}

// trailTells waits until the audit log contains one entry for each end of an
// update and one for each request. The service looks for ended updates every
// five seconds.
func (c *check) trailTells(ctx context.Context) error {
	return until(ctx, 12*time.Second, func() error {
		var rows []struct {
			Action, Result string
			ActorEmail     string `json:"actor_email"`
			Target         *struct{ Name string }
		}
		if _, err := c.client.call(ctx, http.MethodGet, "/api/v1/audit?action=update.*&per_page=500", nil, &rows); err != nil {
			return err
		}
		var ends []string
		asked := 0
		for _, row := range slices.Backward(rows) {
			switch {
			case row.Action != "update.request":
				name := ""
				if row.Target != nil {
					name = row.Target.Name
				}
				ends = append(ends, fmt.Sprintf("%s %s %s by %s", row.Action, name, row.Result, row.ActorEmail))
			case row.Result == "ok":
				asked++
			}
		}
		if !slices.Equal(ends, c.trail) || asked != c.asked {
			return fmt.Errorf("the audit log has %d requests, not %d, and the ends %q, not %q", asked, c.asked, ends, c.trail)
		}
		return nil
	})
}

// watcher asks all the time how the update stands, and keeps every answer that differs from the one before.
type watcher struct {
	stop func()
	done sync.WaitGroup
	seen []string
}

func (c *check) watch(ctx context.Context) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{stop: cancel}
	w.done.Go(func() {
		for {
			if t, err := c.told(ctx); err == nil {
				w.add(t)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return w
}

func (w *watcher) add(t *told) {
	seen := t.CurrentVersion + " " + t.State
	if t.Run != nil {
		seen += " " + t.Run.Step
	}
	if len(w.seen) == 0 || w.seen[len(w.seen)-1] != seen {
		w.seen = append(w.seen, seen)
	}
}

// end stops asking and returns all that was told, in its order: version, state and step.
func (w *watcher) end() []string {
	w.stop()
	w.done.Wait()
	return w.seen
}

// refuses reports that another update cannot be asked for now, for a reason that programs can read.
func (c *check) refuses(ctx context.Context, reason string) error {
	status, err := c.client.call(ctx, http.MethodPost, "/meta/update", map[string]any{}, nil)
	if status == http.StatusConflict && strings.Contains(err.Error(), `"reason":"`+reason+`"`) {
		return nil
	}
	return errors.Join(fmt.Errorf("asking for an update was not refused because of %q, but answered with %d", reason, status), err)
}
