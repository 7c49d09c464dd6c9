package host_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// frontHost answers for version and permissions, and its inventory is what the test says.
type frontHost struct {
	hypervisor.Host
	page hypervisor.Page
	err  error
}

func (h frontHost) Inventory(_ context.Context, _ hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	if h.err != nil {
		return h.err
	}
	return page(h.page)
}

// A host is reachable when its inventory can be read: less is what a proxy tells of a hypervisor that is down.
func TestAHostWhoseInventoryFailsIsNotReachable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front  frontHost
		reason string
	}{
		"it fails":    {frontHost{err: plugin.Errorf(plugin.Unreachable, "the daemon is down")}, "unreachable"},
		"no node":     {frontHost{page: hypervisor.Page{Cluster: &hypervisor.Cluster{}}}, "protocol"},
		"all is well": {frontHost{page: hypervisor.Page{Cluster: &hypervisor.Cluster{}, Nodes: []hypervisor.Node{{Name: "n1"}}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var enrolled atomic.Bool
			s, _ := rack(t, nil, func(h hypervisor.Host) hypervisor.Host {
				if !enrolled.Load() {
					return h
				}
				c.front.Host = h
				return c.front
			})
			enrolled.Store(true)
			got, err := s.Test(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			reason := ""
			if got.Reason != nil {
				reason = *got.Reason
			}
			if got.Reachable != (c.reason == "") || reason != c.reason || got.Reachable && got.Version == nil || len(got.Tokens) != 1 ||
				!got.Tokens[0].OK {
				t.Errorf("%+v, reason %q", got, reason)
			}
		})
	}
}
