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

// registerTemplates declares the operations on templates.
func (h handlers) registerTemplates(a *op.API) {
	const all, one = "/api/v1/firewall/templates", "/api/v1/firewall/templates/:template_id"
	op.Post(a, all, h.createTemplate, op.Spec{
		ID: "create_firewall_template", Summary: "Make a template of rules", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Status: http.StatusCreated, Audit: op.Audit{Action: "firewall.template_create"}, Recall: h.templateAgain,
		Description: "A named set of rules, with the aliases, IP sets and options that belong to them, which this service keeps. It belongs " +
			"to a team, the default team without `team_id`, of which the caller must be an operator; `shared` ones of the default " +
			"team are for all. Whether a hypervisor knows a macro, a group or an option shows when a template is put into a scope. " +
			"Names need not be unique. A team has at most 200 templates, beyond that 409 `conflict`.",
	})
	op.Get(a, all, h.listTemplates, op.Spec{
		ID: "list_firewall_templates", Summary: "List templates of rules", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Those of the caller's teams and shared ones, by name, without their contents; get a template to see them.",
	})
	op.Get(a, one, h.getTemplate, op.Spec{
		ID: "get_firewall_template", Summary: "Get a template of rules", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "One of the caller's teams, or a shared one; any other is 404.",
	})
	op.Put(a, one, h.changeTemplate, op.Spec{
		ID: "change_firewall_template", Summary: "Replace a template of rules", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Audit: op.Audit{Action: "firewall.template_change", Target: "template_id"},
		Description: "What was filled with it before stays as it is: make a draft of it again where it shall be different. A `version` " +
			"that is another by now is 409 `digest_conflict` with the template as it is in `current`.",
	})
	op.Delete(a, one, h.deleteTemplate, op.Spec{
		ID: "delete_firewall_template", Summary: "Forget a template of rules", Tag: tag, Role: identity.Operator, On: op.Anywhere,
		Audit:       op.Audit{Action: "firewall.template_delete", Target: "template_id"},
		Description: "Drafts that were made of it, and what was filled with it, stay.",
	})
	op.Post(a, one+"/drafts", h.fillFromTemplate, op.Spec{
		ID: "create_firewall_draft_of_template", Summary: "Put a template into firewalls, as a draft", Tag: tag, Role: identity.Operator,
		On: op.Anywhere, Calls: true, Status: http.StatusCreated, Timeout: changeTime, Recall: h.draftAgain,
		Audit: op.Audit{Action: "firewall.draft_create"},
		Description: "The draft has the changes that the scopes lack. Aliases, members of sets and rules that they have already are left " +
			"out, a rule also where only its comment differs; an alias that stands for something else there is 422, options are " +
			"set. With `replace` the rules of each scope are exactly the template's afterwards, and so are its aliases and the " +
			"members of its sets; those of other names stay. Nothing happens to the firewall before the draft is committed. 409 " +
			"`invalid_state` where nothing would change.",
	})
}

type createTemplateInput struct {
	Body struct {
		template.Wish
		TeamID int64 `json:"team_id,omitempty" minimum:"1" default:"1" example:"1" doc:"The team that owns it"`
	}
}

func (h handlers) createTemplate(ctx context.Context, in *createTemplateInput) (*op.Body[template.Template], error) {
	made, err := h.Templates.Create(ctx, in.Body.TeamID, in.Body.Wish)
	return &op.Body[template.Template]{Body: made}, err
}

// templateAgain makes the answer of createTemplate again, with the template as it is now.
func (h handlers) templateAgain(ctx context.Context, made idempotency.Made) (any, error) {
	return h.Templates.Get(ctx, made.Target())
}

func (h handlers) listTemplates(ctx context.Context, in *struct{ op.Page }) (*op.List[template.Summary], error) {
	all, total, err := h.Templates.List(ctx, in.Offset(), in.Limit())
	return &op.List[template.Summary]{Total: total, Body: all}, err
}

// OneTemplate names a template in the path.
type OneTemplate struct {
	ID int64 `path:"template_id" doc:"The template's id"`
}

func (h handlers) getTemplate(ctx context.Context, in *OneTemplate) (*op.Body[template.Template], error) {
	found, err := h.Templates.Get(ctx, in.ID)
	return &op.Body[template.Template]{Body: found}, err
}

type changeTemplateInput struct {
	OneTemplate
	Body struct {
		template.Wish
		Version int64 `json:"version" minimum:"1" example:"1" doc:"That of the template which you have read"`
	}
}

func (h handlers) changeTemplate(ctx context.Context, in *changeTemplateInput) (*op.Body[template.Template], error) {
	now, err := h.Templates.Replace(ctx, in.ID, in.Body.Version, in.Body.Wish)
	return &op.Body[template.Template]{Body: now}, err
}

func (h handlers) deleteTemplate(ctx context.Context, in *OneTemplate) (*op.Empty, error) {
	return nil, h.Templates.Delete(ctx, in.ID)
}

type fillInput struct {
	OneTemplate
	Body struct {
		HostID  int64      `json:"host_id" minimum:"1" example:"1" doc:"A host of the cluster, by which it is asked"`
		Name    string     `json:"name,omitempty" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*$" example:"web server for shop" doc:"Of the draft; that of the template without it"`
		Scopes  []draft.On `json:"scopes" minItems:"1" maxItems:"20" example:"[{\"kind\":\"vm\",\"id\":12}]"`
		Replace bool       `json:"replace,omitempty" doc:"Take away what the template does not have"`
		Pos     int        `json:"pos,omitempty" minimum:"0" maximum:"100000" doc:"Where the rules are put that a scope lacks; at the end where it has fewer"`
	}
}

func (h handlers) fillFromTemplate(ctx context.Context, in *fillInput) (*op.Body[draft.Draft], error) {
	made, err := h.Templates.Fill(ctx, in.ID, template.Filling{HostID: in.Body.HostID, Name: in.Body.Name, Scopes: in.Body.Scopes,
		Replace: in.Body.Replace, Pos: in.Body.Pos})
	return &op.Body[draft.Draft]{Body: made}, err
}
