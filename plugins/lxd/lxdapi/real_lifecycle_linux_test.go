package lxdapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/plugins/lxd/lxdtest"
	"github.com/hostler/hostler/sdk/plugin"
)

// A container is started, frozen, thawed, restarted and stopped; what it is already fails as a conflict.
func TestRealLifecycle(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	web := server.Container(t, server.Project(t, "lifecycle"), "web1", lxdtest.Tiny)
	client := connect(t, server.Trusted(t), patience)
	options := lxdapi.ActOptions{}
	for _, step := range []struct {
		action lxdapi.Action
		kind   plugin.ErrorKind // of the failure, empty for none
		status string
	}{
		{lxdapi.Freeze, plugin.Conflict, "Stopped"},
		{lxdapi.Start, "", "Running"},
		{lxdapi.Start, plugin.Conflict, "Running"},
		{lxdapi.Freeze, "", "Frozen"},
		{lxdapi.Freeze, plugin.Conflict, "Frozen"},
		{lxdapi.Unfreeze, "", "Running"},
	} {
		err := act(t, client, web, step.action, options)
		if step.kind == "" && err != nil {
			t.Fatalf("%s: %v", step.action, err)
		} else if step.kind != "" {
			wantKind(t, err, step.kind)
		}
		if status := statusOf(t, client, web); status != step.status {
			t.Fatalf("%s after %s, want %s", status, step.action, step.status)
		}
	}
	running, _, err := client.Instance(t.Context(), web)
	if err != nil || running.State.CPU.Usage <= 0 || running.State.Memory.Usage <= 0 || running.State.Processes < 1 ||
		running.LastUsed.Before(running.Created) || running.State.Network["eth0"].Hwaddr == "" {
		t.Errorf("%+v, %+v, %v", running, running.State, err)
	}
	server.Listening(t, web)
	if err := act(t, client, web, lxdapi.Stop, lxdapi.ActOptions{Timeout: patience}); err != nil {
		t.Errorf("a graceful stop: %v", err)
	}
	wantKind(t, act(t, client, web, lxdapi.Stop, options), plugin.Conflict)
	if err := act(t, client, web, lxdapi.Start, options); err != nil {
		t.Fatal(err)
	}
	before := running.LastUsed
	if err := act(t, client, web, lxdapi.Restart, lxdapi.ActOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if again, _, err := client.Instance(t.Context(), web); err != nil || !again.LastUsed.After(before) {
		t.Errorf("%v, %v", again, err)
	}
	if err := act(t, client, web, lxdapi.Stop, lxdapi.ActOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if status := statusOf(t, client, web); status != "Stopped" {
		t.Error(status)
	}
	_, err = client.Act(t.Context(), web, "fly", options)
	wantKind(t, err, plugin.Invalid)
	_, err = client.Act(t.Context(), lxdapi.InstanceRef{Name: "nothing"}, lxdapi.Start, options)
	wantKind(t, err, plugin.NotFound)
}

// A guest that does not follow: the stop fails after its time, and a forced one in between ends it well.
func TestRealStubbornGuest(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	web := server.Container(t, server.Project(t, "stubborn"), "web1", lxdtest.Stubborn)
	client := connect(t, server.Trusted(t), patience)
	if err := act(t, client, web, lxdapi.Start, lxdapi.ActOptions{}); err != nil {
		t.Fatal(err)
	}
	server.Listening(t, web)
	wantKind(t, act(t, client, web, lxdapi.Stop, lxdapi.ActOptions{Timeout: time.Second}), plugin.Refused)
	if status := statusOf(t, client, web); status != "Running" {
		t.Fatal(status)
	}
	stopping, err := client.Act(t.Context(), web, lxdapi.Stop, lxdapi.ActOptions{Timeout: patience})
	if err != nil || len(stopping.Instances) != 1 || stopping.Instances[0].Name != "web1" || stopping.Ended() {
		t.Fatalf("%+v, %v", stopping, err)
	}
	wantKind(t, client.Cancel(t.Context(), stopping.ID), plugin.Conflict)
	if read, err := client.Operation(t.Context(), stopping.ID); err != nil || read.Ended() || read.MayCancel {
		t.Errorf("%+v, %v", read, err)
	}
	if err := act(t, client, web, lxdapi.Stop, lxdapi.ActOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if ended, err := client.Wait(t.Context(), stopping.ID); err != nil || ended.Failure() != nil {
		t.Errorf("%+v, %v", ended, err)
	}
}

func TestRealSnapshots(t *testing.T) {
	t.Parallel()
	server := lxdtest.Shared(t)
	web := server.Container(t, server.Project(t, "snapshots"), "web1", lxdtest.Tiny)
	client := connect(t, server.Trusted(t), patience)
	ctx := t.Context()
	take := func(spec lxdapi.SnapshotSpec) error {
		return do(t, client, func(ctx context.Context) (*lxdapi.Operation, error) { return client.CreateSnapshot(ctx, web, spec) })
	}
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	if err := take(lxdapi.SnapshotSpec{Name: "s1", Expires: expires}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, take(lxdapi.SnapshotSpec{Name: "s1"}), plugin.Conflict)
	if err := take(lxdapi.SnapshotSpec{Name: "s2"}); err != nil {
		t.Fatal(err)
	}
	all, err := client.Snapshots(ctx, web)
	if err != nil || len(all) != 2 || all[0].Name != "s1" || !all[0].Expires.Equal(expires) || !all[1].Expires.IsZero() ||
		all[0].Created.IsZero() || all[0].Stateful {
		t.Errorf("%+v, %v", all, err)
	}
	one, meta, err := client.Instance(ctx, web)
	if err != nil || len(one.Snapshots) != 2 {
		t.Fatalf("%+v, %v", one, err)
	}
	// The configuration changes, so that what was read is out of date.
	path := "/1.0/instances/web1?project=" + web.Project
	if err := server.Do(ctx, "PATCH", path, map[string]any{"config": map[string]string{"user.tags": "a"}}, nil); err != nil {
		t.Fatal(err)
	}
	_, err = client.RestoreSnapshot(ctx, web, "s1", false, meta.ETag)
	wantKind(t, err, plugin.Conflict)
	restore := func(name, etag string) error {
		return do(t, client, func(ctx context.Context) (*lxdapi.Operation, error) {
			return client.RestoreSnapshot(ctx, web, name, false, etag)
		})
	}
	changed, meta, err := client.Instance(ctx, web)
	if err != nil || changed.Config["user.tags"] != "a" || changed.UUID() != one.UUID() {
		t.Fatalf("%+v, %v", changed, err)
	}
	if err := restore("s1", meta.ETag); err != nil {
		t.Error(err)
	}
	if back, _, err := client.Instance(ctx, web); err != nil || back.Config["user.tags"] != "" || back.UUID() != one.UUID() {
		t.Errorf("%+v, %v", back, err)
	}
	wantKind(t, restore("nothing", ""), plugin.NotFound)
	remove := func(ctx context.Context) (*lxdapi.Operation, error) { return client.DeleteSnapshot(ctx, web, "s1") }
	if err := do(t, client, remove); err != nil {
		t.Error(err)
	}
	_, err = client.DeleteSnapshot(ctx, web, "s1")
	wantKind(t, err, plugin.NotFound)
	if all, err := client.Snapshots(ctx, web); err != nil || len(all) != 1 || all[0].Name != "s2" {
		t.Errorf("%+v, %v", all, err)
	}
}
