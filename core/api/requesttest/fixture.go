package requesttest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Canary is in the names of all things that belong only to the default team. If
// it occurs in an answer to a caller of another team, the answer reveals too
// much.
const Canary = "zqcanary"

// Fixture is the environment of the requests: the whole API on a real database,
// and a host of the default team with guests.
type Fixture struct {
	*apitest.API
	T     *testing.T
	DB    *db.DB
	Users *identity.Store
	// Driver is the driver of every host. Clusters are the clusters that it
	// knows.
	Driver   *memdriver.Driver
	Clusters []*memdriver.Cluster
	// Lab is the cluster of Host, which has a token with the capability
	// lifecycle. VM is one of its VMs and App one of its containers.
	Lab           *memdriver.Cluster
	Host, VM, App int64
}

// NewCluster adds a cluster at <name>.mem. The names of everything in it begin
// with the name.
func (f *Fixture) NewCluster(name string, spec memdriver.Spec) *memdriver.Cluster {
	spec.Prefix = name + "-"
	cluster := f.Driver.Add(name+".mem:8006", spec)
	f.Clusters = append(f.Clusters, cluster)
	return cluster
}

// ID returns the one ID that a query finds, as text for a path.
func (f *Fixture) ID(sql string, args ...any) string {
	f.T.Helper()
	return fmt.Sprint(dbtest.Value[int64](f.T, f.DB, sql, args...))
}

// Expect sends a request as an owner. The test fails if the answer has another
// status.
func (f *Fixture) Expect(method, url, body string, status int) *apitest.Response {
	f.T.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		f.T.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := f.Do(f.T.Context(), r, apitest.Owner)
	if err != nil {
		f.T.Fatal(err)
	}
	if answer.Status != status {
		f.T.Fatalf("%s %s: %d, want %d: %s", method, url, answer.Status, status, answer.Body)
	}
	return answer
}
