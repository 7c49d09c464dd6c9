package pve_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// contentFixture is a cluster of two nodes whose storage "nas" has an image, and a VM with a disk on it.
func contentFixture(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1, TaskDuration: -1})
	w.AddImage("nas", "iso", "a.iso", 1000)
	w.guest(t, pvesim.GuestSpec{VMID: 100, Storage: "nas", Disk: 8 << 30})
	return w
}

// saying gives a host of a server that answers paths below /api2/json with these data, and all others with 501.
func saying(t *testing.T, data map[string]string) *pve.Host {
	t.Helper()
	server := serveTLS(t, http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		text, known := data[r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api2/json")]
		if !known {
			answer.WriteHeader(http.StatusNotImplemented)
			return
		}
		answer.Header().Set("Content-Type", "application/json;charset=UTF-8")
		_, _ = io.WriteString(answer, `{"data":`+text+`}`)
	}))
	driver := pve.NewWithTiming(nil, quick)
	t.Cleanup(driver.Close)
	host, err := driver.Open(t.Context(), endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{Capability: endpoint.Lifecycle, ID: "a@pve!b", Secret: "0b1c-canary"},
	})
	must(t, "opening", err)
	return host.(*pve.Host)
}

const (
	nasContent  = "GET /nodes/pve1/storage/nas/content"
	permissions = "GET /access/permissions"
	allOf       = `{"/":{"Datastore.Allocate":1}}`
)

func TestContentRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  string
		want hypervisor.Volume
	}{
		"an image": {`"volid":"nas:iso/a.iso","content":"iso","format":"iso","size":"1000","ctime":1700000000`,
			hypervisor.Volume{ID: "nas:iso/a.iso", Name: "a.iso", Kind: hypervisor.VolumeImage, Content: "iso", Format: "iso",
				SizeBytes: ptr(int64(1000)), CreatedAt: time.Unix(1700000000, 0).UTC()}},
		"a linked copy": {`"volid":"nas:101/base-100-disk-0.raw/101/vm-101-disk-0.qcow2","content":"images","vmid":101,"size":5,"used":2,` +
			`"parent":"../100/base-100-disk-0.raw"`,
			hypervisor.Volume{ID: "nas:101/base-100-disk-0.raw/101/vm-101-disk-0.qcow2", Name: "vm-101-disk-0.qcow2", Kind: hypervisor.VolumeDisk,
				Content: "images", Guest: "101", SizeBytes: ptr(int64(5)), UsedBytes: ptr(int64(2)), Parent: "nas:100/base-100-disk-0.raw"}},
		"a copy on blocks": {`"volid":"nas:vm-101-disk-0","content":"images","vmid":"101","size":5,"parent":"base-100-disk-0@__base__"`,
			hypervisor.Volume{ID: "nas:vm-101-disk-0", Name: "vm-101-disk-0", Kind: hypervisor.VolumeDisk, Content: "images", Guest: "101",
				SizeBytes: ptr(int64(5)), Parent: "nas:base-100-disk-0"}},
		"a backup of a server": {`"volid":"nas:backup/vm/100/2026-01-01T00:00:00Z","content":"backup","vmid":100,"protected":1,` +
			`"notes":"a\nb","encrypted":"ab:cd","verification":{"state":"ok"},"size":7`,
			hypervisor.Volume{ID: "nas:backup/vm/100/2026-01-01T00:00:00Z", Name: "vm/100/2026-01-01T00:00:00Z", Kind: hypervisor.VolumeBackup,
				Content: "backup", Guest: "100", Protected: true, Notes: "a\nb", Encrypted: true, Verified: hypervisor.BackupVerified,
				SizeBytes: ptr(int64(7))}},
		"something new": {`"volid":"nas:import/a.ova","content":"import","approximate-size":9`,
			hypervisor.Volume{ID: "nas:import/a.ova", Name: "a.ova", Kind: hypervisor.VolumeOther, Content: "import", SizeBytes: ptr(int64(9))}},
		"strange figures": {`"volid":"nas:iso/b.iso","content":"iso","size":-1,"used":"x","ctime":-5,"vmid":null`,
			hypervisor.Volume{ID: "nas:iso/b.iso", Name: "b.iso", Kind: hypervisor.VolumeImage, Content: "iso"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := saying(t, map[string]string{nasContent: "[{" + c.row + "}]", permissions: allOf})
			list, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1"})
			must(t, "listing", err)
			c.want.Storage, c.want.Node = "nas", "pve1"
			if len(list.Volumes) != 1 || fmt.Sprintf("%+v", shown(list.Volumes[0])) != fmt.Sprintf("%+v", shown(c.want)) {
				t.Errorf("there is %+v, want %+v", shown(list.Volumes[0]), shown(c.want))
			}
		})
	}
}

// shown is a volume whose figures can be read.
func shown(v hypervisor.Volume) []any {
	figure := func(n *int64) any {
		if n == nil {
			return nil
		}
		return *n
	}
	size, used := figure(v.SizeBytes), figure(v.UsedBytes)
	v.SizeBytes, v.UsedBytes = nil, nil
	return []any{v, size, used}
}

// Rows that can be of nothing on the storage are left out; answers that are no list are errors, and so is a list that was cut off.
func TestHostileContent(t *testing.T) {
	t.Parallel()
	list := func(answer string) (hypervisor.ContentList, error) {
		host := saying(t, map[string]string{nasContent: answer, permissions: allOf})
		return host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1"})
	}
	got, err := list(`[{"volid":"other:iso/a.iso"},{"volid":"nas:../../etc/passwd"},{"volid":"nas:iso//a.iso"},{"volid":"nas:"},` +
		`{"volid":""},{"volid":"nas:iso/a\u0001.iso"},{"volid":7},{},{"content":"iso"},{"volid":"nas:` +
		strings.Repeat("x", 10_000) + `"},{"volid":"nas:iso/good.iso","content":"` + strings.Repeat("y", 10_000) + `","notes":{"a":[1,2]}}]`)
	must(t, "listing", err)
	if len(got.Volumes) != 1 || got.Volumes[0].ID != "nas:iso/good.iso" || len(got.Volumes[0].Content) > 1000 {
		t.Errorf("there is %+v", got.Volumes)
	}
	for _, answer := range []string{`{"a":1}`, `"text"`, `7`, `[[1]]`, `[{"volid":"nas:iso/a.iso"},`, ``, `[{"volid":"nas:iso/a.iso"`} {
		if got, err := list(answer); err == nil {
			t.Errorf("%s is taken for %+v", answer, got)
		}
	}
	if got, err := list(`null`); err != nil || len(got.Volumes) != 0 {
		t.Errorf("nothing is %+v, %v", got, err)
	}
	// Rights that cannot be read leave open what is hidden.
	host := saying(t, map[string]string{nasContent: `[]`, permissions: `[1,2]`})
	if got, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1"}); err == nil {
		t.Errorf("without rights it is %+v", got)
	}
}

// What a token is not shown is told, with the privilege and the command; one kind that is wholly hidden is a refusal.
func TestHiddenContent(t *testing.T) {
	t.Parallel()
	w := contentFixture(t)
	_, err := w.AddBackup(pvesim.BackupSpec{Storage: "nas", VMID: 100})
	must(t, "making a backup", err)
	type seen struct {
		disks, images, backups int
		hidden                 string
	}
	for name, c := range map[string]struct {
		privileges []string
		want       seen
		denied     map[string]string // by content, what is missing
	}{
		"audit": {[]string{"Datastore.Audit"}, seen{0, 1, 0, "[backup images rootdir]"},
			map[string]string{"images": "VM.Config.Disk", "rootdir": "VM.Config.Disk", "backup": "Datastore.AllocateSpace"}},
		"disks": {[]string{"Datastore.Audit", "VM.Config.Disk"}, seen{1, 1, 0, "[backup]"},
			map[string]string{"backup": "Datastore.AllocateSpace"}},
		"space": {[]string{"Datastore.Audit", "Datastore.AllocateSpace"}, seen{0, 1, 0, "[backup images rootdir]"},
			map[string]string{"backup": "VM.Backup"}},
		"backups":    {[]string{"Datastore.Audit", "Datastore.AllocateSpace", "VM.Backup"}, seen{0, 1, 1, "[images rootdir]"}, nil},
		"everything": {[]string{"Datastore.Allocate", "Datastore.Audit"}, seen{1, 1, 1, "[]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, append(c.privileges, "Sys.Audit")...)))
			list, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1"})
			must(t, "listing", err)
			got := seen{hidden: fmt.Sprint(list.Hidden)}
			for _, v := range list.Volumes {
				switch v.Kind {
				case hypervisor.VolumeDisk:
					got.disks++
				case hypervisor.VolumeImage:
					got.images++
				case hypervisor.VolumeBackup:
					got.backups++
				}
			}
			if got != c.want {
				t.Errorf("it is shown %+v, want %+v", got, c.want)
			}
			for content, missing := range c.denied {
				_, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1", Content: content})
				if e := wantKind(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{missing}) || e.Remedy == "" {
					t.Errorf("%s: %+v, want %s", content, e, missing)
				}
			}
			for kind, count := range map[hypervisor.VolumeKind]int{hypervisor.VolumeDisk: c.want.disks, hypervisor.VolumeImage: c.want.images,
				hypervisor.VolumeBackup: c.want.backups, hypervisor.VolumeTemplate: 0, hypervisor.VolumeOther: 0} {
				list, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1", Kind: kind})
				hidden := count == 0 && (kind == hypervisor.VolumeDisk || kind == hypervisor.VolumeBackup)
				if hidden && plugin.KindOf(err) != plugin.Denied || !hidden && (err != nil || len(list.Volumes) != count) {
					t.Errorf("of kind %s it is shown %+v, %v; want %d", kind, list, err, count)
				}
			}
		})
	}
}

// A storage that cannot be read is told as what it is.
func TestContentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := contentFixture(t)
	w.AddStorage(pvesim.StorageSpec{ID: "off", Disabled: true})
	w.AddStorage(pvesim.StorageSpec{ID: "gone", Away: true})
	w.AddStorage(pvesim.StorageSpec{ID: "second", Nodes: []string{"pve2"}})
	host := w.host(t, endpoint.Lifecycle)
	for name, c := range map[string]struct {
		storage, node string
		kinds         []plugin.ErrorKind
	}{
		"disabled":     {"off", "pve1", []plugin.ErrorKind{plugin.Refused}},
		"away":         {"gone", "pve1", []plugin.ErrorKind{plugin.Refused}},
		"other node's": {"second", "pve1", []plugin.ErrorKind{plugin.NotFound}},
		"no storage":   {"none", "pve1", []plugin.ErrorKind{plugin.NotFound, plugin.Refused}},
		"no node":      {"nas", "pve9", []plugin.ErrorKind{plugin.NotFound}},
		"a path":       {"../nas", "pve1", []plugin.ErrorKind{plugin.NotFound}},
	} {
		list, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: c.storage, Node: c.node})
		if err == nil || !slices.Contains(c.kinds, plugin.KindOf(err)) {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
	without := w.open(t, w.target(endpoint.Monitoring, w.token("/nodes", true, "Sys.Audit")))
	_, err := without.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1"})
	if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 || e.Path != "/storage/nas" {
		t.Errorf("%+v", e)
	}
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultTruncate, Match: pvesim.Match{Path: "/nodes/{node}/storage/{storage}/content"}})
	if list, err := host.Content(t.Context(), hypervisor.ContentQuery{Storage: "nas", Node: "pve1"}); err == nil {
		t.Errorf("a list that was cut off is %+v", list)
	}
}

// What a deletion fails of is told at once or in its task, and a request is sent once.
func TestDeletionOfVolumes(t *testing.T) {
	t.Parallel()
	w := contentFixture(t)
	backup, err := w.AddBackup(pvesim.BackupSpec{Storage: "nas", VMID: 100, Protected: true})
	must(t, "making a backup", err)
	host := w.host(t, endpoint.Lifecycle)
	volume := func(id string) hypervisor.Volume { return hypervisor.Volume{ID: id, Storage: "nas", Node: "pve1"} }
	remove := func(id string) hypervisor.TaskResult {
		t.Helper()
		task, err := host.DeleteVolume(t.Context(), volume(id))
		return ended(t, host, task, err)
	}
	if result := remove("nas:iso/a.iso"); !result.OK() {
		t.Errorf("an image: %+v", result)
	}
	if result := remove("nas:iso/a.iso"); !result.OK() {
		t.Errorf("an image that is gone: %+v", result)
	}
	if result := w.deleted(t, backup); result.OK() || !strings.Contains(result.Message, "protected") {
		t.Errorf("a protected backup: %+v", result)
	}
	for _, id := range []string{"other:iso/a.iso", "nas:../a", "nas:", "a.iso", "nas:iso/a\n.iso", ""} {
		_, err := host.DeleteVolume(t.Context(), volume(id))
		if wantKind(t, err, plugin.NotFound) == nil {
			t.Error(id)
		}
	}
	_, err = host.DeleteVolume(t.Context(), hypervisor.Volume{ID: "none:iso/a.iso", Storage: "none", Node: "pve1"})
	if !slices.Contains([]plugin.ErrorKind{plugin.NotFound, plugin.Refused}, plugin.KindOf(err)) {
		t.Errorf("on no storage: %v", err)
	}
	without := w.open(t, w.target(endpoint.Lifecycle, w.token("/", true, "Datastore.Audit", "Sys.Audit")))
	_, err = without.DeleteVolume(t.Context(), volume("nas:iso/b.iso"))
	if e := wantKind(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{"Datastore.Allocate"}) || e.Path != "/storage/nas" ||
		e.Remedy == "" {
		t.Errorf("without the privilege: %+v", e)
	}
	const request = "DELETE /nodes/{node}/storage/{storage}/content/{volume}"
	before := w.Stats().Requests[request]
	w.fault(t, pvesim.Fault{Kind: pvesim.FaultCut, After: true, Match: pvesim.Match{Method: "DELETE"}})
	_, err = host.DeleteVolume(t.Context(), volume("nas:iso/b.iso"))
	wantKind(t, err, plugin.Unreachable)
	if n := w.Stats().Requests[request] - before; n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

// deleted deletes a backup with the token for backups.
func (w *fixture) deleted(t *testing.T, id string) hypervisor.TaskResult {
	t.Helper()
	host := w.host(t, endpoint.Backup)
	task, err := host.DeleteVolume(t.Context(), hypervisor.Volume{ID: id, Storage: "nas", Node: "pve1", Kind: hypervisor.VolumeBackup})
	return ended(t, host, task, err)
}
