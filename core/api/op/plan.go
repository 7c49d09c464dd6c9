package op

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/plan"
)

// Planned is embedded into the input of an operation whose Spec has a Plan. The
// noun tells the plan; see package plan.
type Planned struct {
	Plan       bool   `query:"plan" doc:"Return the plan with status 200 and change nothing"`
	PlanDigest string `query:"plan_digest" maxLength:"64" example:"5f2b0c9e81d4a7f3" doc:"Digest of the plan that you reviewed; 409 plan_stale if the plan has changed"`
}

// question is what the request wants with regard to the plan.
func (p Planned) question() plan.Question { return plan.Question{Only: p.Plan, Digest: p.PlanDigest} }

// questioner is an input that embeds Planned.
type questioner interface{ question() plan.Question }

// planned reports whether a request asks for a plan only, before its input is bound.
func (o *Operation) planned(query url.Values) bool {
	only, err := strconv.ParseBool(query.Get("plan"))
	return o.Spec.Plan && err == nil && only
}

// plannedAnswer is a plan on its way through huma, which lets an error have a
// status and a body of its own.
type plannedAnswer struct{ plan *plan.Plan }

var _ huma.StatusError = plannedAnswer{}

// Error, GetStatus, ContentType and MarshalJSON let a plan travel as the error
// of a handler.
func (plannedAnswer) Error() string                  { return "a plan" }
func (plannedAnswer) GetStatus() int                 { return http.StatusOK }
func (plannedAnswer) ContentType(string) string      { return "application/json" }
func (p plannedAnswer) MarshalJSON() ([]byte, error) { return json.Marshal(p.plan) }

// documentPlan enters the plan among the answers of an operation that has one.
func (a *API) documentPlan(o *Operation, declared *huma.Operation) {
	if !o.Spec.Plan {
		return
	}
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[plan.Plan](), true, "")
	answer := declared.Responses["200"]
	if answer == nil || len(answer.Content) == 0 {
		declared.Responses["200"] = &huma.Response{
			Description: "With plan=true: the plan", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
		}
		return
	}
	media := answer.Content["application/json"]
	media.Schema = &huma.Schema{OneOf: []*huma.Schema{media.Schema, schema}}
	answer.Description += "; with plan=true: the plan"
}
