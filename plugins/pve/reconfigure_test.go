package pve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// configFixture is a host without guests whose lifecycle token has what is recommended.
func configFixture(t *testing.T) (*fixture, hypervisor.Host) {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, TaskDuration: -1, Recommended: true})
	return w, w.host(t, endpoint.Lifecycle)
}

// puts counts the changes that were sent.
func (w *fixture) puts() (n int) {
	for request, count := range w.Stats().Requests {
		if strings.HasPrefix(request, "PUT ") {
			n += int(count)
		}
	}
	return n
}

func TestReconfigureSendsOneRequest(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	at := host.(hypervisor.ConfigEditor)
	vm := w.guest(t, pvesim.GuestSpec{VMID: 100, Name: "old", Tags: "gone",
		Config: map[string]any{"description": "old", "boot": "order=net0"}})
	ct := w.guest(t, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC, Name: "old", Swap: 128 << 20, Config: map[string]any{"onboot": 1}})
	before := w.Stats().Total
	must(t, "changing a VM", at.Reconfigure(t.Context(), vm, hypervisor.ConfigChange{
		Name: ptr("new"), Description: ptr("one\ntwo & ü"), Tags: []string{"b", "a"}, TagsSet: true, CPUType: ptr("host"),
		Cores: ptr(int64(2)), Sockets: ptr(int64(2)), MemoryMB: ptr(int64(2048)), BalloonMB: ptr(int64(1024)),
		Options: map[string]*string{
			"onboot": ptr("1"), "boot": nil, "agent": ptr("enabled=1,fstrim_cloned_disks=1"), "cpulimit": ptr("1.5"),
		},
	}))
	must(t, "changing a container", at.Reconfigure(t.Context(), ct, hypervisor.ConfigChange{
		Name: ptr("new"), Description: ptr("text"), MemoryMB: ptr(int64(1024)), SwapMB: ptr(int64(0)), Cores: ptr(int64(3)),
		Options: map[string]*string{"onboot": nil, "nameserver": ptr("10.0.0.1"), "features": ptr("nesting=0")},
	}))
	must(t, "changing nothing", at.Reconfigure(t.Context(), ct, hypervisor.ConfigChange{}))
	if n := w.Stats().Total - before; n != 2 {
		t.Errorf("two changes took %d requests", n)
	}
	for id, want := range map[int]map[string]any{
		100: {"name": "new", "description": "one\ntwo & ü", "tags": "a;b", "cpu": "host", "cores": 2, "sockets": 2, "memory": "2048",
			"balloon": 1024, "onboot": 1, "boot": nil, "agent": "enabled=1,fstrim_cloned_disks=1", "cpulimit": "1.5"},
		101: {"hostname": "new", "description": "text\n", "memory": 1024, "swap": 0, "cores": 3, "onboot": nil, "nameserver": "10.0.0.1",
			"features": "nesting=0"},
	} {
		config := w.GuestConfig(id)
		for key, value := range want {
			if fmt.Sprint(config[key]) != fmt.Sprint(value) {
				t.Errorf("%s of %d is %v, want %v", key, id, config[key], value)
			}
		}
	}
}

// What is nobody's option, and what would end one line of the configuration and begin another, is not sent.
func TestReconfigureTakesNoHostileText(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	vm, ct := w.guest(t, pvesim.GuestSpec{}), w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})
	option := func(key, value string) hypervisor.ConfigChange {
		return hypervisor.ConfigChange{Options: map[string]*string{key: &value}}
	}
	for _, c := range []struct {
		ref    hypervisor.GuestRef
		field  string
		change hypervisor.ConfigChange
	}{
		{vm, "args", option("args", "-device x")},
		{vm, "hookscript", option("hookscript", "local:snippets/x")},
		{vm, "scsi0", option("scsi0", "none")},
		{vm, "net0", hypervisor.ConfigChange{Options: map[string]*string{"net0": nil}}},
		{vm, "delete", option("delete", "scsi0")},
		{vm, "digest", option("digest", "")},
		{vm, "skiplock", option("skiplock", "1")},
		{vm, "template", option("template", "1")},
		{vm, "smbios1", option("smbios1", "uuid=x")},
		{vm, "", option("", "")},
		{vm, "cmode", option("cmode", "tty")},
		{ct, "boot", option("boot", "order=net0")},
		{ct, "hookscript", option("hookscript", "local:snippets/x")},
		{vm, "searchdomain", option("searchdomain", "a\nargs: -device x")},
		{vm, "name", hypervisor.ConfigChange{Name: ptr("a\x00b")}},
		{vm, "cpu_type", hypervisor.ConfigChange{CPUType: ptr("host\rargs: x")}},
		{vm, "tags", hypervisor.ConfigChange{Tags: []string{"a;b"}, TagsSet: true}},
		{vm, "swap_mb", hypervisor.ConfigChange{SwapMB: ptr(int64(1))}},
		{ct, "sockets", hypervisor.ConfigChange{Sockets: ptr(int64(1))}},
		{ct, "balloon_mb", hypervisor.ConfigChange{BalloonMB: ptr(int64(1))}},
		{ct, "cpu_type", hypervisor.ConfigChange{CPUType: ptr("host")}},
	} {
		err := host.(hypervisor.ConfigEditor).Reconfigure(t.Context(), c.ref, c.change)
		if e := wantKind(t, err, plugin.Invalid); e.Field != c.field {
			t.Errorf("%s of a %s: the error names %q: %v", c.field, c.ref.Kind, e.Field, e)
		}
	}
	if n := w.puts(); n != 0 {
		t.Errorf("%d changes were sent", n)
	}
}

// The hypervisor's words for keys become ours.
func TestReconfigureRefusals(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	at := host.(hypervisor.ConfigEditor)
	vm := w.guest(t, pvesim.GuestSpec{VMID: 100, Memory: 1 << 30})
	ct := w.guest(t, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC})
	for field, change := range map[string]hypervisor.ConfigChange{
		"name":       {Name: ptr("not a name")},
		"memory_mb":  {MemoryMB: ptr(int64(-1))},
		"balloon_mb": {BalloonMB: ptr(int64(4096))},
		"cores":      {Cores: ptr(int64(0))},
		"keyboard":   {Options: map[string]*string{"keyboard": ptr("xx")}},
		"cpuunits":   {Options: map[string]*string{"cpuunits": ptr("99999999")}},
		"boot":       {Options: map[string]*string{"boot": ptr("order=scsi9")}},
	} {
		if e := wantKind(t, at.Reconfigure(t.Context(), vm, change), plugin.Invalid); e.Field != field {
			t.Errorf("%s: the error names %q: %v", field, e.Field, e)
		}
	}
	// Two wordings, and what is no digest.
	for _, ref := range []hypervisor.GuestRef{vm, ct} {
		for _, digest := range []string{strings.Repeat("0", 40), "x", strings.Repeat("long", 100)} {
			err := at.Reconfigure(t.Context(), ref, hypervisor.ConfigChange{Digest: digest, Cores: ptr(int64(2))})
			if e := wantKind(t, err, plugin.Conflict); e.Field != "digest" {
				t.Errorf("a stale digest of a %s: %v", ref.Kind, e)
			}
		}
	}
	locked := w.guest(t, pvesim.GuestSpec{Lock: "backup"})
	wantKind(t, at.Reconfigure(t.Context(), locked, hypervisor.ConfigChange{Cores: ptr(int64(2))}), plugin.Busy)
	gone := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"}
	wantKind(t, at.Reconfigure(t.Context(), gone, hypervisor.ConfigChange{Cores: ptr(int64(2))}), plugin.NotFound)
	features := hypervisor.ConfigChange{Options: map[string]*string{"features": ptr("nesting=1,keyctl=1")}}
	if e := wantKind(t, at.Reconfigure(t.Context(), ct, features), plugin.Denied); !strings.Contains(e.Message, "root@pam") {
		t.Errorf("what only root may set: %v", e)
	}
	if config := w.GuestConfig(100); config["cores"] != nil || config["keyboard"] != nil {
		t.Errorf("a refused change has been made: %v", config)
	}
}

// What a running guest does not take waits, and what it fails to take is told; all else is in force.
func TestReconfigureARunningGuest(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	at := host.(hypervisor.ConfigEditor)
	vm := w.guest(t, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning, Memory: 1 << 30})
	must(t, "changing", at.Reconfigure(t.Context(), vm, hypervisor.ConfigChange{Name: ptr("new"), MemoryMB: ptr(int64(2048))}))
	config, err := w.host(t, endpoint.Monitoring).Config(t.Context(), vm)
	must(t, "reading", err)
	if config.Name != "new" || *config.MemoryMB != 1024 || len(config.Pending) != 1 || *config.Pending["memory"] != "2048" {
		t.Errorf("%+v", config)
	}
	must(t, "stopping", w.SetGuestStatus(100, pvesim.StatusStopped))
	must(t, "starting", w.SetGuestStatus(100, pvesim.StatusRunning))
	config, err = w.host(t, endpoint.Monitoring).Config(t.Context(), vm)
	must(t, "reading", err)
	if *config.MemoryMB != 2048 || len(config.Pending) != 0 {
		t.Errorf("after a restart %+v", config)
	}
	must(t, "setting", w.ChangeGuest(vmid(t, vm), func(s *pvesim.GuestSpec) {
		s.HotplugErrors = map[string]string{"memory": "in use"}
	}))
	err = at.Reconfigure(t.Context(), vm, hypervisor.ConfigChange{Description: ptr("new"), MemoryMB: ptr(int64(512))})
	if e := wantKind(t, err, plugin.Conflict); e.Field != "memory_mb" || !strings.Contains(e.Message, "waits for a restart") {
		t.Errorf("what a VM could not take: %+v", e)
	}
	config, err = w.host(t, endpoint.Monitoring).Config(t.Context(), vm)
	must(t, "reading", err)
	if config.Description != "new" || config.Pending["memory"] == nil || *config.Pending["memory"] != "512" {
		t.Errorf("%+v", config)
	}
}

// A running container takes all of a change or nothing.
func TestReconfigure_SaysThatAContainerRefusedTheChange(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	ct := w.guest(t, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC, Status: pvesim.StatusRunning, Memory: 1 << 30,
		HotplugErrors: map[string]string{"memory": "in use", "net0": "bridge 'vmbr9' does not exist"}})
	err := host.(hypervisor.ConfigEditor).Reconfigure(t.Context(), ct, hypervisor.ConfigChange{Description: ptr("new"),
		MemoryMB: ptr(int64(512))})
	if e := wantKind(t, err, plugin.Conflict); e.Field != "memory_mb" || strings.Contains(e.Message, "waits for a restart") ||
		!strings.Contains(e.Message, "nothing was changed") || !strings.Contains(e.Message, "in use") {
		t.Errorf("of the memory: %+v", e)
	}
	change := w.from(t, ct, "net0", hypervisor.NICChange{Set: hypervisor.NIC{Bridge: "vmbr0", VLAN: ptr(int64(7))},
		Fields: []string{hypervisor.NICVLAN}})
	err = host.(hypervisor.NICEditor).ChangeNIC(t.Context(), ct, "net0", change)
	if e := wantKind(t, err, plugin.Conflict); !strings.Contains(e.Message, "nothing was changed") || e.Field != hypervisor.NICBridge {
		t.Errorf("of the NIC: %+v", e)
	}
	config, err := w.host(t, endpoint.Monitoring).Config(t.Context(), ct)
	must(t, "reading", err)
	if config.Description != "" || len(config.Pending) != 0 || *config.MemoryMB != 1024 || config.NICs[0].VLAN != nil {
		t.Errorf("something was written: %+v", config)
	}
}

// Who may change nothing at all is told of all privileges with which anything could be changed: the error names what this change needs.
func TestReconfigureNamesThePrivilege(t *testing.T) {
	t.Parallel()
	w, _ := configFixture(t)
	vm, ct := w.guest(t, pvesim.GuestSpec{}), w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC})
	three := int64(3)
	for _, c := range []struct {
		ref    hypervisor.GuestRef
		has    string
		change hypervisor.ConfigChange
		lacks  []string
	}{
		{vm, "VM.Audit", hypervisor.ConfigChange{Cores: &three}, []string{"VM.Config.CPU"}},
		{vm, "VM.Config.Disk", hypervisor.ConfigChange{Cores: &three}, []string{"VM.Config.CPU"}},
		{vm, "VM.Audit", hypervisor.ConfigChange{Cores: &three, MemoryMB: &three}, []string{"VM.Config.CPU", "VM.Config.Memory"}},
		{vm, "VM.Audit", hypervisor.ConfigChange{Options: map[string]*string{"tablet": nil}}, []string{"VM.Config.HWType"}},
		{ct, "VM.Audit", hypervisor.ConfigChange{Name: ptr("new")}, []string{"VM.Config.Network"}},
		{ct, "VM.Config.Disk", hypervisor.ConfigChange{Description: ptr("new")}, []string{"VM.Config.Options"}},
		{vm, "VM.Config.Options", hypervisor.ConfigChange{Options: map[string]*string{"startup": ptr("order=1")}}, []string{"Sys.Modify"}},
	} {
		token := w.token("/", true, c.has)
		host := w.open(t, w.target(endpoint.Lifecycle, token))
		e := wantKind(t, host.Reconfigure(t.Context(), c.ref, c.change), plugin.Denied)
		if !slices.Equal(e.Missing, c.lacks) || !grantsRole(e.Remedy, "ServiceLifecycle", token) {
			t.Errorf("%+v with %s: %v, %q", c.change, c.has, e.Missing, e.Remedy)
		}
	}
}

// Of a lost answer nobody knows whether the change was made: it is not sent again.
func TestChangesAreSentOnce(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	vm := w.guest(t, pvesim.GuestSpec{VMID: 100})
	w.fault(t, pvesim.Fault{Match: pvesim.Match{Method: "PUT"}, Kind: pvesim.FaultCut, After: true})
	at := host.(hypervisor.ConfigEditor)
	three := int64(3)
	for name, err := range map[string]error{
		"reconfiguring": at.Reconfigure(t.Context(), vm, hypervisor.ConfigChange{Cores: &three}),
		"growing":       at.GrowDisk(t.Context(), vm, hypervisor.DiskGrowth{Key: "scsi0", SizeGB: 20}),
		"changing a NIC": host.(hypervisor.NICEditor).ChangeNIC(t.Context(), vm, "net0",
			w.from(t, vm, "net0", hypervisor.NICChange{Set: hypervisor.NIC{VLAN: &three}, Fields: []string{hypervisor.NICVLAN}})),
	} {
		if plugin.KindOf(err) != plugin.Unreachable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := w.puts(); n != 3 {
		t.Errorf("three changes were sent %d times", n)
	}
}

func TestGrowDisk(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "lvm", Size: 30 << 30, Used: 10 << 30})
	at := host.(hypervisor.ConfigEditor)
	w.SetTaskDuration(30 * time.Millisecond)
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		ref := w.guest(t, pvesim.GuestSpec{
			Type: kind, Storage: "small", Disk: 4<<30 + 512<<20, Config: map[string]any{"ide2": "none,media=cdrom"},
		})
		key := map[string]string{pvesim.QEMU: "scsi0", pvesim.LXC: "rootfs"}[kind]
		size := func() int64 {
			config, err := w.host(t, endpoint.Monitoring).Config(t.Context(), ref)
			must(t, "reading", err)
			for _, d := range config.Disks {
				if d.Key == key {
					return *d.SizeGB
				}
			}
			return 0
		}
		grow := func(key string, to int64, digest string) error {
			return at.GrowDisk(t.Context(), ref, hypervisor.DiskGrowth{Key: key, SizeGB: to, Digest: digest})
		}
		must(t, "growing", grow(key, 5, ""))
		if size() != 5 {
			t.Errorf("the disk of a %s has %d GiB", kind, size())
		}
		for field, err := range map[string]error{
			"size_gb ": grow(key, 4, ""), "size_gb  ": grow(key, -1, ""), "size_gb   ": grow(key, 1<<40, ""),
			"key": grow("mp7", 9, ""), "key ": grow("scsi7", 9, ""), "key  ": grow("../config", 9, ""), "key   ": grow("ide2", 9, ""),
		} {
			if e := wantKind(t, err, plugin.Invalid); e.Field != strings.TrimSpace(field) {
				t.Errorf("%s of a %s: the error names %q: %v", field, kind, e.Field, e)
			}
		}
		if err := grow(key, 5, ""); size() != 5 || kind == pvesim.QEMU && err != nil {
			t.Errorf("the size that the disk of a %s has already: %v", kind, err)
		}
		if e := wantKind(t, grow(key, 6, strings.Repeat("0", 40)), plugin.Conflict); e.Field != "digest" {
			t.Errorf("a stale digest of a %s: %v", kind, e)
		}
		if err := grow(key, 40, ""); plugin.KindOf(err) != plugin.Refused || !strings.Contains(err.Error(), "insufficient free space") {
			t.Errorf("a full storage: %v", err)
		}
		must(t, "locking", w.ChangeGuest(vmid(t, ref), func(s *pvesim.GuestSpec) { s.Lock = "backup" }))
		wantKind(t, grow(key, 6, ""), plugin.Busy)
		must(t, "unlocking", w.ChangeGuest(vmid(t, ref), func(s *pvesim.GuestSpec) { s.Lock = "" }))
		// A token that may not read has its disks grown all the same, and one that may not use the storage has not.
		for privilege, kind := range map[string]plugin.ErrorKind{"Datastore.AllocateSpace": "", "Datastore.Audit": plugin.Denied} {
			token := w.token("/", true, "VM.Config.Disk", "VM.Config.Options", privilege)
			limited := w.open(t, w.target(endpoint.Lifecycle, token))
			err := limited.GrowDisk(t.Context(), ref, hypervisor.DiskGrowth{Key: key, SizeGB: size() + 1})
			if kind == "" {
				must(t, "growing without reading", err)
				continue
			}
			e := wantKind(t, err, kind)
			if !slices.Equal(e.Missing, []string{"Datastore.AllocateSpace"}) || e.Path != "/storage/small" || e.Remedy == "" {
				t.Errorf("without %s: %+v", "Datastore.AllocateSpace", e)
			}
		}
	}
	wantKind(t, at.GrowDisk(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"},
		hypervisor.DiskGrowth{Key: "scsi0", SizeGB: 9}), plugin.NotFound)
}
