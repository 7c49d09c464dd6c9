package api_test

import (
	"testing"

	"github.com/hostler/hostler/client/api"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, path, want string }{
		{"POST", "/api/v1/vms/3/start", "act_on_vm"},
		{"POST", "/api/v1/vms/3/clone", "clone_vm"},
		{"GET", "/api/v1/vms", "list_vms"},
		{"GET", "/api/v1/nothing", ""},
		{"PUT", "/api/v1/vms", ""},
	} {
		got := ""
		if o := api.Match(tt.method, tt.path); o != nil {
			got = o.ID
		}
		if got != tt.want {
			t.Errorf("%s %s is %q, not %q", tt.method, tt.path, got, tt.want)
		}
	}
}

func TestExpandEscapes(t *testing.T) {
	t.Parallel()
	got := api.Find("delete_storage_volume").Expand(map[string]string{"host_id": "1", "name": "a/b", "volid": "local:iso/../x?y"})
	if want := "/api/v1/storage/1/a%2Fb/content/local:iso%2F..%2Fx%3Fy"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
