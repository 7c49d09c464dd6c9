package hypervisor_test

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestFormOfGuestIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"1": true, "101": true, "customers/web1": true, "wéb 1": true, "日本": true, strings.Repeat("n", 255): true,
		"": false, strings.Repeat("n", 256): false, "a\x00b": false, "a\nb": false, "a\x7fb": false, "a\u200bb": false, "a\u202eb": false,
		"a\xffb": false, "a\uFFFDb": false, "a\u00a0b": false,
	} {
		if hypervisor.GuestID(id).Valid() != want || hypervisor.ValidUID(id) != want {
			t.Errorf("%.20q: valid is %v, want %v", id, !want, want)
		}
	}
}

func TestSameGuest(t *testing.T) {
	t.Parallel()
	web := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "n1", ID: "web", UID: "u1"}
	for _, c := range []struct {
		name  string
		other hypervisor.GuestRef
		want  bool
	}{
		{"moved", hypervisor.GuestRef{Kind: hypervisor.VM, Node: "n2", ID: "web", UID: "u1"}, true},
		{"renamed", hypervisor.GuestRef{Kind: hypervisor.VM, Node: "n1", ID: "shop", UID: "u1"}, true},
		{"made anew", hypervisor.GuestRef{Kind: hypervisor.VM, Node: "n1", ID: "web", UID: "u2"}, false},
		{"without a UID", hypervisor.GuestRef{Kind: hypervisor.VM, Node: "n1", ID: "web"}, true},
		{"another without a UID", hypervisor.GuestRef{Kind: hypervisor.VM, Node: "n1", ID: "shop"}, false},
		{"another kind without a UID", hypervisor.GuestRef{Kind: hypervisor.Container, Node: "n1", ID: "web"}, false},
	} {
		if web.Same(c.other) != c.want || c.other.Same(web) != c.want {
			t.Errorf("%s: same is %v, want %v", c.name, !c.want, c.want)
		}
	}
}
