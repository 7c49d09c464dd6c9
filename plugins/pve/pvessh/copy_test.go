package pvessh_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestFilesArriveWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	folder := t.TempDir()
	content := strings.Repeat("a line\x00\xff\n", 50_000)
	for _, name := range []string{"plain", "with space", "-rf", "$(id)", "quote'\"", "new\nline", "end\n", "ä€", strings.Repeat("x", 255)} {
		file := hypervisor.NodeFile{Path: filepath.Join(folder, name), Mode: 0o640, Size: int64(len(content)), SHA256: sumOf(content)}
		if sum, err := m.CopyToNode(t.Context(), file, strings.NewReader(content)); err != nil || sum != sumOf(content) {
			t.Fatalf("%q: %s, %v", name, sum, err)
		}
		about, err := os.Stat(file.Path)
		if raw, _ := os.ReadFile(file.Path); err != nil || string(raw) != content || about.Mode().Perm() != 0o640 {
			t.Errorf("%q has %d bytes, %v, %v", name, len(raw), about, err)
		}
		var back bytes.Buffer
		got, err := m.CopyFromNode(t.Context(), file.Path, file.Size, &back)
		if err != nil || got != file || back.String() != content {
			t.Errorf("%q came back as %+v with %d bytes, %v", name, got, back.Len(), err)
		}
	}
	before, _ := os.ReadDir(folder)
	path := filepath.Join(folder, "plain")
	mine := errors.New("of mine")
	for name, c := range map[string]struct {
		file    hypervisor.NodeFile
		content io.Reader
		kind    plugin.ErrorKind
		field   string
	}{
		"short":         {hypervisor.NodeFile{Path: path, Size: 4}, strings.NewReader("abc"), plugin.Invalid, "size"},
		"long":          {hypervisor.NodeFile{Path: path, Size: 2}, strings.NewReader("abc"), plugin.Invalid, "size"},
		"digest":        {hypervisor.NodeFile{Path: path, Size: 3, SHA256: sumOf("abd")}, strings.NewReader("abc"), plugin.Invalid, "sha256"},
		"no folder":     {hypervisor.NodeFile{Path: path + "/x", Size: 3}, strings.NewReader("abc"), plugin.NotFound, ""},
		"a folder":      {hypervisor.NodeFile{Path: folder, Size: 3}, strings.NewReader("abc"), plugin.Conflict, ""},
		"relative":      {hypervisor.NodeFile{Path: "etc/x", Size: 3}, strings.NewReader("abc"), plugin.Invalid, "path"},
		"dots":          {hypervisor.NodeFile{Path: folder + "/../x", Size: 3}, strings.NewReader("abc"), plugin.Invalid, "path"},
		"NUL":           {hypervisor.NodeFile{Path: path + "\x00", Size: 3}, strings.NewReader("abc"), plugin.Invalid, "path"},
		"as another":    {hypervisor.NodeFile{Path: path, Size: 3, Mode: 0o4755}, strings.NewReader("abc"), plugin.Invalid, "mode"},
		"fails to read": {hypervisor.NodeFile{Path: path, Size: 3}, readerFunc(func([]byte) (int, error) { return 0, mine }), "", ""},
	} {
		_, err := m.CopyToNode(t.Context(), c.file, c.content)
		if c.kind == "" {
			if !errors.Is(err, mine) {
				t.Errorf("%s: %v", name, err)
			}
		} else if e := kind(t, name, err, c.kind); e.Field != c.field {
			t.Errorf("%s: field %q", name, e.Field)
		}
	}
	if raw, _ := os.ReadFile(path); string(raw) != content {
		t.Error("a refused file has replaced the old one")
	}
	if after, _ := os.ReadDir(folder); len(after) != len(before) {
		t.Errorf("%d files are there, and %d were: %v", len(after), len(before), after)
	}
}

// A link is replaced and not followed when a file is stored in its place.
func TestLinksAreReplaced(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	folder := t.TempDir()
	target, link := filepath.Join(folder, "target"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.CopyToNode(t.Context(), hypervisor.NodeFile{Path: link, Mode: 0o600, Size: 3}, strings.NewReader("new")); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(target)
	got, _ := os.ReadFile(link)
	if string(old) != "old" || string(got) != "new" {
		t.Errorf("the link's target has %q, the link %q", old, got)
	}
}

func TestReadingFiles(t *testing.T) {
	t.Parallel()
	server := sshdtest.Start(t)
	m := pvessh.New(server.Target(), patient)
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte("12345"), 0o604); err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	got, err := m.CopyFromNode(t.Context(), path, 5, &content)
	if err != nil || got.Mode != 0o604 || got.Size != 5 || content.String() != "12345" {
		t.Errorf("%+v, %q, %v", got, content.String(), err)
	}
	for name, c := range map[string]struct {
		path  string
		limit int64
		kind  plugin.ErrorKind
	}{
		"too large":     {path, 4, plugin.Refused},
		"nothing":       {path + "x", 4, plugin.NotFound},
		"a folder":      {folder, 4, plugin.Conflict},
		"without end":   {"/dev/zero", 4, plugin.Conflict},
		"of the kernel": {"/proc/self/status", 4, plugin.Refused}, // it says that it is empty
		"no limit":      {path, -1, plugin.Invalid},
		"relative":      {"x", 4, plugin.Invalid},
	} {
		_, err := m.CopyFromNode(t.Context(), c.path, c.limit, io.Discard)
		kind(t, name, err, c.kind)
	}
}
