package pvesim_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// TestWhatIsNotSimulatedIs501: a caller must never take silence for an empty answer. These are what clients ask for most.
func TestWhatIsNotSimulatedIs501(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	for _, call := range []string{
		"GET /nodes/pve1/qemu/100/agent/get-osinfo", "GET /nodes/pve1/qemu/100/rrddata", "GET /cluster/log",
		"GET /cluster/options", "GET /pools", "GET /nodes/pve1/storage/local/rrddata", "GET /nodes/pve1/lxc/101/rrddata",
		"PUT /nodes/pve1/qemu/100/unlink", "GET /cluster/backup",
	} {
		method, path, _ := strings.Cut(call, " ")
		if isServed(method, path) {
			t.Errorf("%s is simulated: take it off this list", call)
		}
		notImplemented(t, c, method, path)
	}
}

// TestWhatIsDocumentedAndNotSimulatedIs501 asks for every documented method that the simulator lacks.
func TestWhatIsDocumentedAndNotSimulatedIs501(t *testing.T) {
	t.Parallel()
	methods := pvetest.LoadSchema(t).Methods()
	c := newHost(t)
	asked := 0
	for _, m := range methods {
		path := strings.NewReplacer("{node}", "pve1", "{vmid}", "100", "{", "", "}", "").Replace(m.Path)
		if !isServed(m.Method, path) {
			asked++
			notImplemented(t, c, m.Method, path)
		}
	}
	if asked < 430 {
		t.Errorf("only %d methods were asked for", asked)
	}
}

func isServed(method, path string) bool {
	return slices.ContainsFunc(pvesim.Endpoints(), func(s pvesim.EndpointInfo) bool {
		return leadsTo(s, pvetest.Exchange{Method: method, Path: path})
	})
}

func notImplemented(t *testing.T, c *pvesim.Cluster, method, path string) {
	t.Helper()
	answer := as(t, c, c.AdminToken()).refused(method, path, "", 501, "Method '"+method+" "+path+"' not implemented")
	var body map[string]any
	if err := json.Unmarshal(answer.body, &body); err != nil || body["data"] != nil {
		t.Errorf("%s %s: %s, %v", method, path, answer.body, err)
	}
}
