package scripts

import (
	"encoding/json"
	"os"
	"testing"
)

func TestScratch(t *testing.T) {
	raw, _ := os.ReadFile("/work/shared/catalog/scripts-index.json")
	var d struct {
		Entries []struct {
			Slug, Type, Script, App, Author, License string
			Install                                  string `json:"install_script"`
			Prompts                                  int
			Consent                                  bool `json:"consent_prompt"`
			Defaults                                 map[string]string
			Web                                      *struct {
				Protocol, Path string
				Port           int
			}
			Update bool `json:"update_script"`
			Source []string
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	bad := map[string]int{}
	say := func(kind, format string, args ...any) {
		if bad[kind]++; bad[kind] < 8 {
			t.Logf(kind+": "+format, args...)
		}
	}
	for _, e := range d.Entries {
		s, err := os.ReadFile("/tmp/pvetree/" + e.Script)
		if err != nil {
			t.Fatal(err)
		}
		h := parseHeader(s)
		if e.Type != "ct" {
			continue
		}
		if h.App != e.App {
			say("app", "%s %q %q", e.Slug, h.App, e.App)
		}
		for k, v := range e.Defaults {
			if h.Values[k] != v {
				say("values", "%s %s %q %q", e.Slug, k, h.Values[k], v)
			}
		}
		if h.Update != e.Update {
			say("update", "%s", e.Slug)
		}
		if (h.Web == nil) != (e.Web == nil) || h.Web != nil && (h.Web.Protocol != e.Web.Protocol || h.Web.Port != e.Web.Port || h.Web.Path != e.Web.Path) {
			say("web", "%s %+v %+v", e.Slug, h.Web, e.Web)
		}
		if len(h.Sources) != len(e.Source) {
			say("source", "%s %q %q", e.Slug, h.Sources, e.Source)
		}
		if h.License != e.License {
			say("license", "%s %q %q", e.Slug, h.License, e.License)
		}
		if e.Install != "" {
			s, err := os.ReadFile("/tmp/pvetree/" + e.Install)
			if err != nil {
				t.Fatal(err)
			}
			n, c := prompts(s)
			if n != e.Prompts || c != e.Consent {
				say("prompts", "%s %d %d %v %v", e.Slug, n, e.Prompts, c, e.Consent)
			}
		}
	}
	t.Log(bad)
}
