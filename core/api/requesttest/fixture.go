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

// Canary is in the name of everything that belongs to the default team alone.
const Canary = "zqcanary"

// Fixture is what good requests are about: the whole API on a real database, and a host of the default team with guests.
type Fixture struct {
	*apitest.API
	T     *testing.T
	DB    *db.DB
	Users *identity.Store
	// Driver is every host's, and Clusters are those that it has been given.
	Driver   *memdriver.Driver
	Clusters []*memdriver.Cluster
	// Lab is the cluster of Host, which has a token for lifecycle. VM is one of its VMs, and App one of its containers.
	Lab           *memdriver.Cluster
	Host, VM, App int64
}

// NewCluster makes a cluster at <name>.mem, with the name in those of all that is in it.
func (f *Fixture) NewCluster(name string, spec memdriver.Spec) *memdriver.Cluster {
	spec.Prefix = name + "-"
	cluster := f.Driver.Add(name+".mem:8006", spec)
	f.Clusters = append(f.Clusters, cluster)
	return cluster
}

// ID is the one id that a query finds, as a path has it.
func (f *Fixture) ID(sql string, args ...any) string {
	f.T.Helper()
	return fmt.Sprint(dbtest.Value[int64](f.T, f.DB, sql, args...))
}

// Expect makes a request of an owner that must be answered with the status.
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
