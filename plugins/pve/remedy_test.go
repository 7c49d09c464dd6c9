package pve_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// A refusal names the command that grants what is missing, and the command that it names does.
func TestRemedyGrantsWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: 2})
	ref := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "100"}
	act := func(token pvesim.Token) *plugin.Error {
		t.Helper()
		_, err := w.open(t, w.target(endpoint.Lifecycle, token)).Act(t.Context(), ref, hypervisor.Reset)
		if err == nil {
			return nil
		}
		return wantKind(t, err, plugin.Denied)
	}
	token := w.token("/", true, "VM.Audit")
	if e := act(token); e == nil || !strings.HasPrefix(e.Remedy, "pveum acl modify '/vms/100' --users ") {
		t.Errorf("a role that has it, which the token does not have: %+v", e)
	}
	w.SetRole("ServiceLifecycle", "VM.Audit")
	lost := w.token("/pool/empty", true)
	if e := act(lost); e == nil || !strings.HasPrefix(e.Remedy, "pveum role modify ServiceLifecycle --append 1 --privs VM.PowerMgmt && "+
		"pveum acl modify '/vms/100' --users ") {
		t.Errorf("a role that lacks it and is given nowhere: %+v", e)
	}
	if e := act(token); e == nil || e.Remedy != "pveum role modify ServiceLifecycle --append 1 --privs VM.PowerMgmt" {
		t.Errorf("a role that lacks it: %+v", e)
	}
	elsewhere := w.token("/vms/9999", true, "VM.Audit", "VM.PowerMgmt")
	e := act(elsewhere)
	if e == nil || !strings.HasPrefix(e.Remedy, "pveum acl modify '/vms/100' --users ") || !strings.Contains(e.Remedy, "'"+elsewhere.ID+"'") {
		t.Errorf("a role that is given elsewhere: %+v", e)
	}
	poll := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit")))
	before := w.Stats().Requests["GET /access/permissions"]
	if _, err := poll.NodeStatus(t.Context(), "pve1"); !strings.HasPrefix(wantKind(t, err, plugin.Denied).Remedy,
		"pveum role modify ServiceAudit --append 1 --privs Sys.Audit && pveum acl modify '/nodes/pve1' --users ") {
		t.Errorf("a token that polls: %v", err)
	}
	if n := w.Stats().Requests["GET /access/permissions"] - before; n != 0 {
		t.Errorf("a refused poll asks %d times for rights", n)
	}
}
