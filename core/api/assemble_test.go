package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// assembler makes the document of the rows of golden files; listing_test.go says what they are.
type assembler struct {
	document, schemas   map[string]any
	operations          map[string]*assembledOperation
	every, errors       map[string]any            // of all operations, and by status
	parameters, headers map[string]map[string]any // by file
}

type assembledOperation struct {
	file, method, path string
	members            map[string]any
}

func assemble(t *testing.T, files map[string][]byte) any {
	t.Helper()
	document, err := assembled(files)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func assembled(files map[string][]byte) (document any, err error) {
	a := &assembler{document: map[string]any{}, schemas: map[string]any{}, operations: map[string]*assembledOperation{},
		every: map[string]any{}, errors: map[string]any{}, parameters: map[string]map[string]any{}, headers: map[string]map[string]any{}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	for file, text := range files {
		a.parameters[file], a.headers[file] = map[string]any{}, map[string]any{}
		for row := range strings.Lines(string(text)) {
			cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
			if cells[0] == "ABOUT" {
				continue
			}
			var v any
			if err := json.Unmarshal([]byte(cells[2]), &v); err != nil {
				return nil, fmt.Errorf("%s: %w", row, err)
			}
			a.row(file, cells[0], strings.Fields(strings.TrimPrefix(cells[1], "-")), v)
		}
	}
	put(a.document, []string{"components", "schemas"}, a.schemas)
	tags, named := map[string]bool{}, []any{}
	for _, o := range a.operations {
		a.complete(o)
		put(a.document, []string{"paths", o.path, o.method}, o.members)
		for _, tag := range o.members["tags"].([]any) {
			tags[tag.(string)] = true
		}
	}
	for tag := range tags {
		named = append(named, map[string]any{"name": tag})
	}
	a.document["tags"] = named
	return a.document, nil
}

// row puts what a row says in its place.
func (a *assembler) row(file, about string, what []string, v any) {
	switch about {
	case aboutDocument:
		put(a.document, what, v)
	case aboutParameter:
		put(a.parameters[file], what, v)
	case aboutHeader:
		put(a.headers[file], what, v)
	case aboutOperation:
		put(a.every, what, v)
	case aboutError:
		put(a.errors, what, v)
	default:
		if about[0] >= 'A' && about[0] <= 'Z' {
			a.schema(about, what, v)
			return
		}
		o := a.operations[about]
		if o == nil {
			o = &assembledOperation{file: file, members: map[string]any{"operationId": about}}
			a.operations[about] = o
		}
		if len(what) > 1 && strings.HasPrefix(what[1], "/") {
			o.method, o.path = what[0], what[1]
			what = what[2:]
		}
		put(o.members, what, v)
	}
}

func (a *assembler) schema(name string, what []string, v any) {
	s, _ := a.schemas[name].(map[string]any)
	if s == nil {
		s = map[string]any{"properties": map[string]any{}}
		a.schemas[name] = s
	}
	if len(what) == 0 || what[0][0] != '.' {
		put(s, what, v)
		return
	}
	property, optional := strings.CutSuffix(what[0][1:], "?")
	if required, _ := s["required"].([]any); !optional && !slices.Contains(required, any(property)) {
		s["required"] = append(required, property)
	}
	put(s, append([]string{"properties", property}, what[1:]...), v)
}

// complete adds to an operation what it names, what all have, and its examples.
func (a *assembler) complete(operation *assembledOperation) {
	file, o := operation.file, operation.members
	for path, v := range a.every {
		if path == "responses" {
			put(o, []string{path}, maps.Clone(v.(map[string]any)))
		} else if o[path] == nil {
			o[path] = v
		}
	}
	for _, status := range o["errors"].([]any) {
		put(o, []string{"responses", fmt.Sprint(status)}, a.errors[fmt.Sprint(status)])
	}
	delete(o, "errors")
	if parameters, ok := o["parameters"].([]any); ok {
		for i, p := range parameters {
			if name, ok := p.(string); ok {
				p = named(a.parameters, file, name)
			}
			parameters[i] = wholeParameter(p.(map[string]any))
		}
	}
	bodies := []any{o["requestBody"]}
	for _, r := range o["responses"].(map[string]any) {
		bodies = append(bodies, r)
		answer := r.(map[string]any)
		if names, ok := answer["headers"].([]any); ok {
			headers := map[string]any{}
			for _, name := range names {
				headers[name.(string)] = named(a.headers, file, name.(string))
			}
			answer["headers"] = headers
		}
	}
	for _, body := range bodies {
		body, _ := body.(map[string]any)
		content, _ := body["content"].(map[string]any)
		for kind, media := range content {
			media := media.(map[string]any)
			if example := exampleOf(a.schemas, kind, media); example != nil && media["example"] == nil {
				media["example"] = example
			}
		}
	}
}

// wholeParameter is a parameter with what plainParameter leaves out.
func wholeParameter(p map[string]any) map[string]any {
	p = maps.Clone(p)
	if d, ok := p["schema"].(map[string]any)["description"]; ok && p["description"] == nil {
		p["description"] = d
	}
	if p["in"] == "query" && p["explode"] == nil {
		p["explode"] = false
	}
	return p
}

// named is what a name means in a file.
func named(defined map[string]map[string]any, file, name string) any {
	if own, ok := defined[file][name]; ok {
		return own
	}
	if v, ok := defined[commonFile][name]; ok {
		return v
	}
	panic(fmt.Sprintf("%s names %s, which is nowhere", file, name))
}

// put is a value with what is said of the place that a path leads to, where texts and lists are joined and objects united.
func put(there any, path []string, v any) any {
	if list, ok := there.([]any); ok && len(path) > 0 {
		i, err := strconv.Atoi(path[0])
		if err != nil || i > len(list) {
			panic(fmt.Sprintf("%s is no place in a list of %d", path[0], len(list)))
		}
		if i == len(list) {
			list = append(list, nil)
		}
		list[i] = put(list[i], path[1:], v)
		return list
	}
	object, _ := there.(map[string]any)
	switch {
	case len(path) > 0 && (object != nil || there == nil):
		if object == nil {
			object = map[string]any{}
		}
		object[path[0]] = put(object[path[0]], path[1:], v)
		return object
	case len(path) == 0 && there == nil:
		return v
	}
	switch there := there.(type) {
	case string:
		return there + v.(string)
	case []any:
		return append(there, v.([]any)...)
	case map[string]any:
		for key, member := range v.(map[string]any) {
			there[key] = put(there[key], nil, member)
		}
		return there
	}
	panic(fmt.Sprintf("%v is said besides %v", v, there))
}

// unordered sorts what has no order in a document: tags, and which properties are required.
func unordered(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			unordered(item)
		}
	case map[string]any:
		for key, member := range v {
			if list, ok := member.([]any); ok && (key == "required" || key == "tags") {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
			unordered(member)
		}
	}
}

// apart is the first place where two values differ; "" when they do not.
func apart(a, b any, where string) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	x, ok := a.(map[string]any)
	y, also := b.(map[string]any)
	if ok && also {
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if found := apart(x[key], y[key], where+"/"+key); found != "" {
				return found
			}
		}
	}
	return fmt.Sprintf("at %s\n%.1000v\n%.1000v", where, a, b)
}

// exampleOf is the example of a body of JSON that follows from its schema: what the schema gives, else the least that fits. It is nil
// where nothing follows.
func exampleOf(schemas map[string]any, kind string, media map[string]any) any {
	schema, ok := media["schema"].(map[string]any)
	if !ok || kind != "application/json" {
		return nil
	}
	return sample(schemas, schema, 0)
}

// unknown stands in examples where the schema gives none.
const unknown = "…"

func sample(schemas map[string]any, s map[string]any, depth int) any {
	const deepest = 8 // types may contain themselves
	given := s
	either, nullable := s["anyOf"].([]any)
	if nullable {
		s = either[0].(map[string]any)
	}
	ref, refers := s["$ref"].(string)
	if refers {
		s, _ = schemas[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
		given = s
	}
	if examples, ok := given["examples"].([]any); ok {
		return examples[0]
	}
	if v, ok := given["default"]; ok {
		return v
	}
	if enum, ok := s["enum"].([]any); ok {
		return enum[0]
	}
	types := kinds(s)
	if len(types) == 0 {
		return nil
	}
	switch types[0] {
	case "object":
		o := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			if refers && depth < deepest {
				o[name] = sample(schemas, p.(map[string]any), depth+1)
			}
		}
		return o
	case "array":
		items, ok := s["items"].(map[string]any)
		if !ok || depth >= deepest {
			return []any{}
		}
		if item := sample(schemas, items, depth+1); item != unknown {
			return []any{item}
		}
		return []any{}
	case "integer", "number":
		if least, ok := s["minimum"]; ok {
			return least
		}
		return 1.0
	case "boolean":
		return true
	case "string":
		switch format, _ := s["format"].(string); {
		case format == "date-time":
			return "2026-01-31T08:15:00Z"
		case format == "email":
			return "ada@example.org"
		case len(types) > 1 && format == "":
			return nil
		}
		return unknown
	}
	return nil
}
