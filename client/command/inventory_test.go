package command_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The inventory is as Ansible takes it: names that several have are told apart, and groups are names that it takes.
func TestInventory(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/guests", 200, `[{"id":1,"kind":"vm","name":"web","status":"running","host":"my lab","node":"pve1","tags":["prod"],
		"addresses":["192.0.2.5"]},{"id":2,"kind":"vm","name":"web","status":"stopped","host":"my lab"},
		{"id":3,"kind":"container","name":"db","status":"running"},
		{"id":4,"kind":"vm","name":"golden","template":true}]`)
	run := f.start(t)
	status, out, said := run("", "inventory", "--list")
	var got struct {
		Meta struct {
			Hostvars map[string]map[string]any
		} `json:"_meta"`
		Running struct{ Hosts []string } `json:"status_running"`
		Lab     struct{ Hosts []string } `json:"host_my_lab"`
		Prod    struct{ Hosts []string } `json:"tag_prod"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
		t.Fatalf("%d %v %s", status, err, said)
	}
	if fmt.Sprint(got.Running.Hosts, got.Lab.Hosts, got.Prod.Hosts) != "[db web_1] [web_1 web_2] [web_1]" || len(got.Meta.Hostvars) != 3 ||
		text(got.Meta.Hostvars["web_1"]["ansible_host"]) != "192.0.2.5" {
		t.Errorf("the inventory is %s", out)
	}
	if _, out, _ = run("", "inventory", "--host", "nobody"); strings.TrimSpace(out) != "{}" {
		t.Errorf("a host that is not known is %s", out)
	}
}

// inventory is the form that Ansible documents for the answer to --list: groups by name, each with hosts, and all variables in _meta
// (https://docs.ansible.com/ansible/latest/dev_guide/developing_inventory.html).
type inventory struct {
	groups map[string][]string
	vars   map[string]map[string]any
}

// readInventory fails for whatever is not of that form.
func readInventory(t *testing.T, text string) inventory {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	strict := func(raw json.RawMessage, into any) {
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	}
	read := inventory{groups: map[string][]string{}}
	for name, raw := range all {
		if name == "_meta" {
			var meta struct {
				Hostvars map[string]map[string]any `json:"hostvars"`
			}
			strict(raw, &meta)
			read.vars = meta.Hostvars
			continue
		}
		var group struct {
			Hosts    []string       `json:"hosts"`
			Vars     map[string]any `json:"vars"`
			Children []string       `json:"children"`
		}
		strict(raw, &group)
		read.groups[name] = group.Hosts
	}
	return read
}

// hostileGuests have names, tags and addresses that mean more than a name to Ansible, to ssh and to a terminal.
func hostileGuests(t *testing.T) string {
	t.Helper()
	names := []string{
		"web", "web", "web_2", "", "-oProxyCommand=reboot", "..", "a:b,c&d!e*[0:9]", "{{ lookup('pipe','id') }}", "{% raw %}", "\u001b[2J\nx",
		"all", "ungrouped", "_meta", "localhost", "kind_vm", "bücher", "127.0.0.1", "::1",
		"#jinja2:variable_start_string:'[['\n[[ 1 ]]", "a/../b", `"quoted"'`, "x\u202egnp", strings.Repeat("n", 500), "@file",
	}
	var guests []map[string]any
	for i, name := range names {
		guests = append(guests, map[string]any{"id": i + 1, "kind": "vm", "name": name, "status": "running", "host": "lab; reboot",
			"node": name, "cluster": "c", "team": "{# t #}", "pool": name, "tags": []string{name, "1st", "größe"},
			"addresses": []string{name, "127.0.0.1", "fe80::1", "::1", "0.0.0.0", "192.0.2.5/24", "2001:db8::1"}, "app": name})
	}
	text, err := json.Marshal(guests)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestInventoryOfHostileNames(t *testing.T) {
	f := &fake{}
	f.answer("GET /api/v1/guests", 200, hostileGuests(t))
	status, out, said := f.start(t)("", "inventory")
	if status != 0 {
		t.Fatalf("%d %s", status, said)
	}
	got := readInventory(t, out)
	if len(got.vars) != 24 || len(got.groups["kind_vm"]) != 24 {
		t.Errorf("of 24 guests there are %d, and %d in their group", len(got.vars), len(got.groups["kind_vm"]))
	}
	aHost := regexp.MustCompile(`^[\pL\pN_][\pL\pN._-]*$`)
	aGroup := regexp.MustCompile(`^(kind|status|host|node|cluster|team|pool|tag)_[\pL\pN_]*$`)
	for name, vars := range got.vars {
		if !aHost.MatchString(name) || slices.Contains([]string{"all", "ungrouped", "_meta", "localhost"}, name) || got.groups[name] != nil {
			t.Errorf("a host is called %q", name)
		}
		if address, err := netip.ParseAddr(text(vars["ansible_host"])); err != nil || !address.IsGlobalUnicast() {
			t.Errorf("%s is to be reached at %v", name, vars["ansible_host"])
		}
		for variable, value := range vars {
			allUnsafe(t, variable, value)
		}
	}
	for name, hosts := range got.groups {
		if !aGroup.MatchString(name) {
			t.Errorf("a group is called %q", name)
		}
		for _, host := range hosts {
			if got.vars[host] == nil {
				t.Errorf("the group %s has %q, of which nothing is told", name, host)
			}
		}
	}
	for _, group := range []string{"tag_größe", "tag_1st", "host_lab__reboot", "tag_bücher"} {
		if got.groups[group] == nil {
			t.Errorf("there is no group %s among %q", group, slices.Sorted(maps.Keys(got.groups)))
		}
	}
	takenByAnsible(t, out, got)
}

// allUnsafe fails for a text that Ansible may run as a template: any that is not marked as unsafe.
func allUnsafe(t *testing.T, variable string, value any) {
	t.Helper()
	switch v := value.(type) {
	case string:
		t.Errorf("%s has a text that is not unsafe: %q", variable, v)
	case []any:
		for _, one := range v {
			allUnsafe(t, variable, one)
		}
	case map[string]any:
		if _, ok := v["__ansible_unsafe"].(string); !ok || len(v) != 1 {
			t.Errorf("%s is %v", variable, v)
		}
	}
}

// text returns the text of a value that is marked as unsafe.
func text(value any) string {
	marked, _ := value.(map[string]any)
	text, _ := marked["__ansible_unsafe"].(string)
	return text
}

// inventoryOf returns the inventory of these guests.
func inventoryOf(t *testing.T, guests string) inventory {
	t.Helper()
	f := &fake{}
	f.answer("GET /api/v1/guests", 200, guests)
	status, out, said := f.start(t)("", "inventory")
	if status != 0 {
		t.Fatalf("%d %s", status, said)
	}
	return readInventory(t, out)
}

func TestInventory_MarksEveryTextUnsafe(t *testing.T) {
	got := inventoryOf(t, `[{"id":1,"kind":"vm","name":"#jinja2:variable_start_string:'[['\n[[ 1 ]]","status":"#jinja2: x","host":"plain",
		"node":"n","cluster":"c","team":"t","pool":"p","app":"a","tags":["#jinja2: y"],"addresses":["192.0.2.5","#jinja2: z"]}]`)
	for name, vars := range got.vars {
		if text(vars["hostler_kind"]) != "vm" || text(vars["hostler_status"]) != "#jinja2: x" || text(vars["hostler_host"]) != "plain" {
			t.Errorf("the variables of %s are %v", name, vars)
		}
		for variable, value := range vars {
			allUnsafe(t, variable, value)
		}
	}
}

func TestInventory_RenamesGuestsCalledLikeAddressesOrGroups(t *testing.T) {
	names := []string{
		"127.0.0.1", "127.1", "127.0.0.01", "2130706433", "0x7f.0.0.1", "0x7f000001", "192.0.2.1", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
		"localhost", "LocalHost", "", "1", "web", "web", "web_15", "tag_x", "x", "x",
	}
	var guests []map[string]any
	for i, name := range names {
		// The tags make the group that a guest's new name would have, such as tag_x_18.
		guests = append(guests, map[string]any{"id": i + 1, "kind": "vm", "name": name, "status": "running", "tags": []string{"x", "x_18"}})
	}
	list, err := json.Marshal(guests)
	if err != nil {
		t.Fatal(err)
	}
	got := inventoryOf(t, string(list))
	byID := map[string]string{}
	for name, vars := range got.vars {
		byID[fmt.Sprint(vars["hostler_id"])] = name
		_, err := netip.ParseAddr(name)
		digits := regexp.MustCompile(`^[0-9.]+$|^0x[0-9a-f.x]+$`).MatchString(name)
		if err == nil || digits || strings.EqualFold(name, "localhost") || got.groups[name] != nil {
			t.Errorf("a host is called %q", name)
		}
	}
	if len(got.vars) != len(names) || len(byID) != len(names) {
		t.Errorf("%d hosts of %d guests: %v", len(got.vars), len(names), byID)
	}
	for id, want := range map[string]string{
		"1": "127.0.0.1_1", "13": "guest_13", "14": "1_14", "15": "web_15_", "16": "web_16", "17": "web_15", "18": "tag_x_18_",
	} {
		if byID[id] != want {
			t.Errorf("the guest %s is called %q, not %q", id, byID[id], want)
		}
	}
}

func TestInventory_GivesGuestsWithoutAddressANameThatNeverResolves(t *testing.T) {
	got := inventoryOf(t, `[{"id":1,"kind":"vm","name":"web","status":"running"},{"id":2,"kind":"vm","name":"db","addresses":[]},
		{"id":3,"kind":"vm","name":"router","addresses":["127.0.0.1","fe80::1","nonsense"]}]`)
	for name, id := range map[string]int{"web": 1, "db": 2, "router": 3} {
		if at := text(got.vars[name]["ansible_host"]); at != fmt.Sprintf("%d.without-address.invalid.", id) {
			t.Errorf("%s is to be reached at %q", name, at)
		}
	}
}

// takenByAnsible has Ansible itself read the inventory, where it is installed.
func takenByAnsible(t *testing.T, out string, want inventory) {
	t.Helper()
	tool, err := exec.LookPath("ansible-inventory")
	if err != nil {
		t.Log("ansible-inventory is not installed: the form is compared with the documented one alone")
		return
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncat <<'END_OF_INVENTORY'\n" + out + "\nEND_OF_INVENTORY\n"
	if err := os.WriteFile(filepath.Join(dir, "inventory.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), tool, "-i", filepath.Join(dir, "inventory.sh"), "--list")
	c.Env = append(os.Environ(), "HOME="+dir, "ANSIBLE_INVENTORY_ENABLED=script", "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED=true")
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v %s", err, said.String())
	}
	var read struct {
		Meta struct {
			Hostvars map[string]map[string]any `json:"hostvars"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if a, b := slices.Sorted(maps.Keys(read.Meta.Hostvars)), slices.Sorted(maps.Keys(want.vars)); !slices.Equal(a, b) {
		t.Errorf("ansible has the hosts %q, not %q", a, b)
	}
	if strings.Contains(said.String(), "WARNING") || strings.Contains(said.String(), "Invalid characters") {
		t.Errorf("ansible warns: %s", said.String())
	}
}
