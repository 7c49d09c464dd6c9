package guest_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

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
	// late is how long it takes to open a host.
	late time.Duration
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
	r.now = r.now.Add(r.late)
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
	var rows []guest.RequestedGuest
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
		all, unknown, err := guest.AttachedNICs(t.Context(), r.db, []int64{int64(cluster)}, "")
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
		t.Errorf("%d questions while that is disabled", n)
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
	all, unknown, err := guest.AttachedNICs(t.Context(), r.db, []int64{g.ClusterID()}, "")
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

// A guest that was never read, such as a new one, is read before others when a job has worked on it.
func TestGuestOfJobIsReadFirst(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	r.start(t)
	_, older := r.guest(t, hypervisor.VM, hypervisor.GuestStopped)
	_, p := r.guest(t, hypervisor.VM, hypervisor.GuestStopped)
	r.ended(t, r.enqueue(t, p, hypervisor.Start), job.Succeeded)
	const read = "SELECT count(*) FROM guest_details WHERE as_of IS NOT NULL AND guest_id = $1"
	if n := r.turn(t, r.reader()); n != 1 || r.value(t, read, p.GuestID) != 1 || r.value(t, read, older.GuestID) != 0 {
		t.Errorf("%d guests were read, not first the one that a job has worked on", n)
	}
}

// What comes too late in its turn is left out: a request then would be one of the next turns as well.
func TestLateReadingsAreLeftOut(t *testing.T) {
	t.Parallel()
	r := newReadings(t)
	r.guest(t, hypervisor.VM, hypervisor.GuestRunning)
	for late, want := range map[time.Duration]int{3 * time.Second: 0, time.Second: 1} {
		r.exec(t, "DELETE FROM guest_details")
		r.pass(time.Minute)
		r.late = late
		before := r.cluster.Calls("config")
		if err := r.reader().Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.cluster.Calls("config") - before; n != want {
			t.Errorf("%d requests where the host could be opened %s after the turn, want %d", n, late, want)
		}
	}
}

// crowd makes running guests of a cluster that is enrolled as a host, and gives their ids in order.
func (r *readings) crowd(t *testing.T, cluster *memdriver.Cluster, hostID int64, guests int) []int64 {
	t.Helper()
	var refs, uids, nodes []string
	for range guests {
		ref := cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
		refs, uids, nodes = append(refs, string(ref.ID)), append(uids, ref.UID), append(nodes, ref.Node)
	}
	rows, err := r.db.Pool.Query(t.Context(), `INSERT INTO guests (cluster_id, host_id, kind, ref, uid, node, name, status)
		SELECT h.cluster_id, h.id, 'vm', u.ref, nullif(u.uid, ''), u.node, 'vm' || u.ref, 'running'
		FROM hosts h, unnest($2::text[], $3::text[], $4::text[]) AS u (ref, uid, node) WHERE h.id = $1 RETURNING id`, hostID, refs, uids, nodes)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// sent is how many requests went out at a time.
type sent struct {
	at time.Time
	n  int
}

// run lets simulated time go by, in steps of about half a second, with two instances on one database that look for work as they do: each
// once a second, and at times both at once. They are started anew every ten minutes, each at other times: in the middle of a turn, whose
// reading is lost then. It gives the requests that the driver was asked for, by host.
func (r *readings) run(t *testing.T, length time.Duration, each func(second int)) map[int64][]sent {
	t.Helper()
	var readers [2]*guest.DetailReader
	all, before := map[int64][]sent{}, map[int64]int{}
	for id, cluster := range r.clusters() {
		before[id] = cluster.Calls("config")
	}
	uneven := rand.New(rand.NewPCG(1, 2))
	begun := r.now
	for step := 0; r.now.Sub(begun) < length; step++ {
		second := int(r.now.Sub(begun) / time.Second)
		if step%2 == 0 {
			each(second)
		}
		var both sync.WaitGroup
		for i := range readers {
			// Now and then both look at the same time.
			if together := second%20 < 5; together && step%2 == 1 || !together && step%2 != i {
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if readers[i] == nil {
				readers[i] = r.reader()
			}
			reader := readers[i]
			if (second+i*150)%600 == 599 {
				readers[i] = nil // what it has begun is cut off
				both.Go(func() {
					stop := time.AfterFunc(time.Duration(second%5)*time.Millisecond, cancel)
					defer stop.Stop()
					_ = reader.Turn(ctx)
				})
				continue
			}
			both.Go(func() {
				if err := reader.Turn(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		for id, cluster := range r.clusters() {
			now := cluster.Calls("config")
			all[id], before[id] = append(all[id], sent{r.now, now - before[id]}), now
		}
		r.pass(400*time.Millisecond + time.Duration(uneven.IntN(200))*time.Millisecond)
	}
	return all
}

// within holds that no minute, whenever it begins, has more requests than the budget.
func within(t *testing.T, all []sent, perMinute int) (count int) {
	t.Helper()
	sum, first := 0, 0
	for _, s := range all {
		count, sum = count+s.n, sum+s.n
		for !all[first].at.After(s.at.Add(-time.Minute)) {
			sum -= all[first].n
			first++
		}
		if sum > perMinute {
			t.Fatalf("%d requests in the minute up to %s, where %d are allowed", sum, s.at.Format(time.TimeOnly), perMinute)
		}
	}
	return count
}

// Over an hour with 2,000 guests, beside another cluster, and two instances that are started anew now and then, no minute has more
// requests to a cluster than the setting allows, and nearly all of them are used; a guest that changed comes before those that nobody has
// read. After 110 minutes, which is somewhat more than 20 a minute would take, each guest was read.
func TestDetailBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("plays hours of polls: make check runs it")
	}
	t.Parallel()
	r := newReadings(t)
	const guests, perMinute, minutes = 1200, 20, 66
	r.withOther(t, true)
	r.exec(t, "UPDATE hosts SET status = 'online'")
	r.exec(t, "UPDATE clusters SET next_detail_at = $1", r.now)
	ids := r.crowd(t, r.cluster, r.hostID, guests)
	r.crowd(t, r.other, r.otherID, 300)
	changed := map[int64]time.Time{} // when
	all := r.run(t, minutes*time.Minute, func(second int) {
		if second != 1800 {
			return
		}
		for _, id := range ids[:10] { // they were read in the first minute
			changed[id] = r.now
		}
		r.exec(t, "UPDATE guests SET memory_total = 1 WHERE id = ANY ($1)", ids[:10])
	})
	counts := all[r.hostID]
	if n := within(t, all[r.otherID], perMinute); n < 300 {
		t.Errorf("%d requests to the other cluster", n)
	}
	end := counts[0].at.Add(time.Hour)
	hour := within(t, counts[:slices.IndexFunc(counts, func(s sent) bool { return !s.at.Before(end) })], perMinute)
	if hour < perMinute*60*94/100 {
		t.Errorf("%d requests in an hour, of %d", hour, perMinute*60)
	}
	t.Logf("%d requests in the first hour, %d in %d minutes", hour, within(t, counts, perMinute), minutes)
	if n := r.value(t, "SELECT count(*) FROM guest_details WHERE as_of IS NOT NULL AND guest_id = ANY ($1)", ids); n != guests {
		t.Errorf("%d of %d guests were read in %d minutes", n, guests, minutes)
	}
	rows, err := r.db.Pool.Query(t.Context(), "SELECT guest_id, as_of FROM guest_details WHERE guest_id = ANY ($1)", ids[:10])
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	var asOf time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &asOf}, func() error {
		if late := asOf.Sub(changed[id]); late < 0 || late > time.Minute {
			t.Errorf("guest %d was read %s after it had changed", id, late)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A larger budget is used as well, and a small one is kept.
func TestOtherDetailBudgets(t *testing.T) {
	if testing.Short() {
		t.Skip("plays hours of polls: make check runs it")
	}
	t.Parallel()
	r := newReadings(t)
	for _, c := range []struct{ perMinute, least int }{{600, 560}, {100, 90}, {20, 18}, {31, 26}, {1, 1}} {
		r.exec(t, `INSERT INTO settings (key, value) VALUES ('poll.details_per_minute', to_jsonb($1::int))
			ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`, c.perMinute)
		r.exec(t, "DELETE FROM guest_details")
		if r.value(t, "SELECT count(*) FROM guests") == 0 {
			r.crowd(t, r.cluster, r.hostID, 1500)
		}
		r.pass(time.Minute)
		if n := within(t, r.run(t, 128*time.Second, func(int) {})[r.hostID], c.perMinute); n < 2*c.least {
			t.Errorf("%d requests in about two minutes at %d a minute", n, c.perMinute)
		}
	}
}

// Guests that cannot be read, and guests that change all the time, keep nobody else from being read.
func TestDetailsOfManyThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many hosts that fail: make check runs it")
	}
	t.Parallel()
	r := newReadings(t)
	ids := r.crowd(t, r.cluster, r.hostID, 60)
	r.exec(t, "UPDATE guests SET ref = 'nobody' || id WHERE id = ANY ($1)", ids[:20])
	within(t, r.run(t, 20*time.Minute, func(second int) {
		if second%3 == 0 {
			r.exec(t, "UPDATE guests SET memory_total = $2 WHERE id = ANY ($1)", ids[20:40], second+1)
		}
	})[r.hostID], 20)
	if n := r.value(t, "SELECT count(*) FROM guest_details WHERE as_of IS NOT NULL AND guest_id = ANY ($1)", ids[20:]); n != 40 {
		t.Errorf("%d of 40 guests were read beside those that fail", n)
	}
	if n := r.value(t, "SELECT count(*) FROM guest_details WHERE as_of > $2 AND guest_id = ANY ($1)", ids[40:],
		r.now.Add(-16*time.Minute)); n != 20 {
		t.Errorf("%d of 20 guests were read again beside those that always change", n)
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
