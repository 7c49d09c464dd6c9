package pvesim_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvesim/pvesimtest"
)

// caller sends requests as one token.
type caller struct {
	t     testing.TB
	base  string
	token pvesim.Token
}

func as(t testing.TB, c *pvesim.Cluster, token pvesim.Token) caller {
	t.Helper()
	return caller{t, c.URL(""), token}
}

// on is the same caller at another node's own address.
func (a caller) on(c *pvesim.Cluster, node string) caller {
	a.base = c.URL(node)
	return a
}

// raw sends a request; form is the body of POST and PUT.
func (a caller) raw(method, path, form string) rawAnswer {
	a.t.Helper()
	r := rawRequest{method: method, path: "/api2/json" + path, body: form, header: map[string]string{
		"Authorization": "PVEAPIToken=" + a.token.ID + "=" + a.token.Secret,
	}}
	if form != "" {
		r.header["Content-Type"] = "application/x-www-form-urlencoded"
	}
	return send(a.t, a.base, r)
}

// get wants a 200 and decodes its data.
func (a caller) get(path string, into any) { a.t.Helper(); a.decode("GET", path, "", into) }

// post wants a 200 and returns the UPID.
func (a caller) post(path, form string) string {
	a.t.Helper()
	var upid string
	a.decode("POST", path, form, &upid)
	return upid
}

func (a caller) decode(method, path, form string, into any) {
	a.t.Helper()
	ans := a.raw(method, path, form)
	if ans.status != 200 {
		a.t.Fatalf("%s %s: %d %s", method, path, ans.status, ans.reason)
	}
	body := struct{ Data any }{into}
	if err := json.Unmarshal(ans.body, &body); err != nil {
		a.t.Fatalf("%s %s: %v in %s", method, path, err, ans.body)
	}
}

// refused wants a status and a reason phrase.
func (a caller) refused(method, path, form string, status int, reason string) rawAnswer {
	a.t.Helper()
	ans := a.raw(method, path, form)
	if ans.status != status || ans.reason != reason {
		a.t.Errorf("%s %s %s: %d %q, want %d %q", method, path, form, ans.status, ans.reason, status, reason)
	}
	return ans
}

// row is one object of an answer.
type row = map[string]any

func rowWith(rows []row, key string, value any) row {
	for _, r := range rows {
		if r[key] == value {
			return r
		}
	}
	return nil
}

// taskEnd returns how a task ended, or "running".
func (a caller) taskEnd(upid string) string {
	a.t.Helper()
	var s struct{ Status, ExitStatus string }
	a.get("/nodes/"+strings.Split(upid, ":")[1]+"/tasks/"+upid+"/status", &s)
	if s.Status == "running" {
		return s.Status
	}
	return s.ExitStatus
}

// logLines returns the text of a task's log.
func (a caller) logLines(upid string) []string {
	a.t.Helper()
	var lines []struct{ T string }
	a.get("/nodes/"+strings.Split(upid, ":")[1]+"/tasks/"+upid+"/log?limit=0", &lines)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.T
	}
	return out
}

func newCluster(t testing.TB) *pvesim.Cluster {
	t.Helper()
	return pvesimtest.Start(t, pvesim.Options{Nodes: 3, Guests: 15})
}

// newHost is a standalone host without guests and with tasks that run for a second of the cluster's clock or as long as needed.
func newHost(t testing.TB) *pvesim.Cluster {
	t.Helper()
	return pvesimtest.Start(t, pvesim.Options{Bare: true, TaskDuration: time.Hour})
}

func addGuest(t testing.TB, c *pvesim.Cluster, s pvesim.GuestSpec) {
	t.Helper()
	if _, err := c.AddGuest(s); err != nil {
		t.Fatal(err)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newScenario(t testing.TB, nodes int) *pvesim.Cluster {
	t.Helper()
	return pvesimtest.Start(t, pvesim.Options{Nodes: nodes, Guests: 30})
}

// lxcOn returns the id of a container on a node.
func lxcOn(t testing.TB, c *pvesim.Cluster, node string) string {
	t.Helper()
	for _, id := range c.Guests() {
		if g, _ := c.Guest(id); g.Type == pvesim.LXC && g.Node == node {
			return strconv.Itoa(id)
		}
	}
	t.Fatalf("no container on %s", node)
	return ""
}

func jsonNumber(n int64) string { return strconv.FormatInt(n, 10) }

func decodeBody(t testing.TB, a rawAnswer, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}
