package updater

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/updater/installation"
)

// disk is a small one that a test can fill.
type disk struct {
	t    testing.TB
	path string
}

// newDisk mounts a disk over a folder, which keeps its content.
func newDisk(t testing.TB, path string, mib int) disk {
	t.Helper()
	if os.Getenv(namespaceVariable) == "" {
		t.Skip("small disks can only be mounted by root, in a name space of the test's own")
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(t.TempDir(), "content")
	s := &site{t: t}
	s.copyTree(path, aside)
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dm,nr_inodes=%d,mode=755", mib, 40*mib)); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s.copyTree(aside+"/.", path)
	return disk{t, path}
}

// fill leaves neither a byte nor a file's entry.
func (d disk) fill() {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.path, "filler"), 0o755); err != nil && !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(d.path, "filler", "bytes"))
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	for size := 1 << 20; f != nil && size > 0; size /= 16 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatal(err)
		}
	}
	_ = f.Close()
	for n := 0; ; n++ {
		if err := unix.Mknod(filepath.Join(d.path, "filler", fmt.Sprint(n)), unix.S_IFREG, 0); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil && !errors.Is(err, syscall.EEXIST) {
			d.t.Fatal(err)
		}
	}
}

// padJournal repeats the journal's last line with as much in it as makes the file end where a block of the disk does: the
// next line needs another one.
func (s *site) padJournal() {
	s.t.Helper()
	path := installation.Journal(s.own)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || len(text) == 0 {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	last := strings.TrimSuffix(lines[len(lines)-1], "}")
	size := len(text) + len(last) + len(`,"pad":""}`+"\n")
	last += `,"pad":"` + strings.Repeat("x", 4096-size%4096) + `"}` + "\n"
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = f.WriteString(last)
	if err = errors.Join(err, f.Close()); err != nil {
		s.t.Fatal(err)
	}
}

func (d disk) free() {
	d.t.Helper()
	if err := os.RemoveAll(filepath.Join(d.path, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// readOnly makes a folder one that nobody can write to, root neither, until the returned function runs.
func readOnly(t testing.TB, path string) func() {
	t.Helper()
	if os.Getenv(namespaceVariable) == "" {
		t.Skip("only root, in a name space of the test's own, can make a folder read-only for root")
	}
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mounting: %v", err)
	}
	if err := unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	undone := false
	undo := func() {
		if !undone {
			undone = true
			if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(undo)
	return undo
}

// settle brings a run that could not come to its end there, now that its trouble is over, and holds what must be true then.
func (s *site) settle(name string) installation.State {
	s.t.Helper()
	status, err := installation.LastStatus(s.own)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	if status != nil && status.State == installation.StateInterrupted {
		if _, err := s.do(order{Do: "resume"}).end(); err != nil {
			s.t.Fatalf("%s: resume: %v\n%s", name, err, s.supervisor.log.String())
		}
		if status, err = installation.LastStatus(s.own); err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
	}
	if status == nil {
		s.await(oldVersion)
		return ""
	}
	version := oldVersion
	if status.State == installation.StateDone {
		version = newVersion
	}
	s.holds(version, string(status.State))
	if s.t.Failed() {
		s.t.Fatalf("%s: %+v\n%s", name, status, s.supervisor.log.String())
	}
	return status.State
}

// fault is what happens at a point of a run, and what becomes of the run when the trouble stays until its end.
type fault struct {
	point string
	want  installation.State
	// serves: the old version serves already while the trouble is there still.
	serves bool
}

// suffers makes one run for each fault, on one installation, and an ordinary update at last.
func (s *site) suffers(kind string, faults []fault, o order, begin, end func()) {
	s.t.Helper()
	s.untidy = true
	for _, f := range faults {
		name := kind + " " + f.point
		o.Do = "run"
		if f.point == "start" {
			begin()
			s.do(o)
		} else {
			s.during(f.point, o, begin)
		}
		if f.serves {
			s.await(oldVersion)
		}
		end()
		if got := s.settle(name); got != f.want {
			s.t.Fatalf("%s: %q, want %q\n%s", name, got, f.want, s.supervisor.log.String())
		}
	}
	s.untidy = false
	s.publish(newVersion, "")
	if err := os.Remove(Layout{StateDir: s.own}.seen()); err != nil && !os.IsNotExist(err) { // two manifests of one second
		s.t.Fatal(err)
	}
	s.update()
}

// A disk that is full at any step.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const failed, rolledBack, done = installation.StateFailed, installation.StateRolledBack, installation.StateDone
	const crash = `[ "$1" = serve ] && exit 3`
	t.Run("of the releases", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.publish(newVersion, crash)
		d := newDisk(t, s.prefix, 600)
		s.suffers("full releases", []fault{
			{"start", "", true}, {"in backup", failed, true}, {"in download", failed, true}, {"in verify", failed, true},
			{"in trial", rolledBack, true},
			{"in stop", rolledBack, true}, {"in migrate", rolledBack, true}, {"in switch", rolledBack, true}, {"switched", rolledBack, true},
			{"before rollback", rolledBack, true},
		}, order{}, d.fill, d.free)
	})
	t.Run("of the journal", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.publish(newVersion, crash)
		s.mkdir(s.own)
		d := newDisk(t, s.own, 8)
		s.suffers("full journal", []fault{
			{"start", "", true}, {"in backup", failed, true}, {"in download", failed, true}, {"in verify", failed, true},
			{"in trial", failed, true},
			{"in stop", rolledBack, true}, {"in migrate", rolledBack, true}, {"in switch", rolledBack, true}, {"switched", rolledBack, true},
			{"before rollback", rolledBack, true},
		}, order{}, func() {
			s.padJournal()
			d.fill()
		}, d.free)
	})
	// What the journal keeps for the worst is gone as well: the way back is gone without it, and told by resume.
	t.Run("and no reserve", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.publish(newVersion, crash)
		s.mkdir(s.own)
		d := newDisk(t, s.own, 8)
		s.suffers("no reserve", []fault{
			{"in stop", failed, true}, {"in snapshot", failed, true}, {"in migrate", rolledBack, true}, {"in switch", rolledBack, true},
			{"switched", rolledBack, true},
			{"before rollback", rolledBack, true}, {"link back", rolledBack, true}, {"after rollback", rolledBack, true},
		}, order{}, func() {
			if err := os.Remove(installation.Journal(s.own) + ".reserve"); err != nil {
				t.Fatal(err)
			}
			s.padJournal()
			d.fill()
		}, d.free)
	})
	t.Run("of temporary files", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.publish(newVersion, "")
		d := newDisk(t, filepath.Join(t.TempDir(), "tmp"), 8)
		s.suffers("full temporary", []fault{{"start", failed, true}, {"in trial", failed, true}, {"in migrate", rolledBack, true}},
			order{Temp: d.path}, d.fill, d.free)
	})
}

// A run that is taken up while the disk is full still.
func TestResumeOnFullDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(newVersion, "")
	s.mkdir(s.own)
	d := newDisk(t, s.own, 8)
	for _, point := range []string{"in trial", "put aside", "in migrate", "switched"} {
		if answer := s.do(order{Do: "run", KillAt: point}); answer != nil {
			t.Fatalf("%s: %+v", point, answer)
		}
		d.fill()
		s.do(order{Do: "resume"})
		s.await(oldVersion)
		if err := os.Remove(installation.Journal(s.own) + ".reserve"); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		d.free()
		s.settle(point)
	}
	s.update()
}

// A journal whose disk is full holds whole lines only: what is written later is not added to half a line.
func TestJournalOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	d := newDisk(t, dir, 1)
	path := installation.Journal(dir)
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.reserve(); err != nil {
		t.Fatal(err)
	}
	line := installation.Line{Run: "a", Step: installation.StepMigrate, Event: installation.EventBegun, Text: strings.Repeat("long ", 300)}
	d.fill()
	written, failures := 0, 0
	for range 400 {
		if err := j.add(line); err == nil {
			written++
		} else if failures++; !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	if written < ballastSize/2000 || failures == 0 {
		t.Errorf("%d lines were written and %d were not: the reserve is for the first", written, failures)
	}
	d.free()
	if err := j.add(line); err != nil {
		t.Fatal(err)
	}
	if lines, err := installation.ReadJournal(path); err != nil || len(lines) != written+1 {
		t.Errorf("%d lines, %v; want %d", len(lines), err, written+1)
	}
}

// Folders that nobody can write to, from the start and from a step on.
func TestReadOnlyFolders(t *testing.T) {
	t.Parallel()
	const failed, rolledBack = installation.StateFailed, installation.StateRolledBack
	for _, test := range []struct {
		name   string
		folder func(*site) string
		faults []fault
	}{
		{"prefix", func(s *site) string { return s.prefix },
			[]fault{{"start", "", true}, {"in download", failed, true}, {"in verify", failed, true},
				{"in trial", rolledBack, true}, {"in switch", rolledBack, true}, {"link switched", rolledBack, false},
				{"between renames", rolledBack, false}}},
		{"releases", func(s *site) string { return filepath.Join(s.prefix, "releases") },
			[]fault{{"start", failed, true}, {"in verify", failed, true}}},
		{"journal", func(s *site) string { return s.own },
			[]fault{{"start", "", true}, {"in backup", failed, true}, {"in download", failed, true}, {"in migrate", rolledBack, true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.publish(newVersion, `[ "$1" = serve ] && exit 3`)
			folder := test.folder(s)
			s.mkdir(folder)
			var undo func()
			s.suffers("read-only "+test.name, test.faults, order{}, func() { undo = readOnly(t, folder) }, func() { undo() })
		})
	}
}
