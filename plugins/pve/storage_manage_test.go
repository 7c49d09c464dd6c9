package pve_test

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pvesim"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const sharePassword = "canary of+a/share"

// share is a storage with a secret; change changes its settings by their keys, and an empty value takes one away.
func share(name string, change map[string]string) hypervisor.StorageSpec {
	config := map[string]string{"server": "192.0.2.30", "share": "files", "username": "svc", "password": sharePassword,
		"content": "iso,backup"}
	for key, value := range change {
		config[key] = value
	}
	spec := hypervisor.StorageSpec{Name: name, Type: "cifs"}
	for key, value := range config {
		if value != "" {
			spec.Config = append(spec.Config, hypervisor.StorageSetting{Key: key, Value: plugin.Secret(value)})
		}
	}
	return spec
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// keepsSecret holds that an error is of a kind and has no secret in it.
func keepsSecret(t *testing.T, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	e := wantKind(t, err, kind)
	for _, spelling := range []string{sharePassword, url.QueryEscape(sharePassword), inBase64("svc:" + sharePassword)} {
		if strings.Contains(e.Error(), spelling) {
			t.Errorf("the secret is in %v", e)
		}
	}
	return e
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	host, reading := w.host(t, endpoint.Lifecycle), w.host(t, endpoint.Monitoring)
	must(t, "attaching", host.AttachStorage(t.Context(), share("vault", map[string]string{"nodes": "pve2,pve1"})))
	if got := w.StorageSecret("vault", "password"); got != sharePassword {
		t.Errorf("the password that arrived is %q", got)
	}
	d, err := reading.StorageDefinition(t.Context(), "vault")
	must(t, "reading", err)
	if _, told := d.Config["password"]; told || d.Type != "cifs" || d.Digest == "" || d.Config["nodes"] != "pve1,pve2" ||
		d.Config["content"] != "backup,iso" || d.Config["server"] != "192.0.2.30" || d.Config["storage"] != "" || d.Config["digest"] != "" {
		t.Errorf("it is %+v", d)
	}
	change := hypervisor.StorageChange{Name: "vault", Digest: d.Digest, Clear: []string{"nodes", "password"},
		Set: []hypervisor.StorageSetting{{Key: "domain", Value: "example"}}}
	must(t, "editing", host.EditStorage(t.Context(), change))
	if w.StorageSecret("vault", "password") != "" {
		t.Error("the password was not cleared")
	}
	if e := keepsSecret(t, host.EditStorage(t.Context(), change), plugin.Conflict); e.Field != "digest" {
		t.Errorf("a stale digest: %+v", e)
	}
	must(t, "detaching", host.DetachStorage(t.Context(), "vault"))
	_, err = reading.StorageDefinition(t.Context(), "vault")
	wantKind(t, err, plugin.NotFound)
}

func TestDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	host := w.host(t, endpoint.Lifecycle)
	must(t, "attaching", host.AttachStorage(t.Context(), share("vault", nil)))
	for name, c := range map[string]struct {
		spec  hypervisor.StorageSpec
		kind  plugin.ErrorKind
		field string
	}{
		"taken":           {share("vault", nil), plugin.Conflict, ""},
		"a key":           {share("aa", map[string]string{"vgname": "x"}), plugin.Invalid, "vgname"},
		"no key at all":   {share("aa", map[string]string{"nosuchkey": "x"}), plugin.Invalid, "nosuchkey"},
		"what is missing": {share("aa", map[string]string{"server": ""}), plugin.Invalid, "server"},
		"a value":         {share("aa", map[string]string{"smbversion": "9"}), plugin.Invalid, "smbversion"},
		"a type":          {hypervisor.StorageSpec{Name: "aa", Type: "tape"}, plugin.Invalid, "type"},
		"a name":          {share("../a", nil), plugin.Invalid, "storage"},
		"a long name":     {share(strings.Repeat("a", 200), nil), plugin.Invalid, "storage"},
		"a server":        {share("aa", map[string]string{"server": "nas.invalid"}), plugin.Refused, ""},
		"a ZFS pool": {hypervisor.StorageSpec{Name: "aa", Type: "zfspool", Config: []hypervisor.StorageSetting{{Key: "pool", Value: "none"}}},
			plugin.Refused, ""},
		"a volume group": {hypervisor.StorageSpec{Name: "aa", Type: "lvm", Config: []hypervisor.StorageSetting{{Key: "vgname", Value: "none"}}},
			plugin.Refused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if e := keepsSecret(t, host.AttachStorage(t.Context(), c.spec), c.kind); e.Field != c.field {
				t.Errorf("the field is %q: %v", e.Field, e)
			}
		})
	}
	set := func(key, value string) hypervisor.StorageChange {
		return hypervisor.StorageChange{Name: "vault", Set: []hypervisor.StorageSetting{{Key: key, Value: plugin.Secret(value)},
			{Key: "password", Value: sharePassword}}}
	}
	for name, c := range map[string]struct {
		change hypervisor.StorageChange
		kind   plugin.ErrorKind
		field  string
	}{
		"fixed":    {set("server", "192.0.2.31"), plugin.Invalid, "server"},
		"unknown":  {set("vgname", "x"), plugin.Invalid, "vgname"},
		"required": {hypervisor.StorageChange{Name: "vault", Clear: []string{"share"}}, plugin.Invalid, "share"},
		"not its":  {hypervisor.StorageChange{Name: "vault", Clear: []string{"thinpool"}}, plugin.Invalid, "thinpool"},
		"set and clear": {hypervisor.StorageChange{Name: "vault", Clear: []string{"domain"}, Set: set("domain", "x").Set}, plugin.Invalid,
			"domain"},
		"of no storage":  {hypervisor.StorageChange{Name: "../vault", Clear: []string{"domain"}}, plugin.NotFound, ""},
		"one that is no": {hypervisor.StorageChange{Name: "none", Clear: []string{"domain"}}, plugin.NotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if e := keepsSecret(t, host.EditStorage(t.Context(), c.change), c.kind); e.Field != c.field {
				t.Errorf("the field is %q: %v", e.Field, e)
			}
		})
	}
	wantKind(t, host.DetachStorage(t.Context(), "none"), plugin.NotFound)
	wantKind(t, host.DetachStorage(t.Context(), "../vault"), plugin.NotFound)
	// A storage on which another one stands stays.
	base := hypervisor.StorageSpec{Name: "target", Type: "iscsi", Config: []hypervisor.StorageSetting{{Key: "portal", Value: "192.0.2.31"},
		{Key: "target", Value: "iqn.2026-01.example:a"}}}
	must(t, "attaching", host.AttachStorage(t.Context(), base))
	must(t, "attaching", host.AttachStorage(t.Context(), hypervisor.StorageSpec{Name: "upon", Type: "lvm",
		Config: []hypervisor.StorageSetting{{Key: "vgname", Value: "pve"}, {Key: "base", Value: "target:0.0.0.scsi-a"}}}))
	wantKind(t, host.DetachStorage(t.Context(), "target"), plugin.Conflict)
}

// Without the privilege it is named, and what is not shown is not taken for not there.
func TestDefinitionsWithoutThePrivilege(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	reading := w.host(t, endpoint.Monitoring)
	for name, err := range map[string]error{
		"attaching": reading.AttachStorage(t.Context(), share("aa", nil)),
		"editing":   reading.EditStorage(t.Context(), hypervisor.StorageChange{Name: "nas", Clear: []string{"bwlimit"}}),
		"detaching": reading.DetachStorage(t.Context(), "nas"),
	} {
		if e := keepsSecret(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{"Datastore.Allocate"}) || e.Remedy == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	blind := w.open(t, w.target(endpoint.Monitoring, w.token("/", true, "Sys.Audit")))
	for _, name := range []string{"nas", "none"} {
		_, err := blind.StorageDefinition(t.Context(), name)
		if e := wantKind(t, err, plugin.Denied); !slices.Equal(e.Missing, []string{"Datastore.Audit"}) || e.Path != "/storage/"+name ||
			e.Remedy == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A hypervisor that repeats what it was sent, in any spelling, gives no secret away, and a request whose answer is lost is not sent again.
func TestDefinitionsKeepTheirSecrets(t *testing.T) {
	t.Parallel()
	w := newFixture(t, pvesim.Options{Scenario: pvesim.ScenarioCluster, Nodes: 2, Guests: -1})
	host := w.host(t, endpoint.Lifecycle)
	attach := func() error { return host.AttachStorage(t.Context(), share("aa", nil)) }
	edit := func() error {
		return host.EditStorage(t.Context(), hypervisor.StorageChange{Name: "nas", Set: []hypervisor.StorageSetting{
			{Key: "password", Value: sharePassword}}})
	}
	for _, spelling := range []string{sharePassword, url.QueryEscape(sharePassword), inBase64("svc:" + sharePassword)} {
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultStatus, Status: 500, Reason: "mount -o password=" + spelling + ": " + spelling})
		keepsSecret(t, attach(), plugin.Refused)
		keepsSecret(t, edit(), plugin.Refused)
		w.ClearFaults()
	}
	for request, do := range map[string]func() error{"POST /storage": attach, "PUT /storage/{storage}": edit} {
		before := w.Stats().Requests[request]
		method, _, _ := strings.Cut(request, " ")
		w.fault(t, pvesim.Fault{Kind: pvesim.FaultCut, Match: pvesim.Match{Method: method}})
		keepsSecret(t, do(), plugin.Unreachable)
		w.ClearFaults()
		if n := w.Stats().Requests[request] - before; n != 1 {
			t.Errorf("%s was sent %d times", request, n)
		}
	}
}

// What is no list of definitions is an error, and secrets that a hypervisor tells all the same are not handed on.
func TestHostileDefinitions(t *testing.T) {
	t.Parallel()
	read := func(answer string) (hypervisor.StorageDefinition, error) {
		return saying(t, map[string]string{"GET /storage": answer, permissions: `{"/":{"Datastore.Audit":1}}`}).
			StorageDefinition(t.Context(), "aa")
	}
	d, err := read(`[{"storage":"b"},{},{"storage":"aa","type":"cifs","digest":"x","password":"` + sharePassword + `","keyring":"` +
		sharePassword + `","encryption-key":"` + sharePassword + `","shared":1,"content":"iso,backup","maxfiles":null}]`)
	must(t, "reading", err)
	for key, value := range d.Config {
		if strings.Contains(value, sharePassword) {
			t.Errorf("%s is told", key)
		}
	}
	if d.Type != "cifs" || d.Config["shared"] != "1" || d.Config["content"] != "backup,iso" {
		t.Errorf("it is %+v", d)
	}
	for _, answer := range []string{`{"storage":"aa"}`, `"text"`, `[1]`, ``, `[{"storage":"aa"`} {
		if d, err := read(answer); err == nil {
			t.Errorf("%s is taken for %+v", answer, d)
		}
	}
	if _, err := read(`[]`); plugin.KindOf(err) != plugin.NotFound {
		t.Errorf("nothing is %v", err)
	}
}
