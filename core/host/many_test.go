package host_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// As many hosts as there may be, and one more of an older release, are all listed. A further one is refused.
func TestHostsDoNotGatherWithoutBound(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	box, err := secret.Load(t.Context(), filepath.Join(t.TempDir(), "key"), func(context.Context) ([]secret.KeyID, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	driver := memdriver.New()
	s := host.New(host.Config{DB: d, Drivers: drivers{driver}, Keys: box})
	dbtest.Exec(t, d, `INSERT INTO hosts (driver, name, address, verify_tls, status, error)
		SELECT 'mem', 'a host with a rather long name ' || n, 'host' || n || '.example.com:8006', true, 'unreachable', repeat('why ', 100)
		FROM generate_series(1, $1) n`, host.MaxHosts+1)
	if all, err := s.List(t.Context(), identity.VisibleTeams{All: true, Teams: []int64{}}); err != nil || len(all) != host.MaxHosts+1 {
		t.Errorf("%d hosts: %v", len(all), err)
	}
	token := driver.Add("a.mem:8006", memdriver.Spec{}).Target(endpoint.Monitoring).Credential
	_, _, err = s.Create(t.Context(),
		host.EnrolRequest{Name: "a", Address: "a.mem", TokenID: token.ID, Secret: secret.New(string(token.Secret))})
	if problem.CodeOf(err) != problem.CodeConflict || !strings.Contains(fmt.Sprint(err), "already 10001 hosts; delete 2 first") {
		t.Errorf("one more: %v", err)
	}
}
