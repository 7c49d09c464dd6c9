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

// guestWork is what a task does with a guest. Members that are absent do nothing.
type guestWork struct {
	action string // the task's type is qm or vz and this
	// ready runs when the guest's configuration file is locked: it may refuse,
	// or say how long the work takes. Zero is the usual time.
	ready func(t *task, g *guest) (time.Duration, error)
	// lock stands in the configuration from then until apply. It stays when the
	// work fails and there is no undo.
	lock  string
	apply func(t *task, g *guest, now time.Time)
	// undo takes back what ready did when the work fails or is interrupted.
	undo func(t *task, g *guest, now time.Time)
}

// guestTask starts a task on the guest of the path.
func (r *request) guestTask(w guestWork) (result, *apiError) {
	return ok(r.c.startTask(r.node, r.who, taskPrefix(r.kind)+w.action, strconv.Itoa(r.vmid()), r.newGuestTask(w)))
}

// newGuestTask makes the task without starting it.
func (r *request) newGuestTask(w guestWork) *task {
	c, kind, vmid, nodeName := r.c, r.kind, r.vmid(), r.node.name
	skiplock := r.values.boolean("skiplock", false)
	t := &task{vmid: vmid}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		g := c.guestOn(nodeName, kind, vmid)
		if g == nil {
			return 0, errors.New(noConfig(nodeName, kind, vmid))
		}
		wakes := g.Lock == "suspended" && (w.action == "start" || w.action == "resume")
		if err := g.checkLock(); err != nil && !skiplock && !wakes {
			return 0, err
		}
		took := time.Duration(0)
		if w.ready != nil {
			var err error
			if took, err = w.ready(t, g); err != nil {
				return 0, err
			}
		}
		if took == 0 {
			took = c.taskDuration()
		}
		if w.lock != "" {
			g.Lock, t.released = w.lock, true
		}
		t.addSteps(taskPrefix(kind)+w.action, g.TaskLines, now, took)
		return took, nil
	}
	t.finish = func(t *task, now time.Time) error {
		g := c.guestOn(nodeName, kind, vmid)
		if g == nil {
			return errors.New(noConfig(nodeName, kind, vmid))
		}
		if t.failure != nil {
			w.takeBack(t, g, now)
			return t.failure
		}
		g.unlock(w.lock)
		if w.apply != nil {
			w.apply(t, g, now)
		}
		return t.warn(g.Warnings, now)
	}
	t.interrupted = func(t *task, now time.Time) {
		if g := c.guestOn(nodeName, kind, vmid); g != nil {
			w.takeBack(t, g, now)
		}
	}
	return t
}

// takeBack undoes the effect of a task that failed.
func (w *guestWork) takeBack(t *task, g *guest, now time.Time) {
	if w.undo != nil {
		g.unlock(w.lock)
		w.undo(t, g, now)
	}
}

// addSteps spreads log lines over the run time.
func (t *task) addSteps(taskType string, lines int, now time.Time, took time.Duration) {
	for i := range lines {
		at := now.Add(took * time.Duration(i) / time.Duration(lines))
		t.log = append(t.log, logLine{at, fmt.Sprintf("%s: step %d of %d", taskType, i+1, lines)})
	}
}

// warn writes warnings to the log; the task ends with their number.
func (t *task) warn(count int, now time.Time) error {
	if count == 0 {
		return nil
	}
	for i := range count {
		t.log = append(t.log, logLine{now, fmt.Sprintf("WARN: simulated warning %d", i+1)})
	}
	return taskWarnings(count)
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

// unlock takes a lock out of the configuration, unless another one stands there.
func (g *guest) unlock(lock string) {
	if lock != "" && g.Lock == lock {
		g.Lock = ""
	}
}

// isRunning reports whether the guest of the request is running.
func (r *request) isRunning() bool {
	g := r.c.guestOn(r.node.name, r.kind, r.vmid())
	return g != nil && g.running()
}

// notRunning returns the error of an action that needs a running guest.
func notRunning(kind string, vmid int) *apiError {
	return failure("%s not running", label(kind, vmid))
}
