package op

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
)

// wildcard matches the placeholders of a router pattern.
var wildcard = regexp.MustCompile(`[:*]([a-z0-9_]+)`)

// documented returns a router pattern as OpenAPI writes it: the placeholder
// ":id" or "*id" becomes "{id}".
func documented(pattern string) string { return wildcard.ReplaceAllString(pattern, "{$1}") }

// register declares an operation at its path and at each of Spec.Aliases. All
// of them share one handler and one Spec. An alias has an ID of its own, no
// aliases, and the scope of the original path, so that a key that may use one
// may use the other.
func register[I, O any](a *API, method, pattern string, handler func(context.Context, *I) (*O, error), spec Spec) {
	declareAt(a, method, pattern, handler, spec)
	for _, alias := range spec.Aliases {
		again := spec
		again.ID, again.Aliases, again.Scope = alias.ID, nil, cmp.Or(spec.Scope, pathResource(pattern))
		again.Description = fmt.Sprintf("The same as %s %s.\n\n%s", method, documented(pattern), spec.Description)
		declareAt(a, method, alias.Path, handler, again)
	}
}

// declareAt declares an operation at one path. It declares the operation to
// huma, which passes it to the router through the adapter. The function given
// to huma maps each result of the handler to an answer:
//
//   - a plan in the error becomes the answer 200 with the plan
//   - any other error becomes a refusal, which carries the problem
//   - an empty list becomes [] instead of null
func declareAt[I, O any](a *API, method, pattern string, handler func(context.Context, *I) (*O, error), spec Spec) {
	operation := a.declare(method, pattern, spec, reflect.TypeFor[I]())
	a.nameBodies(spec.ID, reflect.TypeFor[I](), reflect.TypeFor[O]())
	huma.Register(a.huma, operation.describe(), func(ctx context.Context, in *I) (*O, error) {
		out, err := run(ctx, a, in, handler)
		if answer := plan.ResultIn(err); answer != nil {
			return nil, planResponse{answer.Plan}
		}
		if err != nil {
			return nil, a.refusal(ctx, err)
		}
		if list, ok := any(out).(interface{ fill() }); ok && out != nil {
			list.fill()
		}
		return out, nil
	})
	a.finish(operation)
}

// run does what stands between the checks of the request and the answer. It
// adds the fault of a PATCH that changes nothing, puts the question for a plan
// into the context, makes the last checks, calls the handler and records the
// attempt.
func run[I, O any](ctx context.Context, a *API, in *I, handler func(context.Context, *I) (*O, error)) (*O, error) {
	q := requestOf(ctx)
	if q.operation.Method == http.MethodPatch && changesNothing(reflect.ValueOf(in).Elem().FieldByName("Body")) {
		q.faults = append(q.faults, problem.Fault{Loc: []any{"body"}, Msg: "nothing to change", Type: "nothing_to_change"})
	}
	if asks, ok := any(in).(questioner); ok {
		ctx = plan.WithRequest(ctx, asks.question())
	}
	if err := q.ready(ctx); err != nil {
		return nil, err
	}
	out, err := handler(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := a.succeed(ctx, q); err != nil {
		return nil, err
	}
	return out, nil
}

// ready makes the last checks before the handler. The order is the same for
// every operation: first all faults of the input in one 422, then the 404 of
// the named thing, then the capability of the host.
func (q *request) ready(ctx context.Context) error {
	if len(q.faults)+len(q.misfits) > 0 {
		return problem.Invalid(limitFaults(slices.Concat(q.faults, q.misfits))...)
	}
	if q.missing != nil {
		return q.missing
	}
	return q.api.capable(ctx, q)
}

// succeed records a successful attempt. A handler that changes the database
// writes the entry in its own transaction; then record has nothing to do. With
// Config.StrictAudit, which the tests set, a change without such an entry
// panics.
func (a *API) succeed(ctx context.Context, q *request) error {
	if q.attempt == nil {
		return nil
	}
	if a.config.StrictAudit && !q.operation.Spec.ReadOnly && !q.attempt.Written() {
		panic(fmt.Sprintf("operation %s made a change without writing its audit row in the same transaction", q.operation.Spec.ID))
	}
	return a.record(ctx, q, nil)
}

// declare checks a declaration and appends it to the list of operations. It
// panics on faults that only a change of the code can repair: a missing ID, a
// path without the parameter that Spec.On needs, a contradictory Spec, an audit
// target that is not in the path, or an input that checkInput refuses.
func (a *API) declare(method, pattern string, spec Spec, input reflect.Type) *Operation {
	if spec.ID == "" || spec.Summary == "" || spec.Tag == "" {
		panic(fmt.Sprintf("op: %s %s needs an ID, a summary and a tag", method, pattern))
	}
	if spec.On >= Host {
		for _, name := range spec.On.params() {
			if !slices.ContainsFunc(wildcard.FindAllStringSubmatch(pattern, -1), func(found []string) bool { return found[0] == ":"+name }) {
				panic(fmt.Sprintf("op: %s is on a %s but its path has no :%s", spec.ID, spec.On, name))
			}
		}
	}
	if err := spec.judge(); err != nil {
		panic(fmt.Sprintf("op: %s: %v", spec.ID, err))
	}
	if target := spec.Audit.Target; target != "" && !regexp.MustCompile(`[:*]`+target+`(/|$)`).MatchString(pattern) {
		panic(fmt.Sprintf("op: the audit target %s of %s is not a parameter of its path", target, spec.ID))
	}
	operation := &Operation{
		Method: method, Pattern: pattern, Path: documented(pattern), Spec: spec, enums: map[string][]any{},
	}
	if body, ok := input.FieldByName("Body"); ok {
		operation.bodyDeclared = true
		operation.bodyRequired = body.Type.Kind() != reflect.Pointer
	}
	checkInput(spec.ID, input)
	operation.bind(input)
	a.operations = append(a.operations, operation)
	return operation
}

// describe returns the operation in the form that huma registers. Operations
// with a special answer, such as a stream or a file, replace its Responses
// before they register it.
func (o *Operation) describe() huma.Operation {
	return huma.Operation{
		OperationID:   o.Spec.ID,
		Method:        o.Method,
		Path:          o.Path,
		Summary:       o.Spec.Summary,
		Description:   o.Spec.Description,
		Tags:          []string{o.Spec.Tag},
		DefaultStatus: o.Spec.Status,
		MaxBodyBytes:  -1, // readBody has its own limit
		// inspect has held the body against its schema.
		SkipValidateBody: true,
		Metadata:         map[string]any{"operation": o},
	}
}

// finish completes the declaration after huma has built the schemas. It takes
// the schema of the body for inspect, tightens the parameters, and adds to the
// document the Idempotency-Key, the plan, the role and the errors.
func (a *API) finish(o *Operation) {
	declared := a.declared(o)
	declareNulls(a.huma.OpenAPI().Components.Schemas, schemaPrefix, a.nullsDeclared)
	if declared.RequestBody != nil && !o.Upload {
		o.body = declared.RequestBody.Content["application/json"].Schema
		o.body.Nullable = !o.bodyRequired
		o.unlimited = !checkSchema(o.Spec.ID, a.huma.OpenAPI().Components.Schemas, o.body)
		a.wantChange(o)
	}
	declared.Parameters = append(slices.Clone(o.bound), declared.Parameters...)
	for _, param := range declared.Parameters {
		tighten(param)
		if param.In != "path" {
			o.params = append(o.params, param)
		} else if len(param.Schema.Enum) > 0 {
			o.enums[param.Name] = param.Schema.Enum
		}
	}
	documentIdempotency(o, declared)
	a.documentPlan(o, declared)
	a.document(o, declared)
}

// declared returns huma's entry of the operation in the OpenAPI document.
func (a *API) declared(o *Operation) *huma.Operation {
	item := a.huma.OpenAPI().Paths[o.Path]
	switch o.Method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	}
	return item.Delete
}

// maxParam is the maximum length in characters of a string parameter whose
// declaration sets no limit.
const maxParam = 1024

// anyText is the pattern in the document for a query parameter without a
// pattern of its own: at least one character, and no NUL.
const anyText = `^[^\x00]+$`

// tighten gives a parameter the limits that hold for all operations: IDs in
// paths begin at 1, and strings have a maximum length. huma validates requests
// against the same schema value, so these limits take effect and are documented
// at once.
func tighten(param *huma.Param) {
	s := param.Schema
	switch {
	case s.Type == huma.TypeInteger && param.In == "path" && s.Minimum == nil && strings.HasSuffix(param.Name, "id"):
		one := 1.0
		s.Minimum = &one
	case s.Type == huma.TypeString && s.MaxLength == nil:
		most := maxParam
		s.MaxLength = &most
	}
	s.PrecomputeMessages()
	if s.Type == huma.TypeString && param.In == "query" && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 {
		s.Pattern = anyText // set last, so that huma does not check it: unfitParams says which of the two is amiss
	}
}
