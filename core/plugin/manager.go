package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// Manager keeps the pinned plugins running. It is safe for concurrent use.
type Manager struct {
	cfg    Config
	logger hclog.Logger
	warned sync.Map // paths

	// ctx is the life of all supervisors; Stop ends it.
	ctx    context.Context
	cancel context.CancelFunc

	reloading sync.Mutex // held by Reload

	kinds registries

	mu          sync.Mutex
	pins        []Pin
	supervisors map[string]*supervisor // by file
}

// New returns a manager. Nothing runs before Start.
func New(cfg Config) (*Manager, error) {
	if cfg.Dir == "" || cfg.Pins == nil {
		return nil, errors.New("a plugin manager needs a folder and a store of pins")
	}
	cfg = cfg.withDefaults()
	m := &Manager{cfg: cfg, logger: cfg.Logger, supervisors: map[string]*supervisor{}}
	m.kinds = newRegistries(m)
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Start starts all enabled plugins and returns when each has started or failed
// for the first time, at most after StartTimeout. A plugin that fails is no
// error of Start; Status reports it, and its supervisor tries again.
func (m *Manager) Start(ctx context.Context) error {
	sweepRunDirs(m.cfg.RunDir)
	return m.Reload(ctx)
}

// Reload reads the pins again. It starts new plugins, stops those that are no
// longer pinned or enabled, and restarts those with a new pin. It returns when
// each of them has started or failed for the first time.
func (m *Manager) Reload(ctx context.Context) error {
	m.reloading.Lock()
	defer m.reloading.Unlock()
	pins, err := m.cfg.Pins.List(ctx)
	if err != nil {
		return fmt.Errorf("reading the pins: %w", err)
	}
	enabled := map[string][]Pin{}
	for _, pin := range pins {
		if pin.Enabled {
			enabled[pin.File] = append(enabled[pin.File], pin)
		}
	}
	if m.ctx.Err() != nil {
		return errors.New("the plugin manager was stopped")
	}
	m.mu.Lock()
	m.pins = pins
	var leaving []*supervisor
	for file, s := range m.supervisors {
		if !slices.EqualFunc(s.pins, enabled[file], samePin) {
			leaving = append(leaving, s)
		}
	}
	m.mu.Unlock()
	stopAll(leaving)

	m.mu.Lock()
	for _, s := range leaving {
		delete(m.supervisors, s.file)
	}
	var coming []*supervisor
	for file, pins := range enabled {
		if m.supervisors[file] == nil {
			s := newSupervisor(m, file, pins)
			m.supervisors[file] = s
			coming = append(coming, s)
		}
	}
	m.mu.Unlock()
	for _, s := range coming {
		go s.run()
	}
	for _, s := range coming {
		select {
		case <-s.tried:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// samePin compares two pins by what matters to a running process.
func samePin(a, b Pin) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Version == b.Version && a.SHA256 == b.SHA256
}

// Stop ends all plugin processes and returns when they are gone. Afterwards
// every call fails with ErrGone. It ends a Reload that waits for a slow start.
func (m *Manager) Stop() {
	m.cancel()
	m.reloading.Lock()
	defer m.reloading.Unlock()
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.supervisors))
	m.mu.Unlock()
	stopAll(all)
	sweepRunDirs(m.cfg.RunDir) // what another service on this machine left meanwhile
}

// stopAll stops all plugins at the same time and waits for them. Stopping them
// one after another would add up their times of grace.
func stopAll(supervisors []*supervisor) {
	for _, s := range supervisors {
		s.cancel()
	}
	for _, s := range supervisors {
		<-s.done
	}
}

// find returns the supervisor of a plugin; nil if none is enabled.
func (m *Manager) find(kind, name string) *supervisor {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.supervisors {
		for _, pin := range s.pins {
			if pin.Kind == kind && pin.Name == name {
				return s
			}
		}
	}
	return nil
}

// lacks reports whether a plugin with the name is enabled that serves other
// kinds and not this one. Then the hypervisor has nothing of the kind;
// otherwise the plugin is merely away.
func (m *Manager) lacks(kind, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	others := false
	for _, pin := range m.pins {
		if pin.Name != name {
			continue
		}
		if pin.Kind == kind {
			return false
		}
		others = others || pin.Enabled
	}
	return others
}

// warnWritable warns once of a path that others may write. It does not refuse:
// an administrator may want it so.
func (m *Manager) warnWritable(path, who string) {
	if _, before := m.warned.LoadOrStore(path, true); !before {
		m.logger.Warn("anyone who can write here can replace a plugin between its check and its start", "path", path, "writable_by", who)
	}
}
