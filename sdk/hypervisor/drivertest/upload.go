package drivertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// errBroken is the error of a file that cannot be read to its end.
var errBroken = errors.New("the file cannot be read on")

// image returns a file of several chunks and its destination.
func (s *suite) image(t *testing.T, ctx context.Context) (hypervisor.UploadSpec, []byte) {
	t.Helper()
	content := make([]byte, 3<<20+17)
	_, _ = rand.Read(content)
	sum := sha256.Sum256(content)
	return hypervisor.UploadSpec{
		Node: s.anyNode(t, ctx), Storage: s.UploadStorage, Name: "uploaded-" + rand.Text() + ".iso", Size: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:]),
	}, content
}

// anyNode returns an online node.
func (s *suite) anyNode(t *testing.T, ctx context.Context) (name string) {
	t.Helper()
	err := s.host(t, endpoint.Monitoring).Inventory(ctx, hypervisor.InventoryQuery{}, func(p hypervisor.Page) error {
		for _, n := range p.Nodes {
			if n.Status == hypervisor.NodeOnline {
				name = n.Name
			}
		}
		return nil
	})
	must(t, "reading the inventory", err)
	return name
}

// upload tests Uploader. The driver must verify the size and the checksum
// before the file becomes visible on the storage. After a short, long or
// failing file, and after the caller gave up, no file may exist.
func (s *suite) upload(t *testing.T) {
	need[hypervisor.Uploader](t, s)
	if s.UploadStorage == "" {
		t.Skip("no storage for uploads")
	}
	uploader := func(t *testing.T) hypervisor.Uploader {
		return as[hypervisor.Uploader](t, s.host(t, endpoint.Lifecycle))
	}
	present := func(t *testing.T, ctx context.Context, spec hypervisor.UploadSpec) hypervisor.UploadCheck {
		t.Helper()
		check, err := uploader(t).CheckUpload(ctx, spec)
		must(t, "checking", err)
		return check
	}
	s.run(t, "a file, and again over it", func(t *testing.T, ctx context.Context) {
		spec, content := s.image(t, ctx)
		check := present(t, ctx, spec)
		if check.Present || check.Name != spec.Name || check.Content == "" || check.Volume == "" {
			t.Fatalf("before: %+v", check)
		}
		spec.Content = check.Content
		for range 2 {
			id, err := uploader(t).Upload(ctx, spec, bytes.NewReader(content))
			if !s.ends(t, ctx, id, err) {
				t.Fatal("the upload failed:", err)
			}
			after := present(t, ctx, spec)
			if !after.Present || after.Volume != check.Volume || after.PresentSize != nil && *after.PresentSize != spec.Size {
				t.Fatalf("afterwards: %+v", after)
			}
		}
	})
	s.run(t, "files that are not whole", func(t *testing.T, ctx context.Context) {
		for name, cut := range map[string]func([]byte) io.Reader{
			"ends early":         func(c []byte) io.Reader { return bytes.NewReader(c[:2<<20]) },
			"goes on":            func(c []byte) io.Reader { return bytes.NewReader(append(c, 0)) },
			"cannot be read on":  func(c []byte) io.Reader { return io.MultiReader(bytes.NewReader(c[:2<<20]), broken{}) },
			"cannot be read":     func([]byte) io.Reader { return broken{} },
			"has nothing at all": func([]byte) io.Reader { return strings.NewReader("") },
		} {
			spec, content := s.image(t, ctx)
			if id, err := uploader(t).Upload(ctx, spec, cut(content)); err == nil {
				t.Errorf("an upload that %s was accepted as %q", name, id)
			}
			if check := present(t, ctx, spec); check.Present {
				t.Errorf("an upload that %s exists: %+v", name, check)
			}
		}
	})
	s.run(t, "a caller that gives up", func(t *testing.T, ctx context.Context) {
		spec, content := s.image(t, ctx)
		giving, cancel := context.WithCancel(ctx)
		defer cancel()
		half := io.MultiReader(bytes.NewReader(content[:2<<20]), cancels{cancel})
		if id, err := uploader(t).Upload(giving, spec, half); err == nil {
			t.Errorf("it was accepted as %q", id)
		}
		if check := present(t, ctx, spec); check.Present {
			t.Errorf("it exists: %+v", check)
		}
	})
	s.run(t, "refusals", func(t *testing.T, ctx context.Context) {
		good, content := s.image(t, ctx)
		for name, c := range map[string]struct {
			change func(*hypervisor.UploadSpec)
			kinds  []plugin.ErrorKind
		}{
			"path":         {func(f *hypervisor.UploadSpec) { f.Name = "../" + f.Name }, []plugin.ErrorKind{plugin.Invalid}},
			"NUL":          {func(f *hypervisor.UploadSpec) { f.Name = "a\x00" + f.Name }, []plugin.ErrorKind{plugin.Invalid}},
			"too long":     {func(f *hypervisor.UploadSpec) { f.Name = strings.Repeat("a", 256) + f.Name }, []plugin.ErrorKind{plugin.Invalid}},
			"no name":      {func(f *hypervisor.UploadSpec) { f.Name = "" }, []plugin.ErrorKind{plugin.Invalid}},
			"wrong ending": {func(f *hypervisor.UploadSpec) { f.Name += ".txt" }, []plugin.ErrorKind{plugin.Invalid}},
			"content":      {func(f *hypervisor.UploadSpec) { f.Content = "no-such-content" }, []plugin.ErrorKind{plugin.Invalid}},
			"storage": {func(f *hypervisor.UploadSpec) { f.Storage = "no-such-storage" },
				[]plugin.ErrorKind{plugin.Invalid, plugin.NotFound, plugin.Denied}},
			"room": {func(f *hypervisor.UploadSpec) { f.Size = 1 << 62 }, []plugin.ErrorKind{plugin.Refused}},
		} {
			spec := good
			c.change(&spec)
			check, err := uploader(t).CheckUpload(ctx, spec)
			if !isOneOf(err, c.kinds) {
				t.Errorf("%s: %+v, %v", name, check, err)
			}
			if name == "room" {
				continue
			}
			if id, err := uploader(t).Upload(ctx, spec, bytes.NewReader(content)); err == nil {
				t.Errorf("%s was accepted as %q", name, id)
			}
		}
	})
	s.run(t, "without the privilege", func(t *testing.T, ctx context.Context) {
		hook(t, "Lacking", s.Lacking != nil)
		if s.Alike {
			t.Skip("rights cannot be limited by capability")
		}
		target, _ := s.Lacking(t, endpoint.Lifecycle)
		spec, content := s.image(t, ctx)
		at := as[hypervisor.Uploader](t, s.open(t, target))
		_, err := at.CheckUpload(ctx, spec)
		if e := wantKind(t, err, plugin.Denied); len(e.Missing) == 0 {
			t.Errorf("the error names no missing privilege: %v", err)
		}
		_, err = at.Upload(ctx, spec, bytes.NewReader(content))
		wantKind(t, err, plugin.Denied)
	})
}

// isOneOf reports whether an error is of one of the kinds.
func isOneOf(err error, kinds []plugin.ErrorKind) bool {
	for _, k := range kinds {
		if err != nil && plugin.KindOf(err) == k {
			return true
		}
	}
	return false
}

// broken is a reader that fails.
type broken struct{}

// Read fails with errBroken.
func (broken) Read([]byte) (int, error) { return 0, errBroken }

// cancels is a reader that ends the caller's context.
type cancels struct{ cancel context.CancelFunc }

// Read ends the context.
func (c cancels) Read([]byte) (int, error) {
	c.cancel()
	return 0, context.Canceled
}
