// Package search is the HTTP resource of the search over guests, hosts, nodes,
// storages, schedules, the catalog and jobs. Package core/search parses the
// query and ranks the results.
package search

import (
	"context"
	"strings"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/search"
)

// Deps has what the operations of this package need.
type Deps struct{ Search *search.Store }

type handlers struct{ search *search.Store }

// Register declares the operation of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Search}
	op.Get(a, "/api/v1/search", h.find, op.Spec{
		ID: "search", Summary: "Search guests, hosts, nodes, storages, schedules, the catalog and jobs", Tag: "Search",
		Role: identity.Viewer, On: op.Anywhere,
		Description: "Searches what the caller can see, best match first, as of the last polls. `q` consists of words " +
			"and fields separated by spaces, all of which must match, such as `web tag:prod status:running`. A word " +
			"matches any part of names, IDs, addresses, tags, nodes, hosts and clusters, case-insensitive; exact names " +
			"come first, then names that start with the word, then names that contain it. The fields are `" +
			strings.Join(search.Fields, "`, `") +
			"`: the whole value must match, and `*` matches any text (`node:rack*`, `ip:10.0.0.*`). `is` accepts " +
			"`guest`, `vm`, `container`, `app`, `template`, `host`, `node`, `storage`, `schedule`, `catalog` or " +
			"`job`; `kind` is the kind of a job, `type` the type of a storage, and `team` and `host` accept an ID, " +
			"too. A hyphen before a word or field negates it (`-tag:test`), and quotation marks keep spaces " +
			"(`team:\"web shop\"`). An object that lacks a field does not match it. A field without a value is " +
			"ignored, and any other word with a colon is a plain word. Without `q`, everything is listed. Only the " +
			"newest 1000 jobs are searched; older ones are found by their ID. Schedules are included for users with " +
			"a role in the default team.",
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
