package pvesim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	// released says that the file is free again while the work goes on: a lock
	// in the configuration keeps others out.
	released bool

	// begin looks at the state when the lock is held; it returns how long the
	// work takes, or why it fails at once.
	begin func(t *task, now time.Time) (time.Duration, error)
	// finish applies the effect; its error is the task's.
	finish func(t *task, now time.Time) error
	// interrupted, when it is set, takes back what begin did before the task
	// ends because it was stopped.
	interrupted func(t *task, now time.Time)
}

// logLine becomes visible at its time.
type logLine struct {
	at   time.Time
	text string
}

// taskWarnings is a finish error that means success with that many warnings.
type taskWarnings int

// Error returns the end of a task with warnings, as the original writes it.
func (w taskWarnings) Error() string { return fmt.Sprintf("WARNINGS: %d", int(w)) }

// unexpectedStatus is the end of a task that wrote none.
const unexpectedStatus = "unexpected status"

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

// visibleTo reports whether an identity may see the task without Sys.Audit on
// its node: a token sees only its own tasks, a user also those of all his
// tokens.
func (t *task) visibleTo(who identity) bool { return ownsTask(t.upid.user, who) }

// ownsTask reports whether a caller may see a task without a privilege. A user
// sees the tasks of all of their tokens.
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

// StartTask puts a task of the given type into the list that runs for d and
// then ends with exit ("OK", "WARNINGS: 1" or an error text, of which
// "unexpected status" is a task that wrote no end). It touches no guest. It
// returns the UPID.
func (c *Cluster) StartTask(nodeName, userID, kind, id string, d time.Duration, exit string, lines ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(nodeName)
	if n == nil {
		return "", fmt.Errorf("no node %q", nodeName)
	}
	return c.startTask(n, parseIdentity(userID), kind, id, scripted(d, exit, lines)), nil
}

// AddPastTask puts a task of a user or token into the archive of a node that
// ended well so long ago, as a node has many that has run for a while: by those
// that it may see a client knows how far back the list reaches.
func (c *Cluster) AddPastTask(nodeName, userID, kind string, ago time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeByName(nodeName)
	switch {
	case n == nil:
		return fmt.Errorf("no node %q", nodeName)
	case userID == "" || kind == "" || ago < 0:
		return errors.New("a past task has a user and a type, and ended before now")
	}
	c.addTask(n, parseIdentity(userID), kind, "", scripted(0, "OK", nil), c.clock.now().Add(-ago))
	c.settle()
	slices.SortStableFunc(c.tasks.finished, func(a, b *task) int { return a.end.Compare(b.end) })
	return nil
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
