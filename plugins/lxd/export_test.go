package lxd

// What tests of the package look at from outside.
var (
	InstanceRef  = instanceRef
	Unrestricted = unrestricted
	ClientType   = clientType
	AnyProject   = anyProject
)

// Told reports whether the stream of events that a host has for a project has told the end of an operation.
func Told(h *Host, project, id string) bool {
	events, leave := h.streams.join(h, project)
	defer leave()
	return events.endOf(id) != nil
}

// Idle returns when the driver runs nothing for any stream of events.
func Idle(d *Driver) { d.streams.all.Wait() }
