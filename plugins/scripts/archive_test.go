package scripts_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/plugin"
)

// An archive that no honest program makes is refused whole, and nothing of it is kept or written anywhere.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	const top = "repository/"
	file := func(name string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: top + name, Mode: 0o644, Size: 1}
	}
	small := scriptstest.Small()
	honest := small.Archive(t)
	pack := func(members ...tar.Header) []byte {
		contents := make([]string, len(members))
		for i, m := range members {
			contents[i] = strings.Repeat("x", int(m.Size))
		}
		return scriptstest.Pack(t, members, contents)
	}
	link := func(kind byte, name, to string) []byte {
		return pack(file("ct/a.sh"), tar.Header{Typeflag: kind, Name: top + name, Linkname: to}, file("ct/b.sh"))
	}
	big := file("ct/big.sh")
	big.Size = 5 << 20
	var bomb bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&bomb, gzip.BestCompression)
	_, _ = zipped.Write(pack(file("ct/a.sh"))[:0])
	archive := tar.NewWriter(zipped)
	_ = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: top + "other/zeros", Size: 8 << 20})
	for range 8 {
		_, _ = archive.Write(make([]byte, 1<<20))
	}
	_, _ = archive.Close(), zipped.Close()
	for name, archive := range map[string][]byte{
		"nothing": nil, "no gzip": []byte("<html>"), "an empty archive": pack(),
		"a symbolic link": link(tar.TypeSymlink, "ct/l.sh", "/etc/passwd"), "a symbolic link inside": link(tar.TypeSymlink, "ct/l.sh", "a.sh"),
		"a hard link": link(tar.TypeLink, "ct/l.sh", top+"ct/a.sh"), "a device": link(tar.TypeChar, "ct/l.sh", ""),
		"a pipe": link(tar.TypeFifo, "ct/l.sh", ""), "a link that nobody wants": link(tar.TypeSymlink, "docs/l", "x"),
		"a path up": pack(file("ct/a.sh"), file("../../x")), "a path up in the middle": pack(file("ct/../../x")),
		"an absolute path":   pack(tar.Header{Typeflag: tar.TypeReg, Name: "/etc/cron.d/x", Size: 1}),
		"two folders on top": pack(file("ct/a.sh"), tar.Header{Typeflag: tar.TypeReg, Name: "other/ct/b.sh", Size: 1}),
		"a path twice":       pack(file("ct/a.sh"), file("ct/a.sh")), "a file and a folder": pack(file("ct/a.sh"), file("ct/a.sh/b.sh")),
		"a giant file": pack(big), "a bomb": bomb.Bytes(), "cut": honest[:len(honest)-40], "cut in the middle": honest[:len(honest)/2],
		"a byte changed": append(append([]byte{}, honest[:len(honest)-6]...), append([]byte{honest[len(honest)-6] ^ 1},
			honest[len(honest)-5:]...)...),
		"of another commit": small.With("ct/first.sh", "another").Archive(t),
		"a file on top":     pack(tar.Header{Typeflag: tar.TypeReg, Name: "file", Size: 1}),
		"a backslash":       pack(file(`ct\a.sh`)), "a line break": pack(file("ct/a\nb.sh")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := scriptstest.NewServer(t)
			commit := small.Commit()
			if archive == nil {
				archive = []byte{}
			}
			server.SetArchive(commit, archive)
			config := server.Config()
			config.Cache = filepath.Join(t.TempDir(), "cache")
			c := open(t, config)
			if _, err := trySync(t, c, catalog.SyncRequest{}, nil); plugin.KindOf(err) != plugin.Protocol {
				t.Errorf("the error is %v", err)
			}
			kept, err := os.ReadDir(filepath.Join(config.Cache, "commits"))
			if err != nil || len(kept) != 0 {
				t.Errorf("%v is kept, %v", kept, err)
			}
			beside, err := os.ReadDir(filepath.Dir(config.Cache))
			if err != nil || len(beside) != 1 {
				t.Errorf("%v is beside the cache, %v", beside, err)
			}
			server.Push(small) // an honest one is taken afterwards
			sync(t, c)
		})
	}
}
