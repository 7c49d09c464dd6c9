package host_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

type drivers struct{ hypervisor.Driver }

func (d drivers) Hypervisor(string) hypervisor.Driver { return d.Driver }

// pair is a cluster that two hosts front, each with a guest of its own, and an app at the first.
func pair(t *testing.T) (*host.Store, *db.DB) {
	t.Helper()
	d := dbtest.New(t)
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := memdriver.New()
	s := host.New(host.Config{DB: d, Drivers: drivers{driver}, Keys: box})
	for _, name := range []string{"a", "b"} {
		token := driver.Add(name+".mem:8006", memdriver.Spec{}).Target(endpoint.Monitoring).Credential
		_, _, err := s.Create(t.Context(),
			host.EnrolRequest{Name: name, Address: name + ".mem", TokenID: token.ID, Secret: secret.New(string(token.Secret))})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Pool.Exec(t.Context(), `INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two');
		INSERT INTO clusters (team_id, name) VALUES (1, 'prod'); UPDATE hosts SET cluster_id = 1, status = 'online';
		INSERT INTO nodes (cluster_id, host_id, name, status, seen_at) SELECT 1, id, 'n' || id, 'online', now() FROM hosts;
		INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status)
		SELECT 1, id, 'container', 100 + id, 100 + id, 'n' || id, 'ct',
		'running' FROM hosts;
		INSERT INTO apps (cluster_id, host_id, guest_id, guest_ref, vmid, name) SELECT 1, 1, id, ref, vmid, 'wiki' FROM guests
		WHERE vmid = 101`); err != nil {
		t.Fatal(err)
	}
	return s, d
}

func attributed(t *testing.T, d *db.DB) (out string) {
	t.Helper()
	err := d.Pool.QueryRow(t.Context(), `SELECT concat_ws('; ', (SELECT string_agg(vmid || ' at ' || host_id, ', ' ORDER BY vmid)
		FROM guests),
		(SELECT string_agg(name || ' at ' || host_id, ', ' ORDER BY name) FROM nodes), (SELECT string_agg(name || ' at ' || host_id, ', ')
		FROM apps))`).Scan(&out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOthersOfTheClusterTakeOver(t *testing.T) {
	t.Parallel()
	t.Run("when a host is removed", func(t *testing.T) {
		t.Parallel()
		s, d := pair(t)
		if err := s.Remove(t.Context(), 1, "a", true); err != nil {
			t.Fatal(err)
		}
		if got, want := attributed(t, d), "101 at 2, 102 at 2; n1 at 2, n2 at 2"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("when a host goes to another team", func(t *testing.T) {
		t.Parallel()
		s, d := pair(t)
		team := int64(2)
		h, err := s.Patch(t.Context(), 1, host.Change{TeamID: &team})
		if err != nil || h.Cluster != nil || h.TeamID != 2 || h.Status != "pending" {
			t.Fatalf("%+v, %v", h, err)
		}
		if got, want := attributed(t, d), "101 at 2, 102 at 2; n1 at 2, n2 at 2; wiki at 2"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("and nothing is left when the last one goes", func(t *testing.T) {
		t.Parallel()
		s, d := pair(t)
		for id, name := range map[int64]string{1: "a", 2: "b"} {
			if err := s.Remove(t.Context(), id, name, true); err != nil {
				t.Fatal(err)
			}
		}
		if got := attributed(t, d); got != "" {
			t.Errorf("left: %q", got)
		}
	})
}

// A secret that was moved to another row, or sealed for another host, does not open.
func TestSecretsAreBoundToTheirRow(t *testing.T) {
	t.Parallel()
	s, d := pair(t)
	if _, err := d.Pool.Exec(t.Context(),
		"UPDATE host_credentials SET secret = (SELECT secret FROM host_credentials WHERE host_id = 2) WHERE host_id = 1"); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Open(t.Context(), 1, endpoint.Monitoring); err == nil {
		t.Errorf("opened %v", fmt.Sprint(h))
	}
	if _, err := s.Open(t.Context(), 2, endpoint.Monitoring); err != nil {
		t.Error(err)
	}
}
