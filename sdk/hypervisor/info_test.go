package hypervisor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// saying is a driver that says one thing of itself.
type saying struct {
	plain
	info hypervisor.Info
	err  error
}

func (d saying) Info(context.Context) (hypervisor.Info, error) { return d.info, d.err }

// A driver that says nothing more than its name is taken for what drivers were before there was more to say.
func TestDescribeCompletes(t *testing.T) {
	t.Parallel()
	for name, driver := range map[string]hypervisor.Driver{
		"direct": plain{host: &plainHost{}},
		"grpc":   drivertest.Remote(t, hypervisor.Service{Driver: plain{host: &plainHost{}}, HostType: (*plainHost)(nil)}),
	} {
		info, err := hypervisor.Describe(t.Context(), driver)
		if err != nil {
			t.Fatal(name, err)
		}
		form, ok := info.Form("")
		if info.DefaultPort != "8006" || !ok || form.Name != endpoint.FormToken || form.IDLabel == "" || form.OneTime || len(info.Forms) != 1 ||
			!slices.Equal(info.Capabilities, endpoint.Capabilities()) || info.Scope != (hypervisor.Scope{}) {
			t.Errorf("%s: %+v", name, info)
		}
		if info.HasAction(hypervisor.Container, hypervisor.Pause) || !info.HasAction(hypervisor.VM, hypervisor.Reset) || info.HasAction("host",
			"explode") {
			t.Errorf("%s: the actions are others than those of the function Actions", name)
		}
	}
}

func TestDescribeOverGRPC(t *testing.T) {
	t.Parallel()
	certified := memdriver.NewCertificateDriver()
	client := drivertest.Remote(t, hypervisor.Service{Driver: certified, HostType: (*memdriver.Host)(nil)})
	info, err := hypervisor.Describe(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	form, ok := info.Form(endpoint.FormClientCertificate)
	if info.DefaultPort != "8443" || !info.Forms[0].OneTime || !ok || !form.Multiline || info.Has(endpoint.NodePower) ||
		!info.Has(endpoint.Backup) || info.Scope.Word != "project" || !info.HasAction(hypervisor.Container, hypervisor.Pause) ||
		info.HasAction(hypervisor.VM, hypervisor.Reset) {
		t.Errorf("%+v", info)
	}
	if _, ok := info.Form("handshake"); ok {
		t.Error("there is a form that there is not")
	}
}

func TestDescribeRefusesNonsense(t *testing.T) {
	t.Parallel()
	token := hypervisor.CredentialForm{Name: "token", Label: "Token", SecretLabel: "Secret"}
	form := func(edit func(*hypervisor.CredentialForm)) []hypervisor.CredentialForm {
		f := token
		edit(&f)
		return []hypervisor.CredentialForm{f}
	}
	for name, info := range map[string]hypervisor.Info{
		"a port of 0":                 {DefaultPort: "0"},
		"a port that is none":         {DefaultPort: "https"},
		"a port that is too large":    {DefaultPort: "65536"},
		"a name of two lines":         {Product: "a\nb"},
		"a product without an end":    {Product: strings.Repeat("x", 10_000)},
		"text that is not UTF-8":      {Scope: hypervisor.Scope{Word: "p\xff"}},
		"a form without a name":       {Forms: form(func(f *hypervisor.CredentialForm) { f.Name = "" })},
		"a form with an odd name":     {Forms: form(func(f *hypervisor.CredentialForm) { f.Name = "../token" })},
		"a form without a label":      {Forms: form(func(f *hypervisor.CredentialForm) { f.Label = "" })},
		"a form with a label and NUL": {Forms: form(func(f *hypervisor.CredentialForm) { f.IDLabel = "a\x00" })},
		"one form twice":              {Forms: []hypervisor.CredentialForm{token, token}},
		"one-time forms only":         {Forms: form(func(f *hypervisor.CredentialForm) { f.OneTime = true })},
		"a one-time form and no Enroller": {Forms: append(form(func(f *hypervisor.CredentialForm) { f.Name, f.OneTime = "code", true }),
			token)},
		"far too many forms":         {Forms: make([]hypervisor.CredentialForm, 1000)},
		"no monitoring":              {Capabilities: []endpoint.Capability{endpoint.Lifecycle}},
		"a capability of its own":    {Capabilities: []endpoint.Capability{endpoint.Monitoring, "flying"}},
		"a capability twice":         {Capabilities: []endpoint.Capability{endpoint.Monitoring, endpoint.Monitoring}},
		"a kind of guest of its own": {Actions: []hypervisor.KindActions{{Kind: "pod"}}},
		"an action of its own":       {Actions: []hypervisor.KindActions{{Kind: hypervisor.VM, Actions: []hypervisor.Action{"explode"}}}},
	} {
		info.Name, info.Version = "odd", "1"
		driver := saying{plain: plain{host: &plainHost{}}, info: info}
		if got, err := hypervisor.Describe(t.Context(), driver); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := (hypervisor.Service{Driver: driver, HostType: (*plainHost)(nil)}).Describe(t.Context()); err == nil {
			t.Errorf("%s is served", name)
		}
	}
	gone := plugin.Errorf(plugin.Refused, "no")
	if _, err := hypervisor.Describe(t.Context(), saying{err: gone}); !errors.Is(err, gone) {
		t.Errorf("error is %v, want the driver's", err)
	}
}

func TestReadToken(t *testing.T) {
	t.Parallel()
	got, err := hypervisor.ReadToken(endpoint.Credential{Capability: endpoint.Backup, ID: " me@pam!x ", Secret: "s"})
	if err != nil || got != (endpoint.Credential{Capability: endpoint.Backup, Form: endpoint.FormToken, ID: "me@pam!x", Secret: "s"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		entered endpoint.Credential
		field   string
	}{
		"no id":             {endpoint.Credential{Secret: "s"}, "id"},
		"the whole token":   {endpoint.Credential{ID: "me=canary", Secret: "s"}, "id"},
		"a space":           {endpoint.Credential{ID: "a b", Secret: "s"}, "id"},
		"a long id":         {endpoint.Credential{ID: strings.Repeat("a", 256), Secret: "s"}, "id"},
		"no secret":         {endpoint.Credential{ID: "a"}, "secret"},
		"two lines":         {endpoint.Credential{ID: "a", Secret: "canary\nb"}, "secret"},
		"NUL":               {endpoint.Credential{ID: "a", Secret: "canary\x00"}, "secret"},
		"a long secret":     {endpoint.Credential{ID: "a", Secret: plugin.Secret(strings.Repeat("canary", 200))}, "secret"},
		"of another form":   {endpoint.Credential{ID: "a", Secret: "s", Form: endpoint.FormClientCertificate}, "form"},
		"letters of others": {endpoint.Credential{ID: "ä", Secret: "s"}, "id"},
	} {
		_, err := hypervisor.ReadToken(c.entered)
		var e *plugin.Error
		if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != c.field || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: error is %v, want invalid of %s", name, err, c.field)
		}
	}
}
