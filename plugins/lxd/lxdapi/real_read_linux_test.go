package lxdapi_test

import (
	"context"
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// Lists and single reads of what is there.
func TestRealReads(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	project := server.Project(t, "reads")
	server.Containers(t, project, "web", 3)
	client := connect(t, server.Trusted(t), patience)
	ctx := t.Context()

	all, meta, err := client.Instances(ctx, lxdapi.Scope{Project: project})
	if err != nil || len(all) != 3 || meta.Date.IsZero() {
		t.Fatalf("%+v, %v", all, err)
	}
	uuids := map[string]bool{}
	for _, i := range all {
		uuids[i.UUID()] = true
		if i.Project != project || i.Type != "container" || i.Status != "Stopped" || i.Location != "none" || i.Created.IsZero() ||
			i.Devices["root"]["pool"] != "local" || i.Devices["eth0"]["type"] != "nic" || i.State != nil {
			t.Errorf("%+v", i)
		}
	}
	if len(uuids) != 3 || uuids[""] {
		t.Errorf("the identities are %v", uuids)
	}
	everywhere, _, err := client.Instances(ctx, lxdapi.Scope{All: true})
	if err != nil || len(everywhere) < 3 {
		t.Errorf("%d instances, %v", len(everywhere), err)
	}
	if none, _, err := client.Instances(ctx, lxdapi.Scope{Project: "no-such-project"}); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	one, meta, err := client.Instance(ctx, lxdapi.InstanceRef{Project: project, Name: "web-0"})
	if err != nil || one.State == nil || one.State.Status != "Stopped" || len(one.Snapshots) != 0 || meta.ETag == "" {
		t.Errorf("%+v, %+v, %v", one, meta, err)
	}
	_, _, err = client.Instance(ctx, lxdapi.InstanceRef{Project: project, Name: "nothing"})
	wantKind(t, err, plugin.NotFound)
	_, err = client.Snapshots(ctx, lxdapi.InstanceRef{Project: project, Name: "nothing"})
	wantKind(t, err, plugin.NotFound)

	pools, err := client.StoragePools(ctx)
	if err != nil || len(pools) != 1 || pools[0].Name != "local" || pools[0].Driver != "dir" || pools[0].Status != "Created" {
		t.Errorf("%+v, %v", pools, err)
	}
	if full, err := client.StorageResources(ctx, "local", ""); err != nil || full.Space.Used <= 0 || full.Space.Total <= full.Space.Used {
		t.Errorf("%+v, %v", full, err)
	}
	_, err = client.StorageResources(ctx, "nothing", "")
	wantKind(t, err, plugin.NotFound)
	if hardware, err := client.Resources(ctx, ""); err != nil || hardware.CPU.Total <= 0 || hardware.Memory.Total <= hardware.Memory.Used ||
		len(hardware.CPU.Sockets) == 0 {
		t.Errorf("%+v, %v", hardware, err)
	}
	_, err = client.ClusterMembers(ctx)
	wantKind(t, err, plugin.Unsupported)
	projects, err := client.Projects(ctx)
	there := map[string]bool{}
	for _, p := range projects {
		there[p.Name] = true
	}
	if err != nil || !there["default"] || !there[project] {
		t.Errorf("%+v, %v", projects, err)
	}
	if own, err := client.OwnCertificate(ctx); err != nil || own.Restricted || own.Type != "client" {
		t.Errorf("%+v, %v", own, err)
	}
}

// BenchmarkInstances lists 150 containers, as each poll does.
func BenchmarkInstances(b *testing.B) {
	server := lxdtest.New(b)
	server.Containers(b, "default", "web", 150)
	client := connect(b, server.Trusted(b), patience)
	for b.Loop() {
		all, _, err := client.Instances(context.Background(), lxdapi.Scope{All: true})
		if err != nil || len(all) != 150 {
			b.Fatalf("%d instances, %v", len(all), err)
		}
	}
}
