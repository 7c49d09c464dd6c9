package pvegolden_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/cmd/hostlerd/pvegolden"
	"github.com/hostler/hostler/core/storage"
	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
	"github.com/hostler/hostler/sdk/endpoint"
)

// needed is what each type of storage of the hypervisor's schema cannot be attached without.
var needed = map[string]map[string]any{
	"btrfs": {"path": "/srv/b"}, "cephfs": {}, "cifs": {"server": "192.0.2.9", "share": "files"}, "dir": {"path": "/srv/d"},
	"esxi": {"server": "192.0.2.9", "username": "root", "password": storageCanary}, "iscsi": {"portal": "192.0.2.9",
		"target": "iqn.2026-01.a:b"},
	"iscsidirect": {"portal": "192.0.2.9", "target": "iqn.2026-01.a:b"}, "lvm": {"vgname": "pve"},
	"lvmthin": {"vgname": "pve", "thinpool": "data"}, "nfs": {"server": "192.0.2.9", "export": "/srv"},
	"pbs": {"server": "192.0.2.9", "datastore": "one"}, "rbd": {},
	"zfs":     {"portal": "192.0.2.9", "target": "iqn.2026-01.a:b", "pool": "tank", "blocksize": "4k", "iscsiprovider": "LIO"},
	"zfspool": {"pool": "rpool/data"},
}

// storageCanary stands for every secret.
const storageCanary = "canary-of-a-storage"

// wrong is a value that a key cannot have.
func wrong(k storage.Key) any {
	switch {
	case k.Type == "boolean":
		return "maybe"
	case k.Type == "integer" && k.Max != nil:
		return *k.Max + 1
	case k.Type == "list" && k.Values == nil:
		return 7
	case k.Values != nil:
		return "none-of-them"
	}
	return strings.Repeat("x", 20000)
}

// TestStoragesOfEveryType attaches one of each type of the schema. What is missing or wrong is refused before the hypervisor is asked to
// attach anything, secrets are shown nowhere and kept nowhere, and what is fixed stays.
func TestStoragesOfEveryType(t *testing.T) {
	t.Parallel()
	w := pvegolden.NewWorld(t, endpoint.Lifecycle)
	var types []storage.Type
	if err := json.Unmarshal(w.Request(http.MethodGet, "/storage/{host}/types", "").Body, &types); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, one := range types {
		names = append(names, one.Name)
	}
	method := schema.Find("POST", "/storage")
	enum := slices.Sorted(slices.Values(method.Parameter("type").Enum))
	if slices.Sort(names); !slices.Equal(names, enum) || !slices.Equal(names, slices.Sorted(maps.Keys(needed))) {
		t.Fatalf("the types are %v, the schema has %v", names, enum)
	}
	known := map[string]bool{"storage": true, "type": true, "authsupported": true} // the last one is of no type
	for _, one := range types {
		t.Run(one.Name, func(t *testing.T) { attach(t, w, one) })
		for _, k := range one.Keys {
			known[k.Name] = true
			if method.Parameter(k.Name) == nil {
				t.Errorf("%s has the key %s, which the schema has not", one.Name, k.Name)
			}
		}
	}
	for _, p := range method.Parameters() {
		if !known[p.Name] {
			t.Errorf("no type has the key %s of the schema", p.Name)
		}
	}
	for table := range strings.SplitSeq(w.Value(`SELECT string_agg(table_name, ' ') FROM information_schema.tables
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`), " ") {
		if n := w.Value(fmt.Sprintf(`SELECT count(*) FROM %q AS t WHERE t::text LIKE '%%%s%%'`, table, storageCanary)); n != "0" {
			t.Errorf("a secret is in %s rows of %s", n, table)
		}
	}
}

// refused holds that a request is refused for these keys alone, and gives nothing away.
func refused(t *testing.T, w *pvegolden.World, method, path string, body map[string]any, keys ...string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	answer := w.Request(method, path, string(text))
	var problem struct{ Detail []struct{ Loc []any } }
	var found []string
	if err := json.Unmarshal(answer.Body, &problem); err != nil {
		t.Fatalf("%v: %s", err, answer.Body)
	}
	for _, f := range problem.Detail {
		if len(f.Loc) == 3 && f.Loc[1] == "config" {
			found = append(found, fmt.Sprint(f.Loc[2]))
		}
	}
	slices.Sort(found)
	slices.Sort(keys)
	if answer.Status != http.StatusUnprocessableEntity || !slices.Equal(found, keys) {
		t.Errorf("%s %s: %d for %v, want %v: %.500s", method, text, answer.Status, found, keys, answer.Body)
	}
	if strings.Contains(string(answer.Body), storageCanary) {
		t.Errorf("a secret is in %s", answer.Body)
	}
}

func attach(t *testing.T, w *pvegolden.World, one storage.Type) {
	name := "made-" + one.Name
	path := "/storage/{host}/" + name
	asked := func() int64 {
		all := w.Stats().Requests
		return all["POST /storage"] + all["PUT /storage/{storage}"]
	}
	body := func(config map[string]any) map[string]any {
		return map[string]any{"host_id": json.Number(w.Value("SELECT id FROM hosts WHERE name = 'lab'")), "storage": name, "type": one.Name,
			"config": config}
	}
	config := maps.Clone(needed[one.Name])
	required := slices.Sorted(maps.Keys(config))
	for _, k := range one.Keys {
		if k.Secret {
			config[k.Name] = storageCanary
		}
	}
	before := asked()
	if len(required) > 0 {
		refused(t, w, http.MethodPost, "/storage", body(map[string]any{}), required...)
	}
	for _, key := range required {
		lacks := maps.Clone(config)
		delete(lacks, key)
		refused(t, w, http.MethodPost, "/storage", body(lacks), key)
		lacks[key] = nil
		refused(t, w, http.MethodPost, "/storage", body(lacks), key)
	}
	for _, k := range one.Keys {
		bad := maps.Clone(config)
		bad[k.Name] = wrong(k)
		refused(t, w, http.MethodPost, "/storage", body(bad), k.Name)
	}
	foreign := maps.Clone(config)
	foreign["nosuchkey"] = storageCanary
	refused(t, w, http.MethodPost, "/storage", body(foreign), "nosuchkey")
	if n := asked() - before; n != 0 {
		t.Errorf("the hypervisor was asked %d times for what is wrong", n)
	}
	text, err := json.Marshal(body(config))
	if err != nil {
		t.Fatal(err)
	}
	answer := w.Request(http.MethodPost, "/storage", string(text))
	if answer.Status != http.StatusCreated || len(answer.Body) > 200 {
		t.Fatalf("attaching %s: %d %s", text, answer.Status, answer.Body)
	}
	detail := w.Request(http.MethodGet, path, "")
	edits := w.Request(http.MethodPatch, path, `{"config":{"content":null,"disable":true},"digest":"stale"}`)
	for what, a := range map[string]pvegolden.Response{"the answer": answer, "the detail": detail, "a conflict": edits} {
		if strings.Contains(string(a.Body), storageCanary) {
			t.Errorf("a secret is in %s: %s", what, a.Body)
		}
	}
	if detail.Status != http.StatusOK || edits.Status != http.StatusConflict || !strings.Contains(string(edits.Body), "digest_conflict") {
		t.Errorf("the detail: %d; an edit with another digest: %d %s", detail.Status, edits.Status, edits.Body)
	}
	before = asked()
	for _, k := range one.Keys {
		switch {
		case k.Fixed:
			refused(t, w, http.MethodPatch, path, map[string]any{"config": map[string]any{k.Name: "other"}}, k.Name)
		case k.Required:
			refused(t, w, http.MethodPatch, path, map[string]any{"config": map[string]any{k.Name: nil}}, k.Name)
		}
	}
	if n := asked() - before; n != 0 {
		t.Errorf("the hypervisor was asked %d times to change what stays", n)
	}
	if a := w.Request(http.MethodPatch, path, `{"config":{"disable":true}}`); a.Status != http.StatusOK || strings.Contains(string(a.Body),
		storageCanary) {
		t.Errorf("an edit: %d %s", a.Status, a.Body)
	}
	if a := w.Request(http.MethodDelete, path, `{"confirm":"`+name+`"}`); a.Status != http.StatusOK {
		t.Errorf("detaching: %d %s", a.Status, a.Body)
	}
}
