package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestEveryMethodDecodes holds the committed file to its form: what it says is read on demand only.
func TestEveryMethodDecodes(t *testing.T) {
	t.Parallel()
	known := Known()
	if len(known) < 600 {
		t.Fatalf("%d methods", len(known))
	}
	for _, key := range known {
		name, path, _ := strings.Cut(key, " ")
		m := Find(name, path)
		for _, p := range m.Parameters() {
			if p.Name == "" || !slices.Contains([]string{String, Integer, Number, Boolean, Array}, p.Type) {
				t.Errorf("%s: parameter %q has type %q", key, p.Name, p.Type)
			}
			p.Matches("") // panics on a pattern that Go cannot read
			if stem, indexed := strings.CutSuffix(p.Name, "[n]"); indexed && (highestIndex[stem] == 0 || m.Parameter(stem+"0") != p) {
				t.Errorf("%s: parameter %s has no highest index", key, p.Name)
			}
			for _, sub := range p.Format.Keys() {
				sub.Matches("")
			}
		}
		for segment := range strings.SplitSeq(path, "/") {
			undeclared := path == "/cluster/sdn/prefix-lists/{id}/entries/{url_seq}" // the schema itself does not name it
			if strings.HasPrefix(segment, "{") && !undeclared && m.Parameter(strings.Trim(segment, "{}")) == nil {
				t.Errorf("%s: no parameter for %s", key, segment)
			}
		}
	}
}

func TestFactsOfAMethod(t *testing.T) {
	t.Parallel()
	m := Find("POST", "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/rollback")
	if !m.Daemon || !m.OnNode || m.NoToken || m.Since != "" {
		t.Errorf("%+v", m)
	}
	c := m.Access.Check
	if c.Kind != Perm || c.Path != "/vms/{vmid}" || !c.Any || !slices.Equal(c.Privileges, []string{"VM.Snapshot", "VM.Snapshot.Rollback"}) {
		t.Errorf("check %+v", c)
	}
	if p := m.Parameter("snapname"); p.Format.Name != "pve-configid" || p.MaxLength != 40 || bool(p.Optional) {
		t.Errorf("snapname %+v", p)
	}
	if m.Parameter("nope") != nil || Find("GET", "/nope") != nil {
		t.Error("found what is not there")
	}
	if p := Find("PUT", "/access/users/{userid}/token/{tokenid}").Parameter("regenerate"); p.Since != "9.2" {
		t.Errorf("regenerate came with %q", p.Since)
	}
	if m := Find("POST", "/access/ticket"); !m.NoToken || m.Access.User != "world" {
		t.Errorf("ticket %+v", m)
	}
	if m := Find("POST", "/nodes/{node}/qemu/{vmid}/agent/ping"); m.Before9 == nil || m.Before9.Check.Privileges[0] != "VM.Monitor" {
		t.Errorf("agent before 9: %+v", m.Before9)
	}
}

func TestIndexedParameters(t *testing.T) {
	t.Parallel()
	m := Find("POST", "/nodes/{node}/lxc")
	net := m.Parameter("net7")
	if net == nil || net.Name != "net[n]" || net.Format.Keys()["bridge"] == nil {
		t.Fatalf("net7 is %+v", net)
	}
	for _, name := range []string{"net", "net[n]x", "net32", "net07", "net99999999999999999999", "7", ""} {
		if p := m.Parameter(name); p != nil {
			t.Errorf("%q is %+v", name, p)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	var c Check
	raw := `["and",["userid-param","Realm.AllocateUser"],["or",["perm","/pool/{pool}",["A","B"],"require_param","pool"],` +
		`["userid-group",["User.Modify"],"groups_param","create"]],["perm-modify","{path}"]]`
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	or := c.Of[1]
	if c.Kind != And || c.Of[0].Subject != "Realm.AllocateUser" || or.Of[0].OnlyWith != "pool" || or.Of[0].Any ||
		or.Of[1].Groups != "create" || c.Of[2].Path != "{path}" {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{`[]`, `["perm"]`, `["perm","/"]`, `["what","/"]`, `["perm","/",["A"],"odd",1]`, `7`, `["and",7]`} {
		if err := json.Unmarshal([]byte(bad), &Check{}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestPatternsMatchTheWholeValue(t *testing.T) {
	t.Parallel()
	p := &Parameter{Pattern: `(?^i:[a-z]+)|x1|y[0-9]{,2}`}
	for value, want := range map[string]bool{"AbC": true, "x1": true, "x2": false, "abc1": false, "": false, "abc\n": false, "y": true,
		"y12": true, "y123": false} {
		if p.Matches(value) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}

func BenchmarkDecodeTheLargestMethod(b *testing.B) {
	for b.Loop() {
		m, err := decode(entries()["POST /nodes/{node}/qemu"].head, entries()["POST /nodes/{node}/qemu"].parameters)
		if err != nil || m == nil {
			b.Fatal(err)
		}
	}
}
