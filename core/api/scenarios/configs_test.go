package scenarios

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/configs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// configsInBothShapes runs a test on a Lab of each shape.
func configsInBothShapes(t *testing.T, test func(t *testing.T, b *servicetest.Lab)) {
	t.Helper()
	servicetest.InBothShapes(t, func(t *testing.T, shape memdriver.Shape) {
		test(t, servicetest.NewLab(t, shape, func(a *op.API, d api.Deps) { configs.Register(a, d.Configs) }))
	})
}

func TestConfigIsRead(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		vm := b.VM("running") + "/config"
		b.Expect(t, "GET", vm, "", apitest.Viewer, 200, "", `"cores":2,"sockets":1,"memory_mb":2048,"balloon_mb":null,"swap_mb":null`,
			`"disks":[{"key":"scsi0","storage":"local"`, `"size_gb":32,"removable":false`, `"nics":[{"key":"net0","name":null,"mac":"02:00`,
			`"pending":{},"pending_restart":false`, `"ostype":"l26"`)
		b.Expect(t, "GET", "apps/1/config", "", apitest.Viewer, 200, "", `"swap_mb":512`, `"key":"rootfs"`, `"path":"/"`, `"name":"eth0"`)
		b.Expect(t, "GET", vm, "", nil, 401, "unauthenticated")
		b.Expect(t, "GET", vm, "", foreign, 404, "not_found")
		b.Expect(t, "GET", "vms/999/config", "", apitest.Viewer, 404, "not_found")
		b.Cluster.ChangeConfig(b.Refs["running"].ID, func(c *hypervisor.Config) { c.Description = "a\x00b\xff" + strings.Repeat("x", 1<<20) })
		b.Expect(t, "GET", vm, "", apitest.Viewer, 200, "", `"description":"ab`)
		b.Cluster.ChangeConfig(b.Refs["running"].ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "unused0", Storage: "local", Volume: "local:old", Unused: true, LeftOut: true},
				hypervisor.Disk{Key: "scsi1", Storage: "local", Volume: "local:other", Pending: true, Owner: "999", Kept: true})
		})
		b.Expect(t, "GET", vm, "", apitest.Viewer, 200, "", `{"key":"unused0","storage":"local","volume":"local:old","size_gb":null,`+
			`"removable":false,"local":false,"path":null,"unused":true,"pending":false,"owner_ref":null,"kept":false,"left_out":true}`,
			`"unused":false,"pending":true,"owner_ref":"999","kept":true,"left_out":false}`)
		b.Expect(t, "PATCH", vm[:len(vm)-len("/config")], `{"disks":{"unused0":{"size_gb":40}}}`, apitest.Operator, 422, "invalid", `"unused0"`)
		b.Cluster.SetFault("config", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
		b.Expect(t, "GET", vm, "", apitest.Viewer, 502, "hypervisor_error", `"reason":"unreachable"`)
		b.Cluster.SetFault("config", memdriver.Fault{})
		b.Exec("UPDATE apps SET guest_id = NULL WHERE id = 1")
		b.Expect(t, "GET", "apps/1/config", "", apitest.Viewer, 409, "invalid_state")
	})
}

// What a running VM does not take at once waits, and the answer says so.
func TestConfigOfVMIsChanged(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		b.Expect(t, "PATCH", b.VM("running"), `{"cores":4,"memory_mb":4096,"balloon_mb":1024,"description":"text","tags":["b","a"],`+
			`"disks":{"scsi0":{"size_gb":40}}}`, apitest.Operator, 200, "", `"cores":2`, `"balloon_mb":1024`, `"description":"text"`,
			`"tags":["b","a"]`, `"size_gb":40`, `"pending":{"cores":"4","memory":"4096"},"pending_restart":true`)
		b.Expect(t, "PATCH", b.VM("running"), `{"description":null,"tags":null,"balloon_mb":null}`, apitest.Operator, 200, "",
			`"description":""`,
			`"tags":[]`, `"balloon_mb":0`)
		var now struct{ Digest string }
		b.Get(t, b.VM("stopped")+"/config", &now)
		body := func(digest string) string {
			return fmt.Sprintf(`{"cores":3,"sockets":2,"cpu_type":"kvm64","digest":%q}`, digest)
		}
		b.Expect(t, "PATCH", b.VM("stopped"), body(now.Digest), apitest.Operator, 200, "", `"cores":3,"sockets":2`, `"cpu_type":"kvm64"`,
			`"pending_restart":false`)
		b.Expect(t, "PATCH", b.VM("stopped"), body(now.Digest), apitest.Operator, 409, "digest_conflict")
		// A size that is there already is none to change, beside others.
		b.Expect(t, "PATCH", b.VM("stopped"), `{"disks":{"scsi0":{"size_gb":32}}}`, apitest.Operator, 200, "", `"size_gb":32`)
		if !b.UIDs {
			path := b.VM("template")
			b.Expect(t, "PATCH", path, `{"name":"golden"}`, apitest.Operator, 200, "", `"name":"golden"`)
			// Not only once the next poll has seen it: who works on the guest is asked for its name.
			b.Expect(t, "GET", path, "", apitest.Operator, 200, "", `"name":"golden"`)
		}
		want := `ok {"changed": ["description", "tags", "cores", "memory_mb", "balloon_mb", "disks.scsi0"]}; ` +
			`ok {"changed": ["description", "tags", "balloon_mb"]}; ok {"changed": ["cpu_type", "cores", "sockets"]}; ` +
			`refused digest_conflict {}; ok {"changed": []}`
		if got := b.AuditLog("vm.reconfigure"); !strings.HasPrefix(got, want) {
			t.Errorf("the audit log:\n%s\nwant\n%s", got, want)
		}
	})
}

// A disk with a storage is new. It never takes the place of another one, and what is wrong with it is said at its field.
func TestDisksAreAdded(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		vm := b.VM("running")
		b.Expect(t, "PATCH", vm, `{"cores":3,"disks":{"scsi1":{"size_gb":10,"storage":"local"},"scsi0":{"size_gb":40}}}`,
			apitest.Operator, 200, "", `"key":"scsi0","storage":"local"`, `"size_gb":40`, `"key":"scsi1","storage":"local"`, `"size_gb":10`)
		b.Expect(t, "PATCH", "apps/1", `{"disks":{"mp0":{"size_gb":5,"storage":"local","path":"/data"}}}`, apitest.Operator, 200, "",
			`"key":"mp0"`, `"path":"/data"`)
		for _, c := range []struct{ path, disk, field string }{
			{vm, `"scsi1":{"size_gb":20,"storage":"local"}`, `"scsi1","storage"`},
			{vm, `"scsi2":{"size_gb":20}`, `"scsi2"]`},
			{vm, `"scsi2":{"size_gb":20,"storage":"nowhere"}`, `"scsi2","storage"`},
			{vm, `"scsi2":{"size_gb":20,"storage":"local","path":"/data"}`, `"scsi2","path"`},
			{vm, `"scsi2":{"size_gb":1048576,"storage":"local"}`, `"scsi2","size_gb"`},
			{vm, `"bogus":{"size_gb":20,"storage":"local"}`, `"bogus"`},
			{"apps/1", `"mp1":{"size_gb":20,"storage":"local"}`, `"mp1","path"`},
			{"apps/1", `"mp1":{"size_gb":20,"storage":"local","path":"data"}`, `"path"`},
		} {
			b.Expect(t, "PATCH", c.path, `{"disks":{`+c.disk+`}}`, apitest.Operator, 422, "invalid", c.field)
		}
		b.Expect(t, "PATCH", vm, `{"disks":{"scsi2":{"size_gb":2,"storage":"local"}}}`, apitest.Viewer, 403, "forbidden")
		if !b.UIDs {
			b.Expect(t, "PATCH", b.VM("template"), `{"disks":{"scsi2":{"size_gb":2,"storage":"local"}}}`, apitest.Operator, 409, "invalid_state")
		}
		if got := b.AuditLog("vm.reconfigure"); !strings.HasPrefix(got, `ok {"changed": ["cores", "disks.scsi0", "disks.scsi1"]}`) {
			t.Errorf("the audit log:\n%s", got)
		}
	})
}

// A driver names a stale digest too, when the configuration changes after it was checked.
func TestConfigDigestThatBecomesStale(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		var now struct{ Digest string }
		b.Get(t, b.VM("stopped")+"/config", &now)
		wrap := func(h *memdriver.Host) hypervisor.Host {
			return meddledConfig{h, func() {
				b.Cluster.ChangeConfig(b.Refs["stopped"].ID, func(c *hypervisor.Config) { c.Description = "by another" })
			}}
		}
		b.WrapChanges(wrap)
		b.Expect(t, "PATCH", b.VM("stopped"), fmt.Sprintf(`{"cores":3,"digest":%q}`, now.Digest), apitest.Operator, 409, "digest_conflict",
			`"done":[]`)
	})
}

// meddledConfig is a host on which something happens before each change.
type meddledConfig struct {
	*memdriver.Host
	before func()
}

func (h meddledConfig) Reconfigure(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.ConfigChange) error {
	h.before()
	return h.Host.Reconfigure(ctx, ref, change)
}

func TestChangeConfigRefuses(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		vm, app := b.VM("stopped"), "apps/1"
		b.Cluster.ChangeConfig(b.Refs["stopped"].ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "ide2", Storage: "local", Removable: true})
		})
		ask := func(url, body string, as *apitest.Caller, status int, code string, contains ...string) {
			t.Helper()
			b.Expect(t, "PATCH", url, body, as, status, code, contains...)
		}
		ask(vm, `{"cores":3}`, apitest.Viewer, 403, "forbidden")
		ask(vm, `{"cores":3}`, foreign, 404, "not_found")
		ask(app, `{"cores":3}`, foreign, 404, "not_found")
		ask("vms/999", `{"cores":3}`, apitest.Operator, 404, "not_found")
		for _, nothing := range []string{`{}`, `{"disks":{}}`, `{"digest":"x"}`} {
			ask(vm, nothing, apitest.Operator, 422, "invalid", "nothing_to_change")
			ask(app, nothing, apitest.Operator, 422, "invalid", "nothing_to_change")
		}
		ask(vm, `{"cores":0,"sockets":0,"memory_mb":null,"tags":["a b"],"disks":{"scsi0":{"size_gb":0}},"nope":1}`, apitest.Operator, 422,
			"invalid", `["body","cores"]`, `["body","sockets"]`, `["body","memory_mb"]`, `["body","tags",0]`,
			`["body","disks","scsi0","size_gb"]`, `["body","nope"]`)
		ask(vm, `{"cores":1e30}`, apitest.Operator, 422, "invalid", `["body","cores"]`)
		ask(vm, `{"cores":129,"memory_mb":9000000,"balloon_mb":9500000,"name":"-x","disks":{"scsi0":{"size_gb":8},"scsi9":{"size_gb":8},`+
			`"ide2":{"size_gb":8}}}`, apitest.Operator, 422, "invalid", `["body","cores"]`, `["body","memory_mb"]`, `["body","balloon_mb"]`,
			`["body","name"]`, `["body","disks","scsi0","size_gb"]`, "can only grow", `["body","disks","scsi9"]`,
			`["body","disks","ide2","size_gb"]`)
		ask(vm, `{"disks":{"scsi0":{"size_gb":200000}}}`, apitest.Operator, 422, "invalid", "must be at most 131072")
		ask(vm, `{"disks":{"scsi0":{"size_gb":100000}}}`, apitest.Operator, 422, "invalid", "has free space for only")
		ask(b.VM("template"), `{"disks":{"scsi0":{"size_gb":40}}}`, apitest.Operator, 409, "invalid_state", "template")
		ask(app, `{"sockets":2}`, apitest.Operator, 422, "invalid", "extra_forbidden")
		ask(app, `{"web_port":0,"web_path":"x","web_protocol":"ftp","name":""}`, apitest.Operator, 422, "invalid", `["body","web_port"]`,
			`["body","web_path"]`, `["body","web_protocol"]`, `["body","name"]`)
		ask(app, `{"cores":null,"memory_mb":null,"swap_mb":null,"name":null}`, apitest.Operator, 422, "invalid", "nothing_to_change")
		ask(app, `{"cores":null,"web_port":80}`, apitest.Operator, 200, "", `"web_port":80`, `"config":null`)
		ask(app, `{"name":"\u200b"}`, apitest.Operator, 422, "invalid", `["body","name"]`)
		b.Cluster.Change(b.Refs["stopped"].ID, func(g *hypervisor.Guest) { g.Lock = "backup" })
		ask(vm, `{"cores":3}`, apitest.Operator, 409, "guest_busy", `"done":[]`)
		b.Cluster.Change(b.Refs["stopped"].ID, func(g *hypervisor.Guest) { g.Lock = "" })

		// Beside a job, and beside another change.
		b.Expect(t, "POST", vm+"/start", "", apitest.Operator, 202, "")
		ask(vm, `{"cores":3}`, apitest.Operator, 409, "guest_busy", `"job":`)
		b.Exec("UPDATE jobs SET status = 'failed'")
		b.Exec("INSERT INTO job_holds (exclusive, until) SELECT 'guest:' || id, now() + interval '1 minute' FROM guests")
		ask(vm, `{"cores":3}`, apitest.Operator, 409, "guest_busy")
		b.Expect(t, "POST", vm+"/start", "", apitest.Operator, 409, "guest_busy")
		b.Exec("UPDATE job_holds SET until = now() - interval '1 minute'")
		ask(vm, `{"cores":3}`, apitest.Operator, 200, "", `"cores":3`)
		b.Expect(t, "POST", vm+"/start", "", apitest.Operator, 202, "")
		b.Exec("UPDATE jobs SET status = 'failed'")

		b.Cluster.SetFault("reconfigure", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no")})
		ask(vm, `{"cores":2}`, apitest.Operator, 502, "hypervisor_error", `"reason":"refused"`, `"done":[]`)
		b.Cluster.SetFault("reconfigure", memdriver.Fault{})
		b.Exec("DELETE FROM host_credentials WHERE capability = 'lifecycle'")
		ask(vm, `{"cores":2}`, apitest.Operator, 409, "capability_missing")
		ask(app, `{"cores":2}`, apitest.Operator, 409, "capability_missing")
		ask(app, `{"name":"The files"}`, apitest.Operator, 200, "", `"name":"The files"`, `"config":null`)
		if n := b.Value("SELECT count(*) FROM job_holds WHERE until > now()"); n != "0" {
			t.Errorf("%s holds are left", n)
		}
	})
}

// configLosing is a host whose answers to a change are lost.
type configLosing struct {
	*memdriver.Host
	// carried says that the request is carried out before its answer is lost.
	carried bool
	// reconfigure and grow say whose answers.
	reconfigure, grow bool
	sent              *int
	after             func()
}

func (h configLosing) lose(loses bool, request func() error) error {
	*h.sent++
	if loses && !h.carried {
		h.after()
		return plugin.Errorf(plugin.Timeout, "the connection broke")
	}
	err := request()
	if loses && err == nil {
		h.after()
		return plugin.Errorf(plugin.Unreachable, "the connection broke")
	}
	return err
}

func (h configLosing) Reconfigure(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.ConfigChange) error {
	return h.lose(h.reconfigure, func() error { return h.Host.Reconfigure(ctx, ref, change) })
}

func (h configLosing) GrowDisk(ctx context.Context, ref hypervisor.GuestRef, growth hypervisor.DiskGrowth) error {
	return h.lose(h.grow, func() error { return h.Host.GrowDisk(ctx, ref, growth) })
}

// An answer that is lost is judged by what is there afterwards, and nothing is sent twice.
func TestChangeConfigAnswersLost(t *testing.T) {
	t.Parallel()
	const body = `{"cores":4,"memory_mb":4096,"tags":["a"],"disks":{"scsi0":{"size_gb":40}}}`
	for name, c := range map[string]struct {
		configLosing
		away   bool
		status int
		code   string
		sent   int
		says   []string
	}{
		"of a change that was made": {configLosing{carried: true, reconfigure: true}, false, 200, "", 2, []string{`"size_gb":40`}},
		"of a growth that was made": {configLosing{carried: true, grow: true}, false, 200, "", 2, []string{`"size_gb":40`}},
		"of both": {configLosing{carried: true, reconfigure: true, grow: true}, false, 200, "", 2,
			[]string{`"cores":"4"`}},
		"of a change that was not made": {configLosing{reconfigure: true}, false, 504, "timeout", 1,
			[]string{`"done":[]`, "reading the guest afterwards showed no change"}},
		"of a growth that was not made": {configLosing{grow: true}, false, 504, "timeout", 2, []string{`"done":["tags","cores","memory_mb"]`}},
		"of a change that nobody can read": {configLosing{carried: true, reconfigure: true}, true, 504, "outcome_unknown", 1,
			[]string{`"unknown":["tags","cores","memory_mb"]`, `"done":[]`}},
		"of a growth that nobody can read": {configLosing{carried: true, grow: true}, true, 504, "outcome_unknown", 2,
			[]string{`"unknown":["disks.scsi0"]`, `"done":["tags","cores","memory_mb"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
				sent := 0
				wrap := func(h *memdriver.Host) hypervisor.Host {
					host := c.configLosing
					host.Host, host.sent = h, &sent
					host.after = func() {
						if c.away {
							b.Cluster.SetFault("config", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "no route")})
						}
					}
					return host
				}
				b.WrapChanges(wrap)
				b.Expect(t, "PATCH", b.VM("running"), body, apitest.Operator, c.status, c.code, c.says...)
				if sent != c.sent {
					t.Errorf("%d requests were sent, want %d", sent, c.sent)
				}
				trail := b.AuditLog("vm.reconfigure")
				if rows := strings.Count(trail, `"changed"`); rows != map[bool]int{true: 1, false: 2}[c.code == ""] {
					t.Errorf("%d rows of the audit log: %s", rows, trail)
				}
				if c.code != "" && !strings.Contains(trail, "failed "+c.code+` {"done": [`) {
					t.Errorf("the audit log: %s", trail)
				}
			})
		})
	}
}

// A later request that is refused leaves what was done before, and says so.
func TestConfigGrowthThatIsRefused(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		b.Cluster.SetFault("growdisk", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "the pool is full")})
		b.Expect(t, "PATCH", "apps/1", `{"cores":4,"name":"other","disks":{"rootfs":{"size_gb":40}}}`, apitest.Operator, 502, "hypervisor_error",
			`"done":["cores"]`, "the pool is full")
		b.Expect(t, "GET", "apps/1", "", apitest.Viewer, 200, "", `"name":"files"`)
		invalid := plugin.Errorf(plugin.Invalid, "not so large")
		invalid.Field = "size_gb"
		b.Cluster.SetFault("growdisk", memdriver.Fault{Err: invalid})
		b.Expect(t, "PATCH", "apps/1", `{"disks":{"rootfs":{"size_gb":40}}}`, apitest.Operator, 422, "invalid",
			`["body","disks","rootfs","size_gb"]`)
		b.Expect(t, "PATCH", "apps/1", `{"cores":3,"disks":{"rootfs":{"size_gb":40}}}`, apitest.Operator, 502, "hypervisor_error",
			`"done":["cores"]`, "not so large")
		want := `ok {"changed": ["cores", "disks.rootfs"]}; failed hypervisor_error {"done": ["cores"], ` +
			`"changed": ["cores", "disks.rootfs"]}; ` +
			`ok {"changed": ["disks.rootfs"]}; failed invalid {"done": [], "changed": ["disks.rootfs"]}; `
		if got := b.AuditLog("app.reconfigure"); !strings.HasPrefix(got, want) {
			t.Errorf("the audit log:\n%s\nwant\n%s", got, want)
		}
	})
}

func TestConfigOfAppIsChanged(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		b.Expect(t, "PATCH", "apps/2", `{"cores":3,"memory_mb":1024,"swap_mb":0,"name":" The wiki ","web_port":8080,"web_path":"/w",`+
			`"web_protocol":"https","disks":{"rootfs":{"size_gb":33}}}`, apitest.Operator, 200, "", `"id":2,"name":"The wiki"`, `"web_port":8080`,
			`"web_path":"/w"`, `"web_protocol":"https"`, `"cores":3`, `"memory_mb":1024`, `"swap_mb":0`, `"size_gb":33`)
		b.Expect(t, "PATCH", "apps/2", `{"web_port":null,"web_path":null,"web_protocol":null}`, apitest.Operator, 200, "", `"web_port":null`,
			`"web_path":null`, `"web_protocol":null`, `"name":"The wiki"`, `"config":null`)
		want := `ok {"changed": ["cores", "memory_mb", "swap_mb", "disks.rootfs"]}; ` +
			`ok {"changed": ["name", "web_port", "web_path", "web_protocol"]}; ok {"changed": ["web_port", "web_path", "web_protocol"]}`
		if got := b.AuditLog("app.reconfigure"); got != want {
			t.Errorf("the audit log:\n%s\nwant\n%s", got, want)
		}
		b.Exec("UPDATE apps SET host_id = NULL, cluster_id = NULL, guest_id = NULL WHERE id = 2")
		b.Expect(t, "PATCH", "apps/2", `{"cores":2}`, apitest.Owner, 409, "invalid_state", "no host")
		b.Expect(t, "PATCH", "apps/2", `{"name":"wiki"}`, apitest.Owner, 200, "", `"name":"wiki"`, `"present":false`)
	})
}

// An image is inserted into a drive and ejected. Nothing but a drive for images is changed.
func TestDrivesAreChanged(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		vm, ref := b.VM("running"), b.Refs["running"].ID
		b.Cluster.ChangeConfig(ref, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "ide2", Removable: true},
				hypervisor.Disk{Key: "ide0", Storage: "local", Volume: "local:cloudinit", Removable: true, Owner: ref})
		})
		const inserted = `{"key":"ide2","storage":"local","volume":"local:iso/installer.iso","size_gb":null,"removable":true`
		b.Expect(t, "PUT", vm+"/drives/ide2", `{"image":"local:iso/installer.iso"}`, apitest.Operator, 200, "", inserted,
			`"pending_restart":false`)
		b.Expect(t, "GET", vm+"/config", "", apitest.Viewer, 200, "", inserted)
		var now struct{ Digest string }
		b.Get(t, vm+"/config", &now)
		b.Expect(t, "PUT", vm+"/drives/ide2", fmt.Sprintf(`{"image":null,"digest":%q}`, now.Digest), apitest.Operator, 200, "",
			`{"key":"ide2","storage":null,"volume":null`)
		for _, c := range []struct {
			drive, body string
			status      int
			code, says  string
		}{
			{"scsi0", `{"image":null}`, 422, "invalid", "would lose the disk"},
			{"scsi0", `{"image":"local:iso/installer.iso"}`, 422, "invalid", `["path","drive"]`},
			{"ide0", `{"image":null}`, 422, "invalid", "Cloud-Init"},
			{"ide3", `{"image":null}`, 404, "not_found", ""},
			{"ide2", `{"image":"local:iso/none.iso"}`, 422, "invalid", `["body","image"]`},
			{"ide2", `{"image":"local:images/disk"}`, 422, "invalid", `["body","image"]`},
			{"ide2", `{}`, 422, "invalid", `"image"`},
			{"ide2", `{"image":""}`, 422, "invalid", `"image"`},
			{"ide2", `{"image":null,"digest":"old"}`, 409, "digest_conflict", ""},
		} {
			b.Expect(t, "PUT", vm+"/drives/"+c.drive, c.body, apitest.Operator, c.status, c.code, c.says)
		}
		b.Expect(t, "PUT", vm+"/drives/ide2", `{"image":null}`, apitest.Viewer, 403, "forbidden")
		b.Expect(t, "PUT", vm+"/drives/ide2", `{"image":null}`, foreign, 404, "not_found")
		b.Cluster.SetFault("changedrive", memdriver.Fault{Err: plugin.Errorf(plugin.Denied, "no")})
		b.Expect(t, "PUT", vm+"/drives/ide2", `{"image":null}`, apitest.Operator, 502, "hypervisor_error", `"reason":"permission"`)
		want := `ok {"drive": "ide2", "image": "local:iso/installer.iso"}; ok {"drive": "ide2", "image": null}; `
		if got := b.AuditLog("vm.set_drive"); !strings.HasPrefix(got, want) {
			t.Errorf("the audit log:\n%s", got)
		}
	})
}

// driveLosing is a host whose answers to a change of a drive are lost.
type driveLosing struct {
	*memdriver.Host
	carried bool
	sent    *int
}

func (h driveLosing) ChangeDrive(ctx context.Context, ref hypervisor.GuestRef, change hypervisor.DriveChange) error {
	*h.sent++
	if h.carried {
		if err := h.Host.ChangeDrive(ctx, ref, change); err != nil {
			return err
		}
	}
	return plugin.Errorf(plugin.Unreachable, "the connection broke")
}

// If the answer to a change is lost, the configuration shows whether it was made.
func TestChangeDriveAnswersLost(t *testing.T) {
	t.Parallel()
	configsInBothShapes(t, func(t *testing.T, b *servicetest.Lab) {
		b.Cluster.ChangeConfig(b.Refs["stopped"].ID, func(c *hypervisor.Config) {
			c.Disks = append(c.Disks, hypervisor.Disk{Key: "ide2", Removable: true})
		})
		sent, carried := 0, true
		b.WrapChanges(func(h *memdriver.Host) hypervisor.Host { return driveLosing{h, carried, &sent} })
		path := b.VM("stopped") + "/drives/ide2"
		b.Expect(t, "PUT", path, `{"image":"local:iso/installer.iso"}`, apitest.Operator, 200, "", `"volume":"local:iso/installer.iso"`)
		carried = false
		b.Expect(t, "PUT", path, `{"image":null}`, apitest.Operator, 502, "hypervisor_error", `"done":[]`)
		if sent != 2 {
			t.Errorf("two changes were sent %d times", sent)
		}
	})
}
