package pve_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// addressFixture is a host whose monitoring token may ask agents.
func addressFixture(t *testing.T) (*fixture, hypervisor.NICEditor) {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioOne, Guests: -1, Recommended: true})
	return w, w.host(t, endpoint.Monitoring)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	w, host := addressFixture(t)
	told := []pvesim.GuestInterface{
		{Name: "lo", MAC: "00:00:00:00:00:00", Addresses: []string{"127.0.0.1/8", "::1/128"}},
		{Name: "Ethernet 2", MAC: "BC:24:11:00:00:01", Addresses: []string{"10.0.0.5/24", "10.0.0.6/24", "fe80::1/64"}},
		{Name: "down", MAC: "BC:24:11:00:00:02"},
	}
	want := []hypervisor.NICAddresses{
		{Name: "lo", MAC: "00:00:00:00:00:00", Addresses: []string{"127.0.0.1/8", "::1/128"}},
		{Name: "Ethernet 2", MAC: "bc:24:11:00:00:01", Addresses: []string{"10.0.0.5/24", "10.0.0.6/24", "fe80::1/64"}},
		{Name: "down", MAC: "bc:24:11:00:00:02"},
	}
	for _, spec := range []pvesim.GuestSpec{
		{Agent: true, Status: pvesim.StatusRunning, Interfaces: told}, {Type: pvesim.LXC, Status: pvesim.StatusRunning, Interfaces: told},
	} {
		ref := w.guest(t, spec)
		before := w.Stats().Total
		got, err := host.Addresses(t.Context(), ref)
		must(t, "asking", err)
		if !reflect.DeepEqual(got, want) || w.Stats().Total-before != 1 {
			t.Errorf("a %s tells %+v in %d requests", ref.Kind, got, w.Stats().Total-before)
		}
	}
}

func TestAddressesOfWhoCannotTell(t *testing.T) {
	t.Parallel()
	w, host := addressFixture(t)
	run := pvesim.StatusRunning
	for name, c := range map[string]struct {
		spec pvesim.GuestSpec
		want plugin.ErrorKind
	}{
		"no agent":          {pvesim.GuestSpec{Status: run}, plugin.Unsupported},
		"a silent agent":    {pvesim.GuestSpec{Agent: true, Status: run}, plugin.Conflict},
		"a VM that is off":  {pvesim.GuestSpec{Agent: true}, plugin.Conflict},
		"a container's off": {pvesim.GuestSpec{Type: pvesim.LXC}, plugin.Conflict},
	} {
		if _, err := host.Addresses(t.Context(), w.guest(t, c.spec)); plugin.KindOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := host.Addresses(t.Context(), hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: "999"})
	wantKind(t, err, plugin.NotFound)
	agent := w.guest(t, pvesim.GuestSpec{Agent: true, Status: run})
	_, err = w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "VM.Audit"))).Addresses(t.Context(), agent)
	if e := wantKind(t, err, plugin.Denied); !strings.Contains(e.Remedy, "--privs VM.GuestAgent.Audit && ") {
		t.Errorf("%+v", e)
	}
}

// A guest is its owner's: what it says of itself is bounded, and what is no address is left out.
func TestAddressesOfAHostileGuest(t *testing.T) {
	t.Parallel()
	w, host := addressFixture(t)
	var told []pvesim.GuestInterface
	for i := range 1000 {
		told = append(told, pvesim.GuestInterface{Name: strings.Repeat("n", 5000) + "\x1b[2J\x00" + strconv.Itoa(i), MAC: "not a MAC"})
	}
	for i := range 500 {
		told[0].Addresses = append(told[0].Addresses, "10.0."+strconv.Itoa(i/256)+"."+strconv.Itoa(i%256)+"/16")
	}
	told[1] = pvesim.GuestInterface{Name: "a\x1b[2J\x00\nb"}
	ref := w.guest(t, pvesim.GuestSpec{Agent: true, Status: pvesim.StatusRunning, Interfaces: told})
	got, err := host.Addresses(t.Context(), ref)
	must(t, "asking", err)
	if len(got) != 256 || len(got[0].Addresses) != 64 || len(got[0].Name) != 64 || got[0].MAC != "" || got[1].Name != "a[2Jb" {
		t.Errorf("%d interfaces, the first with %d addresses, named %q; the second %q", len(got), len(got[0].Addresses), got[0].Name,
			got[1].Name)
	}
}
