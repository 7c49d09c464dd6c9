package plugin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// A process that takes one-time codes says what it is, redeems, dies over one without telling it, and is there again.
func TestPluginThatRedeemsCodes(t *testing.T) {
	t.Parallel()
	const file = "hostler-plugin-certmem"
	b := &fixture{dir: t.TempDir(), pins: &pins{}, log: &waittest.Text{}}
	if err := programtest.Build(t.Context(), "", b.dir+"/", "github.com/hostler/hostler/sdk/hypervisor/memdriver/"+file); err != nil {
		t.Fatal(err)
	}
	b.manage(t, nil)
	if _, err := b.Pin(t.Context(), file, "test"); err != nil {
		t.Fatal("pinning:", err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal("starting:", err)
	}
	info, err := hypervisor.Describe(t.Context(), b.Hypervisor("certmem"))
	if err != nil || info.DefaultPort != "8443" || len(info.Forms) != 2 || info.Has(endpoint.NodePower) {
		t.Fatalf("%+v, %v", info, err)
	}
	enroller, ok := hypervisor.As[hypervisor.Enroller](b.Hypervisor("certmem"))
	if !ok {
		t.Fatal("it is no Enroller")
	}
	code := memdriver.NewCertificateDriver().Add("a.mem:8443", memdriver.Spec{}).NewCode(endpoint.Monitoring, time.Hour)
	read, err := enroller.Inspect(t.Context(), code)
	if err != nil || len(read.Addresses) != 1 || read.Expires.IsZero() {
		t.Errorf("%+v, %v", read, err)
	}
	credential, err := enroller.NewCredential(t.Context(), endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	target := endpoint.Target{Address: "exit-redeem.mem:8443", Credential: credential}
	err = enroller.Redeem(t.Context(), target, code)
	if !errors.Is(err, sdk.ErrGone) {
		t.Errorf("error is %v, want that the plugin is gone", err)
	}
	target.Address = "fine.mem:8443"
	if err := enroller.Redeem(t.Context(), target, code); err != nil {
		t.Error("after it was started again:", err)
	}
	if s := b.status(t); s.State != plugin.Running || s.Restarts == 0 {
		t.Errorf("status is %+v", s)
	}
	b.Stop()
	for _, secret := range []string{string(code), "PRIVATE KEY", strings.Split(string(credential.Secret), "\n")[1]} {
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("the log has %.20s", secret)
		}
	}
}
