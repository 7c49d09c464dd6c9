package hypervisor

import "context"

// Action is a change of a guest's power state.
type Action string

// The actions. Which of them a kind of guest knows is the hypervisor's affair; see Info.Actions.
const (
	Start    Action = "start"
	Stop     Action = "stop"     // at once, like pulling the plug
	Shutdown Action = "shutdown" // ask the guest and wait
	Restart  Action = "restart"  // shut down and start again
	Pause    Action = "pause"
	Resume   Action = "resume"
	Reset    Action = "reset"
)

// Operation is the word for a task that does the action.
func (a Action) Operation() Operation { return Operation(a) }

// Actions lists those that a guest kind knows where the driver's Info says nothing else: Pause, Resume and Reset are for VMs.
func Actions(kind GuestKind) []Action {
	if kind == Container {
		return []Action{Start, Stop, Shutdown, Restart}
	}
	return []Action{Start, Stop, Shutdown, Restart, Pause, Resume, Reset}
}

// Lifecycler is satisfied by hosts that can change a guest's power state. Needs the Lifecycle capability.
type Lifecycler interface {
	// Act sends the action once and never repeats it by itself, whatever happens to the connection: an error of kind
	// Unreachable or Timeout means that it may or may not have been taken. It returns the id of the task that the
	// hypervisor started, or an empty one when the action was done at once. A guest that is not there, or that has another UID, is
	// NotFound; an action that its kind does not know is Invalid or Unsupported; one that does not fit its state, or has nothing to do,
	// may be Conflict; a lock is Busy. Some hypervisors find these out in the task.
	Act(ctx context.Context, ref GuestRef, action Action) (taskID string, err error)
}
