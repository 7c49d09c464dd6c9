package processtest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

// certmem is a plugin that takes join tokens.
const (
	certmem        = "hostler-plugin-certmem"
	certmemPackage = "github.com/hostler/hostler/sdk/hypervisor/memdriver/" + certmem
)

// The service is killed while it trades a join token: nothing of the host is there afterwards, the audit log names the certificate that
// the hypervisor may trust, and neither token nor key is anywhere.
func TestKilledWhileAJoinTokenIsTraded(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills a service: make check runs it")
	}
	t.Parallel()
	h := newSecretSearch()
	code := func(address string) string {
		made := memdriver.NewCertificateDriver().Add(address, memdriver.Spec{}).NewCode(endpoint.Monitoring, time.Hour)
		return h.add(t, "the join token for "+address, string(made))
	}
	h.add(t, "a private key", "-----BEGIN PRIVATE KEY-----")
	s := startService(t, options{Env: []string{"HOSTLER_PLUGIN_DIR=" + pluginFolder(t, certmemPackage), "HOSTLER_LOG_LEVEL=trace"},
		Unready: true})
	run(t, s.env, "", "plugin", "pin", certmem).succeeds(t)
	s.kill()
	s.start(t)
	owner := setUp(t, s)
	runs := func() {
		t.Helper()
		waittest.Succeeds(t, "the plugin runs", func() error {
			if all := pluginList(t, owner); len(all) != 1 || all[0].State != "running" {
				return fmt.Errorf("there is %+v", all)
			}
			return nil
		})
	}
	runs()
	const held, fine = "lateblock-redeem.mem:8443", "fine.mem:8443"
	body := func(address string) map[string]any {
		return map[string]any{"driver": "certmem", "name": address, "address": address, "token_secret": code(address)}
	}
	first := body(held)
	gone, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := owner.try(gone, http.MethodPost, "/api/v1/hosts", first)
		answered <- err
	}()
	d := dbtest.Open(t, s.DB)
	var id string
	waittest.Succeeds(t, "the token is being traded", func() error {
		return d.Pool.QueryRow(t.Context(), "SELECT details->>'token_id' FROM audit WHERE action = 'host.redeem_code'").Scan(&id)
	})
	s.kill()
	if err := <-answered; err == nil {
		t.Error("the request was answered")
	}
	s.start(t)
	var hosts []struct{ ID int64 }
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/hosts", nil, &hosts)
	if n := dbtest.Value[int64](t, d, "SELECT count(*) FROM host_credentials"); len(hosts) != 0 || n != 0 || len(id) != 95 {
		t.Errorf("%d hosts and %d credentials are there, for the certificate %q", len(hosts), n, id)
	}

	var made struct {
		ID           int64
		Driver       string
		Capabilities []struct{ Form string }
	}
	runs()
	owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/hosts", body(fine), &made)
	if made.Driver != "certmem" || len(made.Capabilities) != 1 || made.Capabilities[0].Form != endpoint.FormClientCertificate {
		t.Errorf("%+v", made)
	}
	owner.must(t, http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", made.ID), nil, nil)
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/audit", nil, nil)
	s.stop(t)
	if h.database(t, s.DB) == 0 {
		t.Error("no row was searched")
	}
	h.text("the log", []byte(s.Log.String()))
	h.text("an answer", []byte(owner.bodies.String()))
	h.files(t, s.State, nil)
	for _, finding := range h.findings() {
		t.Error(finding)
	}
}
