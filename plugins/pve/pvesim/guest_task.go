package pvesim

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// taskPrefix starts the task types of a guest type: qmstart, vzstart.
func taskPrefix(kind string) string {
	if kind == LXC {
		return "vz"
	}
	return "qm"
}

// label names a guest as messages do: VM 100, CT 101.
func label(kind string, vmid int) string {
	if kind == LXC {
		return "CT " + strconv.Itoa(vmid)
	}
	return "VM " + strconv.Itoa(vmid)
}

// guestTask starts a task on the guest of the path; its type is qm or vz and the action. ready runs when the guest's configuration lock is held: it may refuse, or change
// how long the work takes; apply is the effect at the end.
func (r *request) guestTask(
	action string, ready func(t *task, g *guest) (time.Duration, error), apply func(g *guest, now time.Time),
) (result, *apiError) {
	kind, taskType := r.kind, taskPrefix(r.kind)+action
	c, vmid, nodeName := r.c, r.vmid(), r.node.name
	skiplock := r.values.boolean("skiplock", false)
	t := &task{vmid: vmid}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		g := c.guestOn(nodeName, kind, vmid)
		if g == nil {
			return 0, errors.New(noConfig(nodeName, kind, vmid))
		}
		wakes := g.Lock == "suspended" && (taskType == "qmstart" || taskType == "qmresume")
		if err := g.checkLock(); err != nil && !skiplock && !wakes {
			return 0, err
		}
		took, err := ready(t, g)
		if err != nil {
			return 0, err
		}
		if took == 0 {
			took = c.taskDuration()
		}
		for i := range g.TaskLines {
			at := now.Add(took * time.Duration(i) / time.Duration(g.TaskLines))
			t.log = append(t.log, logLine{at, fmt.Sprintf("%s: step %d of %d", taskType, i+1, g.TaskLines)})
		}
		return took, nil
	}
	t.finish = func(t *task, now time.Time) error {
		g := c.guestOn(nodeName, kind, vmid)
		if g == nil {
			return errors.New(noConfig(nodeName, kind, vmid))
		}
		if t.failure != nil {
			return t.failure
		}
		apply(g, now)
		if g.Warnings > 0 {
			for i := range g.Warnings {
				t.log = append(t.log, logLine{now, fmt.Sprintf("WARN: simulated warning %d", i+1)})
			}
			return taskWarnings(g.Warnings)
		}
		return nil
	}
	return ok(c.startTask(r.node, r.who, taskType, strconv.Itoa(vmid), t))
}

// checkLock is the error of a locked configuration.
func (g *guest) checkLock() error {
	if g.Lock == "" {
		return nil
	}
	if g.Type == LXC {
		return fmt.Errorf("CT is locked (%s)", g.Lock)
	}
	return fmt.Errorf("VM is locked (%s)", g.Lock)
}

func (r *request) isRunning() bool {
	g := r.c.guestOn(r.node.name, r.kind, r.vmid())
	return g != nil && g.running()
}

func notRunning(kind string, vmid int) *apiError {
	return failure("%s not running", label(kind, vmid))
}
