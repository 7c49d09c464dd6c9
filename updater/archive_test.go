package updater

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listing is everything of the site that an update which fails must not touch.
func (s *site) listing() string {
	s.t.Helper()
	var all strings.Builder
	root := filepath.Dir(s.prefix)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch path {
		case s.own, s.out, s.state, filepath.Join(s.prefix, "quarantine"):
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err == nil {
			size := info.Size()
			if entry.IsDir() {
				size = 0
			}
			fmt.Fprintln(&all, path, info.Mode(), size)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all.String()
}

// Tarballs that are signed and hold what none may hold write nothing outside the quarantine.
func TestHostileTarballs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	outside := filepath.Join(filepath.Dir(s.prefix), "escaped")
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	good := &tar.Header{Typeflag: tar.TypeReg, Name: "bin/hostlerd", Mode: 0o755, Size: int64(len(program))}
	regular := func(name string) *tar.Header { return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644} }
	set := &tar.Header{Typeflag: tar.TypeReg, Name: "bin/helper", Mode: 0o4755}
	many := func(n int) (list []*tar.Header) {
		for i := range n {
			list = append(list, regular(fmt.Sprintf("bin/%d", i)))
		}
		return list
	}
	const archive, version = "not a valid release", "program"
	for _, test := range []struct {
		name, says string
		entries    []*tar.Header
	}{
		{"up and out", archive, []*tar.Header{good, regular("../../../../escaped")}},
		{"up inside a path", archive, []*tar.Header{good, regular("bin/../../../../../escaped")}},
		{"absolute", archive, []*tar.Header{good, regular(outside)}},
		{"a link out and a file through it", archive,
			[]*tar.Header{good, {Typeflag: tar.TypeSymlink, Name: "bin/out", Linkname: filepath.Dir(outside)}, regular("bin/out/escaped")}},
		{"a hard link", archive, []*tar.Header{good, {Typeflag: tar.TypeLink, Name: "bin/shadow", Linkname: "/etc/shadow"}}},
		{"a hard link inside", archive, []*tar.Header{good, {Typeflag: tar.TypeLink, Name: "bin/again", Linkname: "bin/hostlerd"}}},
		{"a device", archive, []*tar.Header{good, {Typeflag: tar.TypeBlock, Name: "bin/disk", Devmajor: 8}}},
		{"a terminal", archive, []*tar.Header{good, {Typeflag: tar.TypeChar, Name: "bin/null", Devmajor: 1, Devminor: 3}}},
		{"a pipe", archive, []*tar.Header{good, {Typeflag: tar.TypeFifo, Name: "bin/pipe"}}},
		{"set-uid", archive, []*tar.Header{good, set}},
		{"twice", archive, []*tar.Header{good, good}},
		{"a file and a folder of one name", "", []*tar.Header{good, regular("bin/hostlerd/x")}},
		{"more than there may be", archive,
			[]*tar.Header{good, {Typeflag: tar.TypeReg, Name: "bin/bomb", Size: 5 << 30, Format: tar.FormatPAX}}},
		{"too many", archive, append(many(20_000), good)},
		{"a new line in a name", archive, []*tar.Header{good, {Typeflag: tar.TypeReg, Name: "bin/a\nb", Format: tar.FormatPAX}}},
		{"an escape in a name", archive, []*tar.Header{good, {Typeflag: tar.TypeReg, Name: "bin/\x1b[2J", Format: tar.FormatPAX}}},
		{"a long name", archive, []*tar.Header{good,
			{Typeflag: tar.TypeReg, Name: "bin/" + strings.Repeat("long/", 200) + "x", Format: tar.FormatPAX}}},
		{"no program", "no program", []*tar.Header{regular("bin/other")}},
		{"a program that is a folder", "no program", []*tar.Header{{Typeflag: tar.TypeDir, Name: "bin/hostlerd/", Mode: 0o755}}},
		{"a program that cannot be executed", "no program",
			[]*tar.Header{{Typeflag: tar.TypeReg, Name: "bin/hostlerd", Mode: 0o644, Size: int64(len(program))}}},
		{"nothing", archive, nil},
		{"another program", version, []*tar.Header{good}},
	} {
		name := "hostler-" + newVersion + ".tar.gz"
		writeTarball(t, filepath.Join(s.out, name), program, test.entries)
		s.manifest(newVersion, name)
		before := s.listing()
		answer := s.do(order{Do: "run"})
		if answer == nil || answer.Err != "" || !strings.HasPrefix(answer.Reason, "verify: ") || !strings.Contains(answer.Reason, test.says) ||
			strings.ContainsAny(answer.Reason, "\x1b") {
			t.Fatalf("%s: %+v", test.name, answer)
		}
		if after := s.listing(); after != before {
			t.Fatalf("%s: there was\n%s\nand now\n%s", test.name, before, after)
		}
		s.holds(oldVersion, "failed")
	}
	s.publish(newVersion, "")
	s.update()
}

// writeTarball writes what a program that packs would refuse to write.
func writeTarball(t *testing.T, path string, program []byte, entries []*tar.Header) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	packed, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(packed)
	for _, header := range entries {
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		switch header.Size {
		case 0:
		case int64(len(program)):
			if _, err := archive.Write(program); err != nil {
				t.Fatal(err)
			}
		default: // what it says to hold does not come
			if err := archive.Flush(); err == nil {
				t.Fatal("a file without its content was taken")
			}
		}
	}
	_ = archive.Close() // it complains of content that is missing
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
}
