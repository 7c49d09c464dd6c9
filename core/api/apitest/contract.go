package apitest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is an OpenAPI document as a client sees it. Every answer must have a
// status, a media type and a schema that the document declares. Its methods are
// safe for concurrent use.
type contract struct {
	operations []contractOperation
	responses  map[string]contractResponse

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

type contractOperation struct {
	ID        string                      `json:"operationId"`
	Responses map[string]contractResponse `json:"responses"`

	method   string
	segments []string
	pointer  string
}

type contractResponse struct {
	Ref     string                     `json:"$ref"`
	Content map[string]json.RawMessage `json:"content"`
}

// documentURL is the name of the document for the compiler of schemas. Nothing
// is downloaded from it.
const documentURL = "https://hostler.example/openapi.json"

func newContract(document []byte) (*contract, error) {
	var raw struct {
		Paths      map[string]map[string]contractOperation
		Components struct{ Responses map[string]contractResponse }
	}
	if err := json.Unmarshal(document, &raw); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	c := &contract{responses: raw.Components.Responses, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, parsed); err != nil {
		return nil, fmt.Errorf("taking the OpenAPI document for schemas: %w", err)
	}
	for path, methods := range raw.Paths {
		for method, o := range methods {
			o.method, o.segments = strings.ToUpper(method), strings.Split(path, "/")
			o.pointer = "/paths/" + escapePointer(path) + "/" + method
			c.operations = append(c.operations, o)
		}
	}
	// Of two paths that fit, the one with more words of its own is meant: /apps/adopt before /apps/{app_id}.
	slices.SortFunc(c.operations, func(a, b contractOperation) int {
		return cmp.Or(placeholders(a.segments)-placeholders(b.segments), strings.Compare(a.pointer, b.pointer))
	})
	return c, nil
}

// escapePointer returns a key as a part of a JSON pointer (RFC 6901).
func escapePointer(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func placeholders(segments []string) (n int) {
	for _, s := range segments {
		if strings.HasPrefix(s, "{") {
			n++
		}
	}
	return n
}

// fits reports whether a path belongs to the operation. If open is true, the
// last parameter can contain slashes.
func (o *contractOperation) fits(segments []string, open bool) bool {
	last := len(o.segments) - 1
	if len(segments) != len(o.segments) && (!open || len(segments) < len(o.segments) || !strings.HasPrefix(o.segments[last], "{")) {
		return false
	}
	for i, s := range o.segments {
		if !strings.HasPrefix(s, "{") && s != segments[i] || segments[i] == "" && i > 0 {
			return false
		}
	}
	return true
}

// check returns an error if an answer differs from what the document declares.
func (c *contract) check(method, path string, answer *Response) error {
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")) // no type is none of the declared ones
	if o := c.find(method, strings.Split(path, "/")); o != nil {
		if err := c.operation(o, media, answer); err != nil {
			return fmt.Errorf("%s: %d is not as the document says: %w", o.ID, answer.Status, err)
		}
		return nil
	}
	if media == "application/problem+json" { // of a path or method that is not there
		return c.body("/components/responses/Problem/content/"+escapePointer(media)+"/schema", answer.Body)
	}
	return nil
}

// find returns the operation that handles a request, or nil.
func (c *contract) find(method string, segments []string) *contractOperation {
	for _, open := range []bool{false, true} {
		for i := range c.operations {
			if o := &c.operations[i]; o.method == method && o.fits(segments, open) {
				return o
			}
		}
	}
	return nil
}

func (c *contract) operation(o *contractOperation, media string, answer *Response) error {
	status := strconv.Itoa(answer.Status)
	response, declared := o.Responses[status]
	if !declared {
		if answer.Status < 300 {
			return errors.New("the status is not declared")
		}
		status, response = "default", o.Responses["default"]
	}
	pointer := o.pointer + "/responses/" + status
	if response.Ref != "" {
		pointer = strings.TrimPrefix(response.Ref, "#")
		response = c.responses[response.Ref[strings.LastIndex(response.Ref, "/")+1:]]
	}
	if len(response.Content) == 0 {
		if len(answer.Body) > 0 {
			return errors.New("it has a body, and none is declared")
		}
		return nil
	}
	if _, known := response.Content[media]; !known {
		return fmt.Errorf("its type %q is not declared", media)
	}
	if !strings.HasSuffix(media, "json") || strings.HasSuffix(media, "ndjson") {
		return nil
	}
	return c.body(pointer+"/content/"+escapePointer(media)+"/schema", answer.Body)
}

// body checks a body against the schema at the pointer.
func (c *contract) body(pointer string, body []byte) error {
	schema, err := c.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%w\n%.2000s", err, body)
	}
	return nil
}

// schema returns the compiled schema at the pointer. Each is compiled once.
func (c *contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(documentURL + "#" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer))
	if err != nil {
		return nil, fmt.Errorf("the schema at %s: %w", pointer, err)
	}
	c.schemas[pointer] = s
	return s, nil
}

// contracts has the contracts of the APIs that were already asked, by handler
// or address and by the hash of the document. They are not in the API itself,
// since an API may be copied.
var contracts sync.Map

// contract returns the contract of the API's own document.
func (a *API) contract(ask func(*http.Request) (*Response, error)) (*contract, error) {
	var key any = a.URL
	if a.Handler != nil {
		key = a.Handler
	}
	if known, ok := contracts.Load(key); ok {
		return known.(*contract), nil
	}
	text, err := a.text(ask)
	if err != nil {
		return nil, err
	}
	// Most tests make the same operations, and their documents are the same.
	document := sha256.Sum256(text)
	if known, ok := contracts.Load(document); ok {
		contracts.Store(key, known)
		return known.(*contract), nil
	}
	c, err := newContract(text)
	if err != nil {
		return nil, err
	}
	contracts.Store(document, c)
	contracts.Store(key, c)
	return c, nil
}

// text returns the API's own document.
func (a *API) text(ask func(*http.Request) (*Response, error)) ([]byte, error) {
	if a.Document != nil {
		return a.Document(), nil
	}
	answer, err := ask(a.request(http.MethodGet, "/api/openapi.json", "", nil))
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// hold returns an error if the document of the API does not declare the answer.
// It ignores answers that net/http gives by itself, without calling a handler.
func (a *API) hold(r *http.Request, answer *Response, ask func(*http.Request) (*Response, error)) error {
	if r.Method == http.MethodHead || !strings.HasPrefix(r.URL.Path, "/api/v") && r.URL.Path != "/meta/update" ||
		answer.Header.Get("X-Request-ID") == "" {
		return nil
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return nil // its head is all that was read
	}
	c, err := a.contract(ask)
	if err != nil {
		return err
	}
	return c.check(r.Method, r.URL.EscapedPath(), answer)
}

// CompareDocument sends a request as an owner and returns an error if the
// answer differs from what another document declares.
func (a *API) CompareDocument(t testing.TB, document []byte, method, path, body string) error {
	t.Helper()
	c, err := newContract(document)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Do(t.Context(), a.request(method, path, body, nil), Owner)
	if err != nil {
		t.Fatal(err)
	}
	return c.check(method, path, answer)
}
