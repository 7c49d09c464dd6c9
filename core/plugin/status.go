package plugin

// State is the state of a plugin.
type State string

// The states.
const (
	// Starting is a process that has not answered yet, the first or a new one.
	Starting State = "starting"
	Running  State = "running"
	// BackingOff waits before the next start, because the last ones did not live long.
	BackingOff State = "backing_off"
	// Stopped is not enabled, or the service is stopping.
	Stopped State = "stopped"
	// Failed broke a rule: its file, digest or what it says of itself is wrong.
	// It is looked at again every MaxBackoff.
	Failed State = "failed"
)

// Status is the state of one installed plugin.
type Status struct {
	Pin
	State State
	// Abilities are the optional interfaces that the running process satisfies;
	// nil while none runs.
	Abilities []string
	// Restarts counts the starts after the first since the service started.
	Restarts int
	// PID is the process's number; zero while none runs.
	PID int
	// Error is why the last process ended or could not be started; empty when that never happened.
	Error string
}

// Status returns all installed plugins, by kind and name.
func (m *Manager) Status() []Status {
	m.mu.Lock()
	pins := m.pins
	m.mu.Unlock()
	all := make([]Status, 0, len(pins))
	for _, pin := range pins {
		status := Status{Pin: pin, State: Stopped}
		if s := m.find(pin.Kind, pin.Name); s != nil {
			s.fill(&status)
		}
		all = append(all, status)
	}
	return all
}

// fill puts what the supervisor knows into the status.
func (s *supervisor) fill(status *Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status.State, status.Restarts = s.state, s.restarts
	if s.err != nil {
		status.Error = s.err.Error()
	}
	if p := s.current; p != nil {
		status.PID = p.pid
		for _, d := range p.services {
			if d.Kind == status.Kind && d.Name == status.Name {
				status.Abilities = d.Abilities
			}
		}
	}
}
