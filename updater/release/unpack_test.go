package release_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/updater/release"
)

type entry struct {
	header tar.Header
	body   string
}

func tarball(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	for _, e := range entries {
		if e.header.Size == 0 {
			e.header.Size = int64(len(e.body))
		}
		if err := archive.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(e.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func regular(name, body string, mode int64) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode}, body}
}

func TestUnpackGivesWhatWasPacked(t *testing.T) {
	t.Parallel()
	from, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(from, "bin", "hostlerd"), "program", 0o755)
	write(t, filepath.Join(from, "share", "deep", "notes"), "text", 0o640)
	first, second := filepath.Join(dir, "a.tar.gz"), filepath.Join(dir, "b.tar.gz")
	a, err := release.Pack(from, first, day)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(from, "bin", "hostlerd"), day, day); err != nil {
		t.Fatal(err)
	}
	b, err := release.Pack(from, second, day)
	if err != nil || a.SHA256 != b.SHA256 || a.Size != b.Size {
		t.Errorf("the same files give other bytes: %+v, %+v, %v", a, b, err)
	}
	to := filepath.Join(dir, "out")
	if err := release.Unpack(t.Context(), bytes.NewReader(read(t, first)), to); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"bin/hostlerd": 0o755, "share/deep/notes": 0o644} {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil || info.Mode() != mode || string(read(t, filepath.Join(to, name))) != string(read(t, filepath.Join(from, name))) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestPackTakesFilesOnly(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := release.Pack(from, filepath.Join(t.TempDir(), "x.tar.gz"), day); err == nil {
		t.Error("a link was packed")
	}
}

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	good := tarball(t, regular("bin/hostlerd", "x", 0o755))
	many := make([]entry, release.MaxEntries+1)
	for i := range many {
		many[i] = regular("f"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+"/"+strings.Repeat("y", 1+i/200)+string(rune('a'+i%19)), "", 0o644)
	}
	for name, archive := range map[string][]byte{
		"parent":        tarball(t, regular("../evil", "x", 0o644)),
		"parent inside": tarball(t, regular("bin/../../evil", "x", 0o644)),
		"absolute":      tarball(t, regular("/etc/evil", "x", 0o644)),
		"dot":           tarball(t, entry{tar.Header{Name: "./", Typeflag: tar.TypeDir}, ""}),
		"empty name":    tarball(t, regular("", "x", 0o644)),
		"backslash":     tarball(t, regular(`bin\..\evil`, "x", 0o644)),
		"control":       tarball(t, regular("bin/a\nb", "x", 0o644)),
		"link":          tarball(t, entry{tar.Header{Name: "evil", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, ""}),
		"link and file through it": tarball(t, entry{tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, ""},
			regular("a/evil", "x", 0o644)),
		"hard link":      tarball(t, entry{tar.Header{Name: "evil", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, ""}),
		"device":         tarball(t, entry{tar.Header{Name: "evil", Typeflag: tar.TypeBlock, Devmajor: 8}, ""}),
		"char device":    tarball(t, entry{tar.Header{Name: "evil", Typeflag: tar.TypeChar, Devmajor: 1}, ""}),
		"fifo":           tarball(t, entry{tar.Header{Name: "evil", Typeflag: tar.TypeFifo}, ""}),
		"set-uid":        tarball(t, regular("evil", "x", 0o4755)),
		"twice":          tarball(t, regular("a", "x", 0o644), regular("a", "y", 0o644)),
		"file as folder": tarball(t, regular("a", "x", 0o644), regular("a/b", "y", 0o644)),
		"too many":       tarball(t, many...),
		"empty":          tarball(t),
		"truncated":      good[:len(good)-20],
		"checksum":       append(append([]byte{}, good[:len(good)-8]...), 0, 0, 0, 0, 0, 0, 0, 0),
		"no gzip":        []byte("plain text"),
		"bomb":           bomb(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			err := release.Unpack(t.Context(), bytes.NewReader(archive), filepath.Join(parent, "out"))
			if err == nil {
				t.Fatal("it was unpacked")
			}
			if !errors.Is(err, release.ErrArchive) && name != "file as folder" {
				t.Errorf("%v", err)
			}
			if entries, _ := os.ReadDir(parent); len(entries) != 1 {
				t.Errorf("there is something beside the folder: %v", entries)
			}
		})
	}
}

// bomb says in its header that it is five GiB of zeros: refused before any of it is written.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	if err := archive.WriteHeader(&tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Mode: 0o644, Size: 5 << 30}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil { // the tar is cut off on purpose
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnpackIntoAFolderThatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := release.Unpack(t.Context(), bytes.NewReader(tarball(t, regular("a", "x", 0o644))), dir); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
}
