// Package catalog is the HTTP resource of the catalog of apps. Its operations
//
//   - list entries with their icons, and the status of the catalog
//   - show the plan of an installation and the files of a bundle, before the
//     user agrees to them
//   - install an entry, and remove the container of a failed installation
//     (install.go)
//   - configure the sources, and accept the removal of many entries
package catalog

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Deps has what the operations of this package need.
type Deps struct {
	Catalog  *catalog.Store
	Installs *install.Store
	Guests   *guest.Store
}

type handlers struct {
	catalog  *catalog.Store
	installs *install.Store
	guests   *guest.Store
}

const (
	tag         = "Catalog"
	entitlement = "store.catalog"
)

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Catalog, deps.Installs, deps.Guests}
	const all = "/api/v1/catalog"
	const one = all + "/:slug"
	op.Get(a, all, h.list, op.Spec{
		ID: "list_catalog", Summary: "List catalog entries", Tag: tag, Role: identity.Viewer, On: op.Anywhere, Entitlement: entitlement,
		Description: "Lists all entries of the enabled sources as of the last refresh, without paging. `entry_type=ct` " +
			"omits variants of an entry that is in the list and can be installed; that entry lists its variants. `q` " +
			"consists of words that must all occur in the name, slug, tags, categories or description of an entry, " +
			"case-insensitive; matches in the name come first unless `sort` is given. If nothing matches, words may " +
			"contain one typo, or two from six letters on, in names and tags. `sort` is `name`, `popularity`, `newest` " +
			"or `updated`; any other value means `name`.",
	})
	op.Get(a, all+"/status", h.status, op.Spec{
		ID: "get_catalog_status", Summary: "Get the status of the catalog", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Entitlement: entitlement,
		Description: "The catalog is `stale` if it was never synced or its age exceeds the setting " +
			"`catalog_stale_after_s`. Its age is that of the source whose last sync is the oldest. If a source " +
			"suddenly loses more than a fifth of its entries, their removal waits for the approval of an owner " +
			"(`held`).",
	})
	op.Post(a, all+"/refresh", h.refresh, op.Spec{
		ID: "refresh_catalog", Summary: "Refresh the catalog", Tag: tag, Role: identity.Admin, Status: http.StatusAccepted,
		Job:   catalog.RefreshKind,
		Audit: op.Audit{Action: catalog.RefreshKind}, Replay: h.again,
		Description: "Starts a job that refreshes all enabled sources, one after the other. The data of a source is " +
			"accepted completely or not at all. New icons are downloaded too, and existing ones are checked once a " +
			"week. While a refresh is running, the response is its job. Schedules can start a refresh, too.",
	})
	op.Get(a, one, h.entry, op.Spec{
		ID: "get_catalog_entry", Summary: "Get a catalog entry", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Entitlement: entitlement,
		Description: "All texts are plain text without markup.",
	})
	op.GetImage(a, one+"/icon", h.icon, op.Spec{
		ID: "get_catalog_icon", Summary: "Get the icon of a catalog entry", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Entitlement: entitlement,
		Content:     []string{"image/png", "image/webp", "image/jpeg"},
		Description: "Returns the icon as stored at the last refresh; nothing is downloaded for a request. The media " +
			"type was detected from its content. 404 if the entry has no icon or does not exist.",
	})
	h.registerPlans(a, one)
	h.registerInstalls(a, one)
	h.registerLeftovers(a, all)
	h.registerSources(a, all+"/sources")
}

type listInput struct {
	Category  string `query:"category" maxLength:"1000" example:"documents" doc:"Only entries of this category"`
	Q         string `query:"q" maxLength:"200" example:"wiki" doc:"Search words, at most 12"`
	EntryType string `query:"entry_type" maxLength:"20" example:"ct" doc:"Only entries of this type"`
	Sort      string `query:"sort" maxLength:"40" example:"newest" doc:"name, popularity, newest or updated"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[catalog.Item], error) {
	found, err := h.catalog.List(ctx, catalog.Filter{Category: in.Category, Query: in.Q, EntryType: in.EntryType, Sort: in.Sort})
	return &op.List[catalog.Item]{Total: len(found), Body: found}, err
}

func (h handlers) status(ctx context.Context, _ *struct{}) (*op.Body[*catalog.Status], error) {
	status, err := h.catalog.Status(ctx)
	return &op.Body[*catalog.Status]{Body: status}, err
}

func (h handlers) refresh(ctx context.Context, _ *struct{}) (*op.Body[*catalog.RefreshResult], error) {
	started, err := h.catalog.Refresh(ctx)
	return &op.Body[*catalog.RefreshResult]{Body: started}, err
}

// again rebuilds the answer of refresh for a repeated Idempotency-Key, with the
// current state of its job.
func (h handlers) again(ctx context.Context, made idempotency.Result) (any, error) {
	return h.catalog.ReplayRefresh(ctx, made.JobID)
}

// EntryPath has the path parameter of a catalog entry.
type EntryPath struct {
	Slug string `path:"slug" minLength:"1" maxLength:"130" example:"wiki" doc:"Slug as in the list; encode its slash as %2F"`
}

func (h handlers) entry(ctx context.Context, in *struct{ EntryPath }) (*op.Body[*catalog.Entry], error) {
	found, err := h.catalog.Entry(ctx, in.Slug)
	return &op.Body[*catalog.Entry]{Body: found}, err
}

func (h handlers) icon(ctx context.Context, in *struct{ EntryPath }) (*op.Image, error) {
	icon, err := h.catalog.Icon(ctx, in.Slug)
	if err != nil {
		return nil, err
	}
	return &op.Image{Type: icon.Type, Data: icon.Data, Tag: icon.Name}, nil
}

// registerPlans declares the operations that show what an installation would
// do.
func (h handlers) registerPlans(a *op.API, one string) {
	op.Get(a, one+"/plan", h.plan, op.Spec{
		ID: "plan_catalog_entry", Summary: "Show the plan of an installation", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Entitlement: entitlement, Timeout: 5 * time.Minute,
		Description: "Returns what a user should review before consenting to run scripts as root on a host: every file " +
			"with its checksum, the difference from the bundle that was last consented to there, additional " +
			"privileges, unpinned downloads, and blockers. The caller must be an admin of the host. The source builds " +
			"the bundle at the pinned commit of the catalog on the first request; the bundle is then verified and " +
			"stored. `sum` identifies its bytes, and consent applies only to them.\n\n" +
			"502 `catalog_source_error` if the source cannot provide the bundle, with a `reason`: `unreachable`, " +
			"`timeout`, `untrusted`, `busy`, `protocol` (invalid data), `not_installed`, or a reason of " +
			"the source's own.",
	})
	op.Get(a, one+"/files", h.file, op.Spec{
		ID: "get_catalog_file", Summary: "Show a file of a bundle", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Entitlement: entitlement,
		Description: "Returns one file of a stored bundle as it would run. `sum` and `path` are those of the plan.",
	})
}

type planInput struct {
	EntryPath
	Host    int64  `query:"host" required:"true" minimum:"1" example:"1" doc:"ID of the host"`
	Purpose string `query:"purpose" enum:"install,update" default:"install" doc:"Purpose of the bundle"`
}

func (h handlers) plan(ctx context.Context, in *planInput) (*op.Body[*catalog.Plan], error) {
	plan, err := h.catalog.Plan(ctx, in.Slug, in.Host, sdk.Purpose(in.Purpose))
	return &op.Body[*catalog.Plan]{Body: plan}, err
}

type fileInput struct {
	EntryPath
	Sum  string `query:"sum" required:"true" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the bundle"`
	Path string `query:"path" required:"true" minLength:"1" maxLength:"200" example:"install.sh" doc:"Path of the file in the bundle"`
}

func (h handlers) file(ctx context.Context, in *fileInput) (*op.Body[*catalog.File], error) {
	file, err := h.catalog.File(ctx, in.Slug, in.Sum, in.Path)
	return &op.Body[*catalog.File]{Body: file}, err
}

// registerSources declares the operations on catalog sources.
func (h handlers) registerSources(a *op.API, all string) {
	op.Get(a, all, h.sources, op.Spec{
		ID: "list_catalog_sources", Summary: "List catalog sources", Tag: tag, Role: identity.Admin,
		Description: "Lists the installed plugins of the kind `catalog`, and configured sources whose plugin is " +
			"missing. A source is disabled until an owner enables it. Secrets are never returned.",
	})
	op.Patch(a, all+"/:source", h.update, op.Spec{
		ID: "update_catalog_source", Summary: "Configure a catalog source", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "catalog_source.update", Target: "source"},
		Description: "A source provides scripts that run as root on hosts. Therefore an owner must read its trust " +
			"statement to enable it: 409 `consent_required` with `trust` and `trust_digest` until `trust_digest` is " +
			"sent. If a later release of the source changes the statement, the source is not used until an owner has " +
			"accepted the new one. `options` are those that the list describes, by key: given options are set, null " +
			"clears one, and all others are kept. The source may connect to private addresses only with " +
			"`allow_private`, and to loopback and link-local addresses only if the configuration of the service allows " +
			"it. `popularity` makes the source ask a third party how often entries are installed. The entries of a " +
			"disabled source are kept but not shown.\n\n" +
			"409 `invalid_state` if its plugin is not running on the instance that responds.",
	})
	op.Post(a, all+"/:source/accept", h.accept, op.Spec{
		ID: "accept_catalog_loss", Summary: "Accept the removal of catalog entries", Tag: tag, Role: identity.Owner,
		Status: http.StatusAccepted, Job: catalog.RefreshKind, Audit: op.Audit{Action: "catalog_source.accept", Target: "source"},
		Replay: h.again,
		Description: "If a source suddenly has more than a fifth fewer entries, the refresh is rejected as a whole, " +
			"and `held` of the source lists the entries that would be removed. To accept their removal, send the " +
			"`digest` in `held`. This starts a job that refreshes the catalog and removes no more entries than you " +
			"accepted.\n\n" +
			"409 `invalid_state` if no removal is waiting, `plan_stale` if a different removal is waiting, " +
			"`conflict` while a refresh is running.",
	})
}

func (h handlers) sources(ctx context.Context, _ *struct{}) (*op.List[*catalog.Source], error) {
	all, err := h.catalog.SourceList(ctx)
	return &op.List[*catalog.Source]{Total: len(all), Body: all}, err
}

// SourcePath has the path parameter of a source.
type SourcePath struct {
	Name string `path:"source" pattern:"^[a-z0-9][a-z0-9_-]*$" maxLength:"63" example:"scripts" doc:"Name as in the list"`
}

type updateInput struct {
	SourcePath
	Body struct {
		Enabled      op.Optional[bool]      `json:"enabled,omitzero" nullable:"false"`
		AllowPrivate op.Optional[bool]      `json:"allow_private,omitzero" nullable:"false"`
		Popularity   op.Optional[bool]      `json:"popularity,omitzero" nullable:"false"`
		TrustDigest  op.Optional[string]    `json:"trust_digest,omitzero" nullable:"false" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Digest of the statement that you read, as in the list"`
		Options      op.Optional[op.Object] `json:"options,omitzero" nullable:"false" example:"{\"note\":\"text\"}" doc:"Options by key; null clears one. Secrets are stored encrypted and never shown again"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[*catalog.Source], error) {
	b := &in.Body
	edit := catalog.SourceChange{Enabled: b.Enabled.Pointer(), AllowPrivate: b.AllowPrivate.Pointer(), Popularity: b.Popularity.Pointer(),
		TrustDigest: b.TrustDigest.Pointer()}
	if b.Options.Set {
		var err error
		if edit.Options, err = options(b.Options.Value); err != nil {
			return nil, err
		}
	}
	now, err := h.catalog.Update(ctx, in.Name, edit)
	return &op.Body[*catalog.Source]{Body: now}, err
}

// options returns the options of a source. Each value is a string, or null to
// clear it. A fault does not repeat the value, which may be a secret.
func options(given op.Object) (map[string]*secret.String, error) {
	var texts map[string]*string
	if err := json.Unmarshal(given, &texts); err != nil {
		return nil, problem.InvalidField("must be an object of strings and nulls", "value_error", "body", "options")
	}
	all := make(map[string]*secret.String, len(texts))
	for key, value := range texts {
		all[key] = nil
		if value != nil {
			all[key] = new(secret.New(*value))
		}
	}
	return all, nil
}

type acceptInput struct {
	SourcePath
	Body struct {
		Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Value of held.digest of the source"`
	}
}

func (h handlers) accept(ctx context.Context, in *acceptInput) (*op.Body[*catalog.RefreshResult], error) {
	started, err := h.catalog.Accept(ctx, in.Name, in.Body.Digest)
	return &op.Body[*catalog.RefreshResult]{Body: started}, err
}
