package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hostler/hostler/core/api"
	"github.com/hostler/hostler/core/api/apitest"
)

// The OpenAPI document stands in the golden files openapi.txt as rows of three cells: what the row is about, what of it, and JSON. A row
// is about
//
//	an operation, by its id   "get /api/v1/jobs" is its head, then summary, description, parameters, requestBody, "responses 200"
//	a schema, by its name     "-" is its head, ".id" a property that must be there, ".id?" one that may be
//	parameter, header         one that several operations have in the same words, and which they name; those of the operation's own
//	                          file come before the common ones
//	operation                 what every operation has; its security may be another
//	error                     the answer of a status; errors in the head of an operation are its statuses
//	document                  the rest
//
// A value that is too long for a row goes on in the next ones: rows of one address are pieces of one text, list or object. Left out are
// examples of bodies that follow from their schemas, tags, which operations name, and what parameters of a query have in common. A schema,
// parameter or header of one resource stands in its file, one of several in the common file. assemble makes the document of the rows.

// Words that no operation and no schema is called.
const (
	aboutParameter = "parameter"
	aboutHeader    = "header"
	aboutOperation = "operation"
	aboutError     = "error"
	aboutDocument  = "document"
)

// longestRow is how many characters a row of one whole value has at most, tabs not counted; one with a sentence may have a few more.
const longestRow = 260

// everywhere are the answers that every operation has in the same words.
var everywhere = []string{"422", "default"}

var reference = regexp.MustCompile(`"#/components/schemas/([A-Za-z]+)"`)

// lister takes the document apart.
type lister struct {
	t        *testing.T
	made     map[string]*apitest.Table
	schemas  map[string]any
	security string
	errors   map[string]string // answers by status
	shared   map[string]*shared
}

// declaredOperation is an operation in the document.
type declaredOperation struct {
	file, id, method, path string
	members                api.Members
}

// listings are the golden files of the document, by their names.
func listings(t *testing.T, document []byte) map[string]*apitest.Table {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		t.Fatal(err)
	}
	l := &lister{t: t, made: map[string]*apitest.Table{}, schemas: schemasOf(t, document), errors: map[string]string{},
		shared: map[string]*shared{aboutParameter: newShared(), aboutHeader: newShared()}}
	whole := members(t, compact.Bytes())
	components := members(t, value(whole, "components"))
	operations := l.operations(value(whole, "paths"))
	l.frame(operations)
	for kind, s := range l.shared {
		for file, definitions := range s.settle() {
			for _, name := range slices.Sorted(maps.Keys(definitions)) {
				l.add(file, kind, name, json.RawMessage(definitions[name]))
			}
		}
	}
	used := map[string][]byte{}
	for i := range operations {
		l.operation(&operations[i])
		used[operations[i].file] = append(used[operations[i].file], text(t, operations[i].members)...)
	}
	l.allSchemas(members(t, value(components, "schemas")), used)
	for _, m := range whole {
		switch m.Name {
		case "paths", "tags":
		case "components":
			for _, kind := range components {
				if kind.Name != "schemas" {
					l.each(commonFile, aboutDocument, "components "+kind.Name, kind.Value)
				}
			}
		default:
			l.add(commonFile, aboutDocument, m.Name, m.Value)
		}
	}
	return l.made
}

// operations are all that the document has.
func (l *lister) operations(paths json.RawMessage) (all []declaredOperation) {
	files := goldenFiles("openapi.txt")
	for _, path := range members(l.t, paths) {
		for _, o := range members(l.t, path.Value) {
			d := declaredOperation{method: o.Name, path: path.Name, members: members(l.t, o.Value)}
			if err := json.Unmarshal(value(d.members, "operationId"), &d.id); err != nil {
				l.t.Fatal(err)
			}
			if d.file = files[d.id]; d.file == "" {
				l.t.Errorf("%s is an operation of no resource", d.id)
			}
			all = append(all, d)
		}
	}
	return all
}

// frame finds out what operations have in the same words, and writes down what all have.
func (l *lister) frame(operations []declaredOperation) {
	security, answers := map[string]int{}, map[string]map[string]int{}
	for _, o := range operations {
		security[string(value(o.members, "security"))]++
		for _, p := range elements(l.t, value(o.members, "parameters")) {
			l.shared[aboutParameter].count(o.file, nameOf(l.t, p), l.plainParameter(p))
		}
		for _, r := range members(l.t, value(o.members, "responses")) {
			if answers[r.Name] == nil {
				answers[r.Name] = map[string]int{}
			}
			answers[r.Name][string(r.Value)]++
			for _, h := range members(l.t, value(members(l.t, r.Value), "headers")) {
				l.shared[aboutHeader].count(o.file, h.Name, h.Value)
			}
		}
	}
	l.security = usual(security)
	l.add(commonFile, aboutOperation, "security", json.RawMessage(l.security))
	for _, status := range slices.Sorted(maps.Keys(answers)) {
		texts := answers[status]
		most := usual(texts)
		switch {
		case slices.Contains(everywhere, status):
			if texts[most] != len(operations) {
				l.t.Errorf("not every operation has the answer %s in the same words", status)
			}
			l.add(commonFile, aboutOperation, "responses "+status, json.RawMessage(most))
		case strings.HasPrefix(most, `{"$ref":"#/components/responses/`):
			l.errors[status] = most
			l.add(commonFile, aboutError, status, json.RawMessage(most))
		}
	}
}

// operation writes the rows of one operation.
func (l *lister) operation(o *declaredOperation) {
	head, errors := api.Members{}, api.Members{}
	l.reserve(o.id)
	for _, m := range o.members {
		if slices.Contains([]string{"operationId", "summary", "description", "parameters", "requestBody", "responses"}, m.Name) ||
			m.Name == "security" && string(m.Value) == l.security {
			continue
		}
		head = append(head, m)
	}
	answers := slices.DeleteFunc(members(l.t, value(o.members, "responses")), func(r api.Member) bool {
		if l.errors[r.Name] == string(r.Value) {
			errors = append(errors, r)
			return true
		}
		return slices.Contains(everywhere, r.Name)
	})
	var statuses []json.RawMessage
	for _, e := range errors {
		statuses = append(statuses, json.RawMessage(e.Name))
	}
	l.add(o.file, o.id, o.method+" "+o.path, text(l.t, append(head, api.Member{Name: "errors", Value: list(statuses)})))
	l.row(o.file, o.id, "summary", value(o.members, "summary"))
	l.sentences(o.file, o.id, "description", value(o.members, "description"))
	l.parameters(o)
	if body := value(o.members, "requestBody"); body != nil {
		l.add(o.file, o.id, "requestBody", l.withoutExamples(body))
	}
	for _, r := range answers {
		l.add(o.file, o.id, "responses "+r.Name, l.withoutExamples(l.withNamedHeaders(o.file, r.Value)))
	}
}

// parameters adds a row for each parameter of an operation, and one for several that are shared and follow each other.
func (l *lister) parameters(o *declaredOperation) {
	var names []json.RawMessage
	named := func() {
		if len(names) > 0 {
			l.add(o.file, o.id, "parameters", list(names))
		}
		names = nil
	}
	for i, p := range elements(l.t, value(o.members, "parameters")) {
		p = l.plainParameter(p)
		if name := nameOf(l.t, p); l.shared[aboutParameter].has(o.file, name, p) {
			names = append(names, quoted(l.t, name))
			continue
		}
		named()
		l.element(o.file, o.id, "parameters", i, p)
	}
	named()
}

// plainParameter is a parameter without the description that its schema has too, and without what is said of every parameter of a query.
func (l *lister) plainParameter(p json.RawMessage) json.RawMessage {
	all := members(l.t, p)
	description := value(members(l.t, value(all, "schema")), "description")
	return text(l.t, slices.DeleteFunc(all, func(m api.Member) bool {
		return m.Name == "description" && bytes.Equal(m.Value, description) || m.Name == "explode" && string(m.Value) == "false"
	}))
}

// withoutExamples is a body without the examples that follow from its schemas.
func (l *lister) withoutExamples(body json.RawMessage) json.RawMessage {
	all := members(l.t, body)
	content := members(l.t, value(all, "content"))
	for i, media := range content {
		follows := exampleOf(l.schemas, media.Name, decoded(l.t, media.Value).(map[string]any))
		content[i].Value = text(l.t, slices.DeleteFunc(members(l.t, media.Value), func(m api.Member) bool {
			return m.Name == "example" && reflect.DeepEqual(decoded(l.t, m.Value), follows)
		}))
	}
	set(all, "content", text(l.t, content))
	return text(l.t, all)
}

// withNamedHeaders is an answer with the names of its headers alone, when all are shared.
func (l *lister) withNamedHeaders(file string, answer json.RawMessage) json.RawMessage {
	all := members(l.t, answer)
	var names []json.RawMessage
	for _, h := range members(l.t, value(all, "headers")) {
		if !l.shared[aboutHeader].has(file, h.Name, h.Value) {
			return answer
		}
		names = append(names, quoted(l.t, h.Name))
	}
	set(all, "headers", list(names))
	return text(l.t, all)
}

// allSchemas writes each schema into the file of the resource that needs it, and into the common one when several do or none does. used is
// what each file's operations say.
func (l *lister) allSchemas(all api.Members, used map[string][]byte) {
	files := map[string][]string{}
	for file, text := range used {
		for name := range reachable(all, text) {
			files[name] = append(files[name], file)
		}
	}
	for _, s := range all {
		file := commonFile
		if len(files[s.Name]) == 1 {
			file = files[s.Name][0]
		}
		l.schema(file, s.Name, members(l.t, s.Value))
	}
}

// reachable are the schemas that a text refers to, and those that these refer to.
func reachable(all api.Members, text []byte) map[string]bool {
	found := map[string]bool{}
	var look func([]byte)
	look = func(text []byte) {
		for _, match := range reference.FindAllSubmatch(text, -1) {
			if name := string(match[1]); !found[name] {
				found[name] = true
				look(value(all, name))
			}
		}
	}
	look(text)
	return found
}

func (l *lister) schema(file, name string, schema api.Members) {
	l.reserve(name)
	required := map[string]bool{}
	for _, r := range elements(l.t, value(schema, "required")) {
		required[decoded(l.t, r).(string)] = true
	}
	l.add(file, name, "", text(l.t, slices.DeleteFunc(slices.Clone(schema), func(m api.Member) bool {
		return m.Name == "properties" || m.Name == "required"
	})))
	for _, p := range members(l.t, value(schema, "properties")) {
		what := "." + p.Name
		if !required[p.Name] {
			what += "?"
		}
		l.add(file, name, what, p.Value)
	}
}

// reserve fails for a name that rows have of their own.
func (l *lister) reserve(name string) {
	if slices.Contains([]string{aboutParameter, aboutHeader, aboutOperation, aboutError, aboutDocument}, name) {
		l.t.Errorf("nothing can be called %s: the golden files call something else so", name)
	}
}

// add adds a row, and several where one would be too long.
func (l *lister) add(file, about, what string, v json.RawMessage) {
	if l.fits(about, what, v) {
		l.row(file, about, what, v)
		return
	}
	switch v[0] {
	case '"':
		l.sentences(file, about, what, v)
	case '[':
		for i, e := range elements(l.t, v) {
			l.element(file, about, what, i, e)
		}
	case '{':
		if strings.HasSuffix(what, " properties") {
			l.each(file, about, what, v)
			return
		}
		rest, long := members(l.t, v), api.Members{}
		for len(rest) > 0 && !l.fits(about, what, text(l.t, rest)) {
			longest := slices.MaxFunc(rest, func(a, b api.Member) int { return len(a.Value) - len(b.Value) })
			long = append(long, longest)
			rest = slices.DeleteFunc(rest, func(m api.Member) bool { return m.Name == longest.Name })
		}
		if len(rest) > 0 {
			l.add(file, about, what, text(l.t, rest))
		}
		for _, m := range members(l.t, v) {
			if value(long, m.Name) != nil {
				l.add(file, about, strings.TrimSpace(what+" "+m.Name), m.Value)
			}
		}
	}
}

// element adds a row for an element of a list, and for one that is too long rows about its place.
func (l *lister) element(file, about, what string, i int, e json.RawMessage) {
	one := list([]json.RawMessage{e})
	if l.fits(about, what, one) {
		l.row(file, about, what, one)
		return
	}
	if i == 0 {
		l.row(file, about, what, list(nil))
	}
	l.add(file, about, what+" "+strconv.Itoa(i), e)
}

// each adds a row for each member of an object.
func (l *lister) each(file, about, what string, object json.RawMessage) {
	for _, m := range members(l.t, object) {
		l.add(file, about, what+" "+m.Name, m.Value)
	}
}

// sentence is a sentence or a line with the white space behind it, and of what is longer as many words as a row can have.
var sentence = regexp.MustCompile(`(?s).{1,180}?([.!?]["')` + "`" + `]*\s+|\n+|$)|.{1,180}\s|.{1,180}`)

// sentences adds a row for each sentence of a text.
func (l *lister) sentences(file, about, what string, text json.RawMessage) {
	for _, one := range sentence.FindAllString(decoded(l.t, text).(string), -1) {
		l.row(file, about, what, quoted(l.t, one))
	}
}

// fits reports whether a row is short enough for a line.
func (l *lister) fits(about, what string, v json.RawMessage) bool {
	return len(about)+len(what)+utf8.RuneCount(v) <= longestRow
}

func (l *lister) row(file, about, what string, v json.RawMessage) {
	if l.made[file] == nil {
		l.made[file] = apitest.NewListing("", "ABOUT", "WHAT", "VALUE")
	}
	l.made[file].Add(about, what, string(v))
}

// shared are things that several operations have in the same words.
type shared struct {
	times map[string]map[string]map[string]int // how often, by name, file and text
	made  map[string]map[string]string         // what is said once: texts by file and name
}

func newShared() *shared {
	return &shared{times: map[string]map[string]map[string]int{}, made: map[string]map[string]string{}}
}

func (s *shared) count(file, name string, text json.RawMessage) {
	if s.times[name] == nil {
		s.times[name] = map[string]map[string]int{}
	}
	if s.times[name][file] == nil {
		s.times[name][file] = map[string]int{}
	}
	s.times[name][file][string(text)]++
}

// settle decides what each file says once: the common one what most files have, and others what they have most, unless that is the same.
func (s *shared) settle() map[string]map[string]string {
	say := func(file, name, text string, times int) {
		if times < 2 || s.made[commonFile][name] == text {
			return
		}
		if s.made[file] == nil {
			s.made[file] = map[string]string{}
		}
		s.made[file][name] = text
	}
	for name, files := range s.times {
		having := map[string]int{}
		for _, texts := range files {
			for text := range texts {
				having[text]++
			}
		}
		say(commonFile, name, usual(having), having[usual(having)])
		for file, texts := range files {
			say(file, name, usual(texts), texts[usual(texts)])
		}
	}
	return s.made
}

// has reports whether an operation of the file may say the name instead of the text.
func (s *shared) has(file, name string, text json.RawMessage) bool {
	if own, ok := s.made[file][name]; ok {
		return own == string(text)
	}
	return s.made[commonFile][name] == string(text)
}

// usual is what there is most of, and of several such texts the first.
func usual(times map[string]int) (text string) {
	for t, n := range times {
		if n > times[text] || n == times[text] && t < text {
			text = t
		}
	}
	return text
}

func nameOf(t *testing.T, parameter json.RawMessage) string {
	t.Helper()
	return decoded(t, value(members(t, parameter), "name")).(string)
}

func schemasOf(t *testing.T, document []byte) map[string]any {
	t.Helper()
	return at(decoded(t, document), "components", "schemas").(map[string]any)
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %.100s", err, text)
	}
	return v
}

// members are those of an object, which may be absent.
func members(t *testing.T, object []byte) (all api.Members) {
	t.Helper()
	if object == nil {
		return nil
	}
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// elements are those of a list, which may be absent.
func elements(t *testing.T, list []byte) (all []json.RawMessage) {
	t.Helper()
	if list == nil {
		return nil
	}
	if err := json.Unmarshal(list, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func value(object api.Members, name string) json.RawMessage {
	for _, m := range object {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

func set(object api.Members, name string, value json.RawMessage) {
	for i := range object {
		if object[i].Name == name {
			object[i].Value = value
		}
	}
}

// text is an object as JSON.
func text(t *testing.T, object api.Members) json.RawMessage {
	t.Helper()
	b := bytes.NewBufferString("{")
	for i, m := range object {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(t, m.Name))
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func list(elements []json.RawMessage) json.RawMessage {
	b := bytes.NewBufferString("[")
	for i, e := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// quoted is a text as JSON, with < and & as they are.
func quoted(t *testing.T, text string) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
