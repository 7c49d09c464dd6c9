package host_test

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// certified is a store with a driver of each shape, one that is away, and a cluster of certificates.
type certified struct {
	*host.Store
	db      *db.DB
	driver  memdriver.CertificateDriver
	cluster *memdriver.Cluster
}

// newCertified wraps the driver where wrap is not nil.
func newCertified(t *testing.T, wrap func(memdriver.CertificateDriver) hypervisor.Driver) *certified {
	t.Helper()
	return newCertifiedWithin(t, time.Minute, wrap)
}

// newCertifiedWithin is newCertified with a limit for the calls of the driver.
func newCertifiedWithin(t *testing.T, limit time.Duration, wrap func(memdriver.CertificateDriver) hypervisor.Driver) *certified {
	t.Helper()
	f := &certified{db: dbtest.New(t), driver: memdriver.NewCertificateDriver()}
	f.cluster = f.driver.Add("pool.mem:8443", memdriver.Spec{Nodes: 1, VMs: 2})
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := hypervisor.Driver(f.driver)
	if wrap != nil {
		driver = wrap(f.driver)
	}
	f.Store = host.New(host.Config{DB: f.db, Keys: box, Timeout: limit, Driver: "mem",
		Drivers: hosttest.DriverTable{"mem": memdriver.New(), "certmem": driver, "away": nil}})
	return f
}

// join is an enrolment with a one-time code.
func join(name string, code plugin.Secret) host.EnrolRequest {
	return host.EnrolRequest{Driver: "certmem", Name: name, Address: name + ".mem", Secret: secret.New(string(code)), VerifyTLS: true}
}

func (f *certified) code(c endpoint.Capability) plugin.Secret { return f.cluster.NewCode(c, time.Hour) }

// attempt is a context with an attempt, as a request has it.
func attempt(ctx context.Context) context.Context {
	ctx, _ = audit.Begin(ctx, audit.Entry{ActorType: audit.ActorSystem, Action: "host.create"})
	return ctx
}

// stored is all that is kept of hosts and of what was done, as text.
func (f *certified) stored(t *testing.T) string {
	t.Helper()
	return dbtest.Value[string](t, f.db, `SELECT concat_ws('; ', (SELECT string_agg(to_jsonb(h)::text, ', ') FROM hosts h),
		(SELECT string_agg(to_jsonb(k)::text || encode(k.secret, 'escape'), ', ') FROM host_credentials k),
		(SELECT string_agg(to_jsonb(a)::text, ', ') FROM audit a))`)
}

func (f *certified) none(t *testing.T) {
	t.Helper()
	if n := dbtest.Value[int64](t, f.db, "SELECT (SELECT count(*) FROM hosts) + (SELECT count(*) FROM host_credentials)"); n != 0 {
		t.Errorf("%d rows were stored", n)
	}
}

func TestJoinTokenIsTradedForACertificate(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	code, more := f.code(endpoint.Monitoring), f.code(endpoint.Lifecycle)
	h, v, err := f.Create(attempt(t.Context()), join("pool", code))
	if err != nil {
		t.Fatal(err)
	}
	if h.Address != "pool.mem:8443" || h.Driver != "certmem" || h.Fingerprint == nil || *h.Fingerprint != f.cluster.Fingerprint() ||
		len(h.Tokens) != 1 || h.Tokens[0].Form != endpoint.FormClientCertificate || !f.cluster.HasToken(h.Tokens[0].TokenID) ||
		len(v.Missing) > 0 {
		t.Fatalf("%+v, %+v", h, v)
	}
	rotated, err := f.Rotate(attempt(t.Context()), h.ID, host.RotateRequest{Capability: "lifecycle", Secret: secret.New(string(more))})
	if err != nil {
		t.Fatal(err)
	}
	done := rotated.Stored[0]
	if done.Form != endpoint.FormClientCertificate || !f.cluster.HasToken(done.TokenID) || done.TokenID == h.Tokens[0].TokenID {
		t.Fatalf("%+v", done)
	}
	for _, c := range []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle} {
		at, err := f.Open(t.Context(), h.ID, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := at.Version(t.Context()); err != nil {
			t.Errorf("with the credential for %s: %v", c, err)
		}
	}
	check, err := f.Test(t.Context(), h.ID)
	if err != nil || !check.Reachable || len(check.Tokens) != 2 || !check.Tokens[0].OK || !check.Tokens[1].OK {
		t.Errorf("%+v, %v", check, err)
	}
	kept := f.stored(t)
	for _, hidden := range []string{string(code), string(more), "PRIVATE KEY", "MIGHAgEAMBM"} {
		if strings.Contains(kept, hidden) {
			t.Errorf("%.12s… is stored: %s", hidden, kept)
		}
	}
	if n := dbtest.Value[int64](t, f.db, "SELECT count(*) FROM audit WHERE action = 'host.redeem_code' AND details->>'token_id' = ANY ($1)",
		[]string{h.Tokens[0].TokenID, done.TokenID}); n != 2 {
		t.Errorf("%d rows of the audit log say for what a code was redeemed, want 2", n)
	}
	removal, err := f.RemoveCredential(t.Context(), h.ID, "lifecycle")
	if err != nil || len(removal.Commands) != 1 || !strings.Contains(removal.Commands[0], done.TokenID) {
		t.Errorf("%+v, %v", removal, err)
	}
}

// All that can be refused without the code is refused before it is used.
func TestCodeThatIsNotUsed(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	other := f.driver.Add("other.mem:8443", memdriver.Spec{})
	f.driver.Add("liar.mem:8443", memdriver.Spec{})
	code, foreign := f.code(endpoint.Monitoring), other.NewCode(endpoint.Monitoring, time.Hour)
	first := join("other", other.NewCode(endpoint.Monitoring, time.Hour))
	if _, _, err := f.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit func(*host.EnrolRequest)
		code problem.Code
	}{
		"another pin":          {func(e *host.EnrolRequest) { e.Fingerprint = strings.Repeat("ab", 32) }, problem.CodeInvalid},
		"another server":       {func(e *host.EnrolRequest) { e.Address = "liar.mem" }, problem.CodeHypervisorError},
		"another server's":     {func(e *host.EnrolRequest) { e.Secret = secret.New(string(foreign)) }, problem.CodeHypervisorError},
		"nobody there":         {func(e *host.EnrolRequest) { e.Address = "nobody.mem" }, problem.CodeHypervisorError},
		"no address":           {func(e *host.EnrolRequest) { e.Address = "" }, problem.CodeInvalid},
		"a loopback address":   {func(e *host.EnrolRequest) { e.Address = "127.0.0.1" }, problem.CodeInvalid},
		"a name that is taken": {func(e *host.EnrolRequest) { e.Name = "other" }, problem.CodeConflict},
		"an address, likewise": {func(e *host.EnrolRequest) { e.Address = "other.mem" }, problem.CodeConflict},
		"no name":              {func(e *host.EnrolRequest) { e.Name = "" }, problem.CodeInvalid},
		"an id":                {func(e *host.EnrolRequest) { e.TokenID = "me" }, problem.CodeInvalid},
		"a form that is none":  {func(e *host.EnrolRequest) { e.Form = "handshake" }, problem.CodeInvalid},
		"no driver":            {func(e *host.EnrolRequest) { e.Driver = "hyper-v" }, problem.CodeInvalid},
		"a driver that is away": {func(e *host.EnrolRequest) { e.Driver = "away" },
			problem.CodePluginUnavailable},
		"of the driver of tokens": {func(e *host.EnrolRequest) { e.Driver = "" }, problem.CodeInvalid},
		"cut off":                 {func(e *host.EnrolRequest) { e.Secret = secret.New(string(code)[:40]) }, problem.CodeInvalid},
		"NUL":                     {func(e *host.EnrolRequest) { e.Secret = secret.New(string(code) + "\x00") }, problem.CodeInvalid},
		"too long":                {func(e *host.EnrolRequest) { e.Secret = secret.New(strings.Repeat("A", 17<<10)) }, problem.CodeInvalid},
		"expired": {func(e *host.EnrolRequest) {
			e.Secret = secret.New(string(f.cluster.NewCode(endpoint.Monitoring, -time.Hour)))
		}, problem.CodeInvalid},
	} {
		in := join("pool", code)
		c.edit(&in)
		_, _, err := f.Create(attempt(t.Context()), in)
		p := problem.From(err)
		if err == nil || p.Code != c.code || p.Members["credential_id"] != nil {
			t.Errorf("%s: error is %v, want %s", name, err, c.code)
		}
		if err != nil && strings.Contains(err.Error(), string(code)[:40]) {
			t.Errorf("%s: the error tells the code", name)
		}
	}
	if n := dbtest.Value[int64](t, f.db, "SELECT count(*) FROM audit WHERE action = 'host.redeem_code'"); n != 0 {
		t.Errorf("%d codes were sent", n)
	}
	in := join("pool", code)
	in.Fingerprint = f.cluster.Fingerprint()
	if _, _, err := f.Create(t.Context(), in); err != nil {
		t.Error("the code is no longer good:", err)
	}
	in.Name, in.Address = "again", "again.mem"
	f.driver.Driver.Add("again.mem:8443", memdriver.Spec{})
	if _, _, err := f.Create(t.Context(), in); problem.CodeOf(err) != problem.CodeHypervisorError {
		t.Errorf("another address with another certificate: %v", err)
	}
}

func TestCodeThatWasUsed(t *testing.T) {
	t.Parallel()
	f := newCertified(t, nil)
	code := f.code(endpoint.Monitoring)
	target := f.cluster.Target(endpoint.Monitoring)
	if err := f.driver.Redeem(t.Context(), target, code); err != nil {
		t.Fatal(err)
	}
	_, _, err := f.Create(attempt(t.Context()), join("pool", code))
	if p := problem.From(err); p.Code != problem.CodeTokenRejected || p.Members["credential_id"] != nil {
		t.Errorf("error is %v, want token rejected and nothing left behind", err)
	}
	f.none(t)
}

// An answer that was lost is found out about by trying what the code was to give access to.
func TestLostAnswerToACode(t *testing.T) {
	t.Parallel()
	lost := plugin.Errorf(plugin.Unreachable, "the connection broke")
	for name, c := range map[string]struct {
		fault memdriver.Fault
		taken bool
	}{
		"taken":                  {memdriver.Fault{Late: true, Err: lost}, true},
		"taken, and hangs":       {memdriver.Fault{Late: true, Block: true}, true},
		"not taken":              {memdriver.Fault{Err: lost}, false},
		"hangs before":           {memdriver.Fault{Block: true}, false},
		"a fault of the driver":  {memdriver.Fault{Leak: true}, false},
		"a late one":             {memdriver.Fault{Leak: true, Late: true}, true},
		"a strange answer":       {memdriver.Fault{Late: true, Err: plugin.Errorf(plugin.Protocol, "what?")}, true},
		"a strange one, refused": {memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "no")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if c.fault.Block {
				limit = 10 * time.Second
			}
			f := newCertifiedWithin(t, limit, nil)
			code := f.code(endpoint.Monitoring)
			f.cluster.SetFault("redeem", c.fault)
			h, _, err := f.Create(attempt(t.Context()), join("pool", code))
			if c.taken {
				if err != nil || len(h.Tokens) != 1 || !f.cluster.HasToken(h.Tokens[0].TokenID) {
					t.Fatalf("%+v, %v", h, err)
				}
				return
			}
			p := problem.From(err)
			id, _ := p.Members["credential_id"].(string)
			switch refused := plugin.KindOf(c.fault.Err) == plugin.Refused; {
			case refused && (p.Code != problem.CodeHypervisorError || id != ""):
				t.Errorf("error is %v, want the hypervisor's", err)
			case !refused && (p.Code != problem.CodeOutcomeUnknown || id == "" || !strings.Contains(p.Detail, id)):
				t.Errorf("error is %v, want one of an unknown outcome that names the credential", err)
			case f.cluster.HasToken(id):
				t.Error("it was taken")
			}
			f.none(t)
			f.cluster.SetFault("redeem", memdriver.Fault{})
			if _, _, err := f.Create(t.Context(), join("pool", code)); err != nil {
				t.Error("the code is no longer good:", err)
			}
		})
	}
}

// What fails after the code was used names what the hypervisor trusts, and stores nothing.
func TestFailureAfterTheCodeWasUsed(t *testing.T) {
	t.Parallel()
	t.Run("of the hypervisor", func(t *testing.T) {
		t.Parallel()
		f := newCertified(t, nil)
		f.cluster.SetFault("inventory", memdriver.Fault{Err: plugin.Errorf(plugin.Unreachable, "it went away")})
		_, _, err := f.Create(attempt(t.Context()), join("pool", f.code(endpoint.Monitoring)))
		f.left(t, err, problem.CodeHypervisorError)
		f.none(t)
	})
	t.Run("of the database", func(t *testing.T) {
		t.Parallel()
		f := newCertified(t, nil)
		dbtest.On(t, f.db).Exec(`ALTER TABLE host_credentials ADD CHECK (form <> 'client_certificate')`)
		_, _, err := f.Create(attempt(t.Context()), join("pool", f.code(endpoint.Monitoring)))
		f.left(t, err, problem.CodeInternal)
		f.none(t)
	})
	t.Run("a server that is enrolled", func(t *testing.T) {
		t.Parallel()
		f := newCertified(t, func(d memdriver.CertificateDriver) hypervisor.Driver { return twice{d} })
		if _, _, err := f.Create(t.Context(), join("pool", f.code(endpoint.Monitoring))); err != nil {
			t.Fatal(err)
		}
		_, _, err := f.Create(attempt(t.Context()), join("alias", f.code(endpoint.Monitoring)))
		f.left(t, err, problem.CodeAlreadyEnrolled)
	})
	t.Run("of a rotation", func(t *testing.T) {
		t.Parallel()
		f := newCertified(t, nil)
		h, _, err := f.Create(t.Context(), join("pool", f.code(endpoint.Monitoring)))
		if err != nil {
			t.Fatal(err)
		}
		f.cluster.SetFault("permissions", memdriver.Fault{Err: plugin.Errorf(plugin.Refused, "not now")})
		_, err = f.Rotate(attempt(t.Context()), h.ID, host.RotateRequest{Secret: secret.New(string(f.code(endpoint.Monitoring)))})
		f.left(t, err, problem.CodeHypervisorError)
		if now, err := f.Get(t.Context(), h.ID); err != nil || now.Tokens[0].TokenID != h.Tokens[0].TokenID {
			t.Errorf("the old credential did not stay: %+v, %v", now, err)
		}
	})
}

// left checks that a failure of that code names a credential that the hypervisor trusts.
func (f *certified) left(t *testing.T, err error, code problem.Code) {
	t.Helper()
	p := problem.From(err)
	id, _ := p.Members["credential_id"].(string)
	if err == nil || p.Code != code || !f.cluster.HasToken(id) || !strings.Contains(p.Detail, id) {
		t.Errorf("error is %v with %v, want %s that names what is left", err, p.Members, code)
	}
}

// twice is a driver whose cluster answers at a second address.
type twice struct{ memdriver.CertificateDriver }

func (d twice) Open(ctx context.Context, target endpoint.Target) (hypervisor.Host, error) {
	return d.CertificateDriver.Open(ctx, d.there(target))
}

func (d twice) Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error {
	return d.CertificateDriver.Redeem(ctx, d.there(target), code)
}

func (twice) there(target endpoint.Target) endpoint.Target {
	target.Address = strings.Replace(target.Address, "alias.", "pool.", 1)
	return target
}

// then is a driver that does something when a code was redeemed.
type then struct {
	memdriver.CertificateDriver
	do func()
}

func (d then) Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error {
	err := d.CertificateDriver.Redeem(ctx, target, code)
	d.do()
	return err
}

// The service dies when the hypervisor has taken the code: nothing is half there, and the audit log names the certificate.
func TestDeathAfterTheCodeWasUsed(t *testing.T) {
	t.Parallel()
	var dead atomic.Bool
	f := newCertified(t, func(d memdriver.CertificateDriver) hypervisor.Driver {
		return then{d, func() {
			if dead.CompareAndSwap(false, true) {
				runtime.Goexit()
			}
		}}
	})
	code := f.code(endpoint.Monitoring)
	died := make(chan struct{})
	go func() {
		defer close(died)
		_, _, err := f.Create(attempt(context.Background()), join("pool", code))
		t.Error("it lived on:", err)
	}()
	<-died
	f.none(t)
	id := dbtest.Value[string](t, f.db, "SELECT details->>'token_id' FROM audit WHERE action = 'host.redeem_code'")
	if !f.cluster.HasToken(id) {
		t.Errorf("the audit log names %s, which the hypervisor does not trust", id)
	}
	if kept := f.stored(t); strings.Contains(kept, string(code)) {
		t.Errorf("the code is stored: %s", kept)
	}
	if _, _, err := f.Create(t.Context(), join("pool", code)); problem.CodeOf(err) != problem.CodeTokenRejected {
		t.Errorf("with the same code: %v", err)
	}
}

// A caller who goes away once the code was sent leaves nothing half done.
func TestCallerWhoGoesAwayAfterTheCodeWasSent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f := newCertified(t, func(d memdriver.CertificateDriver) hypervisor.Driver { return then{d, cancel} })
	if _, _, err := f.Create(ctx, join("pool", f.code(endpoint.Monitoring))); err != nil {
		t.Fatal(err)
	}
	if h, err := f.Get(t.Context(), 1); err != nil || !f.cluster.HasToken(h.Tokens[0].TokenID) {
		t.Errorf("%+v, %v", h, err)
	}
}
