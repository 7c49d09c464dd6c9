package apitest

import (
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
)

// Resource is the handler of a single resource, with the document that Matrix and Garbage read. Router, Version and,
// where it is nil, Resolver of the configuration are filled in; StrictAudit is on.
func Resource(config op.Config, register func(*op.API)) http.Handler {
	config.Router, config.Version, config.StrictAudit = route.New(), "test", true
	if config.Resolver == nil {
		config.Resolver = Nothing{}
	}
	a := op.New(config)
	register(a)
	config.Router.Handle(http.MethodGet, "/api/openapi.json", func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
		_, _ = w.Write(a.Document()) // the reader may be gone
	})
	return a
}
