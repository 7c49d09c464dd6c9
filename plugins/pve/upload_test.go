package pve_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// uploadFixture is a cluster of two nodes with tokens that may upload.
func uploadFixture(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, TaskDuration: -1})
	w.SetRole("ServiceLifecycle", append(pve.Privileges(endpoint.Lifecycle), "Datastore.AllocateTemplate")...)
	w.AddStorage(pvesim.StorageSpec{ID: "small", Plugin: "dir", Content: "iso,vztmpl,import", Size: 1000, Used: 900})
	w.AddStorage(pvesim.StorageSpec{ID: "off", Disabled: true})
	w.AddStorage(pvesim.StorageSpec{ID: "gone", Away: true})
	w.AddStorage(pvesim.StorageSpec{ID: "second", Nodes: []string{"pve2"}})
	return w
}

// newest is the file that was uploaded last.
func newest(w *fixture) pvesim.File {
	all := slices.DeleteFunc(w.Files(), func(f pvesim.File) bool { return f.SHA256 == "" })
	if len(all) == 0 {
		return pvesim.File{}
	}
	return all[len(all)-1]
}

func TestUploadArrivesAsItWas(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	// What a form would end with may be in a file.
	nasty := "\r\n--" + strings.Repeat("-----\r\n--x--\n\r", 20_000) + "\r\n"
	for _, c := range []struct{ storage, node, name, content, stored, data string }{
		{"local", "pve1", "a.iso", "iso", "a.iso", nasty},
		{"local", "pve1", "A b (ü).ISO", "", "A_b____.ISO", "x"},
		{"local", "pve1", "debian.tar.zst", "", "debian.tar.zst", strings.Repeat("y", 70_000)},
		{"second", "pve2", "disk.img", "iso", "disk.img", "\n"},
		{"second", "pve2", "empty.iso", "", "empty.iso", ""},
	} {
		spec := hypervisor.UploadSpec{Node: c.node, Storage: c.storage, Content: c.content, Name: c.name, Size: int64(len(c.data)),
			SHA256: sumOf(c.data)}
		check, err := host.CheckUpload(t.Context(), spec)
		must(t, "checking", err)
		if check.Name != c.stored || check.Present || check.Free == nil || check.Volume != c.storage+":"+check.Content+"/"+c.stored {
			t.Errorf("%s: %+v", c.name, check)
		}
		id, err := host.Upload(t.Context(), spec, io.MultiReader(strings.NewReader(c.data)))
		if result := ended(t, host, id, err); !result.OK() {
			t.Errorf("%s ended %+v", c.name, result)
		}
		if f := newest(w); f.Name != c.stored || f.SHA256 != spec.SHA256 || f.Size != spec.Size || f.Storage != c.storage ||
			f.Content != check.Content {
			t.Errorf("%s is stored as %+v", c.name, f)
		}
		if check, err = host.CheckUpload(t.Context(), spec); err != nil || !check.Present || *check.PresentSize != spec.Size {
			t.Errorf("%s: %+v, %v", c.name, check, err)
		}
	}
}

func TestUploadWithAnotherChecksumFailsInItsTask(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	id, err := host.Upload(t.Context(), hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.iso", Size: 3, SHA256: sumOf("abd")},
		strings.NewReader("abc"))
	if result := ended(t, host, id, err); result.Status != hypervisor.TaskFailed || !strings.HasPrefix(result.Message, "checksum mismatch") {
		t.Errorf("it ended %+v", result)
	}
	if f := newest(w); f.Name != "" {
		t.Errorf("there is %+v", f)
	}
}

func TestUploadThatFillsTheStorage(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	spec := hypervisor.UploadSpec{Node: "pve1", Storage: "small", Name: "a.iso", Size: 200}
	if _, err := host.CheckUpload(t.Context(), spec); wantKind(t, err, plugin.Refused) == nil {
		t.Error(err)
	}
	id, err := host.Upload(t.Context(), spec, strings.NewReader(strings.Repeat("x", 200)))
	if result := ended(t, host, id, err); result.Status != hypervisor.TaskFailed || !strings.Contains(result.Message, "No space left") {
		t.Errorf("it ended %+v", result)
	}
}

// The folder in which the node keeps a file on its way is full: that is told, and nothing is stored.
func TestUploadThatFillsTheNode(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	w.SetUploadRoom(100_000)
	for _, size := range []int64{100_001, 64 << 20} {
		spec := hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.iso", Size: size}
		_, err := host.Upload(t.Context(), spec, io.LimitReader(zeros{}, size))
		if e := wantKind(t, err, plugin.Refused); !strings.Contains(e.Message, "/var/tmp") || !strings.Contains(e.Message, "No space left") {
			t.Errorf("%d bytes: %v", size, err)
		}
		if check, err := host.CheckUpload(t.Context(), spec); err != nil || check.Present {
			t.Errorf("%d bytes: %+v, %v", size, check, err)
		}
	}
	w.SetUploadRoom(-1)
	id, err := host.Upload(t.Context(), hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.iso", Size: 200_000},
		io.LimitReader(zeros{}, 200_000))
	if result := ended(t, host, id, err); !result.OK() {
		t.Errorf("it ended %+v", result)
	}
}

// zeros is a file without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestUploadIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	for name, c := range map[string]struct {
		spec  hypervisor.UploadSpec
		kind  plugin.ErrorKind
		field string
	}{
		"no node":      {hypervisor.UploadSpec{Node: "pve9", Storage: "local", Name: "a.iso"}, plugin.NotFound, ""},
		"bad node":     {hypervisor.UploadSpec{Node: "../pve1", Storage: "local", Name: "a.iso"}, plugin.Invalid, "node"},
		"no storage":   {hypervisor.UploadSpec{Node: "pve1", Storage: "none", Name: "a.iso"}, plugin.NotFound, ""},
		"other node's": {hypervisor.UploadSpec{Node: "pve1", Storage: "second", Name: "a.iso"}, plugin.NotFound, ""},
		"bad storage":  {hypervisor.UploadSpec{Node: "pve1", Storage: "a/b", Name: "a.iso"}, plugin.Invalid, "storage"},
		"disabled":     {hypervisor.UploadSpec{Node: "pve1", Storage: "off", Name: "a.iso"}, plugin.Refused, ""},
		"away":         {hypervisor.UploadSpec{Node: "pve1", Storage: "gone", Name: "a.iso"}, plugin.Refused, ""},
		"disks only":   {hypervisor.UploadSpec{Node: "pve1", Storage: "local-lvm", Name: "a.iso"}, plugin.Invalid, "content"},
		"not set up":   {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.qcow2"}, plugin.Invalid, "content"},
		"snippets":     {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Content: "snippets", Name: "a.iso"}, plugin.Invalid, "content"},
		"no such":      {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.exe"}, plugin.Invalid, "name"},
		"other ending": {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Content: "iso", Name: "a.tar.gz"}, plugin.Invalid, "name"},
		"only ending":  {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: ".iso"}, plugin.Invalid, "name"},
		"small letter": {hypervisor.UploadSpec{Node: "pve1", Storage: "small", Name: "a.QCOW2"}, plugin.Invalid, "name"},
		"backslash":    {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: `c:\a.iso`}, plugin.Invalid, "name"},
		"line feed":    {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a\n.iso"}, plugin.Invalid, "name"},
		"no UTF-8":     {hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a\xff.iso"}, plugin.Invalid, "name"},
	} {
		_, err := host.CheckUpload(t.Context(), c.spec)
		var e *plugin.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Field != c.field {
			t.Errorf("%s: %v, want %s %s", name, err, c.kind, c.field)
		}
	}
	if w.Stats().Requests["POST /nodes/{node}/storage/{storage}/upload"] != 0 {
		t.Error("something was sent")
	}
}

// The default role lacks what uploads need: the refusal names the privilege and the command, before a byte is sent and by the hypervisor.
func TestUploadWithoutThePrivilege(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	w.SetRole("ServiceLifecycle", pve.Privileges(endpoint.Lifecycle)...)
	host := w.host(t, endpoint.Lifecycle)
	spec := hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.iso", Size: 1}
	_, checked := host.CheckUpload(t.Context(), spec)
	_, sent := host.Upload(t.Context(), spec, strings.NewReader("x"))
	for _, err := range []error{checked, sent} {
		e := wantKind(t, err, plugin.Denied)
		if !slices.Equal(e.Missing, []string{"Datastore.AllocateTemplate"}) || e.Path != "/storage/local" ||
			e.Remedy != "pveum role modify ServiceLifecycle --append 1 --privs Datastore.AllocateTemplate" {
			t.Errorf("%+v", e)
		}
	}
}

// A lost answer is an error that leaves open what happened, and nothing is sent again.
func TestUploadWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	w := uploadFixture(t)
	host := w.host(t, endpoint.Lifecycle)
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultCut, After: true, Match: pvesim.Match{Method: "POST"}})
	spec := hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.iso", Size: 1}
	_, err := host.Upload(t.Context(), spec, strings.NewReader("x"))
	wantKind(t, err, plugin.Unreachable)
	if n := w.Stats().Requests["POST /nodes/{node}/storage/{storage}/upload"]; n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	w.ClearFaults()
	if check, err := host.CheckUpload(t.Context(), spec); err != nil || !check.Present {
		t.Errorf("%+v, %v", check, err)
	}
}
