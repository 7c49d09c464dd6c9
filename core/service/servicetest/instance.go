package servicetest

import (
	"net/http/httptest"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/service"
)

// Instance is a whole service behind a real listener.
type Instance struct {
	*service.Service
	dbtest.SQL
	URL string
}

// Serve has a service of New listen until the test ends. Requests that last then are cut.
func Serve(t testing.TB, s *service.Service) *Instance {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return &Instance{Service: s, SQL: dbtest.On(t, s.DB), URL: server.URL}
}
