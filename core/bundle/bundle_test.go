package bundle_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/bundle"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

// fixture is a store with a source in memory.
type fixture struct {
	*bundle.Store
	dbtest.SQL
	t   testing.TB
	mem *catalogtest.Memory
	c   sdk.Catalog
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{Store: &bundle.Store{DB: dbtest.New(t)}, t: t, mem: &catalogtest.Memory{}}
	f.SQL = dbtest.On(t, f.DB)
	var err error
	if f.c, err = f.mem.Open(t.Context(), sdk.Config{}); err != nil {
		t.Fatal(err)
	}
	return f
}

// state adds a state of two apps that share an engine.
func (f *fixture) state(engine string, own ...string) sdk.Pin {
	s := catalogtest.State{Files: map[string]map[string]string{}}
	for i, slug := range []string{"a", "b"} {
		s.Entries = append(s.Entries, sdk.Entry{Slug: slug, Name: slug})
		s.Files[slug] = map[string]string{"install.sh": own[i], "lib/engine.sh": engine}
	}
	return f.mem.Add(s)
}

func key(slug string, pin sdk.Pin) bundle.Key {
	return bundle.Key{Source: "mem", Slug: slug, Purpose: sdk.Install, Pin: pin}
}

func (f *fixture) fetch(slug string, pin sdk.Pin) *bundle.Bundle {
	f.t.Helper()
	b, err := f.Fetch(f.t.Context(), f.c, key(slug, pin))
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

func caller(t testing.TB) context.Context {
	t.Helper()
	return identity.WithCaller(t.Context(), &identity.Caller{UserID: 1, Email: "ann@example.com"})
}

func (f *fixture) give(ctx context.Context, host int64, k bundle.Key, sum string) error {
	return f.DB.Tx(ctx, func(tx *db.Tx) error { return f.GiveConsent(ctx, tx, host, k, sum) })
}

// Files are kept once, and the same bytes are one bundle whichever pin they come from.
func TestFilesAreKeptOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.state("the engine", "a one", "b one")
	a, b := f.fetch("a", first), f.fetch("b", first)
	second := f.state("the engine", "a one", "b two")
	again := f.fetch("a", second)
	if a.Sum == b.Sum || a.Sum != again.Sum || !again.Manifest.Pin.Equal(second) {
		t.Errorf("%s, %s, %s", a.Sum, b.Sum, again.Sum)
	}
	if n := f.Value("SELECT (SELECT count(*) FROM bundle_files) || ' ' || (SELECT count(*) FROM bundles) || ' ' || (SELECT count(*) FROM " +
		"bundle_manifests)"); n != "3 2 3" {
		t.Error("files, bundles and manifests:", n)
	}
	var read []string
	err := f.Each(t.Context(), a.Manifest, func(file sdk.File, content io.Reader) error {
		data, err := io.ReadAll(content)
		read = append(read, file.Path+"="+string(data))
		return err
	})
	if err != nil || strings.Join(read, ", ") != "install.sh=a one, lib/engine.sh=the engine" {
		t.Errorf("%v, %v", read, err)
	}
	f.Exec("UPDATE bundle_files SET data = 'another engine' WHERE data = 'the engine'")
	if err := f.Each(t.Context(), a.Manifest, func(sdk.File, io.Reader) error { return nil }); !errors.Is(err, bundle.ErrAltered) {
		t.Errorf("an altered file: %v", err)
	}
}

// Bundles go when nothing refers to them, and nothing else does.
func TestPrune(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	inventorytest.User(t, f.DB)
	inventorytest.Write(t, f.DB, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "lab"}}})
	f.Exec("CREATE TABLE installed (sum text)")
	f.References = []string{"SELECT sum FROM installed WHERE sum IS NOT NULL"}
	var sums []string
	for i := range 4 {
		pin := f.state(fmt.Sprintf("engine %d", i), fmt.Sprintf("a %d", i), "b")
		b := f.fetch("a", pin)
		sums = append(sums, b.Sum)
		if i < 2 { // of which the second is the last
			if err := f.give(caller(t), 1, key("a", pin), b.Sum); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.Exec("INSERT INTO installed VALUES ($1), (NULL)", sums[2])
	prune := func() (total int64) {
		t.Helper()
		for {
			n, err := f.Prune(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if total += n; n == 0 {
				return total
			}
		}
	}
	if n := prune(); n != 0 {
		t.Errorf("%d rows went that were asked for just now", n)
	}
	f.Exec("UPDATE bundles SET used_at = now() - interval '31 days'")
	if n := prune(); n != 6 {
		t.Errorf("%d rows went", n)
	}
	for i, sum := range sums {
		if _, err := f.Get(t.Context(), "mem", "a", sum); (err == nil) != (i == 1 || i == 2) {
			t.Errorf("bundle %d: %v", i, err)
		}
	}
	if n := f.Value("SELECT count(*) FROM consents"); n != "2" {
		t.Errorf("%s consents are left", n)
	}
	f.Exec("DELETE FROM hosts")
	f.Exec("TRUNCATE installed")
	f.Exec("UPDATE bundles SET used_at = now() - interval '31 days'")
	if prune(); f.Value("SELECT (SELECT count(*) FROM bundles) + (SELECT count(*) FROM bundle_files)") != "0" ||
		f.Value("SELECT count(*) FROM consents") != "2" {
		t.Error("bundles of hosts that are gone stay")
	}
}

// Consent is given by a person, for a bundle that is kept, on a host that is there.
func TestGive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	inventorytest.User(t, f.DB)
	inventorytest.Write(t, f.DB, inventorytest.Cluster{Hosts: []inventorytest.Host{{Name: "lab"}, {Name: "other"}}})
	pin := f.state("engine", "a", "b")
	b := f.fetch("a", pin)
	for name, c := range map[string]struct {
		ctx  context.Context
		host int64
		key  bundle.Key
		sum  string
		want problem.Code
	}{
		"the service itself": {t.Context(), 1, key("a", pin), b.Sum, problem.CodeForbidden},
		"no host":            {caller(t), 99, key("a", pin), b.Sum, problem.CodeNotFound},
		"other bytes":        {caller(t), 1, key("a", pin), strings.Repeat("0", 64), problem.CodeNotFound},
		"another entry":      {caller(t), 1, key("b", pin), b.Sum, problem.CodeNotFound},
		"another purpose":    {caller(t), 1, bundle.Key{Source: "mem", Slug: "a", Purpose: sdk.Update, Pin: pin}, b.Sum, problem.CodeNotFound},
	} {
		if err := f.give(c.ctx, c.host, c.key, c.sum); err == nil || problem.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.give(caller(t), 1, key("a", pin), b.Sum); err != nil {
		t.Fatal(err)
	}
	if c, err := f.FindConsent(t.Context(), 1, sdk.Install, b.Sum); err != nil || c == nil || c.ActorEmail != "ann@example.com" ||
		*c.ActorID != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := f.FindConsent(t.Context(), 2, sdk.Install, b.Sum); err != nil || c != nil {
		t.Errorf("on another host: %+v, %v", c, err)
	}
	f.Exec("UPDATE consents SET text_version = text_version + 1")
	if c, err := f.FindConsent(t.Context(), 1, sdk.Install, b.Sum); err != nil || c != nil {
		t.Errorf("to another text: %+v, %v", c, err)
	}
}

// A file that names its bundle's folder has not changed by that.
func TestCompareLeavesFoldersOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	keep := func(engine string) *bundle.Bundle {
		pin := f.mem.Add(catalogtest.State{Entries: []sdk.Entry{{Slug: "a", Name: "A"}},
			Files: map[string]map[string]string{"a": {"x": engine}}})
		request := sdk.BundleRequest{Slug: "a", Pin: pin, Purpose: sdk.Install}
		builder := sdk.NewBundle(request, "test-1")
		builder.Add(sdk.BundleFile{Path: "install.sh", Content: []byte("source file:///base/engine.sh\n")})
		builder.Add(sdk.BundleFile{Path: "misc/engine.sh", Class: sdk.EngineFile, Content: []byte(engine)})
		place := builder.Place()
		builder.Rewrite(func(_ string, content []byte) ([]byte, int) {
			return bytes.ReplaceAll(content, []byte("/base"), []byte(sdk.BundleFolder+"/"+place)), 1
		})
		b, err := f.Fetch(t.Context(), built{f.c, builder}, key("a", pin))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a, b := keep("one\n"), keep("one\ntwo\n")
	if a.Manifest.Place == b.Manifest.Place || a.Manifest.Files[0].Sum == b.Manifest.Files[0].Sum {
		t.Fatal("both are the same")
	}
	changes, err := f.Compare(t.Context(), a.Manifest, b.Manifest)
	if err != nil || len(changes) != 1 || changes[0].Path != "misc/engine.sh" || changes[0].Class != "engine" || changes[0].Added != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// built is a catalog with one bundle.
type built struct {
	sdk.Catalog
	builder *sdk.BundleBuilder
}

func (b built) Bundle(_ context.Context, _ sdk.BundleRequest, each func(sdk.BundlePart) error) error {
	return b.builder.Send(each)
}

// What a bundle costs in the database, beside what a compressed archive would have.
func TestSizeInTheDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var engine strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&engine, "  msg_info \"step %d of the engine\" && $STD apt-get install -y package-%d\n", i, i*7919%10007)
	}
	var archive bytes.Buffer
	w := gzip.NewWriter(&archive)
	_, _ = io.WriteString(w, engine.String())
	_ = w.Close()
	pin := f.state(engine.String(), "a", "b")
	f.fetch("a", pin)
	f.fetch("b", pin)
	kept := dbtest.Value[int64](t, f.DB, "SELECT sum(pg_column_size(data)) FROM bundle_files")
	t.Logf("%d bytes are kept in %d; by gzip they are %d", engine.Len(), kept, archive.Len())
	if kept > int64(engine.Len())/2 {
		t.Errorf("%d bytes are kept in %d", engine.Len(), kept)
	}
}
