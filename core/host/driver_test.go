package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestListDrivers(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	all, err := f.ListDrivers(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "certmem" || all[1].Name != "mem" {
		t.Fatalf("%+v, %v", all, err)
	}
	text, err := json.Marshal(all[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"certmem","product":"Certified Memory","default_port":8443,"credential_forms":[` +
		`{"name":"join_token","label":"Join token","id_label":null,"secret_label":"Join token","multiline":false,"one_time":true},` +
		`{"name":"client_certificate","label":"Client certificate","id_label":null,"secret_label":"Certificate and key (PEM)",` +
		`"multiline":true,"one_time":false}],"capabilities":["monitoring","lifecycle","console","backup"],` +
		`"scope":{"word":"project","holds":"guests, their profiles and networks","example":"/project/customers"},` +
		`"actions":{"vm":["start","stop","shutdown","restart","pause","resume"],` +
		`"container":["start","stop","shutdown","restart","pause","resume"]}}`
	if string(text) != want {
		t.Errorf("got\n%s, want\n%s", text, want)
	}
	if mem := all[1]; mem.DefaultPort != 8006 || len(mem.Forms) != 1 || mem.Forms[0].Name != "token" || mem.Forms[0].IDLabel == nil ||
		len(mem.Capabilities) != 5 || len(mem.Actions.Container) != 4 || mem.Scope.Word != "pool" {
		t.Errorf("%+v", mem)
	}
}

// A driver that is not installed is told from one that does not run, wherever a request names it.
func TestDriverThatIsNotThere(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	for what, ask := range map[string]func(driver string) error{
		"enrolling": func(driver string) error {
			_, _, err := f.Create(t.Context(), host.EnrolRequest{Driver: driver, Name: "a", Address: "a.mem", TokenID: "x",
				Secret: secret.New("s")})
			return err
		},
		"probing": func(driver string) error {
			in := host.EnrolRequest{Driver: driver, Address: "a.mem", TokenID: "x", Secret: secret.New("s")}
			_, err := f.Probe(t.Context(), host.ProbeRequest{EnrolRequest: in})
			return err
		},
		"a script": func(driver string) error {
			_, err := f.WriteTokenScript(t.Context(), host.ScriptQuery{Driver: driver})
			return err
		},
		"capabilities": func(driver string) error {
			_, err := f.Capabilities(t.Context(), driver)
			return err
		},
	} {
		p := problem.From(ask("hyper-v"))
		if p.Code != problem.CodeInvalid || len(p.Faults) != 1 || !strings.Contains(p.Faults[0].Msg, "running drivers: certmem, mem") ||
			p.Faults[0].Loc[len(p.Faults[0].Loc)-1] != "driver" {
			t.Errorf("%s with no such driver: %+v", what, p)
		}
		if code := problem.CodeOf(ask("away")); code != problem.CodePluginUnavailable {
			t.Errorf("%s with a driver that is away: %s", what, code)
		}
	}
}

// What a driver does not have is neither asked for nor missed.
func TestCapabilitiesThatADriverDoesNotHave(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	for driver, want := range map[string]int{"certmem": 4, "mem": 5, "": 5} {
		if all, err := f.Capabilities(t.Context(), driver); err != nil || len(all) != want || all[0].Key != "monitoring" {
			t.Errorf("%q has %+v, %v", driver, all, err)
		}
	}
	h, _, err := f.Create(t.Context(), join("pool", f.code(endpoint.Monitoring)))
	if err != nil {
		t.Fatal(err)
	}
	unsupported := func(what string, err error) {
		t.Helper()
		if p := problem.From(err); err == nil || p.Code != problem.CodeUnsupported || !strings.Contains(p.Detail, "certmem") {
			t.Errorf("%s: error is %v, want unsupported with the driver's name", what, err)
		}
	}
	_, err = f.Open(t.Context(), h.ID, endpoint.NodePower)
	unsupported("opening", err)
	unsupported("requiring", f.Require(t.Context(), h.ID, endpoint.NodePower, func(hypervisor.Host) error { return nil }))
	_, err = f.Has(t.Context(), h.ID, endpoint.NodePower)
	unsupported("looking", err)
	code := f.code(endpoint.Monitoring)
	_, err = f.Rotate(t.Context(), h.ID, host.RotateRequest{Capability: "node_power", Secret: secret.New(string(code))})
	unsupported("adding", err)
	_, err = f.WriteTokenScript(t.Context(), host.ScriptQuery{Driver: "certmem", NodePower: true})
	unsupported("a script", err)
	if _, err = f.Open(t.Context(), h.ID, endpoint.Backup); problem.CodeOf(err) != problem.CodeCapabilityMissing {
		t.Errorf("a capability that is missing: %v", err)
	}
	if has, err := f.Has(t.Context(), h.ID, endpoint.Backup); has || err != nil {
		t.Errorf("a capability that is missing: %v, %v", has, err)
	}
	// One that was stored when the driver had it is not asked either, and can be removed.
	dbtest.On(t, f.db).Exec("INSERT INTO host_credentials (host_id, capability, token_id, secret) VALUES ($1, 'node_power', 'x', '')", h.ID)
	if check, err := f.Test(t.Context(), h.ID); err != nil || len(check.Tokens) != 1 || !check.Reachable {
		t.Errorf("%+v, %v", check, err)
	}
	if r, err := f.RemoveCredential(t.Context(), h.ID, "node_power"); err != nil || len(r.Commands) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTokenScriptOfTheDriver(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	written, err := f.WriteTokenScript(t.Context(),
		host.ScriptQuery{Driver: "certmem", Capabilities: []string{"lifecycle"}, Path: "/project/a"})
	if err != nil || !strings.Contains(written.Script, "hostler-lifecycle") || !strings.Contains(written.Script, "'/project/a'") {
		t.Errorf("%+v, %v", written, err)
	}
	for _, path := range []string{"/pool/a", "/project/a/b", "project", "/project/$(reboot)", "/project/../etc", "/project/a\x00"} {
		_, err := f.WriteTokenScript(t.Context(), host.ScriptQuery{Driver: "certmem", Path: path})
		if p := problem.From(err); p.Code != problem.CodeInvalid || p.Faults[0].Loc[1] != "path" {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestRequireAction(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	h, _, err := f.Create(t.Context(), join("pool", f.code(endpoint.Monitoring)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		driver string
		kind   hypervisor.GuestKind
		action hypervisor.Action
		ok     bool
	}{
		{"certmem", hypervisor.Container, hypervisor.Pause, true}, {"certmem", hypervisor.VM, hypervisor.Reset, false},
		{"mem", hypervisor.Container, hypervisor.Pause, false}, {"mem", hypervisor.VM, hypervisor.Reset, true},
		{"away", hypervisor.Container, hypervisor.Reset, true},
	} {
		dbtest.On(t, f.db).Exec("UPDATE hosts SET driver = $1", c.driver)
		err := f.RequireAction(t.Context(), h.ID, c.kind, c.action)
		if (err == nil) != c.ok || err != nil && problem.CodeOf(err) != problem.CodeUnsupported {
			t.Errorf("%s of a %s with %s: %v", c.action, c.kind, c.driver, err)
		}
	}
	if err := f.RequireAction(t.Context(), 99, hypervisor.VM, hypervisor.Start); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("no such host: %v", err)
	}
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	proper := f.cluster.Target(endpoint.Monitoring).Credential
	in := host.EnrolRequest{Driver: "certmem", Form: "client_certificate", Name: "pool", Address: "pool.mem",
		Fingerprint: f.cluster.Fingerprint(), Secret: secret.New("Bag Attributes\r\n" + strings.ReplaceAll(string(proper.Secret), "\n", "\r\n"))}
	stranger, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	shown, _, _ := strings.Cut(string(proper.Secret), "-----BEGIN PRIVATE")
	_, foreign, _ := strings.Cut(string(stranger.Secret), "-----BEGIN PRIVATE")
	for name, c := range map[string]struct {
		id, secret string
		code       problem.Code
		field      string
	}{
		"a stranger's":       {"", string(stranger.Secret), problem.CodeTokenRejected, ""},
		"no key":             {"", shown, problem.CodeInvalid, "token_secret"},
		"another's key":      {"", shown + "-----BEGIN PRIVATE" + foreign, problem.CodeInvalid, "token_secret"},
		"two certificates":   {"", shown + string(proper.Secret), problem.CodeInvalid, "token_secret"},
		"more than 16 KiB":   {"", string(proper.Secret) + strings.Repeat("\n", 17<<10), problem.CodeInvalid, "token_secret"},
		"NUL":                {"", string(proper.Secret) + "\x00", problem.CodeInvalid, "token_secret"},
		"another's id":       {stranger.ID, string(proper.Secret), problem.CodeInvalid, "token_id"},
		"nothing":            {"", "", problem.CodeInvalid, "token_secret"},
		"a token":            {"me@mem!x", "secret-of-monitoring", problem.CodeInvalid, "token_secret"},
		"an id of two lines": {"a\nb", string(proper.Secret), problem.CodeInvalid, "token_id"},
	} {
		bad := in
		bad.TokenID, bad.Secret = c.id, secret.New(c.secret)
		_, _, err := f.Create(t.Context(), bad)
		p := problem.From(err)
		if err == nil || p.Code != c.code || c.field != "" && p.Faults[0].Loc[1] != c.field {
			t.Errorf("%s: %v, %+v", name, err, p.Faults)
		}
		if err != nil && strings.Contains(err.Error(), "MIGHAgEAMBM") {
			t.Errorf("%s: the error tells the key", name)
		}
	}
	f.none(t)
	h, _, err := f.Create(t.Context(), in)
	if err != nil || h.Tokens[0].TokenID != proper.ID || h.Tokens[0].Form != "client_certificate" {
		t.Fatalf("%+v, %v", h, err)
	}
	if kept := f.stored(t); strings.Contains(kept, "PRIVATE KEY") || strings.Contains(kept, "MIGHAgEAMBM") {
		t.Errorf("the key is stored in the open: %s", kept)
	}
	// Spaces and line ends are nobody's: what is kept is the driver's form of it.
	at, err := f.Open(t.Context(), h.ID, endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := at.Version(t.Context()); err != nil {
		t.Error("with what was kept:", err)
	}
}

// A probe never uses a code, and tells what it says.
func TestProbeOfACode(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	code := f.code(endpoint.Monitoring)
	in := join("pool", code)
	found, err := f.Probe(t.Context(), host.ProbeRequest{EnrolRequest: in})
	if err != nil || !found.Reachable || found.Fingerprint != f.cluster.Fingerprint() || found.Code == nil ||
		len(found.Code.Addresses) != 1 || found.Code.Expires == nil {
		t.Errorf("%+v, %v", found, err)
	}
	in.Address = ""
	found, err = f.Probe(t.Context(), host.ProbeRequest{EnrolRequest: in})
	if err != nil || found.Reachable || found.Code == nil || found.Code.Addresses[0] != "pool.mem:8443" ||
		*found.Code.Fingerprint != f.cluster.Fingerprint() || found.Missing == nil {
		t.Errorf("without an address: %+v, %v", found, err)
	}
	in.Address = "nobody.mem"
	if _, err = f.Probe(t.Context(), host.ProbeRequest{EnrolRequest: in}); problem.CodeOf(err) != problem.CodeHypervisorError {
		t.Errorf("where nobody is: %v", err)
	}
	in = host.EnrolRequest{TokenID: "a", Secret: secret.New("s")}
	if _, err := f.Probe(t.Context(), host.ProbeRequest{EnrolRequest: in}); problem.CodeOf(err) != problem.CodeInvalid {
		t.Errorf("a token without an address: %v", err)
	}
	if _, _, err := f.Create(t.Context(), join("pool", code)); err != nil {
		t.Error("the code was used:", err)
	}
}

// nameless is a driver whose codes name no certificate.
type nameless struct{ memdriver.CertificateDriver }

func (d nameless) Inspect(ctx context.Context, code plugin.Secret) (hypervisor.Code, error) {
	read, err := d.CertificateDriver.Inspect(ctx, code)
	read.Fingerprint, read.Expires = "", time.Time{}
	return read, err
}

// A code that names no certificate goes to no server that nothing else identifies.
func TestCodeWithoutAFingerprint(t *testing.T) {
	t.Parallel()
	f := newCertified(t, func(d memdriver.CertificateDriver) hypervisor.Driver { return nameless{d} })
	in := join("pool", f.code(endpoint.Monitoring))
	in.VerifyTLS = false
	if _, _, err := f.Create(t.Context(), in); problem.CodeOf(err) != problem.CodeInvalid {
		t.Errorf("with nothing to go by: %v", err)
	}
	in.VerifyTLS = true
	if _, _, err := f.Create(t.Context(), in); problem.From(err).Members["reason"] != "tls_fingerprint" {
		t.Errorf("with the authorities: %v", err)
	}
	in.Fingerprint = f.cluster.Fingerprint()
	if _, _, err := f.Create(t.Context(), in); err != nil {
		t.Error("with a pin:", err)
	}
}
