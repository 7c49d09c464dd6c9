package guests_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/db/inventorytest"
	"github.com/hostler/hostler/core/service/servicetest"
)

// A cluster of 10,000 guests is normal: its list is far from what an answer may have.
func TestListOfManyGuests(t *testing.T) {
	t.Parallel()
	r := servicetest.NewResource(t, register)
	inventorytest.Many(t, r.DB, 8000, 2000)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Do(t.Context(), req, apitest.Viewer)
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("%v, %d: %.300s", err, got.Status, got.Body)
	}
	t.Logf("%d bytes", len(got.Body))
	if n := strings.Count(string(got.Body), `"name":"guest-`); n != 10_000 || len(got.Body) > op.MaxAnswer/4 {
		t.Errorf("%d guests in %d bytes", n, len(got.Body))
	}
}
