package hypervisor_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/drivertest"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin"
)

// telling is a driver that puts whatever it is given into its errors.
type telling struct{ memdriver.CertificateDriver }

func (telling) ReadCredential(_ context.Context, c endpoint.Credential) (endpoint.Credential, error) {
	return endpoint.Credential{}, plugin.Errorf(plugin.Invalid, "not taken: %s", string(c.Secret))
}

func (telling) Inspect(_ context.Context, code plugin.Secret) (hypervisor.Code, error) {
	return hypervisor.Code{}, fmt.Errorf("not a code: %s", string(code))
}

func (telling) Redeem(_ context.Context, target endpoint.Target, code plugin.Secret) error {
	if target.Address == "panic" {
		panic(string(code) + string(target.Credential.Secret))
	}
	lines := strings.Split(string(target.Credential.Secret), "\n")
	return plugin.Errorf(plugin.Refused, "%s was not taken for %s", string(code), lines[len(lines)-3])
}

func TestCodesAndKeysStayOutOfErrors(t *testing.T) {
	t.Parallel()
	client := drivertest.Remote(t, hypervisor.Service{Driver: telling{memdriver.NewCertificateDriver()}, HostType: (*memdriver.Host)(nil)})
	made, err := client.NewCredential(t.Context(), endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := strings.Cut(string(made.Secret), "-----BEGIN PRIVATE KEY-----\n")
	key = strings.Split(key, "\n")[0]
	code := plugin.Secret(base64.StdEncoding.EncodeToString([]byte(`{"client_name":"a","secret":"hush"}`)))
	_, read := client.ReadCredential(t.Context(), made)
	_, inspected := client.Inspect(t.Context(), code)
	_, word := client.Inspect(t.Context(), "canary of any look")
	for name, err := range map[string]error{
		"reading": read, "inspecting": inspected, "a code of another look": word,
		"redeeming":    client.Redeem(t.Context(), endpoint.Target{Address: "a.mem:8443", Credential: made}, code),
		"with a panic": client.Redeem(t.Context(), endpoint.Target{Address: "panic", Credential: made}, code),
	} {
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		for _, secret := range []string{key, string(code), "canary", "PRIVATE KEY"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error has %.12q: %v", name, secret, err)
			}
		}
		if !strings.Contains(err.Error(), "[secret]") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := hypervisor.As[hypervisor.Enroller](drivertest.Remote(t,
		hypervisor.Service{Driver: memdriver.New(), HostType: (*memdriver.Host)(nil)})); ok {
		t.Error("a driver that takes tokens is an Enroller")
	}
}
