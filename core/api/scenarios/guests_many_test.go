package scenarios

import (
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
	r := servicetest.NewResource(t, registerGuests)
	inventorytest.Many(t, r.DB, 8000, 2000)
	got := r.Expect(t, "GET", "guests", "", apitest.Viewer, 200, "")
	t.Logf("%d bytes", len(got.Body))
	if n := strings.Count(string(got.Body), `"name":"guest-`); n != 10_000 || len(got.Body) > op.MaxResponse/4 {
		t.Errorf("%d guests in %d bytes", n, len(got.Body))
	}
}
