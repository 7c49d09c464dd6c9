package host_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// A change that took a second connection while it holds one would wait for itself once the pool is busy: with one
// connection it does so every time.
func TestChangesNeedOneConnection(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := memdriver.New()
	s := host.New(host.Config{DB: d, Drivers: drivers{driver}, Keys: box})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	made := driver.Add("a.mem:8006", memdriver.Spec{})
	token := made.Target(endpoint.Monitoring).Credential
	h, _, err := s.Create(ctx, host.EnrolRequest{Name: "a", Address: "a.mem", TokenID: token.ID, Secret: secret.New(string(token.Secret))})
	if err != nil {
		t.Fatal(err)
	}
	more := made.Target(endpoint.Lifecycle).Credential
	name := "b"
	for what, change := range map[string]func() error{
		"rotate": func() error {
			_, err := s.Rotate(ctx, h.ID, host.RotateRequest{Capability: "lifecycle", TokenID: more.ID, Secret: secret.New(string(more.Secret))})
			return err
		},
		"patch":    func() error { _, err := s.Patch(ctx, h.ID, host.Change{Name: &name}); return err },
		"test":     func() error { _, err := s.Test(ctx, h.ID); return err },
		"set self": func() error { return s.SetSelf(ctx, &h.ID) },
	} {
		if err := change(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if err := s.Remove(ctx, h.ID, name, false); err != nil {
		t.Fatalf("remove: %v", err)
	}
	if self, err := setting.Get(ctx, d, setting.SelfHost); err != nil || self != nil {
		t.Errorf("the service's own host is still %v, %v", self, err)
	}
}
