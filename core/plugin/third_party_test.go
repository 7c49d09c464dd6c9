package plugin_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// toyFile is the program of the example of a third party's plugin.
const toyFile = "hostler-plugin-toy"

// example builds a program of the example's own module, as its author would, into a folder.
func example(t *testing.T, dir, program string) string {
	t.Helper()
	if err := programtest.Build(t.Context(), filepath.Join("..", "..", "examples", toyFile), dir+"/", program); err != nil {
		t.Fatal(err)
	}
	return dir
}

// toyHypervisor starts the example's hypervisor, whose tasks do not end, and gives a target without a credential and a one-time code
// for each capability.
func toyHypervisor(t *testing.T) (endpoint.Target, map[endpoint.Capability]sdk.Secret) {
	t.Helper()
	program := filepath.Join(example(t, t.TempDir(), "./cmd/toyhv"), "toyhv")
	cmd := exec.Command(program, "--stdin-eof", "--task-time", "1h")
	stdin, err := cmd.StdinPipe() // its end, when the test's process ends, ends the hypervisor
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("starting the toy hypervisor:", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	var ready struct {
		Address, Fingerprint string
		Codes                map[endpoint.Capability]sdk.Secret
	}
	if err := json.NewDecoder(stdout).Decode(&ready); err != nil {
		t.Fatal("reading where the toy hypervisor is:", err)
	}
	return endpoint.Target{Address: ready.Address, Fingerprint: ready.Fingerprint, AllowLocal: true}, ready.Codes
}

// redeemed trades a code for a target's access through the plugin.
func redeemed(t *testing.T, driver hypervisor.Driver, target endpoint.Target, c endpoint.Capability, code sdk.Secret) endpoint.Target {
	t.Helper()
	enroller, ok := hypervisor.As[hypervisor.Enroller](driver)
	if !ok {
		t.Fatal("the driver is no enroller")
	}
	made, err := enroller.NewCredential(t.Context(), c)
	if err != nil {
		t.Fatal("making a credential:", err)
	}
	target.Credential = made
	if err := enroller.Redeem(t.Context(), target, code); err != nil {
		t.Fatalf("redeeming the code for %s: %v", c, err)
	}
	return target
}

// A plugin of somebody else, built from its own module, is pinned, started, called and started again like ours.
func TestThirdParty(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin: make check runs it")
	}
	t.Parallel()
	b := &fixture{dir: t.TempDir(), pins: &pins{}, log: &waittest.Text{}}
	example(t, b.dir, ".")
	b.manage(t, nil)
	pins, err := b.Pin(t.Context(), toyFile, "test")
	if err != nil || len(pins) != 1 || pins[0].Kind != "hypervisor" || pins[0].Name != "toy" {
		t.Fatalf("pins are %+v, error %v", pins, err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal("starting:", err)
	}
	before := b.status(t)
	if before.State != plugin.Running || before.Version != pins[0].Version ||
		!slices.Equal(before.Abilities, []string{"lifecycle", "snapshot", "credential_read", "enrol"}) {
		t.Fatalf("status is %+v", before)
	}
	driver := b.Hypervisor("toy")
	info, err := driver.Info(t.Context())
	if err != nil || info.Name != "toy" || info.Product == "" {
		t.Fatalf("info is %+v, error %v", info, err)
	}
	address, codes := toyHypervisor(t)
	targets := map[endpoint.Capability]endpoint.Target{}
	for _, capability := range info.Capabilities {
		targets[capability] = redeemed(t, driver, address, capability, codes[capability])
	}
	open := func(capability endpoint.Capability) hypervisor.Host {
		host, err := driver.Open(t.Context(), targets[capability])
		if err != nil {
			t.Fatal("opening:", err)
		}
		return host
	}
	host := open(endpoint.Monitoring)
	stopped := stoppedGuest(t, host)
	if _, ok := hypervisor.As[hypervisor.TaskStopper](host); ok {
		t.Error("the host is a task stopper, which the example leaves out")
	}

	sent := b.TakeRequests(t.Context())
	if len(sent) != 1 || sent[0].Plugin != "toy" || sent[0].Address != address.Address || sent[0].Requests != 4 || sent[0].Busy <= 0 {
		t.Errorf("it has sent %+v", sent)
	}
	if again := b.TakeRequests(t.Context()); len(again) != 0 {
		t.Errorf("what it has sent is told again: %+v", again)
	}

	power, ok := hypervisor.As[hypervisor.LifecycleManager](open(endpoint.Lifecycle))
	if !ok {
		t.Fatal("the host is no lifecycler")
	}
	task, err := power.Act(t.Context(), stopped, hypervisor.Start)
	if err != nil {
		t.Fatal("starting a guest:", err)
	}
	_, err = host.WaitTask(t.Context(), task, 0, func(hypervisor.LogLine) error {
		return syscall.Kill(before.PID, syscall.SIGKILL) // in the middle of the call
	})
	if !errors.Is(err, sdk.ErrGone) {
		t.Errorf("the call fails with %v, want ErrGone", err)
	}
	// The next call works: the process starts again, and nothing was lost with the old one.
	list, err := host.Tasks(t.Context(), hypervisor.TaskQuery{Limit: 10, Guest: &stopped})
	tasks := list.Tasks
	if err != nil || len(tasks) != 1 || tasks[0].ID != task || tasks[0].Status != hypervisor.TaskRunning {
		t.Errorf("tasks are %+v, error %v, want the one that runs", tasks, err)
	}
	if after := b.status(t); after.Restarts != 1 || after.State != plugin.Running || after.PID == before.PID {
		t.Errorf("status is %+v, want one restart", after)
	}
	for capability, target := range targets {
		_, key, _ := strings.Cut(string(target.Credential.Secret), "BEGIN PRIVATE KEY-----\n")
		for _, secret := range []string{key[:64], string(codes[capability])} {
			if strings.Contains(b.log.String(), secret) {
				t.Error("the log tells a secret")
			}
		}
	}
}

// stoppedGuest reads the inventory, which has ten guests, and gives one that is stopped.
func stoppedGuest(t *testing.T, host hypervisor.Host) (stopped hypervisor.GuestRef) {
	t.Helper()
	n := 0
	err := host.Inventory(t.Context(), hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
		for _, g := range p.Guests {
			n++
			if g.Status == hypervisor.GuestStopped {
				stopped = g.GuestRef
			}
		}
		return nil
	})
	if err != nil || n != 10 || stopped.ID == "" {
		t.Fatalf("%d guests, a stopped one is %+v, error %v", n, stopped, err)
	}
	return stopped
}
