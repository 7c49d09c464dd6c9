// Package catalog is the HTTP resource of what can be installed: entries, their sources, and what is shown before anybody agrees to
// anything.
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

// Deps is what the resource works with.
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

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Catalog, deps.Installs, deps.Guests}
	const all = "/api/v1/catalog"
	const one = all + "/:slug"
	op.Get(a, all, h.list, op.Spec{
		ID: "list_catalog", Summary: "List what can be installed", Tag: tag, Role: identity.Viewer, On: op.Anywhere, Entitlement: entitlement,
		Description: "All entries of the sources that are switched on, as the last refresh found them; there are no pages. With " +
			"`entry_type=ct` " +
			"it has no variants: other builds of an entry which is in the list and can be installed, and which names them in its own answer. " +
			"`q` holds words that must all be in an entry's name, slug, tags, categories or description, in any case; who has them in the name " +
			"comes first where `sort` is absent. Where nothing has them, words may have a typo, or two from six letters on, in names and tags. " +
			"`sort` is `name`, `popularity`, `newest` or `updated`, and `name` when it is anything else.",
	})
	op.Get(a, all+"/status", h.status, op.Spec{
		ID: "get_catalog_status", Summary: "Tell how old the catalog is", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Entitlement: entitlement,
		Description: "The catalog is `stale` while it was never synced, or when its age exceeds the setting `catalog_stale_after_s`; its age " +
			"is " +
			"that of the source which was longest not synced. A source that has suddenly lost more than a fifth of its entries waits with that " +
			"(`held`) for an owner.",
	})
	op.Post(a, all+"/refresh", h.refresh, op.Spec{
		ID: "refresh_catalog", Summary: "Refresh the catalog", Tag: tag, Role: identity.Admin, Status: http.StatusAccepted,
		Job:   catalog.RefreshKind,
		Audit: op.Audit{Action: catalog.RefreshKind}, Recall: h.again,
		Description: "Answers with the job that asks all sources which are switched on, one after the other. What a source sends is taken " +
			"whole, " +
			"or not at all. Icons that are new are fetched too, and others looked at once a week. While a refresh is under " +
			"way, the answer is that one's job. Schedules can ask for the same.",
	})
	op.Get(a, one, h.entry, op.Spec{
		ID: "get_catalog_entry", Summary: "Get an entry of the catalog", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Entitlement: entitlement,
		Description: "All texts are plain, never markup.",
	})
	op.Picture(a, one+"/icon", h.icon, op.Spec{
		ID: "get_catalog_icon", Summary: "Get the icon of an entry", Tag: tag, Role: identity.Viewer, On: op.Anywhere, Entitlement: entitlement,
		Content: []string{"image/png", "image/webp", "image/jpeg"},
		Description: "As it was mirrored at the last refresh: nothing is fetched for a request. What it is was decided by its bytes. 404 " +
			"where an " +
			"entry has none, or there is no such entry.",
	})
	h.registerPlans(a, one)
	h.registerInstalls(a, one)
	h.registerLeftovers(a, all)
	h.registerSources(a, all+"/sources")
}

type listInput struct {
	Category  string `query:"category" maxLength:"1000" example:"documents" doc:"Only of this category"`
	Q         string `query:"q" maxLength:"200" example:"wiki" doc:"Words to look for, at most 12"`
	EntryType string `query:"entry_type" maxLength:"20" example:"ct" doc:"Only of this type"`
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

func (h handlers) refresh(ctx context.Context, _ *struct{}) (*op.Body[*catalog.Started], error) {
	started, err := h.catalog.Refresh(ctx)
	return &op.Body[*catalog.Started]{Body: started}, err
}

// again makes the answer of a refresh again, with its job as it is now.
func (h handlers) again(ctx context.Context, made idempotency.Made) (any, error) {
	return h.catalog.Started(ctx, made.JobID)
}

// Slugged names an entry.
type Slugged struct {
	Slug string `path:"slug" minLength:"1" maxLength:"130" example:"wiki" doc:"As slug of the list; its slash stands as %2F"`
}

func (h handlers) entry(ctx context.Context, in *struct{ Slugged }) (*op.Body[*catalog.Entry], error) {
	found, err := h.catalog.Entry(ctx, in.Slug)
	return &op.Body[*catalog.Entry]{Body: found}, err
}

func (h handlers) icon(ctx context.Context, in *struct{ Slugged }) (*op.Image, error) {
	icon, err := h.catalog.Icon(ctx, in.Slug)
	if err != nil {
		return nil, err
	}
	return &op.Image{Type: icon.Type, Data: icon.Data, Tag: icon.Name}, nil
}

// registerPlans declares what is shown before anybody agrees.
func (h handlers) registerPlans(a *op.API, one string) {
	op.Get(a, one+"/plan", h.plan, op.Spec{
		ID: "plan_catalog_entry", Summary: "Show what an install would run", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Entitlement: entitlement, Timeout: 5 * time.Minute,
		Description: "All that people should see before they agree that scripts run as root on a host of which they are an admin: every file " +
			"with " +
			"its checksum, what is different from what was last agreed to there, what gets more than the usual, what no pin reaches, and what is " +
			"in " +
			"the way. The bundle is made by the source at the catalog's pin when it is asked for first, verified, and kept from then on; `sum` " +
			"names its bytes, and consent is for these alone.\n\n" +
			"502 `catalog_source_error` where the source cannot give it, with a `reason`: `unreachable`, `timeout`, `untrusted`, `busy`, " +
			"`protocol` (what it sent is wrong), `not_installed`, or another word.",
	})
	op.Get(a, one+"/files", h.file, op.Spec{
		ID: "get_catalog_file", Summary: "Show a file of a bundle", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Entitlement: entitlement,
		Description: "One file of a bundle that is kept, as it would run. `sum` and `path` are those of the plan.",
	})
}

type planInput struct {
	Slugged
	Host    int64  `query:"host" required:"true" minimum:"1" example:"1" doc:"Id of the host"`
	Purpose string `query:"purpose" enum:"install,update" default:"install" doc:"What the bundle is for"`
}

func (h handlers) plan(ctx context.Context, in *planInput) (*op.Body[*catalog.Plan], error) {
	plan, err := h.catalog.Plan(ctx, in.Slug, in.Host, sdk.Purpose(in.Purpose))
	return &op.Body[*catalog.Plan]{Body: plan}, err
}

type fileInput struct {
	Slugged
	Sum  string `query:"sum" required:"true" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Checksum of the bundle"`
	Path string `query:"path" required:"true" minLength:"1" maxLength:"200" example:"install.sh" doc:"Path of the file in it"`
}

func (h handlers) file(ctx context.Context, in *fileInput) (*op.Body[*catalog.File], error) {
	file, err := h.catalog.File(ctx, in.Slug, in.Sum, in.Path)
	return &op.Body[*catalog.File]{Body: file}, err
}

// registerSources declares what owners do with sources.
func (h handlers) registerSources(a *op.API, all string) {
	op.Get(a, all, h.sources, op.Spec{
		ID: "list_catalog_sources", Summary: "List the sources of the catalog", Tag: tag, Role: identity.Admin,
		Description: "The plugins of the kind `catalog` that are installed, and sources that were configured and whose plugin is gone. One " +
			"that " +
			"was never switched on is off. Secrets are never told.",
	})
	op.Patch(a, all+"/:source", h.update, op.Spec{
		ID: "update_catalog_source", Summary: "Configure a source of the catalog", Tag: tag, Role: identity.Owner,
		Audit: op.Audit{Action: "catalog_source.update", Target: "source"},
		Description: "A source hands over what runs as root on hosts. So it is switched on only by an owner who has read whom one trusts by " +
			"that: " +
			"409 `consent_required` with `trust` and `trust_digest` until `trust_digest` is that of the statement. Where a later release of the " +
			"source says something else, it is not asked any more until that was read. `options` are by key what the list describes; those that " +
			"are given are set, null clears one, and all others stay. Addresses of private networks are dialled only with `allow_private`, and " +
			"loopback and link-local ones only where the service's configuration allows them. `popularity` has the source ask a third party how " +
			"much people install what. The entries of a source that is switched off are kept and not shown.\n\n" +
			"409 `invalid_state` where its plugin does not run on the instance that answers.",
	})
	op.Post(a, all+"/:source/accept", h.accept, op.Spec{
		ID: "accept_catalog_loss", Summary: "Accept that entries of a source go", Tag: tag, Role: identity.Owner,
		Status: http.StatusAccepted, Job: catalog.RefreshKind, Audit: op.Audit{Action: "catalog_source.accept", Target: "source"},
		Recall: h.again,
		Description: "A source that suddenly has more than a fifth fewer entries is not believed: nothing of that refresh is taken, and " +
			"`held` of the " +
			"source tells what would go. `digest` there names the loss that is accepted. Answers with the job that refreshes the catalog; what " +
			"goes by it is no more than what was accepted.\n\n409 `invalid_state` while nothing waits, `plan_stale` when another loss waits by " +
			"now, `conflict` while a refresh is under way.",
	})
}

func (h handlers) sources(ctx context.Context, _ *struct{}) (*op.List[*catalog.Source], error) {
	all, err := h.catalog.SourceList(ctx)
	return &op.List[*catalog.Source]{Total: len(all), Body: all}, err
}

// Named names a source.
type Named struct {
	Name string `path:"source" pattern:"^[a-z0-9][a-z0-9_-]*$" maxLength:"63" example:"scripts" doc:"As name of the list"`
}

type updateInput struct {
	Named
	Body struct {
		Enabled      op.Optional[bool]      `json:"enabled,omitzero" nullable:"false"`
		AllowPrivate op.Optional[bool]      `json:"allow_private,omitzero" nullable:"false"`
		Popularity   op.Optional[bool]      `json:"popularity,omitzero" nullable:"false"`
		TrustDigest  op.Optional[string]    `json:"trust_digest,omitzero" nullable:"false" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Of the statement that was read; as in the list"`
		Options      op.Optional[op.Object] `json:"options,omitzero" nullable:"false" example:"{\"note\":\"text\"}" doc:"Texts by key; null clears one. What is secret is stored encrypted and never shown again"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[*catalog.Source], error) {
	b := &in.Body
	edit := catalog.Edit{Enabled: b.Enabled.Pointer(), AllowPrivate: b.AllowPrivate.Pointer(), Popularity: b.Popularity.Pointer(),
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

// options are texts and nulls by key. No value is repeated: it may be a secret.
func options(given op.Object) (map[string]*secret.String, error) {
	var texts map[string]*string
	if err := json.Unmarshal(given, &texts); err != nil {
		return nil, problem.InvalidField("must be an object of texts and nulls", "value_error", "body", "options")
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
	Named
	Body struct {
		Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"As in held of the source"`
	}
}

func (h handlers) accept(ctx context.Context, in *acceptInput) (*op.Body[*catalog.Started], error) {
	started, err := h.catalog.Accept(ctx, in.Name, in.Body.Digest)
	return &op.Body[*catalog.Started]{Body: started}, err
}
