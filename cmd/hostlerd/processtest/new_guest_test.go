package processtest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// A new VM is worked on at once, while the hypervisor's list has it without a name for seconds still.
func TestNewGuestAtOnce(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "-1", "--recommended", "--resources-lag", "60s",
		"--task-duration", "50ms")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle", "backup")

	// job asks for one and holds that it ends well.
	job := func(method, path string, body any) jobView {
		t.Helper()
		var asked struct{ Job jobView }
		owner.must(t, http.StatusAccepted, method, path, body, &asked)
		j := ended(t, owner, asked.Job.ID)
		if j.Status != "succeeded" {
			t.Fatalf("%s %s: %+v\n%s", method, path, j, transcript(t, owner, j.ID))
		}
		return j
	}
	// named is the one VM of a name.
	named := func(name string) guestView {
		t.Helper()
		var found []guestView
		owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?q="+name, nil, &found)
		found = slices.DeleteFunc(found, func(g guestView) bool { return g.Name != name })
		if len(found) != 1 {
			t.Fatalf("the VMs found by the name %s: %+v", name, found)
		}
		return found[0]
	}

	made := job(http.MethodPost, "/api/v1/vms", map[string]any{"host_id": host, "name": "shop", "start": true})
	shop := named("shop")
	if shop.Status != "running" || made.Target.Kind != "vm" || made.Target.Name != "shop" || made.Target.ID != shop.ID {
		t.Errorf("the VM is %+v, the target of its job %+v", shop, made.Target)
	}
	path := fmt.Sprintf("/api/v1/vms/%d", shop.ID)
	job(http.MethodPost, path+"/snapshots", map[string]any{"name": "first"})
	job(http.MethodPost, path+"/clone", map[string]any{"name": "shop-two", "full": true})
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host), nil, nil)
	second := named("shop-two")
	job(http.MethodDelete, fmt.Sprintf("/api/v1/vms/%d", second.ID), map[string]any{"confirm": "shop-two"})
	var left []guestView
	if owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?q=shop-two", nil, &left); len(left) != 0 {
		t.Errorf("what was destroyed is listed: %+v", left)
	}
	owner.must(t, http.StatusNotFound, http.MethodGet, fmt.Sprintf("/api/v1/vms/%d", second.ID), nil, nil)
	// Its number is free, and who has it then is listed at once too.
	again := job(http.MethodPost, path+"/clone", map[string]any{"name": "shop-three", "full": true, "newid": second.VMID})
	if third := named("shop-three"); third.VMID != second.VMID {
		t.Errorf("%+v after %+v; the job %+v", third, second, again)
	}
	if after := named("shop"); after.ID != shop.ID || after.Status != "running" {
		t.Errorf("in the end it is %+v", after)
	}
}
