package hypervisor

import "context"

// Action is a change of a guest's power state.
type Action string

// The power actions. Info.Actions says which of them a kind of guest has.
const (
	Start    Action = "start"
	Stop     Action = "stop"     // at once, like pulling the plug
	Shutdown Action = "shutdown" // ask the guest and wait
	Restart  Action = "restart"  // shut down and start again
	Pause    Action = "pause"
	Resume   Action = "resume"
	Reset    Action = "reset"
)

// Operation returns the operation of a task that performs the action.
func (a Action) Operation() Operation { return Operation(a) }

// Actions returns the actions of a kind of guest for which Info.Actions has no
// entry. Pause, Resume and Reset are for VMs only.
func Actions(kind GuestKind) []Action {
	if kind == Container {
		return []Action{Start, Stop, Shutdown, Restart}
	}
	return []Action{Start, Stop, Shutdown, Restart, Pause, Resume, Reset}
}

// LifecycleManager is implemented by hosts that can change a guest's power state. It
// needs the Lifecycle capability.
type LifecycleManager interface {
	// Act sends the action once and never repeats it, whatever happens to the
	// connection. An error of kind Unreachable or Timeout means that the hypervisor
	// may or may not have accepted it. Act returns the ID of the task that the
	// hypervisor started, or an empty ID if the action was complete at once.
	//
	// A guest that does not exist, or that has another UID, is NotFound. An action
	// that the kind of guest does not have is Invalid or Unsupported. An action
	// that does not fit the guest's state, or has no effect, may be Conflict. A
	// locked guest is Busy. Some hypervisors report these failures in the task.
	Act(ctx context.Context, ref GuestRef, action Action) (taskID string, err error)
}
