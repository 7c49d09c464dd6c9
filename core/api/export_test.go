package api

import (
	"encoding/json"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
)

// RenderDocs renders the page of any document.
var RenderDocs = renderDocs

// Members is a JSON object that keeps its order.
type (
	Members = ordered[json.RawMessage]
	Member  = entry[json.RawMessage]
)

// Resource is a resource's folder and the ids of its operations.
type Resource struct {
	Folder     string
	Operations []string
}

// Resources lists them in the order of registration.
func Resources() (all []Resource) {
	a := op.New(op.Config{Router: route.New(), Fallback: http.NotFoundHandler()})
	for _, r := range resources {
		before := len(a.Operations())
		r.register(a, Deps{})
		of := Resource{Folder: r.folder}
		for _, o := range a.Operations()[before:] {
			of.Operations = append(of.Operations, o.Spec.ID)
		}
		all = append(all, of)
	}
	return all
}
