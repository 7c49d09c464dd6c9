package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/api/route"
)

var (
	//go:embed docs.html
	docsHTML string
	//go:embed docs.css
	docsCSS string
	//go:embed docs.js
	docsJS string

	docsPage = template.Must(template.New("docs").Funcs(template.FuncMap{"prose": prose}).Parse(docsHTML))
)

// prose is a description as HTML: what stands between backticks is code, and all else is text.
func prose(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			part = "<code>" + template.HTMLEscapeString(part) + "</code>"
		} else {
			part = template.HTMLEscapeString(part)
		}
		b.WriteString(part)
	}
	return template.HTML(b.String()) //nolint:gosec // every part was escaped
}

// serveDocs serves the OpenAPI document and the page made of it, to everyone: neither holds anything of this
// installation. The page is whole without a network and without scripts.
func serveDocs(router *route.Router, a *op.API) {
	document := sync.OnceValue(a.Document)
	page := sync.OnceValues(func() ([]byte, error) { return renderDocs(document()) })
	policy := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sourceHash(docsCSS), sourceHash(docsJS))

	router.Handle(http.MethodGet, "/api/openapi.json", func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document()) // the reader may be gone
	})
	router.Handle(http.MethodGet, "/api/docs", func(w http.ResponseWriter, _ *http.Request, _ route.Params) {
		html, err := page()
		if err != nil {
			panic(err) // our own document does not fit our own page; a test would have seen it
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(html) // the reader may be gone
	})
}

// sourceHash is how a content security policy names an inline style or script.
func sourceHash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// ordered is a JSON object that keeps its order.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads the members one by one.
func (o *ordered[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value T
		if err := d.Decode(&value); err != nil {
			return err
		}
		*o = append(*o, entry[T]{name.(string), value})
	}
	return nil
}

// page is what the template shows.
type page struct {
	Title, Version string
	Intro          []string
	Groups         []*group
	Errors         []struct {
		Error  string `json:"error"`
		Status int    `json:"status"`
		Title  string `json:"title"`
	}
	CSS template.CSS
	JS  template.JS
}

type group struct {
	Name       string
	Operations []*operationView
}

type operationView struct {
	Method, Path, ID, Summary, Description string
	Facts                                  []string
	Parameters, Body                       []row
	Optional                               bool
	Example                                string
	Responses                              []responseView
}

// row is a parameter or a field of a body.
type row struct{ Name, Where, Type, Notes string }

type responseView struct {
	Status, Description, Example string
	Fields                       []row
}

// renderDocs makes the page from the OpenAPI document.
func renderDocs(document []byte) ([]byte, error) {
	var doc apiDocument
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	intro, _, _ := strings.Cut(doc.Info.Description, "\n\n|")
	p := page{
		Title: doc.Info.Title, Version: doc.Info.Version, Intro: strings.Split(strings.ReplaceAll(intro, "\n\n", "\n"), "\n"),
		CSS: template.CSS(docsCSS), JS: template.JS(docsJS),
	}
	if err := json.Unmarshal(doc.Errors, &p.Errors); err != nil {
		return nil, fmt.Errorf("reading the table of errors: %w", err)
	}
	groups := map[string]*group{}
	for _, tag := range doc.Tags {
		groups[tag.Name] = &group{Name: tag.Name}
		p.Groups = append(p.Groups, groups[tag.Name])
	}
	for _, path := range doc.Paths {
		for _, method := range path.Value {
			for _, tag := range method.Value.Tags {
				groups[tag].Operations = append(groups[tag].Operations, doc.view(path.Name, method.Name, &method.Value))
			}
		}
	}
	var html bytes.Buffer
	if err := docsPage.Execute(&html, p); err != nil {
		return nil, fmt.Errorf("rendering the page of the API: %w", err)
	}
	return html.Bytes(), nil
}

// view is one operation as the page shows it.
func (doc *apiDocument) view(path, method string, o *apiOperation) *operationView {
	v := &operationView{Method: strings.ToUpper(method), Path: path, ID: o.ID, Summary: o.Summary, Description: o.Description}
	if o.Role == "" {
		v.Facts = append(v.Facts, "public")
	} else {
		v.Facts = append(v.Facts, "role "+o.Role+" "+where(o.On), "key scope "+o.Scope)
	}
	if o.Entitlement != "" {
		v.Facts = append(v.Facts, "feature "+o.Entitlement)
	}
	if o.Capability != "" {
		v.Facts = append(v.Facts, "needs the host's token for "+o.Capability)
	}
	switch o.Confirm.When {
	case "always":
		v.Facts = append(v.Facts, "confirmed by "+phrase(o.Confirm.Field, o.Confirm.Phrase))
	case "self":
		v.Facts = append(v.Facts, "confirmed by "+phrase(o.Confirm.Field, o.Confirm.Phrase)+" where the service itself runs there")
	}
	if o.Plan {
		v.Facts = append(v.Facts, "tells its plan")
	}
	if o.Audit != "" {
		v.Facts = append(v.Facts, "recorded as "+o.Audit)
	}
	for _, p := range o.Parameters {
		v.Parameters = append(v.Parameters, row{p.Name, p.In, p.Schema.typeName(), p.Schema.notes(p.Required, p.Description)})
	}
	if o.RequestBody != nil {
		for _, content := range o.RequestBody.Content {
			v.Body = doc.fields(content.Value.Schema, "", 0)
			v.Example = pretty(content.Value.Example)
		}
		v.Optional = !o.RequestBody.Required
	}
	for _, r := range o.Responses {
		answer := r.Value
		if name, ok := strings.CutPrefix(answer.Ref, "#/components/responses/"); ok {
			answer = doc.Components.Responses[name]
		}
		view := responseView{Status: r.Name, Description: answer.Description}
		for _, content := range answer.Content {
			if r.Value.Ref == "" {
				view.Fields = doc.fields(content.Value.Schema, "", 0)
			}
			view.Example = pretty(content.Value.Example)
		}
		v.Responses = append(v.Responses, view)
	}
	return v
}

func where(on string) string {
	switch on {
	case "instance":
		return "in the default team"
	case "anywhere":
		return "in any team"
	}
	return "on the " + on
}

// pretty indents an example.
func pretty(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || json.Indent(&out, raw, "", "  ") != nil {
		return ""
	}
	return out.String()
}

// maxNesting is how deep the page lists the fields of bodies that contain others.
const maxNesting = 4

// fields lists a body's fields, those of nested bodies with the path that leads to them.
func (doc *apiDocument) fields(s *apiSchema, prefix string, depth int) []row {
	if s == nil || depth > maxNesting {
		return nil
	}
	s = s.present()
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = doc.Components.Schemas[name]
	}
	if s.typeName() == "array" || s.Items != nil {
		return doc.fields(s.Items, prefix+"[]", depth+1)
	}
	if len(s.Properties) == 0 && depth == 0 {
		return []row{{Name: prefix, Type: s.typeName(), Notes: s.notes(false, s.Description)}}
	}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var rows []row
	for _, property := range s.Properties {
		name := strings.TrimPrefix(prefix+"."+property.Name, ".")
		inner := property.Value
		rows = append(rows, row{Name: name, Type: inner.typeName(), Notes: inner.notes(required[property.Name], inner.Description)})
		if inner.present().Ref != "" || inner.Items != nil {
			rows = append(rows, doc.nested(&inner, name, depth+1)...)
		}
	}
	return rows
}

// nested lists the fields below a field that has some.
func (doc *apiDocument) nested(s *apiSchema, name string, depth int) []row {
	rows := doc.fields(s, name, depth)
	if len(rows) == 1 && rows[0].Name == name+"[]" {
		return nil
	}
	return rows
}

// notes says what a schema asks beyond its type.
func (s *apiSchema) notes(required bool, description string) string {
	var notes []string
	if required {
		notes = append(notes, "required")
	}
	if enum := s.present().Enum; len(enum) > 0 {
		values := make([]string, len(enum))
		for i := range enum {
			values[i] = fmt.Sprint(enum[i])
		}
		notes = append(notes, "one of "+strings.Join(values, ", "))
	}
	if len(s.Default) > 0 {
		notes = append(notes, "default "+string(s.Default))
	}
	for _, limit := range []struct {
		word  string
		value *float64
	}{{"at least", s.Minimum}, {"at most", s.Maximum}, {"length at least", s.MinLength}, {"length at most", s.MaxLength},
		{"items at most", s.MaxItems}} {
		if limit.value != nil {
			notes = append(notes, limit.word+" "+strconv.FormatFloat(*limit.value, 'f', -1, 64))
		}
	}
	if s.Pattern != "" {
		notes = append(notes, "pattern "+s.Pattern)
	}
	if description != "" {
		notes = append(notes, description)
	}
	return strings.Join(notes, " · ")
}

// phrase says what is typed to confirm: a field of the thing, or always the same words.
func phrase(field, words string) string {
	if field != "" {
		return "its " + field
	}
	return "“" + words + "”"
}
