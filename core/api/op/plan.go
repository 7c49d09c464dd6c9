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

// PlanParams is embedded into the input of every operation whose Spec has a
// Plan. With plan=true the operation returns what it would do and changes
// nothing. With plan_digest it refuses to act if the plan has changed since the
// caller reviewed it. The domain package computes the plan; see package plan.
type PlanParams struct {
	Plan       bool   `query:"plan" doc:"Return the plan with status 200 and change nothing"`
	PlanDigest string `query:"plan_digest" maxLength:"64" example:"5f2b0c9e81d4a7f3" doc:"Digest of the plan that you reviewed; 409 plan_stale if the plan has changed"`
}

// question returns the request for a plan that the parameters express.
func (p PlanParams) question() plan.Request { return plan.Request{Only: p.Plan, Digest: p.PlanDigest} }

// questioner is an input that embeds PlanParams.
type questioner interface{ question() plan.Request }

// planned reports whether a request asks only for a plan. It reads the query
// itself, because it is asked before the input is bound.
func (o *Operation) planned(query url.Values) bool {
	only, err := strconv.ParseBool(query.Get("plan"))
	return o.Spec.Plan && err == nil && only
}

// planResponse carries a plan through huma as an error, because huma lets an
// error have a status and a body of its own.
type planResponse struct{ plan *plan.Plan }

var _ huma.StatusError = planResponse{}

// Error, GetStatus, ContentType and MarshalJSON let a plan travel as the error
// of a handler.
func (planResponse) Error() string                  { return "a plan" }
func (planResponse) GetStatus() int                 { return http.StatusOK }
func (planResponse) ContentType(string) string      { return "application/json" }
func (p planResponse) MarshalJSON() ([]byte, error) { return json.Marshal(p.plan) }

// documentPlan adds the plan to the documented answers of an operation that has
// one. An operation that already answers 200 gets both schemas.
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
