package pve_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/pve"
	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/plugins/pve/pvetest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// checker holds every request that passes, and every good answer, against the schema.
type checker struct {
	t      *testing.T
	schema *pvetest.Schema
	next   http.Handler
	mu     sync.Mutex
	seen   map[string]bool
}

func (c *checker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	form, err := url.ParseQuery(string(raw))
	if kind, edge, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		form, err = uploadFields(raw, edge["boundary"])
	}
	if err != nil {
		c.t.Errorf("%s %s: body %q: %v", r.Method, r.URL.Path, raw, err)
	}
	params := map[string]string{}
	for _, values := range []url.Values{r.URL.Query(), form} {
		for name := range values {
			params[name] = values.Get(name)
		}
	}
	path := strings.TrimPrefix(r.URL.Path, "/api2/json")
	answer := &capture{header: http.Header{}}
	c.next.ServeHTTP(answer, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	faults := c.schema.CheckRequest(r.Method, path, params)
	if answer.status == 0 || answer.status == 200 {
		faults = append(faults, c.schema.CheckAnswer(r.Method, path, answer.body)...)
	}
	for _, fault := range faults {
		c.t.Error(fault)
	}
	if m, _ := c.schema.Find(r.Method, path); m != nil {
		c.seen[r.Method+" "+m.Path] = true
	}
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.WriteHeader(max(answer.status, 200))
	_, _ = w.Write(answer.body)
}

// TestEveryRequestIsInTheSchema goes through all that the driver can ask for.
func TestEveryRequestIsInTheSchema(t *testing.T) {
	t.Parallel()
	schema := pvetest.LoadSchema(t)
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: 10})
	c := &checker{t: t, schema: schema, next: w.Node(w.NodeNames()[0]), seen: map[string]bool{}}
	server := serveTLS(t, c)
	target := w.target(endpoint.Lifecycle, w.AdminToken())
	target.Address, target.Fingerprint = server.Listener.Addr().String(), endpoint.Fingerprint(server.Certificate())
	host, ctx := w.open(t, target), t.Context()

	_, err := host.Version(ctx)
	must(t, "version", err)
	_, err = host.Permissions(ctx)
	must(t, "permissions", err)
	gather(t, host, hypervisor.InventoryQuery{Detail: true})
	gather(t, host, hypervisor.InventoryQuery{Detail: true, Since: time.Now().Add(-time.Hour)})
	for _, node := range w.NodeNames() {
		_, err = host.NodeStatus(ctx, node)
		must(t, "node status", err)
		for _, section := range hypervisor.HardwareSections() {
			_, err = host.NodeHardware(ctx, hypervisor.HardwareQuery{Node: node, Section: section})
			must(t, "hardware", err)
		}
	}
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		ref := w.guest(t, pvesim.GuestSpec{Type: kind, Node: "pve1"})
		_, err = host.Guest(ctx, ref)
		must(t, "guest", err)
		for _, action := range hypervisor.Actions(ref.Kind) {
			id, err := host.Act(ctx, ref, action)
			if err != nil {
				continue // the state does not allow each at this moment; the request has been seen
			}
			_, _, err = follow(t, host, id, 0)
			must(t, "waiting", err)
			_, err = host.TaskLog(ctx, id, hypervisor.LogQuery{Start: 1, Limit: 2})
			must(t, "log", err)
			must(t, "stopping", host.StopTask(ctx, id))
		}
		for _, query := range []hypervisor.TaskQuery{
			{Limit: 10}, {Limit: 500}, {Limit: 50, Node: "pve1", Errors: true},
			{Limit: 50, Guest: &ref, Since: time.Now().Add(-time.Hour)},
		} {
			_, err = host.Tasks(ctx, query)
			must(t, "tasks", err)
		}
	}
	image := "local:iso/debian-13.1.0-amd64-netinst.iso"
	placement, err := host.Placement(ctx, hypervisor.PlacementQuery{
		Kind: hypervisor.VM, Node: "pve1", Image: image, Number: ptr(int64(700)), ID: true, Storages: true, Bridges: true,
	})
	must(t, "placement", err)
	spec := newVMSpec(placement.ID)
	spec.Image, spec.OSType, spec.VLAN = image, "win11", ptr(int64(5))
	id, err := host.CreateVM(ctx, spec)
	must(t, "creating", err)
	_, _, err = follow(t, host, id, 0)
	must(t, "waiting", err)
	made := hypervisor.GuestRef{Kind: hypervisor.VM, Node: "pve1", ID: placement.ID}
	_, err = host.Config(ctx, made)
	must(t, "config", err)
	for _, source := range []hypervisor.GuestRef{made, w.guest(t, pvesim.GuestSpec{Type: pvesim.LXC, Node: "pve1"})} {
		number := hypervisor.GuestID(map[hypervisor.GuestKind]string{hypervisor.VM: "701", hypervisor.Container: "702"}[source.Kind])
		id, err = host.Clone(ctx, source, hypervisor.CloneSpec{ID: number, Name: "copy", Storage: "nas", Node: "pve2", Full: true})
		must(t, "copying", err)
		_, _, err = follow(t, host, id, 0)
		must(t, "waiting", err)
		_, err = host.Destroy(ctx, source, hypervisor.DestroySpec{Purge: true})
		must(t, "destroying", err)
	}
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		source := w.guest(t, pvesim.GuestSpec{Type: kind, Node: "pve1"})
		how := hypervisor.BackupSpec{Storage: "nas", Mode: "stop", Compress: "zstd", Notes: "a", Protected: true}
		id, err = host.RunBackup(ctx, source, how)
		must(t, "backing up", err)
		_, _, err = follow(t, host, id, 0)
		must(t, "waiting", err)
		backups, err := host.Backups(ctx, hypervisor.BackupQuery{Storage: "nas", Node: "pve1"})
		must(t, "listing the backups", err)
		b := backups[len(backups)-1]
		must(t, "ending the protection", host.ProtectBackup(ctx, b, false))
		id, err = host.Restore(ctx, hypervisor.RestoreSpec{Backup: b, ID: source.ID, Node: "pve1", Over: true, NewIdentity: true})
		must(t, "restoring", err)
		_, _, err = follow(t, host, id, 0)
		must(t, "waiting", err)
		_, err = host.DeleteBackup(ctx, b)
		must(t, "deleting", err)
	}
	askedForChanges(t, w, host)
	file := hypervisor.UploadSpec{Node: "pve1", Storage: "local", Name: "a.iso", Size: 3, SHA256: sumOf("abc")}
	_, err = host.CheckUpload(ctx, file)
	must(t, "checking an upload", err)
	_, err = host.Upload(ctx, file, strings.NewReader("abc"))
	must(t, "uploading", err)
	for _, want := range []string{
		"POST /nodes/{node}/vzdump", "POST /nodes/{node}/lxc", "GET /nodes/{node}/vzdump/extractconfig",
		"POST /nodes/{node}/storage/{storage}/upload",
		"PUT /nodes/{node}/storage/{storage}/content/{volume}", "DELETE /nodes/{node}/storage/{storage}/content/{volume}",
		"GET /version", "GET /access/permissions", "GET /cluster/resources", "GET /cluster/status", "GET /cluster/metrics/export",
		"GET /cluster/tasks",
		"GET /nodes", "GET /nodes/{node}/status", "GET /nodes/{node}/disks/list",
		"GET /nodes/{node}/hardware/pci", "GET /nodes/{node}/services", "GET /nodes/{node}/subscription", "GET /nodes/{node}/dns",
		"GET /nodes/{node}/time", "GET /nodes/{node}/tasks", "GET /nodes/{node}/tasks/{upid}/status",
		"GET /nodes/{node}/tasks/{upid}/log", "DELETE /nodes/{node}/tasks/{upid}",
		"GET /nodes/{node}/qemu/{vmid}/status/current", "GET /nodes/{node}/lxc/{vmid}/status/current",
		"POST /nodes/{node}/qemu/{vmid}/status/reset",
		"POST /nodes/{node}/qemu/{vmid}/status/suspend", "POST /nodes/{node}/qemu/{vmid}/status/resume",
		"POST /nodes/{node}/lxc/{vmid}/status/reboot",
		"GET /cluster/nextid", "GET /nodes/{node}/storage", "GET /nodes/{node}/storage/{storage}/content", "GET /nodes/{node}/network",
		"POST /nodes/{node}/qemu", "GET /nodes/{node}/qemu/{vmid}/pending", "POST /nodes/{node}/qemu/{vmid}/clone",
		"POST /nodes/{node}/lxc/{vmid}/clone", "DELETE /nodes/{node}/qemu/{vmid}", "DELETE /nodes/{node}/lxc/{vmid}",
		"PUT /nodes/{node}/qemu/{vmid}/config", "PUT /nodes/{node}/lxc/{vmid}/config",
		"PUT /nodes/{node}/qemu/{vmid}/resize", "PUT /nodes/{node}/lxc/{vmid}/resize",
		"GET /nodes/{node}/qemu/{vmid}/agent/network-get-interfaces", "GET /nodes/{node}/lxc/{vmid}/interfaces",
	} {
		if !c.seen[want] {
			t.Errorf("%s was not asked for", want)
		}
	}
}

// askedForChanges goes through what a guest's configuration is changed with.
func askedForChanges(t *testing.T, w *fixture, host *pve.Host) {
	t.Helper()
	ctx, one := t.Context(), int64(1)
	for _, kind := range []string{pvesim.QEMU, pvesim.LXC} {
		ref := w.guest(t, pvesim.GuestSpec{
			Type: kind, Node: "pve1", Status: pvesim.StatusRunning, Agent: true,
			Interfaces: []pvesim.GuestInterface{{Name: "eth0", MAC: "BC:24:11:00:00:01", Addresses: []string{"10.0.0.5/24"}}},
		})
		config, err := host.Config(ctx, ref)
		must(t, "config", err)
		disk, change := "rootfs", hypervisor.ConfigChange{
			Digest: config.Digest, Name: ptr("new"), Description: ptr("text"), Tags: []string{"a"}, TagsSet: true, Cores: &one,
			MemoryMB: ptr(int64(256)), Options: map[string]*string{},
		}
		if kind == pvesim.QEMU {
			disk, change.Sockets, change.BalloonMB, change.CPUType = "scsi0", &one, ptr(int64(128)), ptr("host")
		} else {
			change.SwapMB = &one
		}
		keys, err := host.OptionKeys(ctx, ref.Kind)
		must(t, "options", err)
		for _, key := range keys {
			change.Options[key.Name] = nil
		}
		must(t, "reconfiguring", host.Reconfigure(ctx, ref, change))
		must(t, "growing", host.GrowDisk(ctx, ref, hypervisor.DiskGrowth{Key: disk, SizeGB: 20}))
		list, err := host.NICs(ctx, ref)
		must(t, "NICs", err)
		nic := hypervisor.NICChange{
			Digest: list.Digest, Raw: list.NICs[0].Raw,
			Set:    hypervisor.NIC{Bridge: "vmbr0", VLAN: &one, Rate: ptr(1.5), MTU: ptr(int64(1400)), Firewall: true},
			Fields: []string{hypervisor.NICBridge, hypervisor.NICVLAN, hypervisor.NICRate, hypervisor.NICMTU, hypervisor.NICFirewall},
		}
		must(t, "changing a NIC", host.ChangeNIC(ctx, ref, "net0", nic))
		if told, err := host.Addresses(ctx, ref); err != nil || len(told) != 1 {
			t.Errorf("addresses %v, %v", told, err)
		}
	}
}

// uploadFields are the parameters that a form with a file brings.
func uploadFields(raw []byte, boundary string) (url.Values, error) {
	form := url.Values{}
	for parts := multipart.NewReader(bytes.NewReader(raw), boundary); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, nil
		}
		if err != nil {
			return form, err
		}
		value, _ := io.ReadAll(part)
		if part.FileName() != "" {
			value = []byte(part.FileName())
		}
		form.Set(part.FormName(), string(value))
	}
}
