// Package search is the HTTP resource of the search over things of all kinds.
package search

import (
	"context"
	"strings"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/search"
)

// Deps is what the resource works with.
type Deps struct{ Search *search.Store }

type handlers struct{ search *search.Store }

// Register declares the operation.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Search}
	op.Get(a, "/api/v1/search", h.find, op.Spec{
		ID: "search", Summary: "Search guests, hosts, nodes, storages, schedules, the catalog and jobs", Tag: "Search",
		Role: identity.Viewer, On: op.Anywhere,
		Description: "Finds what the caller may see, the best first, as the last polls found it. `q` holds words and fields with " +
			"blanks between them, all of which must fit, such as `web tag:prod status:running`. A word may stand anywhere in " +
			"names, numbers, addresses, tags, nodes, hosts and clusters, in any case; who is called exactly so comes first, " +
			"then whose name begins with it or has it. The fields are `" + strings.Join(search.Fields, "`, `") +
			"`: the whole value must fit, and `*` in it " +
			"stands for anything (`node:rack*`, `ip:10.0.0.*`). `is` takes `guest`, `vm`, `container`, `app`, `template`, " +
			"`host`, `node`, `storage`, `schedule`, `catalog` or `job`; `kind` is that of a job, `type` that of a storage, and `team` " +
			"and `host` take an id too. A hyphen before a word or field turns it round (`-tag:test`), and quotation marks " +
			"keep blanks together (`team:\"web shop\"`). What has no such field is not found by it. A field without a value " +
			"says nothing, and a word with any other colon is a word. Without `q` everything is listed. Of jobs the newest " +
			"1000 are looked at, and older ones by their id. Schedules are found by those who have a role in the default " +
			"team.",
	})
}

type findInput struct {
	op.Page
	Q string `query:"q" maxLength:"200" example:"web tag:prod" doc:"Words and fields, at most 12"`
}

func (h handlers) find(ctx context.Context, in *findInput) (*op.List[search.Hit], error) {
	found, total, err := h.search.Find(ctx, in.Q, identity.FromContext(ctx).Visible(), in.Offset(), in.Limit())
	return &op.List[search.Hit]{Total: total, Body: found}, err
}
