package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// supervisor keeps the process of one file running.
type supervisor struct {
	manager *Manager
	file    string
	pins    []Pin
	logger  hclog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	tried  chan struct{} // closed after the first attempt
	done   chan struct{} // closed when run has returned
	doubt  chan struct{} // a call found the process dead

	mu       sync.Mutex
	state    State
	current  *process // nil unless running
	restarts int
	err      error
	// settled is closed when a start under way has come to its end, either way.
	settled chan struct{}
}

// newSupervisor makes the supervisor of one file, which may be several plugins.
// It starts nothing.
func newSupervisor(m *Manager, file string, pins []Pin) *supervisor {
	s := &supervisor{
		manager: m, file: file, pins: pins, logger: m.logger.Named(pins[0].Name),
		tried: make(chan struct{}), done: make(chan struct{}), doubt: make(chan struct{}, 1),
		state: Starting, settled: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(m.ctx)
	return s
}

// run starts the process again and again until the supervisor is canceled.
func (s *supervisor) run() {
	defer close(s.done)
	defer s.cancel()
	cfg := s.manager.cfg
	failures := 0
	for first := true; ; first = false {
		s.begin(!first)
		p, err := s.launch()
		if err == nil {
			s.came(p)
			if first {
				close(s.tried)
			}
			err = s.watch(p)
			lived := time.Since(p.started)
			s.away(Starting, err)
			s.leave(p)
			if lived >= cfg.StableTime {
				failures = 0
			}
		}
		if s.ctx.Err() != nil {
			s.away(Stopped, nil)
			if first && p == nil {
				close(s.tried)
			}
			return
		}
		failures++
		state, delay := BackingOff, backoffDelay(failures, cfg.MinBackoff, cfg.MaxBackoff)
		if errors.Is(err, ErrPath) || errors.Is(err, ErrDigest) || errors.Is(err, ErrMismatch) {
			// Trying again soon does not help, but somebody may put the correct
			// file back.
			state, delay = Failed, cfg.MaxBackoff
		}
		s.logger.Error("plugin is not running", "file", s.file, "error", err, "restart_in", delay)
		if delay > 0 || p == nil {
			s.away(state, err)
		}
		if first && p == nil {
			close(s.tried)
		}
		if !s.sleep(delay) {
			s.away(Stopped, nil)
			return
		}
	}
}

// launch starts the process and compares its answers with the pins.
func (s *supervisor) launch() (*process, error) {
	path, err := s.manager.resolve(s.file)
	if err != nil {
		return nil, err
	}
	for _, pin := range s.pins[1:] {
		if pin.SHA256 != s.pins[0].SHA256 {
			return nil, fmt.Errorf("%w: %s has pins with different digests", ErrMismatch, s.file)
		}
	}
	p, err := s.manager.launch(s.ctx, path, s.pins[0].SHA256, s.logger)
	if err != nil {
		return nil, err
	}
	for _, pin := range s.pins {
		if err := matches(pin, p.services); err != nil {
			p.end(s.manager.cfg.StopTimeout)
			return nil, err
		}
	}
	return p, nil
}

// matches compares one pin with the description of the process.
func matches(pin Pin, services []sdk.Description) error {
	for _, d := range services {
		if d.Kind != pin.Kind || d.Name != pin.Name {
			continue
		}
		if d.Version != pin.Version {
			return fmt.Errorf("%w: %s %q reports version %q, but version %q is registered",
				ErrMismatch, pin.Kind, pin.Name, d.Version, pin.Version)
		}
		return nil
	}
	return fmt.Errorf("%w: it does not serve %s %q", ErrMismatch, pin.Kind, pin.Name)
}

// watch returns with the reason when the process must be replaced, or when the
// supervisor is canceled.
func (s *supervisor) watch(p *process) error {
	cfg := s.manager.cfg
	ticker := time.NewTicker(cfg.PingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-p.conn.Done():
			return errors.New("the process ended")
		case <-s.doubt:
			return errors.New("the connection to the process was lost")
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(s.ctx, cfg.PingTimeout)
			err := p.conn.Ping(ctx)
			cancel()
			if err != nil && s.ctx.Err() == nil {
				return fmt.Errorf("the process is not responding: %w", err)
			}
		}
	}
}

// leave ends a process: with time to finish when the service stops, at once
// when it is replaced.
func (s *supervisor) leave(p *process) {
	if s.ctx.Err() != nil {
		p.end(s.manager.cfg.StopTimeout)
		return
	}
	p.end(0)
}

// begin records that a start is running.
func (s *supervisor) begin(again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.settled:
		s.settled = make(chan struct{})
	default:
	}
	s.state = Starting
	if again {
		s.restarts++
	}
}

// came records a running process and tells the clients its abilities.
func (s *supervisor) came(p *process) {
	for _, d := range p.services {
		if kind, ok := s.manager.kinds.byKind[d.Kind]; ok {
			kind.describe(d)
		}
	}
	select {
	case <-s.doubt: // about a process of before
	default:
	}
	s.mu.Lock()
	s.state, s.current = Running, p
	close(s.settled)
	s.mu.Unlock()
	s.logger.Info("plugin is running", "file", s.file, "pid", p.pid)
}

// away records that no process runs. In the state Starting a call may still
// wait for the next one.
func (s *supervisor) away(state State, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.state = nil, state
	if err != nil {
		s.err = err
	}
	settled := false
	select {
	case <-s.settled:
		settled = true
	default:
	}
	switch {
	case state == Starting && settled:
		s.settled = make(chan struct{})
	case state != Starting && !settled:
		close(s.settled)
	}
}

// sleep waits. It returns false if the supervisor was canceled.
func (s *supervisor) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// backoffDelay returns the wait before the next start after a number of
// successive failures: none, then least, doubling up to most.
func backoffDelay(failures int, least, most time.Duration) time.Duration {
	if failures <= 1 {
		return 0
	}
	delay := least
	for range failures - 2 {
		if delay >= most {
			break
		}
		delay *= 2
	}
	return min(delay, most)
}
