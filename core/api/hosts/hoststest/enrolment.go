package hoststest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Enrolment is the body that enrols a cluster.
func Enrolment(name, address string, cluster *memdriver.Cluster) string {
	monitoring := cluster.Target(endpoint.Monitoring).Credential
	return fmt.Sprintf(`{"name":%q,"address":%q,"token_id":%q,"token_secret":%q,"tls_fingerprint":%q}`,
		name, address, monitoring.ID, string(monitoring.Secret), cluster.Fingerprint())
}

// Token is the body that adds the token for a capability.
func Token(c endpoint.Capability, cluster *memdriver.Cluster) string {
	token := cluster.Target(c).Credential
	return fmt.Sprintf(`{"capability":%q,"token_id":%q,"token_secret":%q}`, c, token.ID, string(token.Secret))
}

// Enrol makes a host of the cluster, with its tokens for lifecycle and node power, and polls it.
func Enrol(t *testing.T, a *apitest.API, name, address string, cluster *memdriver.Cluster) (id int64) {
	t.Helper()
	ask := func(what, url, body string, status int, after func(*testing.T, *apitest.Response)) {
		a.Run(t, apitest.Scenario{Name: what, Method: "POST", URL: url, Body: body, As: apitest.Owner, Status: status, After: after})
	}
	ask("enrol", "/api/v1/hosts", Enrolment(name, address, cluster), 201, func(t *testing.T, answer *apitest.Response) {
		var made struct{ ID int64 }
		if err := json.Unmarshal(answer.Body, &made); err != nil || made.ID == 0 {
			t.Fatalf("%v: %s", err, answer.Body)
		}
		id = made.ID
	})
	for _, c := range []endpoint.Capability{endpoint.Lifecycle, endpoint.NodePower} {
		ask(string(c), fmt.Sprintf("/api/v1/hosts/%d/credentials", id), Token(c, cluster), 200, nil)
	}
	ask("sync", fmt.Sprintf("/api/v1/hosts/%d/sync", id), "", 200, nil)
	return id
}

// task waits until the hypervisor of the fixture's host has one and gives its id.
func task(f *requesttest.Fixture) (id string) {
	f.T.Helper()
	waittest.Until(f.T, "a task begins", func() bool {
		var tasks []struct{ UPID string }
		answer := f.Expect("GET", fmt.Sprintf("/api/v1/hosts/%d/tasks", f.Host), "", 200)
		if err := json.Unmarshal(answer.Body, &tasks); err != nil {
			f.T.Fatalf("%v: %s", err, answer.Body)
		}
		for _, task := range tasks {
			id = task.UPID
		}
		return id != ""
	})
	return id
}
