package pvesim

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
	"github.com/hostler/hostler/plugins/pve/pvetest"
)

// discovered is what a user without any rights was told, call by call, while each privilege that was named was granted.
type discovered struct {
	Results []struct {
		Operation, Method, Path string
		Params                  map[string]any
		Grants                  []struct {
			Path, Priv string
			Offered    string `json:"message_offered"`
		} `json:"grants_needed_in_order"`
		Trail []string
	}
}

// TestPrivilegesOfRecordedRequests asks the schema's checks again what the real server was asked, of endpoints that are not simulated
// too. What a function checks itself comes after them and is not compared.
func TestPrivilegesOfRecordedRequests(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(pvetest.Reference(t), "recorded", "PRIVILEGES__discovered_by_403_loop.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all discovered
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	list := []*endpoint{}
	for _, key := range schema.Known() {
		method, path, _ := strings.Cut(key, " ")
		list = append(list, serve(method, path, nil))
	}
	known := newRouter(list)
	compared := 0
	for _, d := range all.Results {
		path, _ := url.PathUnescape(strings.Split(d.Path, "?")[0])
		e, v := known.find(d.Method, path)
		if e == nil {
			t.Errorf("%s: no endpoint for %s %s", d.Operation, d.Method, d.Path)
			continue
		}
		if e.facts().Access.Check == nil {
			continue // the function checks
		}
		c, err := New(Options{Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		c.addUser("minp@pve", "")
		r := &request{c: c, who: identity{user: "minp@pve"}, values: values{}}
		for name, text := range v {
			r.values[name] = paramValue{text: text}
		}
		for name, value := range d.Params {
			text, isText := value.(string)
			if !isText {
				encoded, _ := json.Marshal(value)
				text = string(encoded)
			}
			r.values[name] = paramValue{text: text}
		}
		grant := func() {
			if len(d.Grants) > 0 {
				role := "R" + itoa(len(d.Grants))
				c.setRole(role, []string{d.Grants[0].Priv})
				c.grant(d.Grants[0].Path, "minp@pve", role, false)
				d.Grants = d.Grants[1:]
			}
		}
		for len(d.Grants) > 0 && strings.HasPrefix(d.Grants[0].Offered, "(seeded") { // the refusal named nothing
			grant()
		}
		for i, answer := range d.Trail {
			have := "passed"
			if err := r.permitted(e); err != nil {
				have = err.Error()
			}
			if have != "passed" || strings.HasPrefix(answer, "200") {
				compared++
			}
			if have != answer && have != "passed" {
				t.Errorf("%s (%s %s), call %d: %q, recorded %q", d.Operation, d.Method, d.Path, i+1, have, answer)
			}
			grant()
		}
	}
	t.Logf("%d answers of %d operations were compared", compared, len(all.Results))
	if compared < 60 {
		t.Errorf("only %d answers were compared", compared)
	}
}
