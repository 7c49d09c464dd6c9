package firewall

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall/draft"
	"github.com/hostler/hostler/core/firewall/template"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
)

// registerTemplates declares the operations on templates. A template is a named
// set of rules, aliases, IP sets and options, from which drafts are created.
func (h handlers) registerTemplates(a *op.API) {
	const all, one = "/api/v1/firewall/templates", "/api/v1/firewall/templates/:template_id"
	op.Post(a, all, h.createTemplate, op.Spec{
		ID: "create_firewall_template", Summary: "Create a firewall template", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Status: http.StatusCreated, Audit: op.Audit{Action: "firewall.template_create"}, Replay: h.templateAgain,
		Description: "A named set of rules, with their aliases, IP sets and options, that this service stores. It belongs " +
			"to a team, by default the team `default`, of which the caller must be an operator. All teams can use `shared` templates of the " +
			"default team. Whether a hypervisor supports a macro, a group or an option is checked when the template is applied to a scope. " +
			"Names need not be unique. A team has at most 200 templates; creating more is 409 `conflict`.",
	})
	op.Get(a, all, h.listTemplates, op.Spec{
		ID: "list_firewall_templates", Summary: "List firewall templates", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the templates of the caller's teams and shared ones, by name, without their content; get a " +
			"template to see it.",
	})
	op.Get(a, one, h.getTemplate, op.Spec{
		ID: "get_firewall_template", Summary: "Get a firewall template", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Returns a template of one of the caller's teams, or a shared one; any other is 404.",
	})
	op.Put(a, one, h.changeTemplate, op.Spec{
		ID: "change_firewall_template", Summary: "Replace a firewall template", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Audit: op.Audit{Action: "firewall.template_change", Target: "template_id"},
		Description: "Replaces the template. Scopes to which it was applied do not change: create a draft from it " +
			"again to update them. An outdated `version` is 409 `digest_conflict` with the current template in " +
			"`current`.",
	})
	op.Delete(a, one, h.deleteTemplate, op.Spec{
		ID: "delete_firewall_template", Summary: "Delete a firewall template", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Audit: op.Audit{Action: "firewall.template_delete", Target: "template_id"},
		Description: "Deletes the template. Drafts that were created from it, and scopes to which it was applied, are " +
			"kept.",
	})
	op.Post(a, one+"/drafts", h.fillFromTemplate, op.Spec{
		ID: "create_firewall_draft_of_template", Summary: "Create a firewall draft from a template", Tag: tag, Role: identity.Operator,
		On: op.Anywhere, Calls: true, Status: http.StatusCreated, Timeout: changeTime, Replay: h.draftAgain,
		Audit: op.Audit{Action: "firewall.draft_create"},
		Description: "Creates a draft with the changes that the scopes lack. Existing aliases, set members and " +
			"rules are left out, even rules that differ only in the comment. An alias that exists in a scope with " +
			"another value is 422. Options are set. With `replace`, the rules of each scope become exactly those of " +
			"the template, and so do its aliases and the members of its sets; aliases and sets with other names are " +
			"kept. The firewall does not change before the draft is committed. 409 `invalid_state` if nothing would " +
			"change.",
	})
}

type createTemplateInput struct {
	Body struct {
		template.Input
		TeamID int64 `json:"team_id,omitempty" minimum:"1" default:"1" example:"1" doc:"Team that owns it"`
	}
}

func (h handlers) createTemplate(ctx context.Context, in *createTemplateInput) (*op.Body[template.Template], error) {
	made, err := h.Templates.Create(ctx, in.Body.TeamID, in.Body.Input)
	return &op.Body[template.Template]{Body: made}, err
}

// templateAgain rebuilds the answer of createTemplate for a repeated
// Idempotency-Key, with the current state of the template.
func (h handlers) templateAgain(ctx context.Context, made idempotency.Result) (any, error) {
	return h.Templates.Get(ctx, made.Target())
}

func (h handlers) listTemplates(ctx context.Context, in *struct{ op.Page }) (*op.List[template.Summary], error) {
	all, total, err := h.Templates.List(ctx, in.Offset(), in.Limit())
	return &op.List[template.Summary]{Total: total, Body: all}, err
}

// TemplatePath has the path parameter of a template.
type TemplatePath struct {
	ID int64 `path:"template_id" doc:"ID of the template"`
}

func (h handlers) getTemplate(ctx context.Context, in *TemplatePath) (*op.Body[template.Template], error) {
	found, err := h.Templates.Get(ctx, in.ID)
	return &op.Body[template.Template]{Body: found}, err
}

type changeTemplateInput struct {
	TemplatePath
	Body struct {
		template.Input
		Version int64 `json:"version" minimum:"1" example:"1" doc:"Version of the template that you read"`
	}
}

func (h handlers) changeTemplate(ctx context.Context, in *changeTemplateInput) (*op.Body[template.Template], error) {
	now, err := h.Templates.Replace(ctx, in.ID, in.Body.Version, in.Body.Input)
	return &op.Body[template.Template]{Body: now}, err
}

func (h handlers) deleteTemplate(ctx context.Context, in *TemplatePath) (*op.Empty, error) {
	return nil, h.Templates.Delete(ctx, in.ID)
}

type fillInput struct {
	TemplatePath
	Body struct {
		HostID  int64            `json:"host_id" minimum:"1" example:"1" doc:"A host of the cluster, through which the service connects"`
		Name    string           `json:"name,omitempty" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*$" example:"web server for shop" doc:"Name of the draft; the name of the template if absent"`
		Scopes  []draft.ScopeRef `json:"scopes" minItems:"1" maxItems:"20" example:"[{\"kind\":\"vm\",\"id\":12}]"`
		Replace bool             `json:"replace,omitempty" doc:"Remove what the template does not contain"`
		Pos     int              `json:"pos,omitempty" minimum:"0" maximum:"100000" doc:"Position of added rules; a scope with fewer rules gets them at the end"`
	}
}

func (h handlers) fillFromTemplate(ctx context.Context, in *fillInput) (*op.Body[draft.Draft], error) {
	made, err := h.Templates.Fill(ctx, in.ID, template.Filling{HostID: in.Body.HostID, Name: in.Body.Name, Scopes: in.Body.Scopes,
		Replace: in.Body.Replace, Pos: in.Body.Pos})
	return &op.Body[draft.Draft]{Body: made}, err
}
