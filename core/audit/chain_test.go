package audit_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/migrations"
)

// box is a new key file's.
func box(t testing.TB) *secret.Box {
	t.Helper()
	b, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "keys", "secret.key"),
		func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// trail is a database with its chain.
type trail struct {
	t     testing.TB
	db    *db.DB
	keys  *secret.Box
	chain *audit.Chain
}

func newTrail(t testing.TB, rows int) *trail {
	t.Helper()
	return trailOn(t, dbtest.New(t), box(t), rows)
}

func trailOn(t testing.TB, d *db.DB, keys *secret.Box, rows int) *trail {
	t.Helper()
	tr := &trail{t, d, keys, audit.NewChain(d, keys)}
	tr.write(rows)
	tr.seal()
	return tr
}

// write adds rows, one an hour from the last day of 2025 on by number, each in its own transaction.
func (tr *trail) write(rows int) {
	tr.t.Helper()
	for i := range rows {
		err := tr.db.Tx(tr.t.Context(), func(tx *db.Tx) error {
			return audit.WriteEntry(tx, audit.Entry{
				ActorType: audit.ActorUser, ActorID: ptr(int64(i)), ActorEmail: "anna@example.com", Action: "vm.stop", TargetKind: "vm",
				TargetID: fmt.Sprint(i), TargetName: "db01",
				TeamID: ptr(int64(2)), HostID: ptr(int64(3)), JobID: ptr(int64(4)), Result: audit.ResultOK, Address: "192.0.2.7", RequestID: "rid",
				Details: map[string]any{"n": i},
			})
		})
		if err != nil {
			tr.t.Fatal(err)
		}
	}
}

// seal goes on until every row has its place, in small batches.
func (tr *trail) seal() {
	tr.t.Helper()
	tr.sealBy(7)
}

func (tr *trail) sealBy(batch int) {
	tr.t.Helper()
	sealer := audit.NewSealer(audit.SealerConfig{Chain: tr.chain, Batch: batch})
	waittest.Until(tr.t, "every row has its place", func() bool {
		if dbtest.Value[int64](tr.t, tr.db, "SELECT count(*) FROM audit_pending") == 0 {
			return true
		}
		if _, err := sealer.Seal(tr.t.Context()); err != nil {
			tr.t.Fatal("sealing fails:", err)
		}
		return false
	})
}

func (tr *trail) verify() audit.Report {
	tr.t.Helper()
	// A chain of its own: what it knows is from the database.
	report, err := audit.NewChain(tr.db, tr.keys).Verify(tr.t.Context())
	if err != nil {
		tr.t.Fatal(err)
	}
	return report
}

func (tr *trail) good(verified, cleared int64) audit.Report {
	tr.t.Helper()
	report := tr.verify()
	if report.Break != nil || report.Verified != verified || report.Cleared != cleared || report.Unsealed != 0 {
		tr.t.Fatalf("want %d verified and %d cleared, got %+v, break %+v", verified, cleared, report, report.Break)
	}
	return report
}

func TestWholeTrailVerifies(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a long audit log: make check runs it")
	}
	t.Parallel()
	tr := newTrail(t, 0)
	if report := tr.good(0, 0); report.Seq != 0 {
		t.Errorf("%+v", report)
	}
	tr.write(2500) // more than a page
	if report := tr.verify(); report.Unsealed != 2500 || report.Verified != 0 || report.Break != nil {
		t.Fatalf("%+v", report)
	}
	tr.seal()
	report := tr.good(2500, 0)
	if report.Seq != 2500 || len(report.Hash) != 64 {
		t.Errorf("%+v", report)
	}
	// Other keys, other hashes: the file is what an intruder lacks.
	other := audit.NewChain(tr.db, box(t))
	if _, err := other.Verify(t.Context()); err == nil {
		t.Error("it verified with another key file")
	}
}

// Every column is changed by hand, in the first, a middle and the last row.
func TestAlteredColumnsAreNamed(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 30)
	for column, value := range map[string]string{
		"at": "at + interval '1 microsecond'", "actor_type": "'system'", "actor_id": "actor_id + 1", "actor_email": "actor_email || ' '",
		"action":      "'vm.start'",
		"target_kind": "'app'", "target_id": "target_id || '0'", "target_name": "''", "team_id": "NULL", "host_id": "NULL", "job_id": "0",
		"result": "'failed'", "error": "'x'",
		"address": "'192.0.2.8'", "request_id": "'rie'", "details": `'{"n": -1}'`,
	} {
		for _, id := range []int64{1, 17, 30} {
			dbtest.Exec(tr.t, tr.db, "CREATE TABLE kept AS SELECT * FROM audit WHERE id = $1", id)
			dbtest.Exec(tr.t, tr.db, fmt.Sprintf("UPDATE audit SET %s = %s WHERE id = $1", column, value), id)
			report := tr.verify()
			if b := report.Break; b == nil || b.Kind != audit.BreakAltered || b.Seq != id || b.ID != id || report.Verified != id-1 {
				t.Errorf("%s of row %d: %+v, break %+v", column, id, report, b)
			}
			dbtest.Exec(tr.t, tr.db, fmt.Sprintf("UPDATE audit SET %[1]s = kept.%[1]s FROM kept WHERE audit.id = kept.id", column))
			dbtest.Exec(tr.t, tr.db, "DROP TABLE kept")
		}
	}
	dbtest.Exec(tr.t, tr.db, "UPDATE audit SET at = 'infinity' WHERE id = 3")
	if b := tr.verify().Break; b == nil || b.Kind != audit.BreakAltered || b.Seq != 3 {
		t.Errorf("an endless time: %+v", b)
	}
}

func TestTamperingIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		statements []string
		kind       string
		seq, id    int64
		verified   int64
	}{
		"first row deleted":  {[]string{"DELETE FROM audit WHERE id = 1"}, audit.BreakRemoved, 1, 1, 0},
		"middle row deleted": {[]string{"DELETE FROM audit WHERE id = 15"}, audit.BreakRemoved, 15, 15, 14},
		"last row deleted":   {[]string{"DELETE FROM audit WHERE id = 30"}, audit.BreakRemoved, 30, 30, 29},
		"several deleted":    {[]string{"DELETE FROM audit WHERE id IN (20, 12, 13)"}, audit.BreakRemoved, 12, 12, 11},
		"first with its place": {[]string{"DELETE FROM audit WHERE id = 1", "DELETE FROM audit_links WHERE seq = 1"},
			audit.BreakRemoved, 1, 0, 0},
		"some with their places": {[]string{"DELETE FROM audit WHERE id BETWEEN 4 AND 6",
			"DELETE FROM audit_links WHERE seq BETWEEN 4 AND 6"}, audit.BreakRemoved, 4, 0, 3},
		"last with its place": {[]string{"DELETE FROM audit WHERE id = 30", "DELETE FROM audit_links WHERE seq = 30"},
			audit.BreakRemoved, 30, 0, 29},
		"everything": {[]string{"DELETE FROM audit", "DELETE FROM audit_links"}, audit.BreakRemoved, 1, 0, 0},
		"end cut off and head put back": {[]string{"DELETE FROM audit WHERE id > 28", "DELETE FROM audit_links WHERE seq > 28",
			"UPDATE audit_chain SET (seq, hash) = (SELECT seq, hash FROM audit_links WHERE seq = 28)"}, audit.BreakHead, 28, 0, 28},
		"places renumbered": {[]string{"DELETE FROM audit WHERE id = 29", "DELETE FROM audit_links WHERE seq = 29",
			"UPDATE audit_links SET seq = 29 WHERE seq = 30"}, audit.BreakReordered, 29, 30, 28},
		"places swapped": {[]string{"UPDATE audit_links SET seq = -seq WHERE seq IN (8, 9)",
			"UPDATE audit_links SET seq = 17 + seq WHERE seq < 0"}, audit.BreakReordered, 8, 9, 7},
		"rows of places swapped": {[]string{"UPDATE audit_links SET audit_id = -audit_id WHERE seq IN (8, 9)",
			"UPDATE audit_links SET audit_id = 17 + audit_id WHERE audit_id < 0"}, audit.BreakAltered, 8, 9, 7},
		"contents swapped": {[]string{"UPDATE audit a SET target_id = b.target_id, details = b.details, actor_id = b.actor_id, at = b.at " +
			"FROM audit b WHERE a.id IN (8, 9) AND b.id = 17 - a.id"},
			audit.BreakAltered, 8, 8, 7},
		"row renumbered": {[]string{"UPDATE audit_links SET audit_id = 99 WHERE audit_id = 5",
			"UPDATE audit SET id = DEFAULT WHERE id = 5", "UPDATE audit_links SET audit_id = (SELECT max(id) FROM audit) WHERE audit_id = 99"},
			audit.BreakAltered, 5, 31, 4},
		"forged row in the middle": {[]string{"UPDATE audit_links SET seq = seq + 100 WHERE seq > 9",
			"UPDATE audit_links SET seq = seq - 99 WHERE seq > 100", forge, "INSERT INTO audit_links SELECT 10, max(id), (SELECT hash FROM " +
				"audit_links WHERE seq = 9), sha256('x') FROM audit", "DELETE FROM audit_pending"}, audit.BreakAltered, 10, 31, 9},
		"forged row at the end": {[]string{forge, "INSERT INTO audit_links SELECT 31, max(id), (SELECT hash FROM audit_links WHERE seq = " +
			"30), sha256('x') FROM audit", "DELETE FROM audit_pending"}, audit.BreakAltered, 31, 31, 30},
		"forged row before all": {[]string{forge, "INSERT INTO audit_links SELECT 0, max(id), '', '' FROM audit",
			"DELETE FROM audit_pending"}, audit.BreakAnchor, 0, 31, 0},
		"forged row without place": {[]string{forge, "DELETE FROM audit_pending"}, audit.BreakInserted, 0, 31, 30},
		"hash changed":             {[]string{"UPDATE audit_links SET hash = sha256('x') WHERE seq = 5"}, audit.BreakAltered, 5, 5, 4},
		"hash of the one before":   {[]string{"UPDATE audit_links SET previous = sha256('x') WHERE seq = 5"}, audit.BreakReordered, 5, 5, 4},
		"head's place":             {[]string{"UPDATE audit_chain SET seq = 31"}, audit.BreakHead, 31, 0, 30},
		"head's hash":              {[]string{"UPDATE audit_chain SET hash = sha256('x')"}, audit.BreakHead, 30, 0, 30},
		"head's proof":             {[]string{"UPDATE audit_chain SET mac = ''"}, audit.BreakHead, 30, 0, 30},
		"head deleted":             {[]string{"DELETE FROM audit_chain"}, audit.BreakAltered, 1, 1, 0},
		"false anchor": {[]string{"DELETE FROM audit WHERE id = 9", "DELETE FROM audit_links WHERE seq = 9",
			"INSERT INTO audit_anchors VALUES (9, 9, (SELECT previous FROM audit_links WHERE seq = 10), sha256('x'))"}, audit.BreakAnchor, 9, 0, 8},
		"anchor without proof": {[]string{"DELETE FROM audit WHERE id = 9", "DELETE FROM audit_links WHERE seq = 9",
			"INSERT INTO audit_anchors VALUES (9, 9, (SELECT previous FROM audit_links WHERE seq = 10), NULL)"}, audit.BreakAnchor, 9, 0, 8},
		"needless anchor": {[]string{"INSERT INTO audit_anchors VALUES (9, 9, '', '')"}, audit.BreakAnchor, 9, 0, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrail(t, 30)
			tr.good(30, 0)
			for _, statement := range test.statements {
				dbtest.Exec(tr.t, tr.db, statement)
			}
			check := func(when string) {
				report := tr.verify()
				b := report.Break
				if b == nil || b.Kind != test.kind || b.Seq != test.seq || b.ID != test.id || report.Verified != test.verified || b.Text == "" {
					t.Errorf("%s: %+v, break %+v", when, report, b)
				}
			}
			check("at once")
			// The service runs on: its new rows heal nothing.
			tr.write(5)
			tr.seal()
			if b := tr.verify().Break; b == nil {
				t.Error("new rows have covered it up")
			} else if test.kind != audit.BreakHead && test.kind != audit.BreakInserted && test.seq < 30 && b.Seq != test.seq {
				t.Errorf("now it is %+v", b)
			}
			// Clearing all begins anew.
			if _, err := tr.chain.Clear(t.Context(), nil, audit.ClearPhrase); err != nil {
				t.Fatal(err)
			}
			tr.write(5)
			tr.seal()
			if report := tr.verify(); report.Break != nil || report.Verified != 5 {
				t.Errorf("after clearing all: %+v, break %+v", report, report.Break)
			}
		})
	}
}

const forge = "INSERT INTO audit (actor_type, action, result) VALUES ('user', 'vm.start', 'ok')"

// A row that is removed in the moment before it gets its place leaves its note behind.
func TestRowRemovedBeforeItsPlace(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 5)
	tr.write(3)
	dbtest.Exec(tr.t, tr.db, "DELETE FROM audit WHERE id = 7")
	tr.seal()
	if b := tr.verify().Break; b == nil || b.Kind != audit.BreakRemoved || b.ID != 7 || b.Seq != 7 {
		t.Errorf("%+v", b)
	}
}

func TestRowsOfAnOlderReleaseGetTheirPlaces(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	tr := &trail{t, d, box(t), nil}
	migration, err := migrations.FS.ReadFile("00007_audit_chain.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, down, _ := strings.Cut(string(migration), "-- +goose Down")
	dbtest.Exec(tr.t, tr.db, down)
	tr.write(20)
	dbtest.Exec(tr.t, tr.db, up)
	tr = trailOn(t, d, tr.keys, 3)
	tr.good(23, 0)
}

func TestClearLeavesAnAnchor(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 40)
	// Times run against the places for a while: what goes is in several pieces.
	dbtest.Exec(tr.t, tr.db, "UPDATE audit SET at = '2026-01-01'::timestamptz + (id * 7 % 40) * interval '1 hour'")
	dbtest.Exec(tr.t, tr.db, "DELETE FROM audit_links; DELETE FROM audit_chain; INSERT INTO audit_pending SELECT id FROM audit")
	tr.seal()
	tr.good(40, 0)
	clear := func(hours int, want int64) {
		t.Helper()
		before := time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC)
		if n, err := tr.chain.Clear(t.Context(), &before, audit.ClearPhrase); err != nil || n != want {
			t.Fatalf("%d cleared, %v", n, err)
		}
		if left := dbtest.Value[int64](tr.t, tr.db,
			"SELECT count(*) FROM audit WHERE at < '2026-01-01'::timestamptz + "+fmt.Sprint(hours)+" * interval '1 hour'"); left != 0 {
			t.Fatalf("%d rows are left", left)
		}
	}
	clear(0, 0)
	tr.good(40, 0)
	clear(10, 10)
	tr.good(30, 10)
	if n := dbtest.Value[int64](tr.t, tr.db, "SELECT count(*) FROM audit_anchors"); n != 8 { // ids 6 and 7, and 23 and 24, are neighbours
		t.Errorf("%d anchors", n)
	}
	clear(25, 15)
	tr.good(15, 25)
	tr.write(4) // not sealed, and stays
	clear(39, 14)
	if n := dbtest.Value[int64](tr.t, tr.db, "SELECT count(*) FROM audit_anchors"); n > 2 {
		t.Errorf("neighbours were not made one: %d anchors", n)
	}
	tr.seal()
	tr.good(5, 39)
	tr.write(3)
	if n, err := tr.chain.Clear(t.Context(), nil, audit.ClearPhrase); err != nil || n != 8 {
		t.Fatalf("%d %v", n, err)
	}
	tr.good(0, 44)
	tr.write(6)
	tr.seal()
	tr.good(6, 44)
	if seq := dbtest.Value[int64](tr.t, tr.db, "SELECT min(seq) FROM audit_links"); seq != 45 {
		t.Errorf("the places begin at %d", seq)
	}
	if n, err := tr.chain.Clear(t.Context(), nil, audit.ClearPhrase); err != nil || n != 6 {
		t.Fatalf("%d %v", n, err)
	}
	tr.write(1)
	tr.seal()
	tr.good(1, 50)
	dbtest.Exec(tr.t, tr.db, "UPDATE audit SET action = 'x'")
	if b := tr.verify().Break; b == nil || b.Kind != audit.BreakAltered || b.Seq != 51 {
		t.Errorf("altered after a clearing: %+v", b)
	}
}

func TestAnchorsAreHeldToTheirKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		statement, kind string
		seq             int64
	}{
		"longer":       {"UPDATE audit_anchors SET last = last + 1", audit.BreakAnchor, 1},
		"shorter":      {"UPDATE audit_anchors SET last = last - 1", audit.BreakAnchor, 1},
		"later":        {"UPDATE audit_anchors SET first = 2", audit.BreakRemoved, 1},
		"another hash": {"UPDATE audit_anchors SET hash = sha256('x')", audit.BreakAnchor, 1},
		"no hash":      {"UPDATE audit_anchors SET hash = ''", audit.BreakAnchor, 1},
		"no proof":     {"UPDATE audit_anchors SET mac = NULL", audit.BreakAnchor, 1},
		"gone":         {"DELETE FROM audit_anchors", audit.BreakRemoved, 1},
		"one more row": {"WITH gone AS (DELETE FROM audit WHERE id = 6 RETURNING id) DELETE FROM audit_links WHERE audit_id = 6",
			audit.BreakRemoved, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrail(t, 0)
			tr.write(10)
			dbtest.Exec(tr.t, tr.db, "UPDATE audit SET at = CASE WHEN id <= 5 THEN '2025-01-01'::timestamptz WHEN id <= 8 THEN '2026-02-01' "+
				"ELSE at END") // before they have a place
			tr.seal()
			before := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			if n, err := tr.chain.Clear(t.Context(), &before, audit.ClearPhrase); err != nil || n != 5 {
				t.Fatalf("%d %v", n, err)
			}
			tr.good(5, 5)
			dbtest.Exec(tr.t, tr.db, test.statement)
			if b := tr.verify().Break; b == nil || b.Kind != test.kind || b.Seq != test.seq {
				t.Errorf("%+v", b)
			}
			// A true clearing of what follows does not make the false anchor true.
			if _, err := tr.chain.Prune(t.Context(), before.AddDate(0, 2, 0)); err != nil {
				t.Fatal(err)
			}
			tr.seal()
			if b := tr.verify().Break; b == nil || b.Kind != test.kind && b.Kind != audit.BreakRemoved || b.Seq != test.seq {
				t.Errorf("after a clearing: %+v", b)
			}
		})
	}
}

func TestClearRefusesAndRecords(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 3)
	ctx, _ := audit.Begin(t.Context(), audit.Entry{ActorType: audit.ActorUser, Action: "audit.clear", Details: map[string]any{"key_id": 3}})
	future := time.Now().Add(time.Hour)
	if _, err := tr.chain.Clear(ctx, &future, audit.ClearPhrase); problem.CodeOf(err) != problem.CodeInvalid {
		t.Errorf("%v", err)
	}
	for _, confirm := range []string{"", "Clear audit log", "clear audit log "} {
		_, err := tr.chain.Clear(ctx, nil, confirm)
		if p := problem.From(err); p.Code != problem.CodeConfirmRequired || p.Members["confirm_phrase"] != "clear audit log" {
			t.Errorf("%q: %v", confirm, err)
		}
	}
	tr.good(3, 0)
	if n, err := tr.chain.Clear(ctx, nil, audit.ClearPhrase); err != nil || n != 3 {
		t.Fatalf("%d %v", n, err)
	}
	rows, _, err := audit.List(t.Context(), tr.db, audit.Filter{AllTeams: true})
	if err != nil || len(rows) != 1 || string(rows[0].Details) != `{"key_id": 3, "deleted": 3, "everything": true}` {
		t.Errorf("%+v %v", rows, err)
	}
	tr.seal()
	tr.good(1, 3)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 0)
	dbtest.Exec(tr.t, tr.db, "INSERT INTO audit (at, actor_type, action, result) SELECT '2025-01-01'::timestamptz + i * interval '1 "+
		"second', 'system', 'x', 'ok' FROM generate_series(1, 45000) i")
	if _, err := tr.chain.Prune(t.Context(), time.Now().Add(time.Hour)); err == nil {
		t.Error("it pruned the future")
	}
	sealer := audit.NewSealer(audit.SealerConfig{Chain: tr.chain, Batch: 10000})
	for range 4 { // 5,000 are left without a place
		if n, err := sealer.Seal(t.Context()); err != nil || n != 10000 {
			t.Fatalf("%d %v", n, err)
		}
	}
	before := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	if n, err := tr.chain.Prune(t.Context(), before); err != nil || n != 45000 {
		t.Fatalf("%d %v", n, err)
	}
	tr.seal()
	tr.good(3, 40000)
	if n, err := tr.chain.Prune(t.Context(), before); err != nil || n != 0 {
		t.Fatalf("%d %v", n, err)
	}
	rows, _, err := audit.List(t.Context(), tr.db, audit.Filter{AllTeams: true})
	if err != nil || len(rows) != 3 || rows[0].Action != "audit.prune" || rows[0].ActorType != audit.ActorSystem ||
		string(rows[0].Details) != `{"before": "2025-06-01T00:00:00Z", "deleted": 5000}` {
		t.Errorf("%+v %v", rows, err)
	}
	if n := dbtest.Value[int64](tr.t, tr.db, "SELECT count(*) FROM audit_anchors"); n != 1 {
		t.Errorf("%d anchors", n)
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 10)
	for range 2 {
		report, err := tr.keys.Rotate(t.Context(), secret.Rotation{DB: tr.db, Tables: []secret.Table{audit.SealedTable}})
		if err != nil || report.Rewritten != 1 {
			t.Fatalf("%+v %v", report, err)
		}
		tr.write(3)
		tr.seal()
	}
	tr.good(16, 0)
}

// Eight writers on two instances, each with its sealer, and a transaction that lasts: nobody waits, and all is well.
func TestManyWritersAndSealers(t *testing.T) {
	if testing.Short() {
		t.Skip("lets writers race: make check runs it")
	}
	t.Parallel()
	url := dbtest.URL(t)
	keys := box(t)
	instances := []*trail{trailOn(t, dbtest.Open(t, url), keys, 0), trailOn(t, dbtest.Open(t, url), keys, 0)}
	long, err := instances[0].db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Exec(t.Context(), forge); err != nil {
		t.Fatal(err)
	}
	running, end := context.WithCancel(t.Context())
	var sealers, writers sync.WaitGroup
	for _, tr := range instances {
		sealers.Go(func() {
			audit.NewSealer(audit.SealerConfig{Chain: tr.chain, Every: time.Millisecond, Batch: 50}).Run(running)
		})
		for range 4 {
			writers.Go(func() { tr.write(100) })
		}
	}
	writers.Wait()
	waittest.Until(t, "the rows of the others get their places beside the open transaction", func() bool {
		return dbtest.Value[int64](instances[0].t, instances[0].db, "SELECT count(*) FROM audit_links") >= 800
	})
	if err := long.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "every row has its place", func() bool {
		return dbtest.Value[int64](instances[0].t, instances[0].db, "SELECT count(*) FROM audit_pending") == 0
	})
	end()
	sealers.Wait()
	instances[1].good(801, 0)
	if id := dbtest.Value[int64](instances[0].t, instances[0].db, "SELECT audit_id FROM audit_links ORDER BY seq DESC LIMIT 1"); id != 1 {
		t.Errorf("the last place is row %d's and not that of the transaction that ended last", id)
	}
	if n := dbtest.Value[int64](instances[0].t, instances[0].db, "SELECT max(seq) - count(*) FROM audit_links"); n != 0 {
		t.Errorf("%d places are left out", n)
	}
}

// A sealer that dies in the middle of its transaction leaves nothing behind.
func TestSealerThatIsKilled(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 5)
	tr.write(20)
	dbtest.Exec(tr.t, tr.db, `CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$`)
	dbtest.Exec(tr.t, tr.db, `CREATE TRIGGER hang BEFORE DELETE ON audit_pending FOR EACH STATEMENT EXECUTE FUNCTION hang()`)
	failed := make(chan error, 1)
	go func() {
		_, err := audit.NewSealer(audit.SealerConfig{Chain: tr.chain}).Seal(t.Context())
		failed <- err
	}()
	const hung = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'DELETE FROM audit_pending%' AND wait_event = " +
		"'PgSleep'"
	waittest.Until(t, "the sealer hangs", func() bool { return dbtest.Value[int64](tr.t, tr.db, "SELECT count(*) "+hung) > 0 })
	if n, err := audit.NewSealer(audit.SealerConfig{Chain: tr.chain}).Seal(t.Context()); n != 0 || err != nil {
		t.Errorf("a second sealer did %d beside it: %v", n, err)
	}
	tr.write(1) // writers do not wait
	dbtest.Exec(tr.t, tr.db, "SELECT pg_terminate_backend(pid) "+hung)
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "sealing") {
		t.Errorf("the killed one says %v", err)
	}
	dbtest.Exec(tr.t, tr.db, "DROP TRIGGER hang ON audit_pending")
	if report := tr.verify(); report.Break != nil || report.Verified != 5 || report.Unsealed != 21 {
		t.Errorf("%+v %+v", report, report.Break)
	}
	tr.seal()
	tr.good(26, 0)
}

// A row of a past that was undone does not fit into what came instead, though its own hash is right.
func TestRowOfAnUndonePastIsNamed(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 9)
	dbtest.Exec(tr.t, tr.db, "CREATE TABLE past_chain AS SELECT * FROM audit_chain")
	tr.write(3)
	tr.seal()
	dbtest.Exec(tr.t, tr.db, "CREATE TABLE past_rows AS SELECT * FROM audit WHERE id > 9; CREATE TABLE past_links AS SELECT * FROM "+
		"audit_links WHERE seq > 9")
	dbtest.Exec(tr.t, tr.db, "DELETE FROM audit WHERE id > 9; DELETE FROM audit_links WHERE seq > 9; UPDATE audit_chain c SET seq = "+
		"p.seq, hash = p.hash, mac = p.mac FROM past_chain p")
	tr.write(3)
	tr.seal()
	tr.good(12, 0) // this much nobody can see who has not noted the end
	dbtest.Exec(tr.t, tr.db, "DELETE FROM audit WHERE id = (SELECT audit_id FROM audit_links WHERE seq = 10); DELETE FROM audit_links "+
		"WHERE seq = 10")
	dbtest.Exec(tr.t, tr.db, "INSERT INTO audit OVERRIDING SYSTEM VALUE SELECT * FROM past_rows WHERE id = 10; DELETE FROM "+
		"audit_pending; INSERT INTO audit_links SELECT * FROM past_links WHERE seq = 10")
	if b := tr.verify().Break; b == nil || b.Kind != audit.BreakReordered || b.Seq != 11 {
		t.Errorf("%+v", b)
	}
	dbtest.Exec(tr.t, tr.db, "UPDATE audit_links SET previous = (SELECT hash FROM past_links WHERE seq = 10) WHERE seq = 11")
	if b := tr.verify().Break; b == nil || b.Kind != audit.BreakAltered || b.Seq != 11 {
		t.Errorf("with the link bent: %+v", b)
	}
}
