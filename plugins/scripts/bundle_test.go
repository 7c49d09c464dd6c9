package scripts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	files := scriptstest.Small()
	commit := server.Push(files)
	c := open(t, server.Config())
	m, contents, err := bundle(t, c, "first", pinOf(commit))
	if err != nil {
		t.Fatal(err)
	}
	here := "file://" + catalog.BundleFolder + "/" + m.Place
	build := contents["misc/build.func"]
	for _, want := range []string{"curl_url=" + here + "/misc/core.func\n", "URL:-" + here + "}\n", "old=" + here + "/misc/tools.func\n",
		"logo=" + scriptstest.Base + "/misc/images/logo.png\n", "https://db.community-scripts.org/api", scriptstest.Base + "-old"} {
		if !strings.Contains(build, want) {
			t.Errorf("the engine lacks %q:\n%s", want, build)
		}
	}
	classes := map[catalog.FileClass][]string{}
	for _, f := range m.Files {
		classes[f.Class] = append(classes[f.Class], f.Path)
		if f.Path == "misc/build.func" && (f.Rewritten != 3 || f.Origin == f.Sum) || f.Path == "misc/core.func" && (f.Rewritten != 0 ||
			f.Origin != f.Sum) {
			t.Errorf("%+v", f)
		}
	}
	if !slices.Equal(classes[catalog.OwnFile], []string{"ct/first.sh", "ct/headers/first", "install/first-install.sh"}) ||
		!slices.Equal(classes[catalog.EngineFile], []string{"misc/build.func", "misc/core.func", "misc/install.func", "misc/tools.func",
			"tools/addon/files.sh", "tools/addon/moved.sh"}) ||
		!slices.Equal(classes[catalog.OverlayFile], []string{"overlay-data/common.sh", "overlay-data/script-hosts", "overlay-data/silent-hosts",
			"overlay/clear", "overlay/curl", "overlay/dialog", "overlay/lxc-attach", "overlay/wget", "overlay/whiptail"}) {
		t.Errorf("the files are %q", classes)
	}
	var unpinned []string
	for _, f := range m.Unpinned {
		if f.File == "install/first-install.sh" {
			unpinned = append(unpinned, f.Text)
		}
	}
	if !slices.Equal(unpinned, []string{`fetch_and_deploy_gh_release "first" "example/first"`,
		"curl -fsSL https://vendor.example/setup | bash"}) {
		t.Errorf("no pin reaches %q", unpinned)
	}
	// Another app's files change nothing of this bundle, one of the engine does.
	two := server.Push(files.With("install/second-install.sh", "true\n"))
	if same, _, err := bundle(t, c, "first", pinOf(two)); err != nil || same.Sum() != m.Sum() {
		t.Errorf("the bundle has changed with another app: %v", err)
	}
	three := server.Push(files.With("misc/core.func", "false\n"))
	if other, _, err := bundle(t, c, "first", pinOf(three)); err != nil || other.Sum() == m.Sum() || other.Place == m.Place {
		t.Errorf("the bundle has not changed with the engine: %v", err)
	}
}

// A second repository with the engine is a part of the pin, and in a folder of its own.
func TestBundleOfTwoRepositories(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	files := scriptstest.Small()
	commit := server.Push(files.With("ct/first.sh", strings.ReplaceAll(files["ct/first.sh"], scriptstest.Base+"/misc",
		"https://raw.githubusercontent.com/community-scripts/core/main/misc")))
	engine := scriptstest.Files{"misc/shared.func": "true\n"}
	archive := engine.Archive(t)
	server.SetExtra("/community-scripts/core/archive/"+engine.Commit()+".tar.gz", archive)
	server.SetExtra("/repos/community-scripts/core/commits/main", []byte(engine.Commit()))
	c := open(t, with(server.Config(), "engine_repository", "community-scripts/core"))
	got := sync(t, c)
	if len(got.Begin.Pin) != 2 || got.Begin.Pin[0].Commit != commit || got.Begin.Pin[1].Commit != engine.Commit() {
		t.Fatalf("the pin is %s", got.Begin.Pin)
	}
	m, contents, err := bundle(t, c, "first", got.Begin.Pin)
	if err != nil || contents["engine/misc/shared.func"] == "" || !strings.Contains(contents["ct/first.sh"],
		m.Place+"/engine/misc/build.func") {
		t.Errorf("%v, %q", err, contents["ct/first.sh"])
	}
	if _, _, err := bundle(t, c, "first", pinOf(commit)); err == nil {
		t.Error("a pin of one repository is taken where there are two")
	}
}

func BenchmarkBundle(b *testing.B) {
	server := scriptstest.NewServer(b)
	commit := server.Push(scriptstest.Many(1000))
	c := open(b, server.Config())
	for b.Loop() {
		if _, _, err := bundle(b, c, "first", pinOf(commit)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSync is a sync of 1,000 entries with an empty cache, and of what has not changed.
func BenchmarkSync(b *testing.B) {
	server := scriptstest.NewServer(b)
	server.Push(scriptstest.Many(1000))
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sync(b, open(b, server.Config()))
		}
		b.ReportMetric(float64(len(server.Requests()))/float64(b.N), "requests/op")
	})
	b.Run("unchanged", func(b *testing.B) {
		c := open(b, server.Config())
		first := sync(b, c)
		server.Requests()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := trySync(b, c, catalog.SyncRequest{Cursor: first.End.Cursor}, first.Digests); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(server.Requests()))/float64(b.N), "requests/op")
	})
}
