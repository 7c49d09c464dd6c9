package pvesim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// lockPatience is how long a task waits for another one on the same guest before it gives up.
const lockPatience = 10 * time.Second

// task is one worker. It goes through created, begun and ended; settle moves it on by the clock.
type task struct {
	upid  upid
	start time.Time
	begun bool
	began time.Time // when begin was called
	end   time.Time // when it will be, or was, over; set when begun
	ended bool
	exit  string // OK, WARNINGS: n, or the error
	log   []logLine
	// failure is what the task will end with whatever finish says; set by begin.
	failure error
	vmid    int // guest whose configuration file it locks, 0 for none
	// released says that the file is free again while the work goes on: a lock in the configuration keeps others out.
	released bool

	// begin looks at the state when the lock is held; it returns how long the work takes, or why it fails at once.
	begin func(t *task, now time.Time) (time.Duration, error)
	// finish applies the effect; its error is the task's.
	finish func(t *task, now time.Time) error
	// interrupted, when it is set, takes back what begin did before the task ends because it was stopped.
	interrupted func(t *task, now time.Time)
}

// logLine becomes visible at its time.
type logLine struct {
	at   time.Time
	text string
}

// taskWarnings is a finish error that means success with that many warnings.
type taskWarnings int

func (w taskWarnings) Error() string { return fmt.Sprintf("WARNINGS: %d", int(w)) }

// taskTable holds all tasks: those that run, and the finished ones in the order in which they ended.
type taskTable struct {
	active   []*task
	finished []*task
	byUPID   map[string]*task
	freed    map[int]time.Time // when a guest's lock was last given back
}

// keepFinished is how many finished tasks the archive keeps.
const keepFinished = 20_000

// startTask creates a task of the identity on the node and lets it begin when nothing holds the guest's lock.
func (c *Cluster) startTask(n *node, who identity, kind, id string, t *task) string {
	s := c.addTask(n, who, kind, id, t, c.clock.now())
	c.settle()
	return s
}

// addTask puts a task into the list without letting it begin: a task that starts another one calls it.
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

func (tt *taskTable) beginTask(c *Cluster, t *task, at time.Time) {
	t.begun = true
	if tt.blocked(slices.Index(tt.active, t), t) {
		file := fmt.Sprintf("/var/lock/qemu-server/lock-%d.conf", t.vmid)
		if strings.HasPrefix(t.upid.kind, "vz") {
			file = fmt.Sprintf("/run/lock/lxc/pve-config-%d.lock", t.vmid)
		}
		tt.close(c, t, at, errors.New("can't lock file '"+file+"' - got timeout"))
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

// free gives the lock of the task's guest back.
func (tt *taskTable) free(t *task, at time.Time) {
	if tt.freed == nil {
		tt.freed = map[int]time.Time{}
	}
	if at.After(tt.freed[t.vmid]) {
		tt.freed[t.vmid] = at
	}
}

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

// unexpectedStatus is the end of a task that wrote none.
const unexpectedStatus = "unexpected status"

// abort stops a running task as DELETE on it does. How it ends depends on how the work takes the signal.
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

// cutLog forgets the lines that would have come later.
func (t *task) cutLog(now time.Time) {
	t.log = slices.DeleteFunc(t.log, func(l logLine) bool { return l.at.After(now) })
}

// lines are the log lines that are visible now.
func (t *task) lines(now time.Time) []string {
	var out []string
	for _, l := range t.log {
		if !l.at.After(now) {
			out = append(out, l.text)
		}
	}
	return out
}

// failed reports whether the task ended with an error; warnings are a success.
func (t *task) failed() bool {
	return t.ended && t.exit != "OK" && !strings.HasPrefix(t.exit, "WARNINGS: ")
}

// visibleTo reports whether an identity may see the task without Sys.Audit on its node: a token sees only its own
// tasks, a user also those of all his tokens.
func (t *task) visibleTo(who identity) bool { return ownsTask(t.upid.user, who) }

func ownsTask(taskUser string, who identity) bool {
	owner := parseIdentity(taskUser)
	return owner == who || who.token == "" && owner.user == who.user
}

// userFields writes the user of a task as most answers have it: the token apart.
func (u upid) userFields(row map[string]any) {
	who := parseIdentity(u.user)
	row["user"] = who.user
	if who.token != "" {
		row["tokenid"] = who.token
	}
}

// TaskInfo is what [Cluster.Tasks] tells of a task.
type TaskInfo struct {
	UPID, Type, ID, User string
	Running              bool
	Exit                 string
}

// Tasks lists all tasks, running ones first, then the finished, the newest first.
func (c *Cluster) Tasks() []TaskInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	var out []TaskInfo
	add := func(list []*task) {
		for _, t := range slices.Backward(list) {
			out = append(out, TaskInfo{t.upid.String(), t.upid.kind, t.upid.id, t.upid.user, !t.ended, t.exit})
		}
	}
	add(c.tasks.active)
	add(c.tasks.finished)
	return out
}

// StartTask puts a task of the given type into the list that runs for d and then ends with exit ("OK", "WARNINGS: 1"
// or an error text, of which "unexpected status" is a task that wrote no end). It touches no guest. It returns the UPID.
func (c *Cluster) StartTask(nodeName, userID, kind, id string, d time.Duration, exit string, lines ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(nodeName)
	if n == nil {
		return "", fmt.Errorf("no node %q", nodeName)
	}
	return c.startTask(n, parseIdentity(userID), kind, id, scripted(d, exit, lines)), nil
}

// scripted is a task that runs for d, writes lines meanwhile, and ends with exit.
func scripted(d time.Duration, exit string, lines []string) *task {
	return &task{
		begin: func(t *task, now time.Time) (time.Duration, error) {
			for i, l := range lines {
				t.log = append(t.log, logLine{now.Add(d * time.Duration(i) / time.Duration(len(lines))), l})
			}
			return d, nil
		},
		finish: func(*task, time.Time) error {
			if n, ok := strings.CutPrefix(exit, "WARNINGS: "); ok {
				count, _ := strconv.Atoi(n)
				return taskWarnings(count)
			}
			if exit == "OK" || exit == "" {
				return nil
			}
			return errors.New(exit)
		},
	}
}
