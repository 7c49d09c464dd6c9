package apitest

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
)

// Resource is the handler of a single resource, with the document that Matrix and Garbage read. Router, Version and,
// where it is nil, Resolver of the configuration are filled in; StrictAudit is on.
func Resource(config op.Config, register func(*op.API)) http.Handler {
	config.Router, config.Version, config.StrictAudit = route.New(), "test", true
	if config.Resolver == nil {
		config.Resolver = EmptyResolver{}
	}
	a := op.New(config)
	register(a)
	document := documentOf(a, register)
	config.Router.Handle(http.MethodGet, "/api/openapi.json", func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
		_, _ = w.Write(document()) // the reader may be gone
	})
	return a
}

// documents are the OpenAPI documents of resources, by the function that registers them and their operations. Each fixture of a package
// registers the same ones, and writing their document each time would be a third of the work of the tests of resources.
var documents sync.Map

func documentOf(a *op.API, register func(*op.API)) func() []byte {
	var operations strings.Builder
	fmt.Fprintln(&operations, reflect.ValueOf(register).Pointer()) // of the code: other functions may register other operations there
	for _, o := range a.Operations() {
		operations.WriteString(o.Method + " " + o.Path + "\n")
	}
	once, _ := documents.LoadOrStore(operations.String(), sync.OnceValue(a.Document))
	return once.(func() []byte)
}
