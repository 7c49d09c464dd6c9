package apitest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/internal/sampletest"
)

// Column is one kind of caller in the matrix.
type Column struct {
	// Name is the head of the column. Legend describes the caller.
	Name, Legend string
	// LogIn makes r come from the caller. scope is the scope that an API key
	// needs to write to the resource of the operation, for callers whose key
	// depends on it. LogIn is nil for requests without a log-in.
	LogIn func(r *http.Request, scope string)

	// Unknown is true for nobody, and for callers with an invalid credential.
	Unknown bool
	// Role is the role in the default team, Elsewhere that in another team.
	Role, Elsewhere identity.Role
	// Key returns the scopes of the caller's key for an operation with the
	// scope. If it is nil or returns no scopes, the caller has all rights.
	Key func(scope string) []string
	// Off says that all features are disabled while Around runs the column.
	Off    bool
	Around func(run func())
}

// Cells of the matrix.
const (
	cellOK          = "ok"
	cellUnknown     = "401"
	cellForbidden   = "403"
	cellSwitchedOff = "403e"
	cellNotThere    = "404"
)

// meanings has the meaning of each cell, for the legend.
var meanings = map[string]string{
	cellOK: "allowed. Reads succeed. Writes are sent with an invalid query string, so they stop at 422, which is checked " +
		"after access",
	cellUnknown:     "unauthenticated",
	cellForbidden:   "forbidden, by role or by the key's scope",
	cellSwitchedOff: "entitlement_required: the operation's feature is switched off",
	cellNotThere:    "not_found: identical to the response for an ID that does not exist, except for the request ID",
}

// refusals has the status and the error ID of each cell that is a refusal.
var refusals = map[string]struct {
	status int
	code   string
}{
	cellUnknown:     {http.StatusUnauthorized, "unauthenticated"},
	cellForbidden:   {http.StatusForbidden, "forbidden"},
	cellSwitchedOff: {http.StatusForbidden, "entitlement_required"},
	cellNotThere:    {http.StatusNotFound, "not_found"},
}

// MatrixConfig says which callers and operations MatrixWith checks.
type MatrixConfig struct {
	// Columns are the callers. If it is nil, they are nobody, an invalid
	// credential and each role in the default team.
	Columns []Column
	// Values has the values of all path parameters by name. They name existing
	// things of the default team. Without values, reads are also sent with an
	// invalid query string.
	Values map[string]string
	// Bodies has a valid body for each operation: a refusal must apply to a
	// valid request.
	Bodies map[string]string
	// Reads has the status, by operation, of reads that are allowed but do not
	// answer 200 or open no socket in this environment.
	Reads map[string]int
	// Golden is the file with the columns of the table and the meanings of its
	// cells, or "" for none. GoldenRows are the files with its rows, by operation.
	Golden     string
	GoldenRows map[string]string
	// Sample makes the short tier check only one of so many cells. 0 checks
	// all.
	Sample uint32
}

// MatrixWith checks who may use which operation. It computes a table from the
// declarations in the OpenAPI document, with one row for each operation and one
// column for each caller. Then it sends a request for each cell and compares
// the answer. Unknown paths must be 401 for nobody, too.
func (a *API) MatrixWith(t *testing.T, config MatrixConfig) {
	t.Helper()
	if config.Columns == nil {
		config.Columns = a.plainColumns()
	}
	d := a.document(t)
	if config.Golden != "" {
		matrixLegend(config.Columns).Golden(t, config.Golden)
		rows := map[string][]*operation{}
		for _, o := range d.operations {
			file, ok := config.GoldenRows[o.ID]
			if !ok {
				t.Errorf("no golden file holds the row of %s", o.ID)
			}
			rows[file] = append(rows[file], o)
		}
		for file, operations := range rows {
			matrixRows(operations, config.Columns).Golden(t, file)
		}
	}
	m := &matrix{API: a, config: config}
	for i := range config.Columns {
		c := &config.Columns[i]
		t.Run(c.Name, func(t *testing.T) {
			run := func() {
				for _, o := range d.operations {
					if config.Sample > 0 && !sampletest.Selected(c.Name+" "+o.ID, config.Sample) {
						continue
					}
					for _, complaint := range m.cell(t.Context(), c, o) {
						t.Error(complaint)
					}
				}
			}
			if c.Around != nil {
				c.Around(run)
			} else {
				run()
			}
		})
	}
	t.Run("unknown paths", func(t *testing.T) {
		for _, target := range []string{"/api/v1/nothing", "/api/v1/", "/api/v2/hosts", "/api/v1/../v1/x"} {
			answer, err := a.Do(t.Context(), a.request("GET", target, "", nil), nil)
			if err != nil || answer.Status != 401 {
				t.Errorf("%s as nobody: %+v, %v", target, answer, err)
			}
		}
	})
}

// plainColumns returns the callers that every API has.
func (a *API) plainColumns() []Column {
	header := func(name, value string) func(*http.Request, string) {
		return func(r *http.Request, _ string) { r.Header.Set(name, value) }
	}
	columns := []Column{
		{Name: "nobody", Unknown: true},
		{Name: "false key", Unknown: true, LogIn: header("Authorization", "Bearer svc_false")},
		{Name: "false cookie", Unknown: true, LogIn: header("Cookie", "service_session=false")},
	}
	for role := identity.NoRole; role <= identity.Owner; role++ {
		columns = append(columns,
			Column{Name: role.String(), Role: role, LogIn: func(r *http.Request, _ string) { a.LogIn(r, &Caller{Role: role}) }})
	}
	return columns
}

// expect returns the cell that follows from the declaration of an operation.
// The order of its cases is the order of the checks of a request.
func (c *Column) expect(o *operation) string {
	held := max(c.Role, c.Elsewhere)
	if o.On == "instance" {
		held = c.Role
	}
	switch {
	case o.public():
		return cellOK
	case c.Unknown:
		return cellUnknown
	case held < o.least:
		return cellForbidden
	case c.Key != nil && !o.inScope(c.Key(o.writeScope())):
		return cellForbidden
	case o.onThing() && c.Role > identity.NoRole && c.Role < o.least:
		return cellForbidden
	case c.Off && o.Entitlement != "":
		return cellSwitchedOff
	case o.onThing() && c.Role == identity.NoRole:
		return cellNotThere
	}
	return cellOK
}

// blind reports whether the caller can see nothing of the default team but has
// a role in another one.
func (c *Column) blind() bool { return c.Role == identity.NoRole && c.Elsewhere > identity.NoRole }

// onThing reports whether the operation is on a thing that belongs to a team.
func (o *operation) onThing() bool { return o.On != "" && o.On != "instance" && o.On != "anywhere" }

// writeScope returns the scope of API keys that may use all operations of the
// resource.
func (o *operation) writeScope() string {
	if o.Scope != "" && o.Scope != "read" {
		return o.Scope
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(o.path, "/api/v1"), "/"), "/")
	return first + ":write"
}

func (o *operation) inScope(scopes []string) bool {
	return len(scopes) == 0 || slices.Contains(scopes, o.Scope) || slices.Contains(scopes, o.writeScope())
}

// matrixLegend returns the table that explains the cells and columns.
func matrixLegend(columns []Column) *Table {
	table := NewTable("# Who may do what. Generated from the declarations of the operations; a test compares it with the real service.\n",
		"KIND", "NAME", "MEANING")
	for cell, meaning := range meanings {
		table.Add("cell", cell, meaning)
	}
	for _, c := range columns {
		table.Add("column", c.Name, c.Legend)
	}
	return table
}

// matrixRows returns the rows of some operations.
func matrixRows(operations []*operation, columns []Column) *Table {
	head := []string{"PATH", "METHOD", "OPERATION"}
	for _, c := range columns {
		head = append(head, c.Name)
	}
	table := NewTable("", head...)
	for _, o := range operations {
		row := []string{o.path, o.method, o.ID}
		for _, c := range columns {
			row = append(row, c.expect(o))
		}
		table.Add(row...)
	}
	return table
}

var (
	placeholder = regexp.MustCompile(`\{[^}]+\}`)
	requestID   = regexp.MustCompile(`"request_id":"[^"]*"`)
)

// missingID is an ID that nothing has.
const missingID = "987654321"

type matrix struct {
	*API
	config MatrixConfig
}

// check is the examination of one cell.
type check struct {
	*matrix
	ctx        context.Context
	as         *Column
	o          *operation
	complaints []string
}

// cell checks one cell and returns the complaints.
func (m *matrix) cell(ctx context.Context, c *Column, o *operation) []string {
	k := &check{matrix: m, ctx: ctx, as: c, o: o}
	switch cell := c.expect(o); cell {
	case cellOK:
		k.admitted()
	case cellNotThere:
		k.hidden()
	default:
		k.refused(cell)
	}
	return k.complaints
}

func (k *check) complain(format string, args ...any) {
	k.complaints = append(k.complaints, fmt.Sprintf("%s as %s: ", k.o.ID, k.as.Name)+fmt.Sprintf(format, args...))
}

// furnished reports whether there are things to read.
func (m *matrix) furnished() bool { return len(m.config.Values) > 0 }

// url returns the path of the operation with the values. Without values, each
// parameter is 1.
func (k *check) url(values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(k.o.path, func(p string) string {
		value, ok := values[p[1:len(p)-1]]
		switch {
		case ok:
			return value
		case k.furnished():
			k.complain("there is no value for %s", p)
		}
		return "1"
	})
}

// ask sends a request in the name of the column's caller.
func (k *check) ask(method, target, body string) *Response {
	r := k.request(method, target, body, k.o.headers(method))
	if k.as.LogIn != nil {
		k.as.LogIn(r, k.o.writeScope())
	}
	answer, err := k.Do(k.ctx, r, nil)
	if err != nil {
		k.complain("%v", err)
		return &Response{Header: http.Header{}}
	}
	return answer
}

// body returns a valid body. An upload without one in the configuration gets a
// small file.
func (k *check) body() string {
	if body, given := k.config.Bodies[k.o.ID]; given || k.o.file() == "" {
		return body
	}
	return "a file"
}

// refused checks that a valid request is refused, and a HEAD like a GET.
func (k *check) refused(cell string) {
	want, target := refusals[cell], k.url(k.config.Values)
	if answer := k.ask(k.o.method, target, k.body()); answer.Status != want.status || answer.Problem() != want.code {
		k.complain("%d %q, want %d %q", answer.Status, answer.Problem(), want.status, want.code)
	}
	if k.o.method == http.MethodGet {
		if head := k.ask(http.MethodHead, target, ""); head.Status != want.status {
			k.complain("HEAD: %d, want %d", head.Status, want.status)
		}
	}
	if k.as.blind() && k.o.onThing() {
		k.alike(k.o.method, k.body(), want.status, want.code)
	}
}

// admitted checks that a read is answered. Other operations get an invalid
// query string: they must come as far as the check of the input, and change
// nothing.
func (k *check) admitted() {
	target := k.url(k.config.Values)
	own := !k.o.public() && k.o.least == identity.NoRole && ownID.MatchString(k.o.path)
	if k.o.method == http.MethodGet && k.furnished() && !own {
		want := http.StatusOK
		if k.o.socket() {
			want = http.StatusSwitchingProtocols
		}
		want = cmp.Or(k.config.Reads[k.o.ID], want)
		if answer := k.ask(k.o.method, target, ""); answer.Status != want {
			k.complain("%d %q, want %d", answer.Status, answer.Problem(), want)
		}
		return
	}
	answer := k.ask(k.o.method, target+"?%zz", k.body())
	if answer.Status != http.StatusUnprocessableEntity || answer.Problem() != "invalid" {
		k.complain("with a faulty query string %d %q, want 422", answer.Status, answer.Problem())
	}
	if own && k.furnished() { // what is one's own is nobody else's to find
		k.alike(k.o.method, k.body(), http.StatusNotFound, "not_found")
	}
}

// ownID matches the ID of a thing in a path.
var ownID = regexp.MustCompile(`\{[a-z]+_id\}`)

// hidden checks that a thing of another team is answered exactly like a thing
// that does not exist.
func (k *check) hidden() {
	k.alike(k.o.method, k.body(), http.StatusNotFound, "not_found")
	if k.o.body() != nil {
		k.alike(k.o.method, `{"no such key":1}`, http.StatusUnprocessableEntity, "invalid")
	}
	if k.o.method == http.MethodGet {
		k.alike(http.MethodHead, "", http.StatusNotFound, "")
	}
}

// alike sends the request for the thing and for one that does not exist, and
// compares the answers.
func (k *check) alike(method, body string, status int, code string) {
	missing := maps.Clone(k.config.Values)
	for name := range missing {
		if strings.HasSuffix(name, "_id") {
			missing[name] = missingID
		}
	}
	theirs, none := k.ask(method, k.url(k.config.Values), body), k.ask(method, k.url(missing), body)
	if theirs.Status != status || (code != "" && theirs.Problem() != code) {
		k.complain("%s: %d %q, want %d %q\n%s", method, theirs.Status, theirs.Problem(), status, code, theirs.Body)
	}
	if a, b := plain(theirs), plain(none); a != b {
		k.complain("%s tells what is there from what is not:\n%s\n%s", method, a, b)
	}
}

// plain returns an answer without the parts that differ between any two
// requests.
func plain(a *Response) string {
	headers := maps.Clone(a.Header)
	for _, name := range []string{"X-Request-Id", "Date"} {
		delete(headers, name)
	}
	text, err := json.Marshal(headers)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s %s", a.Status, text, requestID.ReplaceAll(a.Body, nil))
}
