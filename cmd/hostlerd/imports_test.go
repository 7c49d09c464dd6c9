package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hostler/hostler/"

// rule says what packages below a folder must not import. Folders are relative to the module; a trailing slash means all
// below it.
type rule struct {
	from   string
	never  []string
	except []string
}

// rules are the directions: cmd may import everything, the rest as listed.
var rules = []rule{
	{from: "core/", never: []string{module + "cmd/", module + "plugins/", module + "updater"},
		except: []string{module + "updater/installation", module + "updater/release"}}, // what the service reads of its updater, see below
	{from: "plugins/", never: []string{module + "core/", module + "cmd/", module + "updater", module + "migrations"}},
	{from: "sdk/", never: []string{module + "core/", module + "plugins/", module + "cmd/", module + "migrations", "gorm.io/",
		"github.com/jackc/", "github.com/danielgtaylor/"}},
	{from: "migrations", never: []string{module, "gorm.io/"}},
	{from: "updater", never: []string{module + "core/", module + "sdk/"}},
	{from: "updater/", never: []string{module + "core/", module + "sdk/"}},
	{from: "core/db", never: []string{module + "core/"}, except: []string{module + "core/db", module + "core/problem"}},
	{from: "core/problem", never: []string{module}},
	// The command line speaks to the API as everybody does, and what makes its table only reads the API's document.
	{from: "client/", never: []string{module}, except: []string{module + "client/"}},
	{from: "cmd/hostler", never: []string{module}, except: []string{module + "client/"}},
	// The page speaks to the API as everybody does: it knows none of the nouns.
	{from: "core/ui", never: []string{module}, except: []string{module + "core/proxy"}},
	// The composition stands on top of all: it knows the resources, and nobody in core knows it.
	{from: "core/api/", never: []string{module + "core/service"}},
	{from: "core/api", never: []string{module + "core/service"}},
}

// nouns stand in the order of who is below whom: a noun imports only nouns before it.
var nouns = []string{"problem", "heartbeat", "db", "scope", "secret", "acme", "idempotency", "plan", "notify", "audit", "proxy",
	"identity", "setting", "plugin", "job", "change", "schedule", "host", "nodeunit", "outbound", "sso", "passkey", "load", "metric", "task",
	"remotewrite", "channel", "guest", "console", "vm", "app", "backup", "cluster", "alert", "upload", "storage", "bundle", "catalog",
	"appscript", "install", "network", "power", "firewall", "option", "poll", "maintenance", "selfupdate",
	"feed", "activity", "search", "discovery", "service", "ui"}

func TestImportDirections(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			for _, r := range rules {
				if !below(folder, r.from) || hasPrefix(imported, r.except) {
					continue
				}
				if hasPrefix(imported, r.never) {
					t.Errorf("%s imports %s", folder, imported)
				}
			}
			if noun(folder) != "selfupdate" && strings.HasPrefix(folder, "core/") && strings.HasPrefix(imported, module+"updater") {
				t.Errorf("%s imports %s: only core/selfupdate knows the updater", folder, imported)
			}
			checkResource(t, folder, imported)
			checkNoun(t, folder, imported)
		}
	}
}

// The order of nouns has every noun of core, each once, and none that is gone.
func TestEveryNounHasItsPlace(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for _, p := range packages(t) {
		if name := noun(strings.TrimPrefix(p.ImportPath, module)); name != "" {
			there[name] = true
		}
	}
	if want, got := slices.Sorted(maps.Keys(there)), slices.Sorted(slices.Values(nouns)); !slices.Equal(got, want) {
		t.Errorf("the order has %q, core has %q", got, want)
	}
}

// checkResource holds core/api/<resource> apart: never another resource, never gorm.
func checkResource(t *testing.T, folder, imported string) {
	t.Helper()
	resource, ok := strings.CutPrefix(folder, "core/api/")
	if !ok || mechanism(resource) {
		return
	}
	other, ok := strings.CutPrefix(imported, module+"core/api/")
	if ok && !mechanism(other) && other != resource {
		t.Errorf("the resource %s imports the resource %s", resource, other)
	}
	if strings.HasPrefix(imported, "gorm.io/") {
		t.Errorf("the resource %s imports gorm: storage belongs to a noun", resource)
	}
}

func mechanism(name string) bool {
	return slices.Contains([]string{"op", "route", "apitest", "requesttest"}, strings.Split(name, "/")[0])
}

func checkNoun(t *testing.T, folder, imported string) {
	t.Helper()
	from, to := noun(folder), noun(strings.TrimPrefix(imported, module))
	if from != "" && from != "service" && strings.HasPrefix(imported, module+"core/api") {
		t.Errorf("core/%s imports %s: of all nouns only core/service knows the API", from, imported)
	}
	if from == "" || to == "" || from == to || !strings.HasPrefix(imported, module) {
		return
	}
	a, b := slices.Index(nouns, from), slices.Index(nouns, to)
	switch {
	case a < 0:
		t.Errorf("core/%s has no place in the order of nouns", from)
	case b < 0:
		t.Errorf("core/%s has no place in the order of nouns", to)
	case b > a:
		t.Errorf("core/%s imports core/%s, which stands above it", from, to)
	}
}

// noun is the first folder below core, but for the API.
func noun(folder string) string {
	rest, ok := strings.CutPrefix(folder, "core/")
	if !ok {
		return ""
	}
	name := strings.Split(rest, "/")[0]
	if name == "api" {
		return ""
	}
	return name
}

func below(folder, from string) bool {
	if strings.HasSuffix(from, "/") {
		return strings.HasPrefix(folder, from)
	}
	return folder == from
}

func hasPrefix(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) })
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// No folder is named after nothing in the product.
func TestFoldersAreNamedAfterThings(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for part := range strings.SplitSeq(strings.TrimPrefix(p.ImportPath, module), "/") {
			if slices.Contains([]string{"util", "utils", "common", "helpers", "models", "types", "misc"}, part) {
				t.Errorf("%s: %q says nothing", p.ImportPath, part)
			}
		}
	}
}
