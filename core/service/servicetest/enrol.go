package servicetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// Enrol enrols a cluster in memory as a host, with its credentials for monitoring and these capabilities, and polls it. Among what is
// declared must be the operations of hosts. It gives the id of the host.
func (r *Resource) Enrol(t *testing.T, name string, cluster *memdriver.Cluster, capabilities ...endpoint.Capability) (id int64) {
	t.Helper()
	driver, _ := cluster.Shape().New()
	info, err := driver.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	target := cluster.Target(endpoint.Monitoring)
	enrolled := struct{ ID int64 }{}
	r.Expect(t, "POST", "hosts", credential(t, target.Credential, map[string]any{"name": name, "address": target.Address,
		"tls_fingerprint": target.Fingerprint, "driver": info.Name}), apitest.Owner, 201, "").Decode(t, &enrolled)
	host := fmt.Sprint("hosts/", enrolled.ID)
	for _, c := range capabilities {
		r.Expect(t, "POST", host+"/credentials", credential(t, cluster.Target(c).Credential, map[string]any{"capability": c}), apitest.Owner,
			200,
			"")
	}
	r.Expect(t, "POST", host+"/sync", "", apitest.Operator, 200, "")
	return enrolled.ID
}

// credential is the body of a request with a credential of a cluster in memory.
func credential(t *testing.T, c endpoint.Credential, body map[string]any) string {
	t.Helper()
	body["credential_form"], body["token_secret"] = c.Form, string(c.Secret)
	if c.Form == endpoint.FormToken {
		body["token_id"] = c.ID
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
