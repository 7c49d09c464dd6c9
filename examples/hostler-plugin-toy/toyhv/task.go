package toyhv

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// task is a task with its log; the server's lock guards it.
type task struct {
	Task
	lines []string
}

// power says from which states an action leads to which.
var power = map[string]struct {
	from []string
	to   string
}{
	"start":   {[]string{"down"}, "up"},
	"kill":    {[]string{"up", "frozen"}, "down"},
	"stop":    {[]string{"up"}, "down"},
	"restart": {[]string{"up"}, "up"},
	"freeze":  {[]string{"up"}, "frozen"},
	"thaw":    {[]string{"frozen"}, "up"},
	"reset":   {[]string{"up"}, "up"},
}

func (s *Server) act(r *http.Request) (any, error) {
	action := r.PathValue("action")
	return s.change(r, action, func(g *guest) (func(), error) {
		step, known := power[action]
		switch {
		case !known || action == "reset" && g.Type != "vm":
			return nil, &refused{http.StatusBadRequest, Refusal{Error: "a " + g.Type + " does not know this action", Field: "action"}}
		case !slices.Contains(step.from, g.State):
			return nil, refuse(http.StatusConflict, "the guest is "+g.State)
		}
		return func() {
			g.State = step.to
			if action == "start" || action == "restart" || action == "reset" {
				g.since = time.Now()
			}
		}, nil
	})
}

// change starts the task of a request that changes a guest. begin refuses, or does what is done at once and gives what is done at
// the task's end; both have the lock.
func (s *Server) change(r *http.Request, kind string, begin func(*guest) (end func(), err error)) (any, error) {
	by := s.client(r).fingerprint
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if g.Lock != "" {
		return nil, refuse(http.StatusLocked, "the guest is locked: "+g.Lock)
	}
	finish, err := begin(g)
	if err != nil {
		return nil, err
	}
	t := s.newTask(kind, g.Name, by, fmt.Sprintf("%s of guest %s", kind, g.Name))
	time.AfterFunc(s.taskTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		finish()
		t.lines = append(t.lines, "the guest is "+g.State)
		t.end("done", "")
	})
	return t.Task, nil
}

// newTask needs the lock.
func (s *Server) newTask(kind, guest, by string, lines ...string) *task {
	t := &task{Task: Task{
		ID: "T" + strconv.Itoa(len(s.tasks)+1), Node: Node, Kind: kind, Guest: guest, Client: by, State: "running", Started: time.Now(),
	}, lines: lines}
	s.tasks = append(s.tasks, t)
	return t
}

// end needs the lock.
func (t *task) end(state, message string) { t.State, t.Message, t.Ended = state, message, time.Now() }

// NewTask makes a task in one of the states with lines of log. A running one never ends.
func (s *Server) NewTask(state, message string, lines ...string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.newTask("copy", "", "root", lines...)
	if state != "running" {
		t.end(state, message)
	}
	return t.ID
}

func (s *Server) listTasks(r *http.Request) (any, error) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 || limit > 500 {
		return nil, &refused{http.StatusBadRequest, Refusal{Error: "limit must be from 1 to 500", Field: "limit"}}
	}
	since := time.Time{}
	if text := q.Get("since"); text != "" {
		if since, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil, &refused{http.StatusBadRequest, Refusal{Error: "since is no time", Field: "since"}}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []Task{}
	for _, t := range slices.Backward(s.tasks) {
		node, guest := q.Get("node"), q.Get("guest")
		if len(found) < limit && (node == "" || node == t.Node) && (guest == "" || guest == t.Guest) &&
			!t.Started.Before(since) && (q.Get("failed") == "" || t.State == "failed") {
			found = append(found, t.Task)
		}
	}
	return found, nil
}

// findTask needs the lock.
func (s *Server) findTask(r *http.Request) (*task, error) {
	number, err := strconv.Atoi(strings.TrimPrefix(r.PathValue("id"), "T"))
	if err != nil || number < 1 || number > len(s.tasks) {
		return nil, refuse(http.StatusNotFound, "no such task")
	}
	return s.tasks[number-1], nil
}

func (s *Server) task(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.findTask(r)
	if err != nil {
		return nil, err
	}
	return t.Task, nil
}

func (s *Server) log(r *http.Request) (any, error) {
	start, errStart := strconv.Atoi(r.URL.Query().Get("start"))
	limit, errLimit := strconv.Atoi(r.URL.Query().Get("limit"))
	if errStart != nil || errLimit != nil || start < 0 || limit < 0 {
		return nil, &refused{http.StatusBadRequest, Refusal{Error: "start and limit must be numbers", Field: "start"}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.findTask(r)
	if err != nil {
		return nil, err
	}
	window := t.lines[min(start, len(t.lines)):]
	if limit > 0 {
		window = window[:min(limit, len(window))]
	}
	return Log{Lines: slices.Clone(window), Total: len(t.lines)}, nil
}
