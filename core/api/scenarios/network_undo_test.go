package scenarios

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

const applyPath = "network/1/node1/apply"

// logIn has a machine with systemd behind the first node, which the service logs in to.
func (f *networkFixture) logIn() *nodetest.Machine {
	f.t.Helper()
	machine := nodetest.Start(f.t)
	login := machine.Login()
	f.cluster.ChangeMachine(func(m *memdriver.Machine) {
		m.Programs = map[string]func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int{
			"/bin/sh": func(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) int {
				end, err := login.RunOnNode(ctx, command, streams)
				if err != nil {
					return 99
				}
				return end.ExitCode
			},
		}
	})
	f.Expect(f.t, "POST", "hosts/1/credentials", `{"rotate_ssh":true,"ssh_consent":true}`, apitest.Owner, 200, "")
	f.Expect(f.t, "POST", "hosts/1/ssh/verify", "", apitest.Admin, 200, "")
	return machine
}

// leavesNothing holds that nothing of an apply is on a machine any more.
func leavesNothing(t *testing.T, machine *nodetest.Machine) {
	t.Helper()
	if runs, err := nodeunit.List(t.Context(), machine.Login()); err != nil || len(runs) > 0 {
		t.Errorf("the machine has %v, %v", runs, err)
	}
	if units := machine.Run("systemctl list-units --all --plain --no-legend 'hostler-run-*'"); units != "" {
		t.Errorf("the machine has the units %s", units)
	}
}

// What a request may say of an undo, and what is said where there can be none.
func TestUndoOfApplyIsTold(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	f.cluster.Stage("node1", hypervisor.Interface{Name: "br0", Type: hypervisor.InterfaceBridge, Autostart: true, CIDR: "10.0.0.10/24",
		Gateway: "10.0.0.1"})
	for _, seconds := range []string{"-1", "1", "29", "3601", `"60"`, "99999999999999999999"} {
		f.Expect(t, "POST", applyPath, `{"confirm":"node1","undo_after_s":`+seconds+`}`, apitest.Admin, 422, "invalid", "undo_after_s")
	}
	f.Expect(t, "POST", applyPath, `{"confirm":"node1","undo_after_s":60}`, apitest.Admin, 409, "consent_required")
	f.Expect(t, "POST", applyPath+"?plan=true", "", apitest.Admin, 200, "", "Nothing restores the current network if the node is cut off: ")
	f.logIn()
	f.Expect(t, "POST", applyPath+"?plan=true", "", apitest.Admin, 200, "", "restores its current network after 2m0s")
	f.Expect(t, "POST", applyPath+"?plan=true", `{"undo_after_s":90}`, apitest.Admin, 200, "", "network after 1m30s")
	f.Expect(t, "POST", applyPath+"?plan=true", `{"undo_after_s":0}`, apitest.Admin, 200, "",
		"if the node is cut off: the request disables it.")
}

// A machine waits while its network is applied, and is called off when the node answers, or nothing was applied.
func TestUndoOfApplyIsCalledOff(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	machine := f.logIn()
	f.create("br2", `{}`, 201, "")
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "succeeded",
		"restores its current network at ", "the rollback timer was stopped")
	leavesNothing(t, machine)
	f.create("br3", `{}`, 201, "")
	f.cluster.SetFault("applynetwork", memdriver.Fault{Err: refusedApply})
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "failed", "no reload here")
	leavesNothing(t, machine)
	f.cluster.SetFault("applynetwork", memdriver.Fault{})
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1","undo_after_s":0}`, apitest.Admin, 202, ""), "succeeded", "are active")

	// Without the machine nothing is applied.
	f.create("br4", `{}`, 201, "")
	machine.PowerOff()
	f.ended(f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, ""), "failed",
		"could not start the rollback timer on the machine", "Nothing was applied")
	if !strings.Contains(f.cluster.StagedDiff("node1"), "br4") {
		t.Error("it was applied")
	}
}

// A node that is cut off puts its network back by itself, and the job says so once it answers.
func TestUndoOfApply(t *testing.T) {
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	machine := f.logIn()
	f.networks.UndoAfter = 3 * time.Second
	f.create("br2", `{}`, 201, "")
	f.cluster.CutByApply("node1", true)
	started := f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, "")
	waittest.Until(t, "the machine puts its network back", func() bool {
		return strings.Contains(machine.Run("ls /var/lib/hostler/runs/network-*/files || true"), "back")
	})
	f.cluster.UndoApply("node1")
	f.ended(started, "failed", "the node does not answer", "is not as staged", "back: the network of node1",
		"has restored its old network")
	leavesNothing(t, machine)

	// A machine that was restarted meanwhile does not wait any more, and nothing else is said.
	f.networks.UndoAfter = 20 * time.Second
	f.create("br3", `{}`, 201, "")
	f.cluster.CutByApply("node1", true)
	started = f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, "")
	waittest.Until(t, "the node is cut off", func() bool { return f.cluster.StagedDiff("node1") == "" })
	machine.PowerOff()
	machine.Boot()
	f.cluster.UndoApply("node1")
	f.ended(started, "unknown", "has not restored its old network: it was restarted")
	leavesNothing(t, machine)
}

// another is an instance that goes on with the jobs of the first one, which ends and loses what it was at.
func (f *networkFixture) another() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = f.Queue.Stop(ctx)
	second := servicetest.New(f.t, f.config)
	second.Networks.AnswerLimit, second.Networks.SteadyTime = 2*time.Minute, 50*time.Millisecond
	if err := second.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// A service that ends while the machine waits leaves that to the next one: it calls the machine off where all is well, and tells what the
// machine has done where the node was cut off.
func TestUndoOfApplyOutlivesTheService(t *testing.T) {
	if testing.Short() {
		t.Skip("stops a service: make check runs it")
	}
	t.Parallel()
	f := newNetwork(t, endpoint.Lifecycle)
	machine := f.logIn()
	waits := "systemctl is-active 'hostler-run-network-*' || true"
	f.networks.SteadyTime = time.Hour
	f.create("br2", `{}`, 201, "")
	well := f.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, "")
	waittest.Until(t, "the network is applied", func() bool { return f.cluster.StagedDiff("node1") == "" })
	if is := machine.Run(waits); is != "active" {
		t.Errorf("the machine is %q", is)
	}
	f.another()
	f.ended(well, "succeeded", "was interrupted", "the rollback timer was stopped")
	leavesNothing(t, machine)

	g := newNetwork(t, endpoint.Lifecycle)
	machine = g.logIn()
	g.networks.UndoAfter = 5 * time.Second
	g.create("br2", `{}`, 201, "")
	g.cluster.CutByApply("node1", true)
	cut := g.Expect(t, "POST", applyPath, `{"confirm":"node1"}`, apitest.Admin, 202, "")
	waittest.Until(t, "the node is cut off", func() bool { return g.cluster.StagedDiff("node1") == "" })
	g.another()
	waittest.Until(t, "the machine puts its network back", func() bool {
		return strings.Contains(machine.Run("ls /var/lib/hostler/runs/network-*/files || true"), "back")
	})
	g.cluster.UndoApply("node1")
	g.ended(cut, "failed", "was interrupted", "has restored its old network")
	leavesNothing(t, machine)
}
