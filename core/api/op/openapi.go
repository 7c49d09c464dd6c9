package op

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// schemaPrefix is the beginning of every reference to a schema of the document.
const schemaPrefix = "#/components/schemas/"

// newDocument returns the OpenAPI document without operations. base is the
// address at which clients find the service. If it is nil, the document names
// the address from which it was downloaded.
func newDocument(version string, base *url.URL) *huma.OpenAPI {
	server := "/"
	if base != nil {
		server = base.String()
	}
	registry := huma.NewMapRegistry(schemaPrefix, newNamer())
	registry.RegisterTypeAlias(reflect.TypeFor[refusal](), reflect.TypeFor[problemDocument]()) // huma documents what NewError yields
	problemRef := registry.Schema(reflect.TypeFor[problemDocument](), true, "")
	invalidRef := registry.Schema(reflect.TypeFor[validationDocument](), true, "")
	answer := func(description string, schema *huma.Schema, example *problem.Error) *huma.Response {
		media := &huma.MediaType{Schema: schema}
		if example != nil {
			media.Example = rawJSON(document(example, "FQ3B7RZ2V5XK4J6N"))
		}
		return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/problem+json": media}}
	}
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Hostler", Version: version, Description: introduction(),
			License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: server, Description: "The instance that serves this document"}},
		Components: &huma.Components{
			Schemas: registry,
			Responses: map[string]*huma.Response{
				"Unauthenticated": answer("No valid session or API key", problemRef, problem.New(problem.CodeUnauthenticated,
					"log in, or send an API key")),
				"Forbidden": answer("Denied: role, scope of the API key, or disabled feature", problemRef, roleTooLow(4)),
				"NotFound": answer("Not found, or you don't have access", problemRef,
					problem.From(NotFound("host"))),
				"Conflict": answer("Not possible in the current state, or a confirmation is required: send confirm with the value of "+
					"confirm_phrase", problemRef,
					problem.Confirm(problem.CodeConfirmRequired, "pve1", "type the name of the affected object")),
				"TooLarge":         answer("The body is too large", problemRef, nil),
				"TooMany":          answer("Too many requests or failed attempts; Retry-After is the number of seconds to wait", problemRef, nil),
				"UnsupportedMedia": answer("The body is not application/json", problemRef, nil),
				"Invalid": answer("The request is invalid; detail lists the faults", invalidRef,
					problem.Invalid(problem.Fault{Loc: []any{"body", "name"}, Msg: "required", Type: "missing"})),
				"HypervisorFailed": answer("The hypervisor failed or refused; reason is unreachable, tls_fingerprint, auth, permission, protocol "+
					"or refused", problemRef,
					problem.New(problem.CodeHypervisorError, "the host closed the connection without an answer").With("reason", "unreachable")),
				"Unsupported": answer("The host's driver cannot do this", problemRef,
					problem.New(problem.CodeUnsupported, "the host's driver cannot read nodes")),
				"Unavailable": answer("The plugin of the hypervisor or the database is unavailable", problemRef, nil),
				"Timeout": answer("The hypervisor did not respond in time", problemRef,
					problem.New(problem.CodeTimeout, "the hypervisor did not answer in time")),
				"Problem": answer("Another problem; see the table of error ids", problemRef, nil),
			},
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"session": {Type: "apiKey", In: "cookie", Name: "service_session",
					Description: "Session cookie, set by a log-in. Over TLS its name starts with __Host-, or with __Secure- if " +
						"the base URL has a path."},
				"api_key": {Type: "http", Scheme: "bearer", BearerFormat: "svc_…", Description: "An API key."},
			},
		},
		Extensions: map[string]any{"x-errors": errorTable()},
	}
}

// problemDocument is the schema of the body of every error except 422.
type problemDocument struct {
	Type      string   `json:"type" doc:"Always about:blank; error identifies the problem" example:"about:blank"`
	Title     string   `json:"title" doc:"Kind of the problem, for people"`
	Status    int      `json:"status" doc:"HTTP status"`
	Detail    string   `json:"detail" doc:"Description of the problem, for people"`
	Error     string   `json:"error" doc:"Error id, for programs"`
	RequestID string   `json:"request_id" doc:"X-Request-ID of the response, also in the log and the audit log"`
	_         struct{} `additionalProperties:"true"`
}

// validationDocument is the schema of the body of a 422.
type validationDocument struct {
	Type      string          `json:"type" example:"about:blank"`
	Title     string          `json:"title"`
	Status    int             `json:"status" example:"422"`
	Detail    []faultDocument `json:"detail" doc:"All faults of the request"`
	Error     string          `json:"error" example:"invalid"`
	RequestID string          `json:"request_id"`
}

// faultDocument is the schema of one fault in a 422.
type faultDocument struct {
	Loc  []any  `json:"loc" doc:"Location: body, query, path or header, then the keys and indexes of the fault"`
	Msg  string `json:"msg" doc:"Description of the fault, for people; never contains the rejected value"`
	Type string `json:"type" doc:"Kind of the fault, for programs" example:"missing"`
}

// documentNames are the names of the schemas that clients are generated from.
var documentNames = map[reflect.Type]string{
	reflect.TypeFor[problemDocument]():    "Problem",
	reflect.TypeFor[validationDocument](): "HTTPValidationError",
	reflect.TypeFor[faultDocument]():      "ValidationError",
}

// newNamer returns the function that names schemas after package and type:
// job.View is JobView, hosts.CreateResult is HostCreateResult and guest.Guest
// is Guest. It panics if two types would get one name, because generated
// clients must not depend on the order of registration.
func newNamer() func(reflect.Type, string) string {
	names := map[reflect.Type]string{}
	taken := map[string]reflect.Type{}
	return func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if name, ok := documentNames[t]; ok {
			return name
		}
		if t.Kind() != reflect.Struct {
			return huma.DefaultSchemaNamer(t, hint)
		}
		if name, ok := names[t]; ok {
			return name
		}
		name := unreserved(qualified(t, huma.DefaultSchemaNamer(t, hint)))
		if other, ok := taken[name]; ok {
			panic(fmt.Sprintf("op: the types %s and %s would both be the schema %s; rename one", other, t, name))
		}
		names[t], taken[name] = name, t
		return name
	}
}

// qualified puts the singular name of a type's package before the name of the
// type, unless the name already begins with it.
func qualified(t reflect.Type, name string) string {
	if t.Name() == "" { // named after the operation
		return name
	}
	of := path.Base(t.PkgPath())
	if strings.HasSuffix(of, "_test") || of == "op" {
		return name
	}
	of = strings.TrimSuffix(of, "s")
	of = cmp.Or(writtenAs[of], strings.ToUpper(of[:1])+of[1:])
	if len(name) >= len(of) && strings.EqualFold(name[:len(of)], of) {
		return of + name[len(of):]
	}
	return of + name
}

// writtenAs has the spelling of package names that are abbreviations or more
// than one word.
var writtenAs = map[string]string{"vm": "VM", "selfupdate": "SelfUpdate"}

// generated has the endings of the names that client generators derive from the
// ID of an operation. For example, oapi-codegen calls the answer of log_in
// LogInResponse. No schema may have such a name.
var generated = []string{"Response", "Params", "Body", "Client", "Editor", "Editors"}

// unreserved returns a name that no generator uses. It appends Data if
// necessary.
func unreserved(name string) string {
	if slices.ContainsFunc(generated, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return name + "Data"
	}
	return name
}

// nameBodies names a body without a type name after its operation. huma would
// name it after the type of the input, and several packages use the same name
// for that.
func (a *API) nameBodies(id string, input, output reflect.Type) {
	for t, suffix := range map[reflect.Type]string{input: "Request", output: "Result"} {
		body, ok := t.FieldByName("Body")
		for ok && body.Type.Kind() == reflect.Pointer {
			body.Type = body.Type.Elem()
		}
		if ok && body.Type.Kind() == reflect.Struct && body.Type.Name() == "" {
			a.huma.OpenAPI().Components.Schemas.Schema(body.Type, true, pascal(id)+suffix)
		}
	}
}

// pascal converts an operation ID to the name of a Go or TypeScript type.
func pascal(id string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(id, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// document completes the operation in the OpenAPI document: the required role
// and where it must be held, the scope, the audit action, the possible errors
// and the examples.
func (a *API) document(o *Operation, declared *huma.Operation) {
	doc := a.huma.OpenAPI()
	if !slices.ContainsFunc(doc.Tags, func(t *huma.Tag) bool { return t.Name == o.Spec.Tag }) {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: o.Spec.Tag})
	}
	declared.Extensions = map[string]any{"x-on": o.Spec.On.String()}
	declared.Security = []map[string][]string{{"session": {}}, {"api_key": {}}}
	if o.Spec.Public {
		declared.Security = []map[string][]string{}
		delete(declared.Extensions, "x-on")
	} else {
		declared.Extensions["x-role"] = o.Spec.Role.String()
		declared.Extensions["x-scope"] = o.scope()
	}
	if o.Spec.Audit.Action != "" {
		declared.Extensions["x-audit"] = o.Spec.Audit.Action
	}
	o.extend(declared.Extensions)
	refs := map[int]string{http.StatusUnprocessableEntity: "Invalid"} // of a malformed query string at least
	if !o.Spec.Public {
		refs[http.StatusUnauthorized], refs[http.StatusForbidden] = "Unauthenticated", "Forbidden"
	}
	if strings.Contains(o.Path, "{") {
		refs[http.StatusNotFound] = "NotFound"
	}
	if o.Method != http.MethodGet || o.Spec.Needs != "" {
		refs[http.StatusConflict] = "Conflict"
	}
	if o.Spec.Unsupported || o.Spec.Calls {
		refs[http.StatusNotImplemented] = "Unsupported"
	}
	if o.bodyDeclared || o.Upload {
		refs[http.StatusRequestEntityTooLarge], refs[http.StatusUnsupportedMediaType] = "TooLarge", "UnsupportedMedia"
	}
	if o.Spec.Public || o.Socket || o.Upload {
		refs[http.StatusTooManyRequests] = "TooMany"
	}
	if o.Spec.Calls {
		refs[http.StatusBadGateway], refs[http.StatusServiceUnavailable], refs[http.StatusGatewayTimeout] = "HypervisorFailed", "Unavailable",
			"Timeout"
	}
	if o.Spec.Never504 {
		delete(refs, http.StatusGatewayTimeout)
	}
	for status, name := range refs {
		declared.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
	declared.Responses["default"] = &huma.Response{Ref: "#/components/responses/Problem"}
	if declared.RequestBody != nil {
		a.exemplify(declared.RequestBody.Content)
	}
	for _, response := range declared.Responses {
		a.exemplify(response.Content)
	}
}

// extend adds the extensions that a user interface or a client needs before it
// sends the request: the entitlement, the capability, the confirmation and
// whether there is a plan.
func (o *Operation) extend(extensions map[string]any) {
	s := &o.Spec
	if s.Entitlement != "" {
		extensions["x-entitlement"] = s.Entitlement
	}
	if s.Needs != "" {
		extensions["x-capability"] = string(s.Needs)
	}
	if o.Method != http.MethodGet && !s.ReadOnly {
		confirm := object{{"when", cmp.Or(string(s.Confirm.When), "never")}}
		if s.Confirm.Field != "" {
			confirm = append(confirm, member{"field", s.Confirm.Field})
		}
		if s.Confirm.Phrase != "" {
			confirm = append(confirm, member{"phrase", s.Confirm.Phrase})
		}
		extensions["x-confirm"] = &confirm
	}
	if s.Plan {
		extensions["x-plan"] = true
	}
}

// errorTable returns all problem codes, sorted by status and name.
func errorTable() []map[string]any {
	codes := problem.Codes()
	slices.SortFunc(codes, func(a, b problem.Code) int {
		if a.Status() != b.Status() {
			return a.Status() - b.Status()
		}
		return strings.Compare(string(a), string(b))
	})
	table := make([]map[string]any, len(codes))
	for i, code := range codes {
		table[i] = map[string]any{"error": string(code), "status": code.Status(), "title": code.Title()}
	}
	return table
}

// introduction returns the text at the top of the OpenAPI document.
func introduction() string {
	var b strings.Builder
	for _, paragraph := range []string{
		"Hostler manages virtual machines and app containers on hypervisor hosts.",
		"Log in with POST /api/v1/auth/login and keep the cookie, or send an API key as `Authorization: Bearer svc_…`. Every operation names " +
			"the role that it requires and where: on the instance (the team `default`), in any team, or on the object in the path. An object " +
			"that belongs to none of your teams is 404, like one that does not exist. Refusals have this order: 401, 403 for the role or the " +
			"scope, 403 for a disabled feature, 422 with all faults, 404, 409.",
		"Errors are `application/problem+json`; `error` is the error id. Times are UTC in RFC 3339. Unknown keys of a body are refused. " +
			"Unknown query parameters are ignored, and known ones without a value are refused. A 422 lists at most 20 faults.",
		"A body can have 1 MiB, and 4 KiB before log-in. Before log-in, each IP address can send 200 requests at once and 5 more per second " +
			"(429). JSON responses are limited to 64 MiB. A longer list is 422 with a fault of the type `answer_too_large`, which says how many " +
			"entries fit on a page or which parameters narrow the list. Lists return a short form of each object; GET of one object returns all " +
			"of it.",
		"Operations that create a job or an object accept an Idempotency-Key, which makes it safe to repeat a request after its response was " +
			"lost. If the error is `outcome_unknown`, the audit entry with the `request_id` shows whether the request was executed.",
	} {
		b.WriteString(paragraph + "\n\n")
	}
	b.WriteString("| error | status | meaning |\n|---|---|---|\n")
	for _, row := range errorTable() {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", row["error"], row["status"], row["title"])
	}
	return b.String()
}
