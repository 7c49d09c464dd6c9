package drivertest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// nicsOf lists the NICs of a guest with the token for monitoring.
func (s *suite) nicsOf(t *testing.T, ctx context.Context, ref hypervisor.GuestRef) hypervisor.NICList {
	t.Helper()
	list, err := as[hypervisor.NICEditor](t, s.host(t, endpoint.Monitoring)).NICs(ctx, ref)
	must(t, "listing the NICs", err)
	if len(list.NICs) == 0 {
		t.Fatal("a new guest has no NIC")
	}
	return list
}

// nic tests NICEditor. A change names the fields that it sets or clears, and
// all others must stay, including settings that the driver does not know; Raw
// carries them. A stale digest is a Conflict.
func (s *suite) nic(t *testing.T) {
	need[hypervisor.NICEditor](t, s)
	for _, kind := range s.kinds() {
		s.run(t, "of a "+string(kind), func(t *testing.T, ctx context.Context) {
			hook(t, "NewGuest", s.NewGuest != nil)
			ref := s.NewGuest(t, kind, hypervisor.GuestStopped)
			at := as[hypervisor.NICEditor](t, s.host(t, endpoint.Lifecycle))
			before := s.nicsOf(t, ctx, ref)
			nic := before.NICs[0]
			// change changes the NIC from what it is now, and gives it back
			// without the driver's own form.
			change := func(c hypervisor.NICChange) hypervisor.NIC {
				t.Helper()
				now := s.nicsOf(t, ctx, ref)
				c.Digest, c.Raw = now.Digest, now.NICs[0].Raw
				must(t, "changing", at.ChangeNIC(ctx, ref, nic.Key, c))
				changed := s.nicsOf(t, ctx, ref).NICs[0]
				changed.Raw = ""
				return changed
			}
			nic.Raw = ""
			tag := int64(77)
			want := nic
			want.VLAN, want.LinkDown = &tag, true
			if now := change(hypervisor.NICChange{
				Set: hypervisor.NIC{VLAN: &tag, LinkDown: true}, Fields: []string{hypervisor.NICVLAN, hypervisor.NICLinkDown},
			}); !reflect.DeepEqual(now, want) {
				t.Errorf("it is %+v, want %+v", now, want)
			}
			back := hypervisor.NICChange{Fields: []string{hypervisor.NICLinkDown}, Clear: []string{hypervisor.NICVLAN}}
			if now := change(back); !reflect.DeepEqual(now, nic) {
				t.Errorf("it is %+v, want %+v", now, nic)
			}
			if before.Digest != "" {
				change(hypervisor.NICChange{Set: hypervisor.NIC{VLAN: &tag}, Fields: []string{hypervisor.NICVLAN}})
				err := at.ChangeNIC(ctx, ref, nic.Key, hypervisor.NICChange{
					Digest: before.Digest + "0", Raw: before.NICs[0].Raw, Clear: []string{hypervisor.NICVLAN},
				})
				if e := wantKind(t, err, plugin.Conflict); e.Field != "digest" {
					t.Errorf("a stale digest: the error names the field %q", e.Field)
				}
			}
			wantKind(t, at.ChangeNIC(ctx, ref, "net31", hypervisor.NICChange{Clear: []string{hypervisor.NICVLAN}}), plugin.NotFound)
		})
	}
	s.run(t, "adding a NIC", func(t *testing.T, ctx context.Context) {
		need[hypervisor.NICAdder](t, s)
		hook(t, "NewGuest", s.NewGuest != nil)
		for _, kind := range s.kinds() {
			ref, tag := s.NewGuest(t, kind, hypervisor.GuestStopped), int64(77)
			before := s.nicsOf(t, ctx, ref)
			nic := hypervisor.NIC{Key: "net7", Bridge: before.NICs[0].Bridge, Model: before.NICs[0].Model, VLAN: &tag, Firewall: true}
			at := as[hypervisor.NICAdder](t, s.host(t, endpoint.Lifecycle))
			must(t, "adding", at.AddNIC(ctx, ref, nic, before.Digest))
			after := s.nicsOf(t, ctx, ref)
			i := slices.IndexFunc(after.NICs, func(n hypervisor.NIC) bool { return n.Key == nic.Key })
			if i < 0 || len(after.NICs) != len(before.NICs)+1 {
				t.Fatalf("a %s has the NICs %+v", kind, after.NICs)
			}
			added := after.NICs[i]
			if added.Bridge != nic.Bridge || added.Model != nic.Model || added.VLAN == nil || *added.VLAN != tag || !added.Firewall ||
				added.LinkDown || (added.Name != "") != (kind == hypervisor.Container) {
				t.Errorf("the NIC of a %s is %+v", kind, added)
			}
			for field, wrong := range map[string]hypervisor.NIC{
				"digest": {Key: "net6", Bridge: nic.Bridge}, "key": {Key: "bogus1", Bridge: nic.Bridge},
				hypervisor.NICBridge: {Key: "net6", Bridge: "not there"},
			} {
				digest, want := after.Digest, plugin.Invalid
				if field == "digest" {
					if digest, want = before.Digest, plugin.Conflict; digest == "" {
						continue
					}
				}
				if e := wantKind(t, at.AddNIC(ctx, ref, wrong, digest), want); e.Field != field {
					t.Errorf("a %s with a wrong %s: the error names the field %q", kind, field, e.Field)
				}
			}
			if now := s.nicsOf(t, ctx, ref); len(now.NICs) != len(after.NICs) {
				t.Errorf("after refused requests a %s has %+v", kind, now.NICs)
			}
		}
	})
	s.run(t, "addresses of a guest that does not run", func(t *testing.T, ctx context.Context) {
		hook(t, "NewGuest", s.NewGuest != nil)
		ref := s.NewGuest(t, s.kind(), hypervisor.GuestStopped)
		_, err := as[hypervisor.NICEditor](t, s.host(t, endpoint.Monitoring)).Addresses(ctx, ref)
		if kind := plugin.KindOf(err); err == nil || kind != plugin.Conflict && kind != plugin.Unsupported && kind != plugin.Denied {
			t.Errorf("error is %v", err)
		}
	})
}
