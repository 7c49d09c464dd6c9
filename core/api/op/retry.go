package op

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// RetryRequest describes an earlier request that is to be repeated.
type RetryRequest struct {
	// Job is the kind of the job that the request created, such as "vm.start".
	// Target is the ID of the thing that the job was about.
	Job    string
	Target int64
	// Params has the other path parameters, the query parameters and the fields
	// of the body, by name.
	Params map[string]any
}

// Retry declares an operation that repeats an earlier request. The handler
// names that request. It then goes through the API as a request of its own:
// with the rights that the caller has now, with all checks and with an entry of
// its own in the audit log. Its answer is the answer of this operation. O has
// the fields that all these answers have in common.
//
// The operation itself changes nothing and declares no audit action. An
// Idempotency-Key applies to the repeated operation. The problem is
// invalid_state if no operation creates jobs of this kind, or if the operation
// received a file, which is not stored.
func Retry[I, O any](a *API, path string, handler func(context.Context, *I) (RetryRequest, error), spec Spec) {
	spec.ReadOnly = true
	operation := a.declare(http.MethodPost, path, spec, reflect.TypeFor[I]())
	operation.Retry = true
	a.nameBodies(spec.ID, reflect.TypeFor[I](), reflect.TypeFor[O]())
	declared := operation.describe()
	answer := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[O](), true, "")
	declared.Responses = map[string]*huma.Response{}
	for _, status := range []int{http.StatusOK, operation.status()} { // there are operations that answer 200 with a job
		declared.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: "Response of the repeated operation",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: answer}},
		}
	}
	type answered struct{ Body func(huma.Context) }
	huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*answered, error) {
		q := requestOf(ctx)
		if err := q.ready(ctx); err != nil {
			return nil, a.refusal(ctx, err)
		}
		earlier, err := handler(ctx, in)
		if err != nil {
			return nil, a.refusal(ctx, err)
		}
		request, err := a.retry(q, earlier)
		if err != nil {
			return nil, a.refusal(ctx, err)
		}
		return &answered{func(huma.Context) { a.config.Router.ServeHTTP(q.w, request) }}, nil
	})
	a.finish(operation)
}

// retry builds the request that repeats an earlier one. It finds the operation
// by the kind of the job, puts the parameters into the path and the query, and
// sends the rest as the body. The new request has the ID and the writer of the
// original one.
func (a *API) retry(q *request, e RetryRequest) (*http.Request, error) {
	o, placeholders := a.jobOperation(e.Job)
	if o == nil {
		return nil, problem.New(problem.CodeInvalidState, "%s jobs are started by the service and cannot be requested", e.Job)
	}
	if o.Upload {
		return nil, problem.New(problem.CodeInvalidState, "the uploaded file is not stored; send it again with %s %s", o.Method, o.Pattern)
	}
	params, known := maps.Clone(e.Params), true
	path := wildcard.ReplaceAllStringFunc(o.Pattern, func(found string) string {
		name := found[1:]
		value := any(e.Target)
		if name != o.Spec.On.param() {
			if value = params[name]; placeholders[name] != "" {
				value = placeholders[name]
			}
		}
		delete(params, name)
		known = known && value != nil
		return url.PathEscape(fmt.Sprint(value))
	})
	if !known {
		return nil, problem.New(problem.CodeInvalidState, "the details of the original request are no longer known")
	}
	query := o.queryOf(params)
	body := []byte(nil)
	if o.bodyDeclared {
		var err error
		if body, err = json.Marshal(params); err != nil {
			return nil, fmt.Errorf("repeating the request: %w", err)
		}
	}
	target, err := url.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("repeating the request: %w", err)
	}
	target.RawQuery = query.Encode()
	ctx := context.WithValue(q.raw.Context(), requestKey{}, &request{api: a, id: q.id, w: q.w})
	r := q.raw.Clone(ctx)
	r.Method, r.URL, r.RequestURI = o.Method, target, target.RequestURI()
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Del("Content-Type")
	r.Header.Del("Content-Encoding")
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// queryOf takes the query parameters of the operation out of params and returns
// them encoded. The values of a list are separated by commas.
func (o *Operation) queryOf(params map[string]any) url.Values {
	query := url.Values{}
	for _, param := range o.params {
		value, given := params[param.Name]
		if param.In != "query" || !given {
			continue
		}
		delete(params, param.Name)
		text := fmt.Sprint(value)
		if list, ok := value.([]any); ok {
			each := make([]string, len(list))
			for i := range list {
				each[i] = fmt.Sprint(list[i])
			}
			text = strings.Join(each, ",")
		}
		if value != nil && text != "" { // a parameter that is empty is none
			query.Set(param.Name, text)
		}
	}
	return query
}

// jobOperation returns the operation that creates jobs of a kind, and the path
// parameter that the kind determines. For example, if an operation's Spec.Job
// is "vm.{action}", the kind "vm.start" determines the action. It returns nil
// if there is no such operation.
func (a *API) jobOperation(kind string) (*Operation, map[string]string) {
	for _, o := range a.operations {
		if !o.makes() && !o.Upload && o.Method != http.MethodDelete {
			continue
		}
		before, placeholder, open := strings.Cut(cmp.Or(o.Spec.Job, o.Spec.Audit.Action), "{")
		if !open && before == kind {
			return o, nil
		}
		name := strings.TrimSuffix(placeholder, "}")
		word, fits := strings.CutPrefix(kind, before)
		if open && fits && slices.Contains(o.enums[name], any(word)) {
			return o, map[string]string{name: word}
		}
	}
	return nil, nil
}
