package api

import (
	"net/http"
	"sync"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
)

// serveDocument serves the OpenAPI document, and at /api/docs a redirect to the
// page that renders it. Both are public, because they contain nothing about
// this installation. The document is built at the first request. A build
// without the web page has no /api/docs.
func serveDocument(router *route.Router, a *op.API, withPage bool) {
	document := sync.OnceValue(a.Document)
	router.Handle(http.MethodGet, "/api/openapi.json", func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document()) // the reader may be gone
	})
	if !withPage {
		return
	}
	router.Handle(http.MethodGet, "/api/docs", func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
		w.Header().Set("Location", "../api-docs.html") // relative, for a proxy may serve both below a path of its own
		w.WriteHeader(http.StatusFound)
	})
}
