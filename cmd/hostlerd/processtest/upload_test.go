package processtest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// An upload whose client, service, plugin or hypervisor dies in the middle leaves nothing behind, and its job says the truth.
func TestUploadIsKilled(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than connections hold
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	dir := filepath.Join(s.State, "uploads")
	hang := map[string]any{"kind": "hang", "times": 1, "match": map[string]any{"method": "POST", "path": uploadPath}}
	// stuck is the job of an upload that the simulator does not read.
	stuck := func(name string) int64 {
		cluster.healFaults(t)
		cluster.fault(t, hang)
		job := owner.uploaded(t, host, name, size)
		holdsUpload(t, cluster)
		return job
	}
	// over checks how the job of an upload ended.
	over := func(job int64, name, status, says string) {
		t.Helper()
		end := ended(t, owner, job)
		if end.Status != status || !strings.Contains(end.Error, says) {
			t.Errorf("%s ended %s: %s\n%s", name, end.Status, end.Error, transcript(t, owner, job))
		}
		nothingSpooled(t, dir)
	}
	// arriving sends the first half of a file.
	arriving := func(ctx context.Context, name string) *half {
		file := newHalf(size / 2)
		t.Cleanup(func() { close(file.resume) })
		go func() { _, _ = owner.upload(ctx, host, name, "", file, size) }()
		<-file.reached
		waittest.Succeeds(t, "some of the file is there", func() error {
			if len(spooled(t, dir)) == 0 {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		return file
	}

	over(owner.uploaded(t, host, "whole.iso", size), "an upload that nobody disturbs", "succeeded", "")
	if got := cluster.images(t)["whole.iso"]; got != size {
		t.Errorf("whole.iso has %d bytes", got)
	}

	// The node has no room for it below /var/tmp.
	cluster.control(t, http.MethodPost, "/option", map[string]any{"upload_room_bytes": size / 2}, nil)
	over(owner.uploaded(t, host, "node.iso", size), "an upload to a node that is full", "failed", "space in /var/tmp")
	cluster.control(t, http.MethodPost, "/option", map[string]any{"upload_room_bytes": -1}, nil)

	leaving, leave := context.WithCancel(t.Context())
	arriving(leaving, "client.iso")
	leave()
	nothingSpooled(t, dir)

	arriving(t.Context(), "receiving.iso")
	s.kill()
	s.start(t)
	nothingSpooled(t, dir)

	canceled := stuck("canceled.iso")
	owner.must(t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/jobs/%d/cancel", canceled), nil, nil)
	over(canceled, "a canceled upload", "canceled", "")

	plugin := stuck("plugin.iso")
	for _, pid := range pluginsOf(t, s) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	over(plugin, "an upload without its plugin", "failed", "not sent completely")

	// It was not sent whole, so that it is sent again.
	killed := stuck("killed.iso")
	s.kill()
	cluster.healFaults(t)
	s.start(t)
	over(killed, "an upload whose service was killed", "succeeded", "")

	stopped := stuck("stopped.iso")
	s.stop(t)
	cluster.healFaults(t)
	s.start(t)
	over(stopped, "an upload whose service was stopped", "succeeded", "")

	dead := stuck("dead.iso")
	_ = cluster.cmd.Process.Signal(syscall.SIGCONT)
	images := cluster.images(t)
	_ = cluster.cmd.Process.Kill()
	over(dead, "an upload without its hypervisor", "failed", "not sent completely")
	for _, name := range []string{"client.iso", "receiving.iso", "canceled.iso", "plugin.iso", "dead.iso", "node.iso"} {
		if _, there := images[name]; there {
			t.Errorf("%s is on the storage", name)
		}
	}
	if images["killed.iso"] != size || images["stopped.iso"] != size {
		t.Errorf("the storage has %v", images)
	}
}

// A folder of uploads without room refuses what it cannot take, before the file and in its middle, and goes on.
func TestUploadToAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("no file system of its own can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	cluster := startSim(t, "--scenario", "one", "--recommended")
	s := startService(t, options{Env: []string{"HOSTLER_UPLOAD_DIR=" + dir}})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	owner.must(t, http.StatusOK, http.MethodPatch, "/api/v1/settings", map[string]any{"upload.keep_free_mib": 0}, nil)
	a, err := owner.upload(t.Context(), host, "large.iso", "", zeros{}, 1<<30)
	if err == nil && (a.Status != http.StatusInsufficientStorage || a.problem() != "insufficient_storage") {
		t.Errorf("a file that is too large: %d %s", a.Status, a.Body)
	}
	// Somebody else fills the disk while a file arrives.
	file := newHalf(4 << 20)
	file.rest = 4 << 20
	type reply struct {
		answer
		err error
	}
	refused := make(chan reply, 1)
	go func() {
		a, err := owner.upload(t.Context(), host, "middle.iso", "?upload_id=middle-of-a-full-disk", file, 8<<20)
		refused <- reply{a, err}
	}()
	<-file.reached
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 16<<20), 0o600); err == nil {
		t.Error("the disk is not full")
	}
	close(file.resume)
	// Who is refused in the middle may not see the answer, since what it still sends meets a closed connection.
	if r := <-refused; r.err == nil && (r.Status != http.StatusInsufficientStorage || r.problem() != "insufficient_storage") {
		t.Errorf("a disk that fills: %d %s", r.Status, r.Body)
	}
	var told struct {
		Status string
		Code   string `json:"error"`
		JobID  *int64 `json:"job_id"`
	}
	waittest.Succeeds(t, "the upload's end is told", func() error {
		owner.must(t, http.StatusOK, http.MethodGet, fmt.Sprintf("/api/v1/hosts/%d/uploads/middle-of-a-full-disk", host), nil, &told)
		if told.Status != "failed" || told.Code != "insufficient_storage" || told.JobID != nil {
			return fmt.Errorf("%+v", told)
		}
		return nil
	})
	nothingSpooled(t, dir)
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, owner, owner.uploaded(t, host, "small.iso", 4<<20)); end.Status != "succeeded" {
		t.Errorf("afterwards: %+v", end)
	}
	nothingSpooled(t, dir)
}

// Of two instances that one sends a file which has received it, and neither touches the other's.
func TestUploadOnTwoInstances(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "one", "--recommended")
	a := startService(t, options{})
	owner := setUp(t, a)
	host := owner.enrol(t, cluster, "lab", "lifecycle")
	folder := t.TempDir()
	b := startService(t, options{DB: a.DB, State: a.State, Env: []string{"HOSTLER_UPLOAD_DIR=" + folder}})
	other := newClient(b)
	other.logIn(t, ownerEmail, ownerPassword)

	file := newHalf(1 << 20)
	t.Cleanup(func() { close(file.resume) })
	go func() { _, _ = other.upload(t.Context(), host, "under-way.iso", "", file, 2<<20) }()
	<-file.reached
	var jobs []int64
	for i := range 4 {
		jobs = append(jobs, other.uploaded(t, host, fmt.Sprintf("b%d.iso", i), 1<<20), owner.uploaded(t, host, fmt.Sprintf("a%d.iso", i), 1<<20))
	}
	for _, job := range jobs {
		if end := ended(t, owner, job); end.Status != "succeeded" {
			t.Errorf("%+v\n%s", end, transcript(t, owner, job))
		}
		if text := transcript(t, owner, job); strings.Contains(text, "interrupted") {
			t.Errorf("it began where its file is not:\n%s", text)
		}
	}
	a.kill()
	a.start(t) // sweeps
	nothingSpooled(t, filepath.Join(a.State, "uploads"))
	if left := spooled(t, folder); len(left) != 1 {
		t.Errorf("of what is received at the other instance there is %v", left)
	}
	if images := cluster.images(t); len(images) != 9 { // with the one that was there
		t.Errorf("the storage has %v", images)
	}
}
