package upload_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/upload"
)

func spool(t *testing.T, dir string) *upload.Spool {
	t.Helper()
	s, err := upload.OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, s *upload.Spool, id string, about, most int64) *upload.IncomingFile {
	t.Helper()
	r, err := s.Create(id, about, most, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// needs says that these files are needed.
func needs(ids ...string) func(context.Context, []string) (map[string]bool, error) {
	return func(context.Context, []string) (map[string]bool, error) {
		keep := map[string]bool{}
		for _, id := range ids {
			keep[id] = true
		}
		return keep, nil
	}
}

func there(s *upload.Spool, id string) bool {
	f, err := s.Open(id)
	if err == nil {
		_ = f.Close()
	}
	return !errors.Is(err, fs.ErrNotExist)
}

const one, two, three = "upload-number-one-1", "upload-number-two-2", "upload-number-three"

func TestSpooledFile(t *testing.T) {
	t.Parallel()
	s := spool(t, filepath.Join(t.TempDir(), "made", "anew"))
	r := create(t, s, one, 4, 100)
	if _, err := io.WriteString(r, "some"); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("some"))
	if r.Size != 4 || r.SHA256() != hex.EncodeToString(sum[:]) {
		t.Errorf("%d %s", r.Size, r.SHA256())
	}
	r.Keep()
	f, err := s.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if raw, err := io.ReadAll(f); err != nil || string(raw) != "some" {
		t.Errorf("%q %v", raw, err)
	}
	if info, _ := f.Stat(); info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", info.Mode())
	}
	if _, err := s.Create(one, 0, 100, 0); problem.CodeOf(err) != problem.CodeConflict {
		t.Errorf("a second one of the same id: %v", err)
	}
	if s.Remove(one); there(s, one) {
		t.Error("it is still there")
	}
}

func TestSpoolRefuses(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	if _, err := s.Create(one, 1, 100, 1<<60); problem.CodeOf(err) != problem.CodeNoRoom {
		t.Errorf("one that leaves too little free: %v", err)
	}
	if there(s, one) {
		t.Error("there is a file of what was refused")
	}
	r := create(t, s, one, 0, 3)
	if _, err := io.WriteString(r, "some"); problem.CodeOf(err) != problem.CodeTooLarge {
		t.Errorf("one that is too large: %v", err)
	}
	if r.Discard(); there(s, one) {
		t.Error("it was not discarded")
	}
}

// What was announced is kept for it: two that fit only one by one are not both let in.
func TestAnnouncedRoomIsKept(t *testing.T) {
	t.Parallel()
	s := spool(t, t.TempDir())
	room, err := s.Room(0)
	if err != nil {
		t.Fatal(err)
	}
	// Other tests write to the same disk meanwhile.
	first := create(t, s, one, room*6/10, 1<<60)
	if _, err := s.Create(two, room*6/10, 1<<60, 0); problem.CodeOf(err) != problem.CodeNoRoom {
		t.Errorf("the second was let in: %v", err)
	}
	first.Discard()
	create(t, s, two, room*6/10, 1<<60).Discard()
}

// A sweep of any instance with the folder takes what nobody needs, and nothing of what another instance receives.
func TestSweepOfASharedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := spool(t, dir), spool(t, dir)
	if a.ID() != b.ID() || a.ID() == spool(t, t.TempDir()).ID() {
		t.Error("the folder's id is wrong")
	}
	receiving := create(t, a, one, 0, 100)
	for _, id := range []string{two, three} {
		create(t, a, id, 0, 100).Keep()
	}
	for _, s := range []*upload.Spool{b, a} {
		received, err := s.Sweep(t.Context(), needs(three))
		if err != nil || len(received) != 1 || received[0] != one {
			t.Fatalf("%v %v", received, err)
		}
	}
	if !there(a, one) || there(a, two) || !there(a, three) {
		t.Error("the wrong files are left")
	}
	failing := func(context.Context, []string) (map[string]bool, error) {
		return nil, errors.New("the database is away")
	}
	if _, err := b.Sweep(t.Context(), failing); err == nil || !there(a, three) {
		t.Errorf("without an answer: %v", err)
	}
	receiving.Discard()
}

// A disk that fills while a file of unknown size arrives ends that one upload.
func TestSpoolOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("no file system of its own can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := spool(t, dir)
	if _, err := s.Create(one, 3<<20, 1<<30, 0); problem.CodeOf(err) != problem.CodeNoRoom {
		t.Errorf("one that is known to be too large: %v", err)
	}
	r := create(t, s, two, 0, 1<<30)
	var err error
	for n := 0; err == nil && n < 100; n++ {
		_, err = r.Write([]byte(strings.Repeat("x", 100_000)))
	}
	if problem.CodeOf(err) != problem.CodeNoRoom {
		t.Errorf("a full disk: %v", err)
	}
	r.Discard()
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if strings.HasSuffix(e.Name(), ".spool") {
			t.Errorf("%s is left", e.Name())
		}
	}
}
