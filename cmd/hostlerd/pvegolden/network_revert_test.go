package pvegolden_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
)

// The hypervisor lets the ports of a new bond come up with the node, and leaves that when the bond is gone: nobody else has staged it.
func TestRevertOfOurOwnBond(t *testing.T) {
	t.Parallel()
	w := pvegolden.NewWorld(t, endpoint.Lifecycle)
	file := "auto lo\niface lo inet loopback\n\niface eno1 inet manual\n\niface eno2 inet manual\n\niface eno3 inet manual\n\n" +
		"auto vmbr0\niface vmbr0 inet static\n\taddress 192.0.2.2/24\n\tgateway 192.0.2.1\n\tbridge-ports eno1\n"
	links := map[string][]string{"eno1": nil, "eno2": nil, "eno3": nil}
	if err := w.SetNodeFiles("pve1", pvesim.NodeFiles{Interfaces: file, Links: links}); err != nil {
		t.Fatal(err)
	}
	want := func(method, path, body string, status int) []byte {
		t.Helper()
		answer := w.Request(method, path, body)
		if answer.Status != status {
			t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Body)
		}
		return answer.Body
	}
	for _, removed := range []bool{false, true} {
		want(http.MethodPost, "/network/bridges", `{"host_id":{host},"node":"pve1","iface":"bond0","type":"bond",
			"config":{"ports":["eno2","eno3"],"bond_mode":"active-backup"}}`, http.StatusCreated)
		if removed {
			want(http.MethodDelete, "/network/bridges/{host}/pve1/bond0", "", http.StatusOK)
		}
		var reverted struct {
			Reverted bool
			Others   []string
			StagedBy []struct{ Iface string } `json:"staged_by"`
		}
		body := want(http.MethodPost, "/network/{host}/pve1/revert", "", http.StatusOK)
		if err := json.Unmarshal(body, &reverted); err != nil {
			t.Fatal(err)
		}
		if !reverted.Reverted || len(reverted.Others) > 0 || len(reverted.StagedBy) < 2 {
			t.Errorf("removed %v: %s", removed, body)
		}
	}
}
