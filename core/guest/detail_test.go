package guest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// readings count when guests are read, by a clock of their own.
type readings struct {
	*lifecycleFixture
	mu  sync.Mutex
	now time.Time
	at  []time.Time
}

func newReadings(t *testing.T) *readings {
	t.Helper()
	b := newLifecycleFixture(t, memdriver.Tokens)
	r := &readings{lifecycleFixture: b, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	r.exec(t, "UPDATE hosts SET status = 'online'")
	r.exec(t, "UPDATE clusters SET next_detail_at = $1", r.now)
	return r
}

func (r *readings) Open(ctx context.Context, hostID int64, capability endpoint.Capability) (hypervisor.Host, error) {
	r.mu.Lock()
	r.at = append(r.at, r.now)
	r.mu.Unlock()
	return r.lifecycleFixture.Open(ctx, hostID, capability)
}

// hosts are those of a caller who may ask for all.
type hosts struct{ *readings }

func (hosts) Require(context.Context, int64, endpoint.Capability, func(hypervisor.Host) error) error {
	return nil
}

func (hosts) RequireAction(context.Context, int64, hypervisor.GuestKind, hypervisor.Action) error {
	return nil
}

func (r *readings) reader() *guest.DetailReader {
	return &guest.DetailReader{DB: r.db, Hosts: r, Now: func() time.Time {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.now
	}}
}

// pass lets time go by.
func (r *readings) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// turn is one turn a minute later, and how many guests it has read.
func (r *readings) turn(t *testing.T, reader *guest.DetailReader) int {
	t.Helper()
	r.pass(time.Minute)
	before := len(r.at)
	if err := reader.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return len(r.at) - before
}

// What guests are attached to is read one by one, those first that have changed; nothing is read anew that is young and the same.
func TestDetailReader(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	reader := r.reader()
	var rows []guest.Asked
	for _, kind := range []hypervisor.GuestKind{hypervisor.VM, hypervisor.Container, hypervisor.VM} {
		_, p := r.guest(t, kind, hypervisor.GuestRunning)
		rows = append(rows, p)
	}
	r.cluster.ChangeConfig(rows[0].Ref, func(c *hypervisor.Config) {
		c.NICs = []hypervisor.NIC{{Key: "net0", Bridge: "vmbr7", VLAN: new(int64(20)), MAC: "BC:24:11:00:00:01"}, {Key: "net1"}}
		c.Disks = []hypervisor.Disk{{Key: "scsi0", Storage: "fast", Volume: "fast:vm-disk-0", SizeGB: new(int64(32))},
			{Key: "ide2", Storage: "isos", Volume: "isos:iso/a.iso", Removable: true}, {Key: "hostpci0", Local: true}}
	})
	cluster := r.value(t, "SELECT cluster_id FROM hosts WHERE id = $1", r.hostID)
	attached := func() ([]guest.Attachment, int) {
		all, unknown, err := guest.Attached(t.Context(), r.db, []int64{int64(cluster)}, "")
		if err != nil {
			t.Fatal(err)
		}
		return all, unknown
	}
	if all, unknown := attached(); len(all) != 0 || unknown != 3 {
		t.Errorf("before any reading there are %v, %d unknown", all, unknown)
	}
	for i := range rows {
		if n := r.turn(t, reader); n != 1 {
			t.Fatalf("turn %d read %d guests", i, n)
		}
	}
	all, unknown := attached()
	first := slices.IndexFunc(all, func(a guest.Attachment) bool { return a.Bridge == "vmbr7" })
	if unknown != 0 || first < 0 || all[first].GuestID != rows[0].GuestID || all[first].NIC != "net0" || *all[first].VLAN != 20 ||
		slices.ContainsFunc(all, func(a guest.Attachment) bool { return a.Bridge == "" }) {
		t.Errorf("attached are %+v, %d unknown", all, unknown)
	}
	for storage, key := range map[string]string{"fast": "scsi0", "isos": "ide2"} {
		used, unknown, err := guest.VolumesOn(t.Context(), r.db, cluster, storage)
		if err != nil || unknown != 0 || len(used) != 1 || used[0].Key != key || used[0].GuestID != rows[0].GuestID ||
			used[0].Removable != (key == "ide2") {
			t.Errorf("on %s are %+v, %d unknown: %v", storage, used, unknown, err)
		}
	}
	if n := r.turn(t, reader); n != 0 {
		t.Errorf("%d guests were read that are young", n)
	}
	asOf := func(row int) (at time.Time) {
		err := r.db.Pool.QueryRow(t.Context(), "SELECT as_of FROM guest_details WHERE guest_id = $1", rows[row].GuestID).Scan(&at)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	// What the list says otherwise of a guest, and what a job did to it, has it read at once.
	for what, change := range map[string]string{
		"renamed": "UPDATE guests SET name = 'renamed' WHERE id = $1", "moved": "UPDATE guests SET tags = '{moved}' WHERE id = $1",
		"worked on": "UPDATE guest_details SET stale_at = '2027-01-01' WHERE guest_id = $1",
	} {
		before := asOf(2)
		r.exec(t, change, rows[2].GuestID)
		if n := r.turn(t, reader); n != 1 || !asOf(2).After(before) {
			t.Errorf("a guest that was %s was not read: %d readings", what, n)
		}
		r.exec(t, "UPDATE guest_details SET stale_at = NULL")
	}
	// The oldest comes next; of a host that is away nothing is asked, nor with the setting at 0.
	r.pass(time.Hour)
	old := asOf(0)
	for range rows {
		r.turn(t, reader)
	}
	if !asOf(0).After(old) {
		t.Error("what was old was not read again")
	}
	r.pass(time.Hour)
	r.exec(t, "UPDATE hosts SET status = 'unreachable'")
	if n := r.turn(t, reader); n != 0 {
		t.Errorf("%d questions to a host that is away", n)
	}
	r.exec(t, "UPDATE hosts SET status = 'online'")
	r.exec(t, "INSERT INTO settings (key, value) VALUES ('poll.details_per_minute', '0')")
	if n := r.turn(t, reader); n != 0 {
		t.Errorf("%d questions while that is switched off", n)
	}
}

// A guest that cannot be read does not keep others from being read, and its cluster is left alone for a while.
func TestDetailOfGuestThatFails(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	reader := r.reader()
	_, first := r.guest(t, hypervisor.VM, hypervisor.GuestRunning)
	_, second := r.guest(t, hypervisor.VM, hypervisor.GuestRunning)
	r.exec(t, "UPDATE guests SET ref = 'nobody' WHERE id = $1", first.GuestID)
	read := 0
	for range 3 {
		read += r.turn(t, reader)
	}
	if n := r.value(t, "SELECT count(*) FROM guest_details WHERE as_of IS NOT NULL AND guest_id = $1", second.GuestID); n != 1 {
		t.Errorf("the other guest was read %d times in %d readings", n, read)
	}
}

// What somebody asks to see is kept as well.
func TestConfigIsKept(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	_, p := r.guest(t, hypervisor.VM, hypervisor.GuestRunning)
	g, err := (&guest.Store{DB: r.db, Self: &guest.Self{DB: r.db}}).Get(t.Context(), guest.VM, p.GuestID)
	if err != nil {
		t.Fatal(err)
	}
	config, err := (&guest.Actor{DB: r.db, Hosts: hosts{r}}).Config(t.Context(), g)
	if err != nil || len(config.NICs) == 0 {
		t.Fatalf("the configuration is %+v: %v", config, err)
	}
	all, unknown, err := guest.Attached(t.Context(), r.db, []int64{g.ClusterID()}, "")
	if err != nil || unknown != 0 || len(all) != len(config.NICs) {
		t.Errorf("attached are %+v, %d unknown: %v", all, unknown, err)
	}
}

// A job that worked on a guest says that it is to be read again.
func TestJobMakesDetailStale(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	r.start(t)
	_, p := r.guest(t, hypervisor.VM, hypervisor.GuestStopped)
	r.turn(t, r.reader())
	r.ended(t, r.enqueue(t, p, hypervisor.Start), job.Succeeded)
	if n := r.value(t, "SELECT count(*) FROM guest_details WHERE stale_at IS NOT NULL"); n != 1 {
		t.Error("the job did not say that it has changed the guest")
	}
}

// Over an hour with two instances that are started anew now and then, no minute has more readings than the setting allows, and all of
// them are used.
func TestDetailBudget(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	const guests = 2000
	var refs, uids, nodes []string
	for range guests {
		ref := r.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		refs, uids, nodes = append(refs, string(ref.ID)), append(uids, ref.UID), append(nodes, ref.Node)
	}
	r.exec(t, `INSERT INTO guests (cluster_id, host_id, kind, ref, uid, node, name, status)
		SELECT h.cluster_id, h.id, 'vm', u.ref, nullif(u.uid, ''), u.node, 'vm' || u.ref, 'running'
		FROM hosts h, unnest($1::text[], $2::text[], $3::text[]) AS u (ref, uid, node)`, refs, uids, nodes)
	var readers [2]*guest.DetailReader
	for second := range 3600 {
		for i := range readers {
			if (second+i*150)%600 == 0 {
				readers[i] = r.reader()
			}
		}
		if readers[1] == nil {
			readers[1] = r.reader()
		}
		var both sync.WaitGroup
		for _, reader := range readers {
			both.Go(func() {
				if err := reader.Turn(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		r.pass(time.Second)
	}
	const perMinute = 20
	if len(r.at) > perMinute*60 || len(r.at) < perMinute*60-5 {
		t.Errorf("%d readings in an hour", len(r.at))
	}
	for i := range r.at {
		if i+perMinute < len(r.at) && r.at[i+perMinute].Sub(r.at[i]) < time.Minute {
			t.Fatalf("more than %d readings within a minute of %s", perMinute, r.at[i])
		}
	}
	if n := r.value(t, "SELECT count(*) FROM guest_details WHERE as_of IS NOT NULL"); n != int64(len(r.at)) {
		t.Errorf("%d guests were read by %d readings, although none was old", n, len(r.at))
	}
}

// value is a number of the database.
func (r *readings) value(t *testing.T, sql string, args ...any) (n int64) {
	t.Helper()
	if err := r.db.Pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
