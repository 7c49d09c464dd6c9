package pve_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// from is a change of a NIC from what that is now.
func (w *fixture) from(t *testing.T, ref hypervisor.GuestRef, key string, change hypervisor.NICChange) hypervisor.NICChange {
	t.Helper()
	list, err := w.host(t, endpoint.Monitoring).NICs(t.Context(), ref)
	must(t, "listing", err)
	i := slices.IndexFunc(list.NICs, func(n hypervisor.NIC) bool { return n.Key == key })
	if i < 0 {
		t.Fatalf("there is no %s", key)
	}
	change.Digest, change.Raw = list.Digest, list.NICs[i].Raw
	return change
}

// All that is not named stays, in its order, what the driver does not know included.
func TestChangeNICKeepsTheRest(t *testing.T) {
	t.Parallel()
	const (
		card  = "virtio=BC:24:11:00:00:01,bridge=vmbr0,queues=4,tag=5,trunks=7;8,rate=1.5"
		inner = "name=eth0,bridge=vmbr0,gw=10.0.0.1,hwaddr=BC:24:11:00:00:02,host-managed=1,ip=10.0.0.5/24,type=veth"
	)
	type change = hypervisor.NICChange
	type nic = hypervisor.NIC
	for name, c := range map[string]struct {
		kind, before string
		change       change
		after        string
	}{
		"nothing": {pvesim.QEMU, card, change{}, card},
		"in its place": {pvesim.QEMU, card, change{Set: nic{VLAN: ptr(int64(9))}, Fields: []string{"tag"}},
			strings.Replace(card, "tag=5", "tag=9", 1)},
		"at the end": {pvesim.QEMU, card, change{Set: nic{Firewall: true}, Fields: []string{"firewall"}}, card + ",firewall=1"},
		"taken out":  {pvesim.QEMU, card, change{Clear: []string{"tag", "mtu"}}, strings.Replace(card, ",tag=5", "", 1)},
		"already so": {pvesim.QEMU, card, change{Fields: []string{"firewall", "link_down"}}, card},
		"off":        {pvesim.QEMU, card + ",firewall=1", change{Fields: []string{"firewall"}}, card + ",firewall=0"},
		"set and clear": {pvesim.QEMU, card, change{Set: nic{Rate: ptr(0.25)}, Fields: []string{"rate"}, Clear: []string{"rate"}},
			strings.Replace(card, "1.5", "0.25", 1)},
		"the long form": {pvesim.QEMU, "model=e1000,macaddr=BC:24:11:00:00:01",
			change{Set: nic{Bridge: "vmbr0"}, Fields: []string{"bridge"}}, "model=e1000,macaddr=BC:24:11:00:00:01,bridge=vmbr0"},
		"addresses": {pvesim.LXC, inner,
			change{Set: nic{IP: "dhcp", IP6: "fd00::5/64"}, Fields: []string{"ip", "ip6"}, Clear: []string{"gw"}},
			"name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:02,host-managed=1,ip=dhcp,type=veth,ip6=fd00::5/64"},
		"an MTU": {pvesim.LXC, inner, change{Set: nic{MTU: ptr(int64(9000))}, Fields: []string{"mtu"}}, inner + ",mtu=9000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, host := configFixture(t)
			ref := w.guest(t, pvesim.GuestSpec{VMID: 100, Type: c.kind, Config: map[string]any{"net1": c.before}})
			before := w.Stats().Total
			must(t, "changing", host.(hypervisor.NICEditor).ChangeNIC(t.Context(), ref, "net1", w.from(t, ref, "net1", c.change)))
			if got := w.GuestConfig(100)["net1"]; got != c.after {
				t.Errorf("it is  %v\nwant   %s", got, c.after)
			}
			if n := w.Stats().Total - before; n != 2 { // one reads what it is
				t.Errorf("a change took %d requests", n)
			}
		})
	}
}

func TestChangeNICRefusals(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	at := host.(hypervisor.NICEditor)
	vm, ct := w.guest(t, pvesim.GuestSpec{VMID: 100}), w.guest(t, pvesim.GuestSpec{VMID: 101, Type: pvesim.LXC})
	was := fmt.Sprint(w.GuestConfig(100), w.GuestConfig(101))
	for _, c := range []struct {
		ref   hypervisor.GuestRef
		field string
		set   hypervisor.NIC
	}{
		{vm, "bridge", hypervisor.NIC{Bridge: "vmbr0,firewall=0"}},
		{vm, "bridge", hypervisor.NIC{}},
		{vm, "tag", hypervisor.NIC{VLAN: ptr(int64(5000))}},
		{vm, "tag", hypervisor.NIC{VLAN: ptr(int64(-1))}},
		{vm, "mtu", hypervisor.NIC{MTU: ptr(int64(1 << 40))}},
		{vm, "rate", hypervisor.NIC{Rate: ptr(-1.0)}},
		{vm, "rate", hypervisor.NIC{}},
		{vm, "ip", hypervisor.NIC{IP: "10.0.0.5/24"}},
		{vm, "macaddr", hypervisor.NIC{MAC: "BC:24:11:00:00:09"}},
		{ct, "ip", hypervisor.NIC{IP: "10.0.0.5"}},
		{ct, "ip", hypervisor.NIC{IP: "fd00::5/64"}},
		{ct, "ip", hypervisor.NIC{IP: "10.0.0.5/24,bridge=vmbr9"}},
		{ct, "ip6", hypervisor.NIC{IP6: "fe80::1%eth0/64"}},
		{ct, "gw", hypervisor.NIC{Gateway: "10.0.0.1/24"}},
		{ct, "gw6", hypervisor.NIC{Gateway6: "10.0.0.1"}},
	} {
		change := w.from(t, c.ref, "net0", hypervisor.NICChange{Set: c.set, Fields: []string{c.field}})
		err := at.ChangeNIC(t.Context(), c.ref, "net0", change)
		if e := wantKind(t, err, plugin.Invalid); e.Field != c.field {
			t.Errorf("%s of a %s: the error names %q: %v", c.field, c.ref.Kind, e.Field, e)
		}
	}
	wantKind(t, at.ChangeNIC(t.Context(), vm, "net0", hypervisor.NICChange{Clear: []string{"model"}}), plugin.Invalid)
	change := w.from(t, vm, "net0", hypervisor.NICChange{Clear: []string{"tag"}})
	for _, key := range []string{"netx", "scsi0", "digest", "../config", ""} {
		wantKind(t, at.ChangeNIC(t.Context(), vm, key, change), plugin.NotFound)
	}
	wantKind(t, at.ChangeNIC(t.Context(), vm, "net7", hypervisor.NICChange{Clear: []string{"tag"}}), plugin.NotFound)
	gone := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"}
	wantKind(t, at.ChangeNIC(t.Context(), gone, "net0", change), plugin.NotFound)
	if now := fmt.Sprint(w.GuestConfig(100), w.GuestConfig(101)); now != was {
		t.Errorf("it was %s\nand is %s", was, now)
	}
}

// Between the reading and the change of a NIC somebody else changes the guest: the change is refused, not made over it.
func TestChangeNICLosesNoRace(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		w, _ := configFixture(t)
		ref := w.guest(t, pvesim.GuestSpec{VMID: 100, Type: kind})
		node := w.Node("pve1")
		server := serveTLS(t, http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				if err := w.ChangeGuest(100, func(s *pvesim.GuestSpec) { s.Tags = "other" }); err != nil {
					t.Error(err)
				}
			}
			node.ServeHTTP(answer, r)
		}))
		target := w.target(endpoint.Lifecycle, w.Tokens()["lifecycle"])
		target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
		err := w.open(t, target).ChangeNIC(t.Context(), ref, "net0", w.from(t, ref, "net0", hypervisor.NICChange{
			Set: hypervisor.NIC{Firewall: true}, Fields: []string{hypervisor.NICFirewall},
		}))
		if e := wantKind(t, err, plugin.Conflict); e.Field != "digest" {
			t.Errorf("%+v", e)
		}
		if config := w.GuestConfig(100); config["tags"] != "other" || strings.Contains(fmt.Sprint(config["net0"]), "firewall") {
			t.Errorf("the guest is %v", config)
		}
	}
}

// What waits for a restart already is changed, not lost.
func TestChangeNICThatWaits(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	ref := w.guest(t, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning, Config: map[string]any{
		"hotplug": "0", "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0",
	}})
	at := host.(hypervisor.NICEditor)
	for _, change := range []hypervisor.NICChange{
		{Set: hypervisor.NIC{MTU: ptr(int64(1400))}, Fields: []string{hypervisor.NICMTU}},
		{Set: hypervisor.NIC{VLAN: ptr(int64(7))}, Fields: []string{hypervisor.NICVLAN}},
	} {
		must(t, "changing", at.ChangeNIC(t.Context(), ref, "net0", w.from(t, ref, "net0", change)))
		list, err := w.host(t, endpoint.Monitoring).NICs(t.Context(), ref)
		must(t, "listing", err)
		list.NICs[0].Raw = ""
		want := []hypervisor.NIC{{Key: "net0", Model: "virtio", MAC: "BC:24:11:00:00:01", Bridge: "vmbr0", Pending: true}}
		if !reflect.DeepEqual(list.NICs, want) {
			t.Errorf("got %+v", list.NICs)
		}
	}
	must(t, "stopping", w.SetGuestStatus(100, pvesim.StatusStopped))
	must(t, "starting", w.SetGuestStatus(100, pvesim.StatusRunning))
	list, err := w.host(t, endpoint.Monitoring).NICs(t.Context(), ref)
	must(t, "listing", err)
	if n := list.NICs[0]; n.Pending || n.MTU == nil || *n.MTU != 1400 || n.VLAN == nil || *n.VLAN != 7 {
		t.Errorf("after a restart %+v", n)
	}
}

func TestChangeNICNamesThePrivilege(t *testing.T) {
	t.Parallel()
	w, _ := configFixture(t)
	vm := w.guest(t, pvesim.GuestSpec{})
	change := w.from(t, vm, "net0", hypervisor.NICChange{Set: hypervisor.NIC{Firewall: true}, Fields: []string{hypervisor.NICFirewall}})
	for lacks, has := range map[string][]string{
		"VM.Config.Network": {"SDN.Use"}, "SDN.Use": {"VM.Config.Network"},
	} {
		token := w.token("/", true, has...)
		host := w.open(t, w.target(endpoint.Lifecycle, token))
		e := wantKind(t, host.ChangeNIC(t.Context(), vm, "net0", change), plugin.Denied)
		if !slices.Equal(e.Missing, []string{lacks}) || !grantsRole(e.Remedy, "ServiceLifecycle", token) {
			t.Errorf("%v, %q, want %s", e.Missing, e.Remedy, lacks)
		}
	}
}

// A running VM that takes no interface at once gets it at its next start. Until then the list has it, as one that waits.
func TestAddNIC_WaitsForTheRestartOfAVMWithoutHotplug(t *testing.T) {
	t.Parallel()
	w, host := configFixture(t)
	ref := w.guest(t, pvesim.GuestSpec{VMID: 100, Status: pvesim.StatusRunning, Config: map[string]any{"hotplug": "disk"}})
	list := func() hypervisor.NICList {
		found, err := w.host(t, endpoint.Monitoring).NICs(t.Context(), ref)
		must(t, "listing", err)
		return found
	}
	tag := int64(7)
	nic := hypervisor.NIC{Key: "net1", Model: "e1000", Bridge: "vmbr0", VLAN: &tag}
	must(t, "adding", host.(hypervisor.NICAdder).AddNIC(t.Context(), ref, nic, list().Digest))
	for _, waits := range []bool{true, false} {
		found := list().NICs
		if len(found) != 2 || found[1].Key != "net1" || found[1].Model != "e1000" || found[1].Bridge != "vmbr0" || found[1].VLAN == nil ||
			*found[1].VLAN != tag || found[1].Pending != waits {
			t.Errorf("the NICs are %+v, want a second one, waiting %t", found, waits)
		}
		must(t, "stopping", w.SetGuestStatus(100, pvesim.StatusStopped))
		must(t, "starting", w.SetGuestStatus(100, pvesim.StatusRunning))
	}
}
