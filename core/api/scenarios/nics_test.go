package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/guests"
	"github.com/hostler/hostler/core/api/nics"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func registerNICs(a *op.API, d api.Deps) {
	nics.Register(a, d.NICs)
	guests.Register(a, d.Guests)
}

// nicsInBothShapes runs a test on a Lab of each shape.
func nicsInBothShapes(t *testing.T, test func(t *testing.T, b *servicetest.Lab)) {
	t.Helper()
	servicetest.InBothShapes(t, func(t *testing.T, shape memdriver.Shape) { test(t, servicetest.NewLab(t, shape, registerNICs)) })
}

// foreign is the owner of another team than the one whose all is that a Lab has.
var foreign = apitest.In(2, identity.Owner)

// What a guest tells of its addresses is shown where it was asked for, and kept for the lists, which ask for nothing.
func TestNICsAreRead(t *testing.T) {
	t.Parallel()
	nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		row := `[{"key":"net0","name":null,"mac":"02:00:`
		b.Expect(t, "GET", "guests", "", apitest.Viewer, 200, "", `"addresses":null,"addresses_at":null`)
		b.Expect(t, "GET", b.VM("running")+"/network", "", apitest.Viewer, 200, "", row, `"bridge":"br0","model":"virtio"`, `"firewall":true`,
			`"addresses":["10.0.0.`, `/16"],"addresses_error":null,"pending":false,"digest":"`)
		b.Expect(t, "GET", b.VM("stopped")+"/network", "", apitest.Viewer, 200, "", row, `"addresses":null,"addresses_error":"guest`)
		b.Expect(t, "GET", "apps/2/network", "", apitest.Viewer, 200, "", `"name":"eth0"`, `"ip":"dhcp"`, `"addresses":["10.0.0.`)
		for _, url := range []string{"guests", "vms", b.VM("running"), "apps/2"} {
			b.Run(t, apitest.Scenario{Name: "kept in " + url, Method: "GET", URL: "/api/v1/" + url, As: apitest.Viewer, Status: 200,
				Contains: []string{`"addresses":["10.0.0.`}, Lacks: []string{"/16"}})
		}
		if n := b.Value("SELECT count(*) FROM guests WHERE addresses_at > now() - interval '1 minute'"); n != "2" {
			t.Errorf("addresses of %s guests are kept, want 2", n)
		}
		b.Expect(t, "GET", b.VM("running")+"/network", "", foreign, 404, "not_found")
		b.Expect(t, "GET", "apps/1/network", "", foreign, 404, "not_found")
		b.Expect(t, "GET", "apps/1/network", "", nil, 401, "unauthenticated")
		b.Cluster.SetFault("nics", memdriver.Fault{Err: plugin.Errorf(plugin.Denied, "no")})
		b.Expect(t, "GET", "apps/1/network", "", apitest.Viewer, 502, "hypervisor_error", `"reason":"permission"`)
	})
}

// nicTelling is a host whose guests tell what a test says.
type nicTelling struct {
	*memdriver.Host
	tell func(ctx context.Context) ([]hypervisor.NICAddresses, error)
}

func (h nicTelling) Addresses(ctx context.Context, _ hypervisor.GuestRef) ([]hypervisor.NICAddresses, error) {
	return h.tell(ctx)
}

// A guest says whatever it likes, as much as it likes, or nothing for ever.
func TestAddressesOfHostileGuests(t *testing.T) {
	t.Parallel()
	nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		mac := b.Cluster.ConfigOf(b.Refs["running"].ID).NICs[0].MAC
		said := []string{"fe80::1/64", "127.0.0.1/8", "192.0.2.7/24", "192.0.2.7/24", "no address\x00", "192.0.2.8", "::/0", "2001:db8::5/64"}
		for i := range 300 {
			said = append(said, fmt.Sprintf("10.1.%d.%d/16", i/200, i%200+1))
		}
		b.WrapReads(func(h *memdriver.Host) hypervisor.Host {
			return nicTelling{h, func(context.Context) ([]hypervisor.NICAddresses, error) {
				return []hypervisor.NICAddresses{{Name: "eth9", MAC: "aa:aa:aa:aa:aa:aa", Addresses: []string{"198.51.100.1/24"}},
					{Name: "eth0", MAC: strings.ToLower(mac), Addresses: said}}, nil
			}}
		})
		var rows []struct{ Addresses []string }
		b.Get(t, b.VM("running")+"/network", &rows)
		if len(rows) != 1 || len(rows[0].Addresses) != 64 ||
			!slices.Equal(rows[0].Addresses[:5], []string{"fe80::1/64", "127.0.0.1/8", "192.0.2.7/24", "::/0", "2001:db8::5/64"}) {
			t.Errorf("shown: %q", rows)
		}
		var one struct{ Addresses []string }
		b.Get(t, b.VM("running"), &one)
		if len(one.Addresses) != 61 || one.Addresses[0] != "192.0.2.7" || one.Addresses[1] != "2001:db8::5" {
			t.Errorf("kept: %q", one.Addresses)
		}
		b.WrapReads(func(h *memdriver.Host) hypervisor.Host {
			return nicTelling{h, func(ctx context.Context) ([]hypervisor.NICAddresses, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}
		})
		b.Expect(t, "GET", b.VM("running")+"/network", "", apitest.Viewer, 200, "",
			`"addresses":null,"addresses_error":"the guest did not answer`)
		b.Get(t, b.VM("running"), &one)
		if len(one.Addresses) != 61 {
			t.Errorf("what was kept is %q once the guest does not tell", one.Addresses)
		}
	})
}

// A guest that has taken the place of another one since the last poll is left as it is.
func TestNICOfAnotherGuest(t *testing.T) {
	t.Parallel()
	nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		ref, vm := b.Refs["stopped"], b.VM("stopped")
		b.Cluster.Remove(ref.ID)
		b.Cluster.NewGuestAs(hypervisor.VM, hypervisor.GuestStopped, ref.ID)
		b.Cluster.Change(ref.ID, func(g *hypervisor.Guest) {
			if g.Node = ref.Node; !b.UIDs {
				g.Name = "newcomer"
			}
		})
		was := b.Cluster.ConfigOf(ref.ID)
		if b.UIDs { // it is known under no other id
			b.Expect(t, "PUT", vm+"/network/net0", `{"tag":20}`, apitest.Operator, 404, "not_found")
		} else {
			b.Expect(t, "PUT", vm+"/network/net0", `{"tag":20}`, apitest.Operator, 409, "invalid_state", `is now called \"newcomer\"`,
				"nothing was done", `"done":[]`)
			b.Expect(t, "PUT", vm+"/network/net0", fmt.Sprintf(`{"tag":20,"digest":%q}`, was.Digest), apitest.Operator, 409, "invalid_state")
		}
		if is := b.Cluster.ConfigOf(ref.ID); is.NICs[0] != was.NICs[0] {
			t.Errorf("the NIC of the other guest was %+v and is %+v", was.NICs[0], is.NICs[0])
		}
	})
}

func TestNICIsChanged(t *testing.T) {
	t.Parallel()
	nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		put := func(url, body, digest string, contains ...string) {
			t.Helper()
			b.Expect(t, "PUT", url, strings.Replace(body, "DIGEST", digest, 1), apitest.Operator, 200, "", contains...)
		}
		vm := b.VM("running") + "/network/net0"
		put(vm, `{"tag":20,"rate":12.5,"link_down":true,"firewall":null}`, "", `"tag":20,"rate":12.5`, `"firewall":false,"link_down":true`,
			`"pending":false`, `"pending_restart":false`, `"addresses":null,"addresses_error":null`)
		put(vm, `{"tag":null,"rate":null}`, "", `"tag":null,"rate":null`, `"link_down":true`)
		put(vm, `{"mtu":1400}`, "", `"mtu":null`, `"pending":true`, `"pending_restart":true`)
		var rows []struct{ Digest string }
		b.Get(t, "apps/1/network", &rows)
		put("apps/1/network/eth0", `{"ip":"192.0.2.5/24","gw":"192.0.2.1","ip6":"2001:db8::5/64","gw6":"fe80::1","digest":"DIGEST"}`,
			rows[0].Digest, `"ip":"192.0.2.5/24","gw":"192.0.2.1","ip6":"2001:db8::5/64","gw6":"fe80::1"`)
		b.Expect(t, "PUT", "apps/1/network/eth0", fmt.Sprintf(`{"tag":3,"digest":%q}`, rows[0].Digest), apitest.Operator, 409, "digest_conflict")
		put("apps/1/network/net0", `{"ip":"dhcp","gw":null}`, "", `"ip":"dhcp","gw":null,"ip6":"2001:db8::5/64"`)
		put("apps/1/network/net0", `{"ip":"192.0.2.5/32","gw":"198.51.100.1"}`, "", `"gw":"198.51.100.1"`)
		want := `ok {"iface": "net0", "changed": ["link_down", "rate", "tag", "firewall"]}`
		if got := b.AuditLog("vm.change_nic"); !strings.HasPrefix(got, want) {
			t.Errorf("the audit log:\n%s\nwant\n%s", got, want)
		}
	})
}

func TestChangeNICRefuses(t *testing.T) {
	t.Parallel()
	nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		vm, app := b.VM("running")+"/network/net0", "apps/1/network/net0"
		ask := func(url, body string, as *apitest.Caller, status int, code string, contains ...string) {
			t.Helper()
			b.Expect(t, "PUT", url, body, as, status, code, contains...)
		}
		ask(vm, `{"tag":3}`, apitest.Viewer, 403, "forbidden")
		ask(vm, `{"tag":3}`, foreign, 404, "not_found")
		ask(app, `{"tag":3}`, foreign, 404, "not_found")
		ask(b.VM("running")+"/network/net9", `{"tag":3}`, apitest.Operator, 404, "not_found", "does not have this NIC")
		ask("apps/1/network/..%2f..", `{"tag":3}`, apitest.Operator, 404, "not_found")
		for _, nothing := range []string{`{}`, `{"digest":"x"}`} {
			ask(vm, nothing, apitest.Operator, 422, "invalid", "nothing_to_change")
		}
		for _, field := range []string{`"ip":"dhcp"`, `"gw":null`, `"ip6":"auto"`, `"gw6":"fe80::1"`} {
			ask(vm, "{"+field+"}", apitest.Operator, 409, "vm_addressing_not_editable")
		}
		ask(vm, `{"tag":0,"rate":0,"mtu":0,"firewall":1,"bridge":"","nope":1}`, apitest.Operator, 422, "invalid", `["body","tag"]`,
			`["body","rate"]`, `["body","mtu"]`, `["body","firewall"]`, `["body","bridge"]`, `["body","nope"]`)
		ask(vm, `{"tag":4095}`, apitest.Operator, 422, "invalid", `["body","tag"]`)
		ask(vm, `{"bridge":"br9","mtu":65535}`, apitest.Operator, 422, "invalid", `["body","bridge"]`, `["body","mtu"]`)
		for body, at := range map[string]string{
			`{"ip":"192.0.2.5"}`: "ip", `{"ip":"auto"}`: "ip", `{"ip":"2001:db8::1/64"}`: "ip", `{"ip":"::ffff:192.0.2.1/120"}`: "ip",
			`{"ip":"192.0.2.5/33"}`: "ip", `{"ip":"224.0.0.1/4"}`: "ip", `{"ip":"192.0.2.5/0"}`: "ip", `{"ip":"192.0.2.5/24,gw=1"}`: "ip",
			`{"ip6":"192.0.2.5/24"}`: "ip6", `{"ip6":"fe80::1%eth0/64"}`: "ip6", `{"ip6":"static"}`: "ip6",
			`{"gw":"192.0.2.1"}`: "gw", `{"ip":"192.0.2.5/24","gw":"198.51.100.1"}`: "gw", `{"ip":"192.0.2.5/24","gw":"192.0.2.5"}`: "gw",
			`{"ip":"192.0.2.5/24","gw":"192.0.2.0/24"}`: "gw", `{"ip":"192.0.2.5/24","gw":"2001:db8::1"}`: "gw",
			`{"ip6":"2001:db8::5/64","gw6":"2001:db8:1::1"}`: "gw6", `{"ip6":"auto","gw6":"fe80::1"}`: "gw6",
			`{"ip6":"2001:db8::5/64","gw6":"fe80::1%eth0"}`: "gw6",
		} {
			ask(app, body, apitest.Operator, 422, "invalid", fmt.Sprintf(`["body",%q]`, at))
		}
		ask(app, `{"ip":"x","gw":"x","ip6":"x","gw6":"x"}`, apitest.Operator, 422, "invalid", `["body","ip"]`, `["body","gw"]`, `["body","ip6"]`,
			`["body","gw6"]`)
		b.Cluster.ChangeConfig(b.Refs["files"].ID, func(c *hypervisor.Config) {
			c.NICs[0].IP, c.NICs[0].Gateway = "192.0.2.5/24", "192.0.2.1"
		})
		ask(app, `{"ip":"198.51.100.5/24"}`, apitest.Operator, 422, "invalid", `["body","ip"]`, "in the network")
		ask(app, `{"ip":"dhcp"}`, apitest.Operator, 422, "invalid", `["body","ip"]`, "send null for gw to remove it")

		b.Expect(t, "POST", b.VM("running")+"/stop", "", apitest.Operator, 202, "")
		ask(vm, `{"tag":3}`, apitest.Operator, 409, "guest_busy")
		b.Exec("UPDATE jobs SET status = 'failed'")
		b.Cluster.SetFault("changenic", memdriver.Fault{Err: plugin.Errorf(plugin.Busy, "locked")})
		ask(vm, `{"tag":3}`, apitest.Operator, 409, "guest_busy", `"done":[]`)
		b.Cluster.SetFault("changenic", memdriver.Fault{})
		b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
		ask(vm, `{"tag":3}`, apitest.Operator, 409, "capability_missing")
		want := `ok {"iface": "net0", "changed": ["tag"]}; failed guest_busy {"done": [], "iface": "net0", "changed": ["tag"]}; ` +
			"refused capability"
		if got := b.AuditLog("vm.change_nic"); !strings.Contains(got, want) {
			t.Errorf("the audit log:\n%s\nwant\n%s in it", got, want)
		}
	})
}

// nicLosing is a host whose answers to a change of a NIC are lost.
type nicLosing struct {
	*memdriver.Host
	carried bool
	sent    *int
}

func (h nicLosing) ChangeNIC(ctx context.Context, ref hypervisor.GuestRef, key string, change hypervisor.NICChange) error {
	*h.sent++
	if h.carried {
		if err := h.Host.ChangeNIC(ctx, ref, key, change); err != nil {
			return err
		}
	}
	return plugin.Errorf(plugin.Unreachable, "the connection broke")
}

func TestChangeNICAnswersLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		carried    bool
		status     int
		code, says string
	}{
		{"made", `{"tag":20}`, true, 200, "", `"tag":20`},
		{"made and waiting", `{"mtu":1400}`, true, 200, "", `"pending_restart":true`},
		{"not made", `{"tag":20}`, false, 502, "hypervisor_error", `"done":[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
				sent := 0
				wrap := func(h *memdriver.Host) hypervisor.Host { return nicLosing{h, c.carried, &sent} }
				b.WrapChanges(wrap)
				b.Expect(t, "PUT", b.VM("running")+"/network/net0", c.body, apitest.Operator, c.status, c.code, c.says)
				if sent != 1 {
					t.Errorf("%d requests were sent", sent)
				}
			})
		})
	}
}

// A NIC that the guest does not have is added if its bridge is named. It never takes the place of another one.
func TestNICsAreAdded(t *testing.T) {
	t.Parallel()
	nicsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		vm := b.VM("running") + "/network/"
		b.Expect(t, "PUT", vm+"net1", `{"bridge":"br0","tag":20,"firewall":true}`, apitest.Operator, 200, "",
			`"key":"net1"`, `"bridge":"br0","model":"virtio","tag":20`, `"firewall":true`)
		b.Expect(t, "PUT", "apps/1/network/net1", `{"bridge":"br0","ip":"192.0.2.5/24","gw":"192.0.2.1"}`, apitest.Operator, 200, "",
			`"key":"net1","name":"eth1"`, `"ip":"192.0.2.5/24","gw":"192.0.2.1"`)
		b.Expect(t, "PUT", vm+"net1", `{"bridge":"br0","tag":30}`, apitest.Operator, 200, "", `"key":"net1"`, `"tag":30`)
		for _, c := range []struct {
			path, body string
			status     int
			code, says string
		}{
			{vm + "net2", `{"tag":20}`, 404, "not_found", "name its bridge to add it"},
			{vm + "net2", `{"bridge":"nowhere"}`, 422, "invalid", `"bridge"`},
			{vm + "bogus", `{"bridge":"br0"}`, 422, "invalid", `["path","iface"]`},
			{vm + "net2", `{"bridge":"br0","ip":"dhcp"}`, 409, "vm_addressing_not_editable", ""},
			{vm + "net2", `{"bridge":"br0","digest":"old"}`, 409, "digest_conflict", ""},
			{"apps/1/network/net2", `{"bridge":"br0","gw":"192.0.2.1"}`, 422, "invalid", `"gw"`},
		} {
			b.Expect(t, "PUT", c.path, c.body, apitest.Operator, c.status, c.code, c.says)
		}
		b.Expect(t, "PUT", vm+"net2", `{"bridge":"br0"}`, apitest.Viewer, 403, "forbidden")
		b.Cluster.SetFault("addnic", memdriver.Fault{Err: plugin.Errorf(plugin.Denied, "no")})
		b.Expect(t, "PUT", vm+"net2", `{"bridge":"br0"}`, apitest.Operator, 502, "hypervisor_error", `"reason":"permission"`)
		want := `ok {"added": true, "iface": "net1", "changed": ["bridge", "firewall", "tag"]}`
		if got := b.AuditLog("vm.change_nic"); !strings.HasPrefix(got, want) {
			t.Errorf("the audit log:\n%s", got)
		}
	})
}
