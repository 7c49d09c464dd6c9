package audit_test

import (
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
)

// blank takes addresses out of the rows before the one with that id, which write has made an hour apart.
func (tr *trail) blank(id, want int64) {
	tr.t.Helper()
	before := dbtest.Value[time.Time](tr.t, tr.db, "SELECT at FROM audit WHERE id = $1", id)
	if n, err := tr.chain.RemoveAddresses(tr.t.Context(), before); err != nil || n != want {
		tr.t.Fatalf("it took the addresses out of %d rows, want %d: %v", n, want, err)
	}
	tr.seal()
}

// Old rows lose their address and nothing else, the audit log verifies as before, and its end says the same.
func TestBlankedRowsVerify(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 0)
	dbtest.Exec(tr.t, tr.db, "INSERT INTO audit (at, actor_type, action, result, address, request_id) "+
		"SELECT '2025-01-01'::timestamptz + i * interval '1 minute', 'system', 'x', 'ok', CASE WHEN i % 10 = 0 THEN '' "+
		"ELSE '192.0.2.' || i % 250 END, 'r' FROM "+
		"generate_series(1, 12000) i")
	tr.sealBy(700)
	whole := tr.good(12000, 0)
	tr.blank(11001, 9900)
	report := tr.good(12002, 0)
	if report.Seq != whole.Seq+2 { // a row of its own for each batch
		t.Errorf("%+v", report)
	}
	tr.blank(11001, 0)
	tr.good(12002, 0)
	if got := dbtest.Value[string](t, tr.db, `SELECT count(*) FILTER (WHERE address <> '' AND id <= 11000) || ' ' ||
		count(*) FILTER (WHERE address <> '') || ' ' || count(*) FILTER (WHERE request_id = 'r') || ' ' || (SELECT count(*) FROM audit_blanked)
		FROM audit`); got != "0 900 12000 9900" {
		t.Errorf("left are %s", got)
	}
	if got := dbtest.Value[string](t, tr.db, "SELECT string_agg(actor_type || ' ' || (details ->> 'rows'), ',' ORDER BY id) FROM audit "+
		"WHERE action = 'audit.blank'"); got != "system 4999,system 4901" && got != "system 5000,system 4900" {
		t.Errorf("the audit log says %s", got)
	}
	// Retention and clearing take such rows as all others, and their proofs go with them.
	if n, err := tr.chain.Prune(t.Context(), time.Date(2025, 1, 5, 0, 0, 0, 0, time.UTC)); err != nil || n == 0 {
		t.Fatalf("%d %v", n, err)
	}
	tr.seal()
	if report := tr.verify(); report.Break != nil || report.Cleared == 0 {
		t.Errorf("%+v", report)
	}
	if got := dbtest.Value[int](t, tr.db, `SELECT count(*) FROM audit_blanked b
		WHERE NOT EXISTS (SELECT FROM audit WHERE id = b.audit_id)`); got != 0 {
		t.Errorf("%d proofs are of no row", got)
	}
	if got := dbtest.Value[int](t, tr.db, "SELECT count(*) FROM audit WHERE at < '2025-01-05'"); got != 0 {
		t.Errorf("%d old rows have stayed", got)
	}
	if _, err := tr.chain.Clear(t.Context(), nil, audit.ClearPhrase); err != nil {
		t.Fatal(err)
	}
	if got := dbtest.Value[int](t, tr.db, "SELECT count(*) FROM audit_blanked"); got != 0 {
		t.Errorf("%d proofs have stayed", got)
	}
	if _, err := tr.chain.RemoveAddresses(t.Context(), time.Now().Add(time.Hour)); err == nil {
		t.Error("it took the addresses of the future out")
	}
}

// Nobody without the key makes a row that was altered look like one whose address was taken out.
func TestTamperingWithBlankedRowsIsNamed(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"an address taken out by hand": "UPDATE audit SET address = '' WHERE id = 25",
		"with the proof of another row": "UPDATE audit SET address = '' WHERE id = 25; " +
			"INSERT INTO audit_blanked SELECT 25, mac FROM audit_blanked WHERE audit_id = 5",
		"with an empty proof": "UPDATE audit SET address = '' WHERE id = 25; INSERT INTO audit_blanked VALUES (25, '')",
		"proof moved":         "UPDATE audit_blanked SET audit_id = 25 WHERE audit_id = 5",
		"proof removed":       "DELETE FROM audit_blanked WHERE audit_id = 5",
		"proof altered":       "UPDATE audit_blanked SET mac = sha256(mac) WHERE audit_id = 5",
		"another address":     "UPDATE audit SET address = '192.0.2.99' WHERE id = 5",
		"another column":      "UPDATE audit SET action = 'vm.start' WHERE id = 5",
		"proofs swapped": "UPDATE audit_blanked b SET mac = o.mac FROM audit_blanked o WHERE b.audit_id IN (5, 6) AND " +
			"o.audit_id = 11 - b.audit_id",
		"rows swapped": "UPDATE audit SET target_id = CASE id WHEN 5 THEN '5' ELSE '4' END WHERE id IN (5, 6)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrail(t, 30)
			tr.blank(21, 20)
			tr.good(31, 0)
			dbtest.Exec(tr.t, tr.db, "DO $$ BEGIN "+statement+"; END $$")
			report := tr.verify()
			if b := report.Break; b == nil || b.Kind != audit.BreakAltered || b.ID != 5 && b.ID != 25 || report.Verified != b.Seq-1 {
				t.Errorf("%+v, break %+v", report, report.Break)
			}
			// What was altered gets no proof afterwards, and no clearing hides it.
			if _, err := tr.chain.RemoveAddresses(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			tr.seal()
			if b := tr.verify().Break; b == nil {
				t.Error("taking addresses out again hides it")
			}
			if _, err := tr.chain.Prune(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			if got := dbtest.Value[int](t, tr.db, "SELECT count(*) FROM audit WHERE id IN (5, 6, 25)"); got == 0 {
				t.Error("a removal hides it")
			}
		})
	}
	// A row whose address was put back is what it was.
	tr := newTrail(t, 30)
	tr.blank(21, 20)
	dbtest.Exec(tr.t, tr.db, "UPDATE audit SET address = '192.0.2.7' WHERE id = 5")
	tr.good(31, 0)
}

// The column that is taken out is the address.
func TestWhatIsBlanked(t *testing.T) {
	t.Parallel()
	tr := newTrail(t, 2)
	tr.blank(2, 1)
	if got := dbtest.Value[bool](t, tr.db, `SELECT to_jsonb(a) = to_jsonb(b) || jsonb_build_object('id', a.id, 'at', a.at, 'address', '',
		'actor_id', 0, 'target_id', '0', 'details', a.details) FROM audit a, audit b WHERE a.id = 1 AND b.id = 2`); !got {
		t.Errorf("the row and its neighbour differ in more")
	}
}
