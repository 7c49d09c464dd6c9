package updater

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Service stops and starts the service.
type Service interface {
	// Stop returns when no process of the service is left.
	Stop(ctx context.Context) error
	// Start forgets failed starts and begins a new one. It may return before
	// the service is ready, and succeeds when the service runs already.
	Start(ctx context.Context) error
	// State is that of the running process.
	State(ctx context.Context) (State, error)
}

// State distinguishes one start of the service from another.
type State struct {
	// Process is the main process's id; 0 when none runs.
	Process int
	// Restarts counts how often the supervisor has started it again by itself.
	Restarts int
}

// String is the state for a message.
func (s State) String() string {
	return fmt.Sprintf("process %d after %d restarts", s.Process, s.Restarts)
}

// Systemd is a Service that is a unit of systemd.
type Systemd struct{ Unit string }

var _ Service = Systemd{}

// Stop implements Service. systemctl waits until the processes of the unit have
// ended.
func (s Systemd) Stop(ctx context.Context) error { return s.call(ctx, "stop") }

// Start implements Service. A unit that failed too often is refused by systemd
// until reset-failed clears its counter.
func (s Systemd) Start(ctx context.Context) error {
	if err := s.call(ctx, "reset-failed"); err != nil && !strings.Contains(err.Error(), "not loaded") {
		return err
	}
	return s.call(ctx, "start", "--no-block")
}

// State implements Service.
func (s Systemd) State(ctx context.Context) (State, error) {
	out, err := command{name: "systemctl", args: []string{"show", "--property=MainPID", "--property=NRestarts", s.Unit}}.output(ctx)
	if err != nil {
		return State{}, fmt.Errorf("getting the service's state from systemd: %w", err)
	}
	values := map[string]int{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if values[name], err = strconv.Atoi(value); err != nil {
			return State{}, fmt.Errorf("systemd answers %q for the service's state", line)
		}
	}
	return State{Process: values["MainPID"], Restarts: values["NRestarts"]}, nil
}

// call calls systemctl for the unit.
func (s Systemd) call(ctx context.Context, verb string, options ...string) error {
	args := append(append([]string{verb}, options...), s.Unit)
	if err := (command{name: "systemctl", args: args}).run(ctx); err != nil {
		return fmt.Errorf("systemctl %s: %w", verb, err)
	}
	return nil
}
