package pvesim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

func TestTaskRunsByTheClock(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true, TaskDuration: time.Minute})
	c.StopClock()
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, TaskLines: 4})
	root := as(t, c, c.AdminToken())
	upid := root.post("/nodes/pve1/qemu/100/status/start", "")
	if end := root.taskEnd(upid); end != "running" {
		t.Errorf("just started: %s", end)
	}
	if g, _ := c.Guest(100); g.Status != pvesim.StatusStopped {
		t.Errorf("the guest is %s before its task is over", g.Status)
	}
	c.Advance(31 * time.Second)
	if lines := root.logLines(upid); len(lines) != 3 {
		t.Errorf("after half of the time the log is %q", lines)
	}
	c.Advance(30 * time.Second)
	if end := root.taskEnd(upid); end != "OK" {
		t.Errorf("after a minute: %s", end)
	}
	if lines := root.logLines(upid); len(lines) != 5 || lines[4] != "TASK OK" {
		t.Errorf("log %q", lines)
	}
	if g, _ := c.Guest(100); g.Status != pvesim.StatusRunning {
		t.Errorf("the guest is %s", g.Status)
	}
}

func TestTaskEnds(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	for exit, last := range map[string]string{"OK": "TASK OK", "WARNINGS: 2": "TASK WARNINGS: 2",
		"no space left": "TASK ERROR: no space left"} {
		upid, err := c.StartTask("pve1", "root@pam", "vzdump", "", 0, exit)
		noError(t, err)
		if got := root.taskEnd(upid); got != exit {
			t.Errorf("exit status %q, want %q", got, exit)
		}
		if lines := root.logLines(upid); lines[len(lines)-1] != last {
			t.Errorf("log %q, want the end %q", lines, last)
		}
	}
	addGuest(t, c, pvesim.GuestSpec{VMID: 100, Warnings: 1})
	c.SetTaskDuration(0)
	if end := root.taskEnd(root.post("/nodes/pve1/qemu/100/status/start", "")); end != "WARNINGS: 1" {
		t.Errorf("start with a warning: %s", end)
	}
}

// TestTasksThatWereStopped end in ways that depend on what they did, and the list of errors has them all.
func TestTasksThatWereStopped(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	for kind, want := range map[string]struct{ exit, last string }{
		"vzdump":     {"job errors", "TASK ERROR: job errors"},
		"qmshutdown": {"received interrupt", "TASK ERROR: received interrupt"},
		"vzshutdown": {"unexpected status", "first"}, // killed: it wrote no end
		"qmstart":    {"received interrupt", "TASK ERROR: received interrupt"},
	} {
		upid, err := c.StartTask("pve1", "root@pam", kind, "100", time.Hour, "OK", "first", "never")
		noError(t, err)
		root.decode("DELETE", "/nodes/pve1/tasks/"+upid, "", nil)
		lines := root.logLines(upid)
		if end := root.taskEnd(upid); end != want.exit || lines[len(lines)-1] != want.last {
			t.Errorf("%s ended with %q, log %q", kind, end, lines)
		}
		root.decode("DELETE", "/nodes/pve1/tasks/"+upid, "", nil) // once more is fine
		var rows []row
		root.get("/nodes/pve1/tasks?errors=1&typefilter="+kind, &rows)
		if r := rowWith(rows, "upid", upid); r["status"] != want.exit {
			t.Errorf("%s among the errors is %v", kind, r)
		}
	}
}

// TestCreatingAGuestLeavesATask: guests that were there from the start have lost theirs to the archive's rotation.
func TestCreatingAGuestLeavesATask(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Guests: 4})
	root := as(t, c, c.AdminToken())
	if tasks := c.Tasks(); len(tasks) != 0 {
		t.Errorf("tasks at the start: %v", tasks)
	}
	addGuest(t, c, pvesim.GuestSpec{VMID: 900})
	addGuest(t, c, pvesim.GuestSpec{VMID: 901, Type: pvesim.LXC, Status: pvesim.StatusRunning})
	for vmid, kind := range map[string]string{"900": "qmcreate", "901": "vzcreate"} {
		var rows []row
		root.get("/nodes/pve1/tasks?vmid="+vmid, &rows)
		if len(rows) != 1 || rows[0]["type"] != kind || rows[0]["status"] != "OK" || rows[0]["user"] != "root@pam" {
			t.Errorf("tasks of guest %s are %v", vmid, rows)
		}
	}
	twoNodes := pvesimtest.Start(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	addGuest(t, twoNodes, pvesim.GuestSpec{VMID: 900, Node: "pve2"})
	if tasks := twoNodes.Tasks(); len(tasks) != 1 || !strings.HasPrefix(tasks[0].UPID, "UPID:pve2:") {
		t.Errorf("the task of a guest on pve2 is %v", tasks)
	}
	if _, err := c.AddGuest(pvesim.GuestSpec{VMID: 900}); err == nil || len(c.Tasks()) != 2 {
		t.Errorf("a guest that was not made: %v, %d tasks", err, len(c.Tasks()))
	}
}

func TestTaskListFilters(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	for i, exit := range []string{"OK", "WARNINGS: 1", "it broke", "OK"} {
		_, err := c.StartTask("pve1", []string{"root@pam", "a@pve!t1"}[i%2], []string{"qmstart", "vzstart"}[i/2], fmt.Sprint(100+i), 0, exit)
		noError(t, err)
	}
	running, err := c.StartTask("pve1", "root@pam", "qmstart", "200", time.Hour, "OK")
	noError(t, err)
	for query, want := range map[string]string{
		"":                                "103 102 101 100",
		"source=archive":                  "103 102 101 100",
		"source=active":                   "200",
		"source=all":                      "200 103 102 101 100",
		"errors=1":                        "102",
		"typefilter=qmstart":              "101 100",
		"userfilter=a%40pve":              "103 101",
		"vmid=102":                        "102",
		"limit=2":                         "103 102",
		"start=1&limit=2":                 "102 101",
		"start=99":                        "",
		"statusfilter=warning,error":      "102 101",
		"since=99999999999":               "",
		"until=1":                         "",
		"source=all&limit=1":              "200",
		"statusfilter=ok&typefilter=none": "",
	} {
		var rows []row
		root.get("/nodes/pve1/tasks?"+query, &rows)
		var ids []string
		for _, r := range rows {
			ids = append(ids, r["id"].(string))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	root.refused("GET", "/nodes/pve1/tasks?source=x", "", 400, "Parameter verification failed.")
	root.refused("GET", "/nodes/pve1/tasks?statusfilter=x", "", 400, "Parameter verification failed.")
	var rows []row
	root.get("/nodes/pve1/tasks?source=active", &rows)
	if rows[0]["status"] != "RUNNING" || rows[0]["endtime"] != nil || rows[0]["upid"] != running {
		t.Errorf("running task %v", rows[0])
	}
}

func TestTokensSeeTheirOwnTasks(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	one, two := c.AddToken("a@pve!one", false), c.AddToken("a@pve!two", false)
	upid, err := c.StartTask("pve1", one.ID, "qmstart", "100", time.Hour, "OK")
	noError(t, err)
	path := "/nodes/pve1/tasks/" + upid
	var status row
	as(t, c, one).get(path+"/status", &status)
	if status["user"] != "a@pve" || status["tokenid"] != "one" {
		t.Errorf("status %v", status)
	}
	for _, what := range []string{"/status", "/log"} {
		as(t, c, two).refused("GET", path+what, "", 403, "Permission check failed (/nodes/pve1, Sys.Audit)")
	}
	as(t, c, two).refused("DELETE", path, "", 403, "Permission check failed (/nodes/pve1, Sys.Modify)")
	var rows []row
	as(t, c, two).get("/nodes/pve1/tasks?source=all", &rows)
	if len(rows) != 0 {
		t.Errorf("the other token sees %v", rows)
	}
	as(t, c, one).decode("DELETE", path, "", nil)
	if end := as(t, c, one).taskEnd(upid); end != "received interrupt" {
		t.Errorf("stopped task ended with %q", end)
	}
	as(t, c, one).decode("DELETE", path, "", nil) // once more is fine
}

func TestUPIDForms(t *testing.T) {
	t.Parallel()
	c := pvesimtest.Start(t, pvesim.Options{Bare: true, LongPStart: true})
	root := as(t, c, c.AdminToken())
	upid, err := c.StartTask("pve1", "root@pam!admin", "vzdump", "", 0, "OK")
	noError(t, err)
	if part := strings.Split(upid, ":")[3]; len(part) != 9 {
		t.Errorf("process start %q in %s", part, upid)
	}
	var status row
	root.get("/nodes/pve1/tasks/"+upid+"/status", &status)
	if status["id"] != "" || status["exitstatus"] != "OK" {
		t.Errorf("status %v", status)
	}
	for _, bad := range []string{"x", "UPID:pve1:1:2:3:a:b:c:", "UPID:pve1:00000001:00000001:6B00E000:vzstart:101:root@pam", upid + "x"} {
		root.refused("GET", "/nodes/pve1/tasks/"+bad+"/status", "", 400, "Parameter verification failed.")
	}
}

func TestTaskLogPaging(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	root := as(t, c, c.AdminToken())
	lines := make([]string, 120)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i+1)
	}
	upid, err := c.StartTask("pve1", "root@pam", "vzdump", "", 0, "OK", lines...)
	noError(t, err)
	if a := root.raw("GET", "/nodes/pve1/tasks/"+upid+"/log?download=1", ""); a.header.Get("Content-Type") != "text/plain" ||
		!strings.HasSuffix(string(a.body), "line 120\nTASK OK\n") {
		t.Errorf("downloaded %q of type %s", a.body, a.header.Get("Content-Type"))
	}
	for query, want := range map[string][2]int{"": {1, 50}, "limit=0": {1, 121}, "start=100": {101, 121}, "start=20&limit=5": {21, 25},
		"limit=1000": {1, 121}} {
		var got []struct{ N int }
		root.get("/nodes/pve1/tasks/"+upid+"/log?"+query, &got)
		if got[0].N != want[0] || got[len(got)-1].N != want[1] {
			t.Errorf("%q: lines %d to %d, want %v", query, got[0].N, got[len(got)-1].N, want)
		}
	}
}

func TestClusterTasksAreTheLastOfEachNode(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	root := as(t, c, c.AdminToken())
	for range 40 {
		_, err := c.StartTask("pve1", "root@pam", "vzdump", "", 0, "OK")
		noError(t, err)
	}
	_, err := c.StartTask("pve2", "root@pam", "vzdump", "", 0, "OK")
	noError(t, err)
	var rows []row
	root.get("/cluster/tasks", &rows)
	if len(rows) != 26 {
		t.Errorf("%d tasks, want 25 and 1", len(rows))
	}
	if tasks := c.Tasks(); len(tasks) != 41 || !slices.ContainsFunc(tasks, func(i pvesim.TaskInfo) bool { return i.Exit == "OK" }) {
		t.Errorf("%d tasks in all", len(tasks))
	}
}
