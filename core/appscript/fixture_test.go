package appscript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/appscripts"
	"github.com/hostler/hostler/core/api/catalog"
	"github.com/hostler/hostler/core/api/jobs"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/appscript"
	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// fixture is a lab whose first host's machine is a real one, with a real SSH server and containers. Its apps serve a page each at their
// port 8080, which says their version. A snapshot keeps what the containers have, and a roll-back brings it back.
type fixture struct {
	*servicetest.Lab
	t       *testing.T
	mem     *catalogtest.Memory
	machine *nodetest.Machine
	// before is called before each request to the hypervisor that changes something; an error of it is the answer.
	mu     sync.Mutex
	before func(ctx context.Context, request string, id hypervisor.GuestID) error
	// after is called after it, and done counts what was done.
	after func(ctx context.Context, request string, id hypervisor.GuestID)
	done  map[string]int
	// ssh is called before each step that needs the login, and what it gives after it; an error of that is the answer.
	ssh func(step string) (after func() error)
	// bare are apps of whose containers no snapshots can be taken.
	bare []string
	apps map[string]app
	// keyFile and url are those of the service, for others.
	keyFile, url string
	// drivers are the service's.
	drivers host.Drivers
}

type app struct {
	id  int64
	ref hypervisor.GuestRef
}

// drivers is a service's, of which logins go to the machine.
type drivers struct {
	host.Drivers
	f *fixture
}

func (d drivers) Hypervisor(name string) hypervisor.Driver {
	return driver{d.Drivers.Hypervisor(name), d.f}
}

type driver struct {
	hypervisor.Driver
	f *fixture
}

func (d driver) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	at := target
	logsIn := target.Credential.Form == endpoint.FormSSHKey
	if logsIn {
		at = d.f.Cluster.Target(endpoint.Monitoring)
	}
	inner, err := d.Driver.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	opened := &labHost{Host: inner.(*memdriver.Host), f: d.f}
	if logsIn {
		target.Address, target.SSH.Port, target.AllowLocal = "127.0.0.1:1", d.f.machine.SSH.Port(), true
		opened.machine = pvessh.New(target, pvessh.Timeouts{Alive: time.Second, Silence: 10 * time.Second})
	}
	return opened, nil
}

func (f *fixture) asks(ctx context.Context, request string, id hypervisor.GuestID) error {
	f.mu.Lock()
	before := f.before
	bare := request == "snapshot" && slices.ContainsFunc(f.bare, func(slug string) bool { return f.apps[slug].ref.ID == id })
	f.mu.Unlock()
	if bare {
		return errRefused
	}
	if before != nil {
		if err := before(ctx, request, id); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done[fmt.Sprintf("%s of %s", request, id)]++
	return nil
}

// answers is called before the answer to a request.
func (f *fixture) answers(ctx context.Context, request string, id hypervisor.GuestID) {
	f.mu.Lock()
	after := f.after
	f.mu.Unlock()
	if after != nil {
		after(ctx, request, id)
	}
}

func (f *fixture) set(before func(context.Context, string, hypervisor.GuestID) error,
	after func(context.Context, string, hypervisor.GuestID)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// steps sets what is done about each step that needs the login; nil for nothing.
func (f *fixture) steps(ssh func(step string) (after func() error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ssh = ssh
}

// did is how often a request on an app was carried out.
func (f *fixture) did(request, slug string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[fmt.Sprintf("%s of %s", request, f.apps[slug].ref.ID)]
}

// start begins the page of an app, in the container. What ran before is ended.
const start = `[ ! -s /root/pid ] || kill "$(cat /root/pid)" 2>/dev/null
setsid sh -c 'echo $$ >/root/pid; exec python3 -m http.server 8080 --directory /root/www' >/dev/null 2>&1 </dev/null &
`

// newFixture makes the apps of some entries, each with the script that updates it by now, and runs jobs.
func newFixture(t *testing.T, updates map[string]string) *fixture {
	t.Helper()
	f := &fixture{t: t, mem: &catalogtest.Memory{Name: "scripts"}, machine: nodetest.Start(t), apps: map[string]app{}, done: map[string]int{},
		keyFile: filepath.Join(t.TempDir(), "keys", "secret.key"), url: dbtest.URL(t)}
	if _, err := f.machine.Try(t.Context(), "command -v python3 curl"); err != nil {
		programtest.Missing(t, "there is no python3 and curl to serve and fetch pages with")
	}
	keys, err := loadKeys(f.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	f.Lab = servicetest.NewLab(t, memdriver.Tokens, func(a *op.API, d api.Deps) {
		appscripts.Register(a, d.Scripts)
		catalog.Register(a, d.Catalog)
		jobs.Register(a, d.Jobs)
	}, func(c *service.Config) {
		c.Catalogs = servicetest.Catalogs{"scripts": f.mem}
		c.Drivers = drivers{c.Drivers, f}
		f.drivers = c.Drivers
		c.DB, c.Keys = dbtest.Open(t, f.url), keys
		c.Jobs.ResumeEvery, c.Jobs.Settle = 200*time.Millisecond, 2*time.Second
		c.Jobs.UnreachableLimit = 20 * time.Second
	})
	f.Scripts.Pauses = pauses
	f.enrol()
	source, err := f.Catalog.Source(t.Context(), "scripts")
	if err != nil {
		t.Fatal(err)
	}
	f.Expect(t, "PATCH", "catalog/sources/scripts", fmt.Sprintf(`{"enabled":true,"trust_digest":%q}`, *source.TrustDigest), apitest.Owner,
		200, "")
	if err := f.Queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for slug := range updates {
		first[slug] = "echo first; echo all done\n"
	}
	pin := f.state(first)
	for slug := range updates {
		f.install(slug, pin)
	}
	f.state(updates)
	return f
}

// pauses are those of jobs in tests.
var pauses = appscript.Timing{Turn: 50 * time.Millisecond, Probe: 300 * time.Millisecond, Probes: 4, Limit: 8 * time.Second}

func loadKeys(path string) (*secret.Box, error) {
	return secret.Load(context.Background(), path, func(context.Context) ([]secret.KeyID, error) { return nil, nil })
}

// enrol has the service log in to the machine.
func (f *fixture) enrol() {
	f.t.Helper()
	f.Expect(f.t, "POST", "hosts/1/credentials", `{"rotate_ssh":true,"ssh_consent":true}`, apitest.Owner, 200, "")
	f.machine.SSH.Authorize("restrict " + f.Value("SELECT public_key FROM host_ssh_keys WHERE host_id = 1"))
	f.Expect(f.t, "POST", "hosts/1/ssh/verify", "", apitest.Admin, 200, "")
	f.Exec("UPDATE hosts SET entry_node = $1 WHERE id = 1", f.Refs["wiki"].Node)
}

// state adds a state of the source, which the catalog takes.
func (f *fixture) state(scripts map[string]string) sdk.Pin {
	f.t.Helper()
	s := catalogtest.State{Files: map[string]map[string]string{}}
	for slug, script := range scripts {
		s.Entries = append(s.Entries, sdk.Entry{Slug: slug, Name: slug})
		s.Files[slug] = map[string]string{"install.sh": "echo all done\n", "update.sh": script,
			"engine/lib.sh": "engine() { echo 'the engine of " + slug + "'; }\n", "overlay/clear": "#!/bin/sh\necho cleared\n"}
	}
	pin := f.mem.Add(s)
	f.ended(f.ask("catalog/refresh", ""), "succeeded")
	return pin
}

// ask makes a request, and gives the job in its answer.
func (f *fixture) ask(url, body string) (id int64) {
	f.t.Helper()
	f.Run(f.t, apitest.Scenario{Name: url, Method: "POST", URL: "/api/v1/" + url, Body: body, As: apitest.Admin, Status: 202,
		After: func(t *testing.T, a *apitest.Response) {
			t.Helper()
			var made struct{ Job struct{ ID int64 } }
			if err := json.Unmarshal(a.Body, &made); err != nil {
				t.Fatal(err)
			}
			id = made.Job.ID
		}})
	return id
}

// ended waits for a job's end, which must be this one, and gives its transcript with the error.
func (f *fixture) ended(id int64, status string) string {
	f.t.Helper()
	got := ""
	waittest.Until(f.t, "the job's end", func() bool {
		got = f.Value("SELECT status FROM jobs WHERE id = $1", id)
		return got != "queued" && got != "running"
	})
	transcript := f.Value("SELECT coalesce(string_agg(text, E'\n' ORDER BY seq), '') FROM job_events WHERE job_id = $1", id)
	if got != status {
		f.t.Errorf("the job %d is %s, want %s:\n%s", id, got, status, transcript)
	}
	return transcript
}

// backups gives the host a token for backups. Snapshots of the containers of these apps are refused.
func (f *fixture) backups(slugs ...string) {
	f.t.Helper()
	f.Cluster.AddStorage(memdriver.StorageSpec{Name: "vault", Archive: &memdriver.Archive{}})
	token := f.Cluster.Target(endpoint.Backup).Credential
	f.Expect(f.t, "POST", "hosts/1/credentials", fmt.Sprintf(`{"capability":"backup","token_id":%q,"token_secret":%q}`, token.ID,
		string(token.Secret)), apitest.Owner, 200, "")
	f.Expect(f.t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	f.Exec("UPDATE hosts SET entry_node = $1 WHERE id = 1", f.Refs["wiki"].Node)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bare = slugs
}

// install makes the app of an entry, with its container on the machine.
func (f *fixture) install(slug string, pin sdk.Pin) {
	t := f.t
	t.Helper()
	ref := f.Cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
	f.Cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Name, g.Node = slug, f.Refs["wiki"].Node })
	ref.Node = f.Refs["wiki"].Node
	f.Expect(t, "POST", "hosts/1/sync", "", apitest.Operator, 200, "")
	f.Exec("UPDATE hosts SET entry_node = $1 WHERE id = 1", ref.Node)
	f.Expect(t, "POST", "apps/adopt", fmt.Sprintf(`{"items":[{"host_id":1,"guest_ref":%q,"name":%q,"web_port":8080,"web_protocol":"http"}]}`,
		ref.ID, slug), apitest.Admin, 200, "")
	var id, number int64
	fmt.Sscan(f.Value("SELECT id FROM apps WHERE name = $1", slug), &id)
	fmt.Sscan(string(ref.ID), &number)
	f.Exec("UPDATE apps SET slug = $2 WHERE id = $1", id, slug)
	f.apps[slug] = app{id, ref}

	f.machine.Container(int(number))
	f.machine.Run(fmt.Sprintf(`cat >/var/network-%[1]d <<'END'
p=$(cat /run/lxc/%[1]d); ip link add ve%[1]d type veth peer name eth0 netns "$p"
		ip link set ve%[1]d up; ip route add 10.0.%[2]d.%[3]d dev ve%[1]d; ip addr add 10.1.0.1/32 dev ve%[1]d
nsenter -t "$p" -n sh -c 'ip addr add 10.0.%[2]d.%[3]d/32 dev eth0; ip link set eth0 up; ip route add 10.1.0.1 dev eth0'
END
		sh -e /var/network-%[1]d
		cd /var/roots/%[1]d; mkdir -p root/www; echo 1.0 >root/.version; echo one >root/www/index.html
		printf 'ID=debian\nVERSION_ID="13"\n' >etc/os-release
		cat >root/start <<'END'
%[4]sEND
		lxc-attach -n %[1]d --clear-env -- sh /root/start
		i=0; until curl -s --max-time 2 http://10.0.%[2]d.%[3]d:8080/ >/dev/null; do i=$((i+1)); [ $i -lt 50 ] || exit 1; sleep 0.1; done`,
		number, byte(number>>8), byte(number), start))

	key := bundle.Key{Source: "scripts", Slug: slug, Purpose: sdk.Install, Pin: pin}
	opened, err := f.mem.Open(t.Context(), sdk.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Bundles.Fetch(t.Context(), opened, key)
	if err == nil {
		err = f.DB.Tx(t.Context(), func(tx *db.Tx) error {
			return appscript.AddFirstVersion(t.Context(), tx, appscript.Installation{AppID: id, Key: key, Sum: b.Sum, Program: "update.sh",
				Commit: pin.String()})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inside runs a command line in an app's container.
func (f *fixture) inside(slug, line string) string {
	f.t.Helper()
	var number int
	fmt.Sscan(string(f.apps[slug].ref.ID), &number)
	return f.machine.InContainer(number, line)
}

// page is what an app's page says by now; empty where nothing answers.
func (f *fixture) page(slug string) string {
	var number int
	fmt.Sscan(string(f.apps[slug].ref.ID), &number)
	out, _ := f.machine.Try(f.t.Context(), fmt.Sprintf("curl -s --max-time 3 http://10.0.%d.%d:8080/", byte(number>>8), byte(number)))
	return strings.TrimSpace(out)
}

// last is what came of the last update of an app, on one line.
func (f *fixture) last(slug string) string {
	f.t.Helper()
	return f.Value(`SELECT concat_ws(' ', outcome, version_before, version_after, coalesce(snapshot, 'none')) FROM app_updates
		WHERE app_id = $1 ORDER BY job_id DESC LIMIT 1`, f.apps[slug].id)
}

var errRefused = plugin.Errorf(plugin.Refused, "the storage says no")
