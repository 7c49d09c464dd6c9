package pvesim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// lockPatience is how long a task waits for another one on the same guest before it gives up.
const lockPatience = 10 * time.Second

// taskTable holds all tasks: those that run, and the finished ones in the order
// in which they ended.
type taskTable struct {
	active   []*task
	finished []*task
	byUPID   map[string]*task
	freed    map[int]time.Time // when a guest's lock was last given back
}

// keepFinished is how many finished tasks the archive keeps.
const keepFinished = 20_000

// startTask creates a task of the identity on the node and lets it begin when
// nothing holds the guest's lock.
func (c *Cluster) startTask(n *node, who identity, kind, id string, t *task) string {
	s := c.addTask(n, who, kind, id, t, c.clock.now())
	c.settle()
	return s
}

// addTask puts a task into the list without letting it begin: a task that
// starts another one calls it.
func (c *Cluster) addTask(n *node, who identity, kind, id string, t *task, now time.Time) string {
	t.start = now
	t.upid = upid{
		node: n.name, pid: n.takePID(), pstart: n.ticksSinceBoot(now), starttime: now.Unix(), kind: kind, id: id, user: who.id(),
	}
	s := t.upid.String()
	if c.tasks.byUPID == nil {
		c.tasks.byUPID = map[string]*task{}
	}
	c.tasks.byUPID[s] = t
	c.tasks.active = append(c.tasks.active, t)
	c.generation++
	return s
}

// settle lets every event up to now happen, in the order of time.
func (tt *taskTable) settle(c *Cluster, now time.Time) {
	for {
		next, at := tt.nextEvent(now)
		if next == nil {
			return
		}
		c.generation++
		if !next.begun {
			tt.beginTask(c, next, at)
		} else {
			tt.endTask(c, next, at)
		}
	}
}

// nextEvent finds the earliest begin or end that is due.
func (tt *taskTable) nextEvent(now time.Time) (*task, time.Time) {
	var next *task
	var at time.Time
	for i, t := range tt.active {
		when := t.end
		if !t.begun {
			when = tt.lockFreeAt(i, t)
		}
		if !when.After(now) && (next == nil || when.Before(at)) {
			next, at = t, when
		}
	}
	return next, at
}

// lockFreeAt is when a waiting task gets its guest's lock, or gives up.
func (tt *taskTable) lockFreeAt(index int, t *task) time.Time {
	if t.vmid == 0 {
		return t.start
	}
	if tt.blocked(index, t) {
		return t.start.Add(lockPatience) // when the other one ends before, settle ends it first and looks again
	}
	if freed := tt.freed[t.vmid]; freed.After(t.start) {
		return freed
	}
	return t.start
}

// blocked reports whether an older task holds the lock of this one's guest.
func (tt *taskTable) blocked(index int, t *task) bool {
	return t.vmid != 0 && slices.ContainsFunc(tt.active[:index], func(o *task) bool { return o.vmid == t.vmid && !o.released })
}

// beginTask lets a task do what it does at its beginning, unless another one
// has the lock.
func (tt *taskTable) beginTask(c *Cluster, t *task, at time.Time) {
	t.begun = true
	if tt.blocked(slices.Index(tt.active, t), t) {
		kind := QEMU
		if g := c.guests[t.vmid]; g != nil {
			kind = g.Type
		}
		tt.close(c, t, at, errors.New("can't lock file '"+lockFile(kind, t.vmid)+"' - got timeout"))
		return
	}
	t.began = at
	took, err := t.begin(t, at)
	t.end = at.Add(took)
	if err != nil {
		tt.close(c, t, at, err)
	} else if t.released {
		tt.free(t, at)
	}
}

// lockFile is what is locked while a guest's configuration is changed.
func lockFile(kind string, vmid int) string {
	if kind == LXC {
		return fmt.Sprintf("/run/lock/lxc/pve-config-%d.lock", vmid)
	}
	return fmt.Sprintf("/var/lock/qemu-server/lock-%d.conf", vmid)
}

// held reports whether a task will hold the lock of a guest for longer than a
// request waits. The simulator's clock stands still in a request, so a shorter
// wait takes no time.
func (tt *taskTable) held(vmid int, now time.Time) bool {
	return slices.ContainsFunc(tt.active, func(t *task) bool {
		return t.vmid == vmid && t.begun && !t.released && t.end.Sub(now) > lockPatience
	})
}

// free gives the lock of the task's guest back.
func (tt *taskTable) free(t *task, at time.Time) {
	if tt.freed == nil {
		tt.freed = map[int]time.Time{}
	}
	if at.After(tt.freed[t.vmid]) {
		tt.freed[t.vmid] = at
	}
}

// endTask ends a task with its result.
func (tt *taskTable) endTask(c *Cluster, t *task, at time.Time) {
	tt.close(c, t, at, t.finish(t, at))
}

// close ends a task with the last line of its log, which one without a known end lacks.
func (tt *taskTable) close(c *Cluster, t *task, at time.Time, err error) {
	var warn taskWarnings
	switch {
	case err == nil:
		t.exit = "OK"
		t.log = append(t.log, logLine{at, "TASK OK"})
	case errors.As(err, &warn):
		t.exit = warn.Error()
		t.log = append(t.log, logLine{at, "TASK " + warn.Error()})
	case err.Error() == unexpectedStatus:
		t.exit = unexpectedStatus
	default:
		t.exit, _, _ = strings.Cut(err.Error(), "\n")
		t.log = append(t.log, logLine{at, "TASK ERROR: " + err.Error()})
	}
	t.end = at
	tt.archive(c, t)
}

// archive moves an ended task to its node's archive.
func (tt *taskTable) archive(c *Cluster, t *task) {
	t.ended = true
	c.generation++
	if t.vmid != 0 && !t.released {
		tt.free(t, t.end)
	}
	tt.active = slices.DeleteFunc(tt.active, func(o *task) bool { return o == t })
	tt.finished = append(tt.finished, t)
	if over := len(tt.finished) - keepFinished; over > 0 {
		for _, old := range tt.finished[:over] {
			delete(tt.byUPID, old.upid.String())
		}
		tt.finished = slices.Clone(tt.finished[over:])
	}
}

// abort stops a running task as DELETE on it does. How it ends depends on how
// the work takes the signal.
func (tt *taskTable) abort(c *Cluster, t *task, now time.Time) {
	if t.ended {
		return
	}
	t.cutLog(now)
	if t.begun && t.interrupted != nil {
		t.interrupted(t, now)
	}
	t.begun = true
	switch t.upid.kind {
	case "vzdump":
		tt.close(c, t, now, errors.New("job errors"))
	case "vzshutdown":
		tt.close(c, t, now, errors.New(unexpectedStatus))
	default:
		tt.close(c, t, now, errors.New("received interrupt"))
	}
}

// lose ends the running tasks of a node that went down: nobody wrote how they ended.
func (tt *taskTable) lose(c *Cluster, node string) {
	now := c.clock.now()
	for _, t := range slices.Clone(tt.active) {
		if t.upid.node == node {
			t.begun, t.exit, t.end = true, unexpectedStatus, now
			t.cutLog(now)
			tt.archive(c, t)
		}
	}
}
