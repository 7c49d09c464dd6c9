package guest

import (
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Only a task that was running is named.
func TestTaskInTheWay(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(1_800_000_000+second, 0) }
	ours := &hypervisor.Task{ID: "ours", Started: at(10), Ended: at(20), Status: hypervisor.TaskFailed}
	console := hypervisor.Task{Started: at(1), Status: hypervisor.TaskRunning, Operation: hypervisor.OperationConsole}
	for name, c := range map[string]struct {
		ours  *hypervisor.Task
		other hypervisor.Task
		named bool
	}{
		"outlived ours":              {ours, hypervisor.Task{Started: at(1), Status: hypervisor.TaskRunning}, true},
		"ended during ours":          {ours, hypervisor.Task{Started: at(1), Ended: at(11), Status: hypervisor.TaskOK}, true},
		"ended as ours began":        {ours, hypervisor.Task{Started: at(1), Ended: at(10), Status: hypervisor.TaskOK}, false},
		"ended before":               {ours, hypervisor.Task{Started: at(1), Ended: at(9), Status: hypervisor.TaskOK}, false},
		"began after ours":           {ours, hypervisor.Task{Started: at(21), Status: hypervisor.TaskRunning}, false},
		"a console":                  {ours, console, false},
		"ours never came, running":   {nil, hypervisor.Task{Started: at(1), Status: hypervisor.TaskRunning}, true},
		"ours never came, has ended": {nil, hypervisor.Task{Started: at(1), Ended: at(9), Status: hypervisor.TaskOK}, false},
	} {
		c.other.ID = "other"
		if got := lockHolderOf(c.ours, []hypervisor.Task{*ours, c.other}); (got != nil) != c.named || got != nil && got.ID != "other" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
