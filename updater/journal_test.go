package updater

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// Half a line at the end is gone before anything is written behind it.
func TestHalfALineIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	for half, whole := range map[string]string{
		"{}\n{}\n{\"at\":\"20": "{}\n{}\n", "{}\n": "{}\n", "{\"at": "", "": "", "{}\n\x00\x00\x00": "{}\n",
	} {
		if err := os.WriteFile(path, []byte(half), 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != whole {
			t.Errorf("%q becomes %q, %v", half, got, err)
		}
		if err := j.close(); err != nil {
			t.Error(err)
		}
	}
}

// A reserve that a full disk has cut short is made anew.
func TestReserveThatIsTooSmall(t *testing.T) {
	t.Parallel()
	j := &journal{ballast: filepath.Join(t.TempDir(), "reserve")}
	for _, size := range []int{0, 1, ballastSize - 1} {
		if err := os.WriteFile(j.ballast, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := j.reserve(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(j.ballast); err != nil || info.Size() != ballastSize {
			t.Errorf("of %d bytes: %v, %v", size, info, err)
		}
	}
}

// A line that was written and is not on the disk for good is an error: a pipe takes it and can keep nothing.
func TestLineThatIsNotKept(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	j := &journal{path: filepath.Join(t.TempDir(), "journal.jsonl"), file: out}
	if err := j.add(installation.Line{Run: thisRun, Step: installation.StepStop, Event: installation.EventBegun}); err == nil {
		t.Error("the journal does not wait for the disk")
	}
}

// A run whose end cannot be written is not at its end.
func TestEndThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r, _ := newRun(t, nowhere)
	if err := r.write(installation.Line{Step: installation.StepHealth, Event: installation.EventEnded, Plan: &r.plan}); err != nil {
		t.Fatal(err)
	}
	if err := r.journal.close(); err != nil {
		t.Fatal(err)
	}
	if result := r.end(installation.StepDone, nil); result.Step != installation.StepHealth || result.Reason == nil {
		t.Errorf("%+v", result)
	}
}

// Ids are in the order of the runs, within a second and with a clock that was put back, with a backup or without one.
func TestIDsAreInOrder(t *testing.T) {
	t.Parallel()
	r, _ := newRun(t, nowhere)
	now := time.Date(2026, 1, 2, 3, 4, 5, 999, time.UTC)
	r.cfg.Now = func() time.Time { return now }
	last := ""
	next := func(what string) {
		t.Helper()
		id, err := r.newID()
		if err != nil || len(id) != len(thisRun) || id[:len(idTime)] <= last {
			t.Errorf("%s: %s after %s, %v", what, id, last, err)
		}
		last = id[:len(idTime)]
	}
	next("the first")
	if want := "20260102t030405"; last != want {
		t.Errorf("%s, want %s", last, want)
	}
	r.wrote(t, installation.Line{Run: thisRun, Step: installation.StepFailed, Event: installation.EventEnded})
	next("one of the same second in the journal")
	last = "20300102t030405"
	if err := os.Mkdir(r.cfg.Layout.backup(last+"_abcdef"), 0o700); err != nil {
		t.Fatal(err)
	}
	next("a later one among the backups")
	last = "20400102t030405"
	r.wrote(t, installation.Line{Run: last + "_abcdef", Step: installation.StepFailed, Event: installation.EventEnded})
	next("a later one in the journal only")
}

// What was seen last is not forgotten because its file holds nothing.
func TestSeenIsNull(t *testing.T) {
	t.Parallel()
	l := Layout{StateDir: t.TempDir()}
	if err := os.WriteFile(l.seen(), []byte("null"), 0o644); err != nil {
		t.Fatal(err)
	}
	if seen, err := l.loadSeen(); err == nil {
		t.Errorf("%v", seen)
	}
}
