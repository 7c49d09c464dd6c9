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

// RetryRequest is what was asked for once, and is to be asked for again.
type RetryRequest struct {
	// Job is the kind of the job that was made, such as "vm.start", and Target the id of what it was on.
	Job    string
	Target int64
	// Params are its further path parameters, its query parameters and the fields of its body, by name.
	Params map[string]any
}

// Retry declares an operation that asks for something that was asked for before. What the handler names goes through the API as a
// request of its own, with the present caller's rights, all checks and its row in the trail, and its answer is the answer. O is what
// all these answers have in common. Problem invalid_state: no operation asks for that, or one by a file that was sent.
//
// The operation itself changes nothing and declares no audit action. An Idempotency-Key is heeded by the other operation.
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

// retry is the request that asks for something again.
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

// queryOf takes the operation's query parameters out of what was asked for. One that is a list has commas between its values.
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

// jobOperation is the operation that makes jobs of a kind, with what the kind says of the operation's path.
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
