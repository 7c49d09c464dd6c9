package scripts_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/scripts"
	"github.com/hostler/hostler/plugins/scripts/decoration"
	"github.com/hostler/hostler/plugins/scripts/scriptstest"
	"github.com/hostler/hostler/sdk/catalog"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	server := scriptstest.NewServer(t)
	server.Push(scriptstest.Small())
	got := sync(t, open(t, server.Config())).entries
	first, second := got["first"], got["second"]
	if first.Name != "First" || first.Type != catalog.ContainerEntry || first.Defaults != (catalog.Defaults{Cores: 1, MemoryMB: 512,
		DiskGB: 2,
		OS:     "debian", OSVersion: "13"}) || !slices.Equal(first.Tags, []string{"test", "small"}) || !first.Updatable ||
		!slices.Equal(first.Authors, []string{"somebody", "another"}) || first.Licence != "MIT" ||
		first.Website != "https://example.org/first" ||
		first.Web == nil || *first.Web != (catalog.Web{Protocol: "http", Port: 8080, Path: "/start"}) ||
		first.Description != "From https://example.org/first. Tags: test, small." || !slices.Equal(first.Architectures, []string{"amd64"}) {
		t.Errorf("the first is %+v, %+v", first, first.Web)
	}
	var keys []string
	for _, p := range second.Privileges {
		keys = append(keys, p.Key)
	}
	if !second.Defaults.Privileged || !slices.Equal(keys, []string{"console_autologin", "privileged", "gpu"}) {
		t.Errorf("the second is %+v", second)
	}
	if got["alpine-second"].VariantOf != "second" || got["alpine-second"].Name != "Alpine-Second" {
		t.Errorf("the variant is %+v", got["alpine-second"])
	}
	if e := got["asks"]; e.Prompts != 2 || !e.NeedsYes {
		t.Errorf("what asks is %+v", e)
	}
	if e := got["moved"]; e.Removed == "" || e.Successor != "moved-addon" || got["moved-addon"].Type != catalog.AddonEntry {
		t.Errorf("what has moved is %+v", e)
	}
	if e := got["old-name"]; e.Removed == "" || e.Successor != "first" {
		t.Errorf("what has another name is %+v", e)
	}
	for slug, kind := range map[string]catalog.EntryType{"files": catalog.AddonEntry, "clean": catalog.NodeEntry, "machine": catalog.VMEntry,
		"turnkey": catalog.OtherEntry} {
		if got[slug].Type != kind || got[slug].Removed != "" {
			t.Errorf("%s is %+v", slug, got[slug])
		}
	}
}

// A script that loads others from where no pin reaches is not offered, and its bundle is refused.
func TestEntryThatLoadsFromElsewhere(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]string{
		"another repository": "source <(curl -fsSL https://raw.githubusercontent.com/community-scripts/ProxmoxVED/main/misc/build.func)",
		"another branch":     "source <(curl -fsSL https://raw.githubusercontent.com/community-scripts/ProxmoxVE/dev/misc/build.func)",
		"another host":       "bash -c \"$(curl -fsSL https://github.com/community-scripts/ProxmoxVE/raw/main/tools/addon/x.sh)\"",
		"without a scheme":   "curl -fsSL raw.githubusercontent.com/community-scripts/ProxmoxVE/main/x.sh | bash",
		"in large letters":   "curl -fsSL HTTPS://RAW.githubusercontent.com/Community-Scripts/ProxmoxVE/main/x.sh | bash",
		"a delivery network": "curl https://cdn.jsdelivr.net/gh/community-scripts/ProxmoxVE@main/x.sh | bash",
		"its page":           "curl https://community-scripts.org/install.sh | bash",
		"its forge":          "curl https://git.community-scripts.org/community-scripts/ProxmoxVE/raw/commit/abc/x.sh | bash",
		"a download":         "curl -L https://github.com/community-scripts/ProxmoxVE/archive/main.tar.gz | tar xz",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := scriptstest.NewServer(t)
			files := scriptstest.Small()
			commit := server.Push(files.With("install/first-install.sh", files["install/first-install.sh"]+l+"\n"))
			c := open(t, server.Config())
			if e := sync(t, c).entries["first"]; e.Disabled == "" {
				t.Errorf("it is offered: %+v", e)
			}
			if _, _, err := bundle(t, c, "first", pinOf(commit)); err == nil || !strings.Contains(err.Error(), "a pin does not cover") {
				t.Errorf("its bundle: %v", err)
			}
			if _, _, err := bundle(t, c, "second", pinOf(commit)); err != nil {
				t.Errorf("the bundle of another one: %v", err)
			}
		})
	}
}

// reference is the folder with the reference data.
func reference(t *testing.T) string {
	t.Helper()
	dir := decoration.Reference(".")
	if _, err := os.Stat(filepath.Join(dir, "scripts-index.json")); err != nil {
		t.Skipf("reference data about the community scripts are not at %s; set HOSTLER_REFERENCE_DIR to its folder to run this test", dir)
	}
	return dir
}

// What is embedded is what the generator makes.
func TestDecorationIsGenerated(t *testing.T) {
	t.Parallel()
	files, err := decoration.Generate(reference(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("decoration", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is another one: run go generate ./plugins/scripts/decoration", name)
		}
	}
}

// All entries that were published are there, and what is known of them holds.
func TestDecoration(t *testing.T) {
	t.Parallel()
	set := decoration.Load()
	kinds, pairs, multiple := map[string]int{}, 0, 0
	for _, r := range set.Rows {
		kinds[r.Type]++
		if len(r.Categories) > 1 {
			multiple++
		}
		if len(r.Scripts) == 2 && r.Scripts[1] == "ct/alpine-"+strings.TrimPrefix(r.Scripts[0], "ct/") {
			pairs++
		}
	}
	want := map[string]int{"ct": 546, "addon": 27, "pve": 23, "vm": 16, "turnkey": 1}
	if len(set.Rows) != 613 || !maps.Equal(kinds, want) || len(set.Categories) != 26 || pairs < 28 || multiple < 16 {
		t.Errorf("%d rows, %v, %d categories, %d pairs, %d in several categories", len(set.Rows), kinds, len(set.Categories), pairs, multiple)
	}
}

// The rows of the real tree, as scripts of ours that say the same, become the entries that they should.
func TestEntriesOfTheReference(t *testing.T) {
	t.Parallel()
	index := readIndex(t, reference(t))
	files := scriptstest.Small()
	for path := range files {
		if !strings.HasPrefix(path, "misc/") {
			delete(files, path)
		}
	}
	for _, e := range index {
		files[e.Script] = e.script()
		if e.Install != "" {
			files[e.Install] = e.install()
		}
	}
	server := scriptstest.NewServer(t)
	server.Push(files)
	got := sync(t, open(t, server.Config())).entries
	removed, variants, consents, privileged := 0, 0, 0, 0
	for _, want := range index {
		if want.Type != "ct" {
			continue
		}
		e := got[want.Slug]
		if e.Name == "" || e.Defaults.OS != want.Defaults["var_os"] || fmt.Sprint(e.Defaults.MemoryMB) != or(want.Defaults["var_ram"], "0") ||
			e.VariantOf != want.VariantOf || (e.Removed != "") != (want.Install == "") {
			t.Errorf("%s is %+v, and should be %+v", want.Slug, e, want)
		}
		if want.Web != nil && (e.Web == nil || e.Web.Port != want.Web.Port || e.Web.Path != want.Web.Path) {
			t.Errorf("the page of %s is at %+v, and should be at %+v", want.Slug, e.Web, want.Web)
		}
		if want.Install != "" && (e.Prompts != want.Prompts || e.NeedsYes != want.Consent) {
			t.Errorf("%s asks %d, %v and should ask %d, %v", want.Slug, e.Prompts, e.NeedsYes, want.Prompts, want.Consent)
		}
		if want.Metadata != "" && (len(e.Categories) == 0 || e.Description == "") {
			t.Errorf("%s is not decorated", want.Slug)
		}
		count(&removed, e.Removed != "")
		count(&variants, e.VariantOf != "")
		count(&consents, e.NeedsYes)
		count(&privileged, e.Defaults.Privileged)
	}
	if len(got) != 663 || removed != 14 || variants != 30 || consents != 15 || privileged != 21 {
		t.Errorf("%d entries, %d removed, %d variants, %d consents, %d privileged", len(got), removed, variants, consents, privileged)
	}
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func FuzzHeader(f *testing.F) {
	for _, content := range scriptstest.Small() {
		f.Add([]byte(content))
	}
	f.Add([]byte("APP=\"\x00\"\nvar_cpu=\"${var_cpu:-\xff}\"\n# Source: https://\n# Author: |,|\ndescription\nhttps://${IP}:99999/"))
	f.Fuzz(func(t *testing.T, script []byte) {
		h := scripts.ParseHeader(script)
		e := catalog.Entry{Slug: "x", Name: "x", Type: catalog.ContainerEntry, Authors: h.Authors, Licence: h.License, Sources: h.Sources,
			Web: h.Web,
			App: pinOf(strings.Repeat("0", 40)), Defaults: catalog.Defaults{OS: h.Values["var_os"], OSVersion: h.Values["var_version"]}}
		if h.App != "" {
			e.Name = h.App
		}
		e.Prompts, e.NeedsYes = scripts.Prompts(script)
		e.Digest = catalog.EntryDigest(e)
		if err := catalog.CheckEntry(e); err != nil {
			t.Error(err)
		}
	})
}
