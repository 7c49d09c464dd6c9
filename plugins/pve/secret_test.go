package pve_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// safeBuffer takes log lines from several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// TestNoSecretLeaves: neither logs nor errors hold the token, even when the other side sends it back.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	logs := &safeBuffer{}
	w := newFixture(t, pvesim.Options{Guests: 3})
	w.driver = pve.NewWithTiming(hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: logs}), quick)
	token := w.Tokens()["lifecycle"]
	ref := w.guest(t, pvesim.GuestSpec{})
	var said strings.Builder
	try := func(host *pve.Host) {
		_, err := host.Version(t.Context())
		fmt.Fprintln(&said, err)
		_, err = host.Permissions(t.Context())
		fmt.Fprintln(&said, err)
		err = host.Inventory(t.Context(), hypervisor.InventoryQuery{Detail: true}, func(hypervisor.Page) error { return nil })
		fmt.Fprintln(&said, err)
		id, err := host.Act(t.Context(), ref, hypervisor.Start)
		fmt.Fprintln(&said, id, err)
		_, err = host.NodeStatus(t.Context(), ref.Node)
		fmt.Fprintln(&said, err)
		fmt.Fprintf(&said, "%v %+v %#v\n", host, host, w.target(endpoint.Lifecycle, token))
	}
	host := w.host(t, endpoint.Lifecycle)
	try(host)
	for _, status := range []int{400, 401, 403, 500, 501, 596} {
		w.ClearFaults()
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: status, Reason: "PVEAPIToken=" + token.ID + "=" + token.Secret})
		try(host)
	}
	w.ClearFaults()
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultCut})
	try(host)
	for what, text := range map[string]string{"log": logs.b.String(), "an error or a printed value": said.String()} {
		if strings.Contains(text, token.Secret) {
			t.Errorf("the secret is in the %s", what)
		}
	}
	if !strings.Contains(logs.b.String(), "action sent") {
		t.Error("nothing was logged")
	}
}
