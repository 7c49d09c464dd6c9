package poll_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/cluster"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// certified is a hypervisor in memory that tells figures with detail only and counts CPU time, with hosts at its addresses.
type certified struct {
	dbtest.SQL
	t        *testing.T
	db       *db.DB
	driver   *memdriver.Driver
	cluster  *memdriver.Cluster
	poll     *poll.Poller
	clusters map[int64]*memdriver.Cluster
	at       map[int64]string
	// passed is when time passed last; what was read since is as old as that.
	passed time.Time
}

// newCertified has one host with the id 1, at the first of two nodes.
func newCertified(t *testing.T) *certified {
	d := dbtest.New(t)
	f := &certified{SQL: dbtest.On(t, d), t: t, db: d, driver: memdriver.NewCertificateDriver().Driver,
		clusters: map[int64]*memdriver.Cluster{}, at: map[int64]string{}}
	f.cluster = f.driver.Add("one.mem:8443", memdriver.Spec{Nodes: 2})
	f.host(f.cluster, "one.mem:8443")
	f.poll = poll.New(poll.Config{DB: d, Hosts: f, Logger: hclog.NewNullLogger(),
		Interval: func(context.Context) time.Duration { return time.Hour }}) // no poll comes late
	t.Cleanup(f.poll.Close)
	f.passed = dbtest.Value[time.Time](t, d, "SELECT now()")
	return f
}

// host enrols an address of a cluster.
func (f *certified) host(of *memdriver.Cluster, address string) (id int64) {
	f.t.Helper()
	id = dbtest.Value[int64](f.t, f.db,
		"INSERT INTO hosts (driver, name, address, tls_fingerprint) VALUES ('certmem', $1, $1, $2) RETURNING id", address, of.Fingerprint())
	f.Exec(`INSERT INTO host_credentials (host_id, capability, token_id, secret, verified_at) VALUES ($1, 'monitoring', 'm', '', now()),
		($1, 'lifecycle', $2, '', now())`, id, of.Target(endpoint.Lifecycle).Credential.ID)
	f.clusters[id], f.at[id] = of, address
	return id
}

func (f *certified) Open(ctx context.Context, id int64, capability endpoint.Capability) (hypervisor.Host, error) {
	target := f.clusters[id].Target(capability)
	target.Address = f.at[id]
	return f.driver.Open(ctx, target)
}

// polls polls the host 1, with detail or without, after that many seconds.
func (f *certified) polls(detail bool, after int) {
	f.t.Helper()
	f.passes(after)
	f.Exec("UPDATE clusters SET detail_at = CASE WHEN $1 THEN NULL ELSE now() END", detail)
	f.sync(1)
}

func (f *certified) sync(hosts ...int64) {
	f.t.Helper()
	for _, id := range hosts {
		if err := f.poll.Sync(f.t.Context(), id); err != nil {
			f.t.Fatalf("polling host %d: %v", id, err)
		}
	}
}

// passes moves what was read so far into the past, by so many seconds since time passed last, however long the test really took.
func (f *certified) passes(seconds int) {
	f.t.Helper()
	now := dbtest.Value[time.Time](f.t, f.db, "SELECT now()")
	for table, columns := range map[string][]string{"clusters": {"figures_at"}, "nodes": {"figures_at"}, "storages": {"figures_at"},
		"guests": {"figures_at", "cpu_seconds_at", "read_at"}} {
		for _, column := range columns {
			f.Exec("UPDATE "+table+" SET "+column+" = least("+column+" + ($1::timestamptz - $2::timestamptz), $1) - make_interval(secs => $3) "+
				"WHERE "+column+" IS NOT NULL", now, f.passed, seconds)
		}
	}
	f.passed = now
}

// running makes a guest that runs, with all figures.
func (f *certified) running() hypervisor.GuestRef {
	ref := f.cluster.NewGuest(hypervisor.Container, hypervisor.GuestRunning)
	f.cluster.Change(ref.ID, func(g *hypervisor.Guest) { g.Disk = ptr(int64(5)) })
	return ref
}

// of reads columns of the guest's row, those that are null as "-".
func (f *certified) of(ref hypervisor.GuestRef, columns string) string {
	f.t.Helper()
	return f.Value("SELECT translate(ROW ("+columns+")::text, '()', '') FROM guests WHERE uid = $1", ref.UID)
}

// ages are how many seconds passed since the figures that the API shows of the guest and the first node were measured, -1 for none,
// and, in whole minutes, since the guest was seen.
func (f *certified) ages(ref hypervisor.GuestRef) string {
	f.t.Helper()
	age := func(at *time.Time) int {
		if at == nil {
			return -1
		}
		return max(0, int(f.passed.Sub(*at).Round(time.Second).Seconds()))
	}
	guests, err := (&guest.Store{DB: f.db, Self: &guest.Self{DB: f.db}}).List(f.t.Context(), guest.Filter{Query: string(ref.ID)},
		identity.VisibleTeams{All: true})
	if err != nil || len(guests) != 1 {
		f.t.Fatalf("%d guests, %v", len(guests), err)
	}
	nodes, err := (&cluster.Store{DB: f.db}).Nodes(f.t.Context(), 0, identity.VisibleTeams{All: true})
	if err != nil || len(nodes) == 0 {
		f.t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	if guests[0].FiguresAt != nil && guests[0].FiguresAt.After(guests[0].SeenAt) {
		f.t.Errorf("figures of %v are of a guest last seen at %v", guests[0].FiguresAt, guests[0].SeenAt)
	}
	return fmt.Sprintf("guest %d, node %d, seen %d", age(guests[0].FiguresAt), age(nodes[0].FiguresAt),
		age(&guests[0].SeenAt)/60*60)
}
