package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/secret"
)

func TestKeyRotationStandsInTheTrail(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.DatabaseURL, cfg.StateDir = dbtest.URL(t), filepath.Join(t.TempDir(), "state")
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	report, err := rotateKeys(t.Context(), cfg, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	d := dbtest.Open(t, cfg.DatabaseURL)
	if err := recordRotation(t.Context(), d, secret.Report{}, errors.New("broken off")); err != nil {
		t.Fatal(err)
	}
	if err := recordRotation(t.Context(), d, secret.Report{}, secret.ErrRotating); err != nil {
		t.Fatal(err)
	}
	rows, _, err := audit.List(t.Context(), d, audit.Filter{AllTeams: true, Limit: 10})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[0].Result != audit.ResultFailed || rows[1].Result != audit.ResultOK || rows[1].Action != "keys.rotate" ||
		!strings.Contains(string(rows[1].Details), report.Primary.String()) {
		t.Errorf("%+v %s", rows, rows[1].Details)
	}
}
