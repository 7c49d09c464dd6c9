package install_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/internal/nodetest"
	"github.com/hostler/hostler/internal/waittest"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// driver is the one in memory, whose machine is a booted one, and whose containers are those that the programs there have made.
type driver struct {
	*memdriver.Driver
	w *world
}

func (d driver) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	at, err := d.Driver.Open(ctx, target)
	if err != nil {
		return nil, err
	}
	return &onMachine{at.(*memdriver.Host), d.w, target.Credential.Form == endpoint.FormSSHKey}, nil
}

type onMachine struct {
	*memdriver.Host
	w     *world
	login bool
}

func (h *onMachine) RunOnNode(ctx context.Context, c hypervisor.NodeCommand, s hypervisor.NodeStreams) (hypervisor.NodeResult, error) {
	return h.w.machine.Login().RunOnNode(ctx, c, s)
}

func (h *onMachine) CopyFromNode(ctx context.Context, path string, limit int64, to io.Writer) (hypervisor.NodeFile, error) {
	return h.w.machine.Login().CopyFromNode(ctx, path, limit, to)
}

func (h *onMachine) Inventory(ctx context.Context, q hypervisor.InventoryQuery, page func(hypervisor.Page) error) error {
	h.w.look(ctx)
	return h.Host.Inventory(ctx, q, page)
}

func (h *onMachine) Guest(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	h.w.look(ctx)
	return h.Host.Guest(ctx, ref)
}

// pct is a recorder: containers are files below /var/lib/ct, with status, tags and name.
const pct = `mkdir -p /var/lib/ct; cat >/usr/local/sbin/pct <<'END'
#!/bin/sh
# pct create ID NAME TAGS | start ID | stop ID
echo "$*" >>/var/lib/ct.log
case $1 in
create) echo "stopped $4 $3" >"/var/lib/ct/$2" ;;
start) sed -i 's/^[a-z]*/running/' "/var/lib/ct/$2" ;;
stop) sed -i 's/^[a-z]*/stopped/' "/var/lib/ct/$2" ;;
exec)
	# A container has a folder of its own in the place of the service's, and all else with the machine.
	export CT=$2; shift 3; mkdir -p "/var/lib/ct-root/$CT"
	exec unshare --mount sh -c 'mount --bind "/var/lib/ct-root/$CT" /var/lib/hostler && exec "$@"' sh "$@" ;;
esac
END
cat >/usr/local/sbin/lxc-attach <<'END'
#!/bin/sh
# lxc-attach -n ID -- PROGRAM ARGUMENT...
exec pct exec "$2" "$3" "${@:4}"
END
sed -i '1s,/bin/sh,/bin/bash,' /usr/local/sbin/lxc-attach
chmod 755 /usr/local/sbin/pct /usr/local/sbin/lxc-attach; mkdir -p /var/lib/hostler`

// world is a machine with the hypervisor that knows its containers, and a source, for one test at a time.
type world struct {
	dbtest.SQL
	t       *testing.T
	machine *nodetest.Machine
	driver  driver
	cluster *memdriver.Cluster
	mem     *catalogtest.Memory
	// source is the one of the catalog, and options its configuration.
	source  sdk.Source
	options map[string]*secret.String
	url     string
	keys    string
	ctx     context.Context
	first   *instance

	mu   sync.Mutex
	made map[string]hypervisor.GuestID
}

// instance is one of several services.
type instance struct {
	*service.Service
	w *world
}

// newWorld makes one whose entry "wiki" is installed by a script.
func newWorld(t *testing.T, m *nodetest.Machine, script string, edits ...func(*sdk.Entry)) *world {
	t.Helper()
	mem := memdriver.New()
	w := &world{t: t, machine: m, cluster: mem.Add("a.mem:8006", memdriver.Spec{}), mem: &catalogtest.Memory{Name: "scripts"},
		url: dbtest.URL(t), keys: filepath.Join(t.TempDir(), "keys", "secret.key"), made: map[string]hypervisor.GuestID{}}
	w.driver, w.source = driver{mem, w}, w.mem
	m.Run("rm -rf /var/lib/ct /var/lib/ct-root /var/lib/ct.log /root/*; " + pct)
	w.script(script, edits...)
	return w.build()
}

// build makes the first instance, enrols the host and fills the catalog.
func (w *world) build() *world {
	t := w.t
	w.first = w.instance()
	w.SQL = dbtest.On(t, w.first.DB)
	w.Exec(`INSERT INTO users (id, email, email_key, password_hash) OVERRIDING SYSTEM VALUE
		VALUES (7, 'ada@example.com', 'ada@example.com', 'x')`)
	w.ctx = identity.WithCaller(t.Context(), &identity.Caller{UserID: 7, Email: "ada@example.com",
		Teams: map[int64]identity.Role{identity.DefaultTeam: identity.Owner}})
	token := w.cluster.Target(endpoint.Monitoring).Credential
	_, _, err := w.first.Hosts.Create(w.ctx, host.EnrolRequest{Name: "lab", Address: "a.mem", TokenID: token.ID,
		Secret: secret.New(string(token.Secret)), SSHEnroll: true, SSHConsent: true})
	w.must("enrolling", err)
	lifecycle := w.cluster.Target(endpoint.Lifecycle).Credential
	_, err = w.first.Hosts.Rotate(w.ctx, 1, host.RotateRequest{Capability: string(endpoint.Lifecycle), TokenID: lifecycle.ID,
		Secret: secret.New(string(lifecycle.Secret))})
	w.must("giving the token", err)
	_, err = w.first.Hosts.VerifySSH(w.ctx, 1)
	w.must("logging in", err)
	w.must("polling", w.first.Poller.Sync(w.ctx, 1))
	source, err := w.first.Catalog.Source(w.ctx, "scripts")
	w.must("reading the source", err)
	_, err = w.first.Catalog.Update(w.ctx, "scripts", catalog.SourceChange{Enabled: new(true), TrustDigest: source.TrustDigest,
		AllowPrivate: new(true),
		Options:      w.options})
	w.must("switching the source on", err)
	w.refresh()
	return w
}

func (w *world) must(what string, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// script gives the entry another script.
func (w *world) script(content string, edits ...func(*sdk.Entry)) {
	e := sdk.Entry{Slug: "wiki", Name: "Wiki", Overrides: []sdk.Option{
		{Key: "cpu", Type: sdk.Integer, Min: 1, Max: 64, Description: "The number of cores."},
		{Key: "github_token", Type: sdk.Line, Secret: true, Description: "A token."},
	}}
	for _, edit := range edits {
		edit(&e)
	}
	w.mem.Add(catalogtest.State{Entries: []sdk.Entry{e}, Files: map[string]map[string]string{
		"wiki": {"install.sh": content, "lib/more.sh": "more() { echo more; }\n", "overlay/clear": "#!/bin/sh\n"}}})
}

func (w *world) refresh() {
	w.t.Helper()
	_, err := w.first.Catalog.Refresh(w.ctx)
	w.must("refreshing", err)
	waittest.Until(w.t, "the refresh", func() bool {
		return w.Value("SELECT count(*) FROM jobs WHERE kind = 'catalog.refresh' AND status IN ('queued', 'running')") == "0"
	})
}

// instance adds a service on the same database.
func (w *world) instance(edits ...func(*install.Store)) *instance {
	w.t.Helper()
	none := func(context.Context) ([]secret.KeyID, error) { return nil, nil }
	keys, err := secret.Load(w.t.Context(), w.keys, none)
	w.must("loading the key", err)
	i := &instance{w: w, Service: servicetest.New(w.t, func(c *service.Config) {
		c.DB, c.Keys = dbtest.Open(w.t, w.url), keys
		c.Drivers, c.Catalogs = servicetest.Drivers{Driver: w.driver}, servicetest.Catalogs{"scripts": w.source}
		c.Loops, c.AllowLocal = []service.Loop{service.Jobs}, true
		c.Jobs = job.Config{ResumeEvery: 100 * time.Millisecond, StopLimit: 300 * time.Millisecond, UnreachableLimit: time.Minute}
	})}
	i.Installs.Pause, i.Installs.AppearLimit = 50*time.Millisecond, 300*time.Millisecond
	for _, edit := range edits {
		edit(i.Installs)
	}
	w.must("starting", i.Start(w.t.Context()))
	return i
}

// look makes guests of what the programs on the machine have made.
func (w *world) look(ctx context.Context) {
	out, err := w.machine.Try(ctx, "cd /var/lib/ct 2>/dev/null && grep -H . * || true")
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(out) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(rest)
		if len(fields) != 3 {
			continue
		}
		if w.made[id] == "" {
			w.made[id] = w.cluster.NewGuestAs(hypervisor.Container, hypervisor.GuestStopped, hypervisor.GuestID(id)).ID
		}
		w.cluster.Change(w.made[id], func(g *hypervisor.Guest) {
			g.Status, g.Name = fields[0], fields[2]
			tags := strings.Split(fields[1], ";")
			if !slices.Contains(g.Tags, tags[0]) {
				g.Tags = tags
			}
		})
	}
}

func (w *world) sum() string {
	w.t.Helper()
	p, err := w.first.Catalog.Plan(w.ctx, "wiki", 1, sdk.Install)
	w.must("planning", err)
	return *p.Sum
}

func order(sum string) install.Request {
	return install.Request{Path: "wiki", HostID: 1, Name: "my-wiki", Consent: true, Sum: &sum}
}

// ask asks for an install on an instance and gives the job's id.
func (w *world) ask(edits ...func(*install.Request)) int64 {
	w.t.Helper()
	o := order(w.sum())
	for _, edit := range edits {
		edit(&o)
	}
	started, err := w.first.Installs.Install(w.auditing(), identity.DefaultTeam, o)
	w.must("asking", err)
	return started.Job.ID
}

func (w *world) auditing() context.Context { return w.ctx }

// ended waits for the end of a job.
func (w *world) ended(id int64, status job.Status, texts ...string) string {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			w.t.Log(w.transcript(id))
		}
	}()
	waittest.Until(w.t, "the end of the job", func() bool {
		return w.Value(fmt.Sprintf("SELECT status IN ('queued', 'running') FROM jobs WHERE id = %d", id)) == "false"
	})
	text := w.Value(fmt.Sprintf("SELECT status || ': ' || error FROM jobs WHERE id = %d", id))
	lines := w.transcript(id)
	for _, want := range append(texts, string(status)+": ") {
		if !strings.Contains(text+"\n"+lines, want) {
			w.t.Errorf("the job ended as %s, want %q in it or in\n%s", text, want, lines)
		}
	}
	return text + "\n" + lines
}

func (w *world) transcript(id int64) string {
	w.t.Helper()
	return w.Value(fmt.Sprintf("SELECT string_agg(kind || ': ' || text, E'\\n' ORDER BY seq) FROM job_events WHERE job_id = %d", id))
}

// nothingLeft fails where something of a run is on the machine.
func (w *world) nothingLeft() {
	w.t.Helper()
	left := w.machine.Run("ls -A /var/lib/hostler/runs /var/lib/hostler/bundles /run/hostler-runs 2>/dev/null " +
		"| grep -v ':$' | grep . || true; " +
		"systemctl list-units --all --no-legend 'hostler-run-*'")
	if left != "" {
		w.t.Errorf("left on the machine: %s", left)
	}
}

// created is how many containers were made.
func (w *world) created() int {
	w.t.Helper()
	out := w.machine.Run("cat /var/lib/ct.log 2>/dev/null || true")
	return strings.Count(out, "create ")
}
