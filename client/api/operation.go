// Package api is what the program hostler knows of the service's API: the table of operations, and the types of those answers that it
// looks into. Both are made of the OpenAPI document.
//
// oapi-codegen makes the types. The functions that it would make too are not used: they are 300 lines for an operation, and know neither
// of plans, confirmations and keys for sending again, nor what a field is for, which the command line shows. The table has that.
package api

import (
	"net/url"
	"strings"
)

//go:generate go run ./generate

// Operation is one operation of the API, as the document has it.
type Operation struct {
	// ID is its operationId, such as create_vm.
	ID string
	// Method and Path as in the document, with parameters in braces.
	Method, Path string
	// Summary is a sentence without a full stop.
	Summary string
	// Role is the one that a caller needs; empty where none is.
	Role string
	// Plan says that it takes plan=true, Key that it takes an Idempotency-Key, Job that its answer can have a job.
	Plan, Key, Job bool
	// Confirm says that its body may have confirm.
	Confirm bool
	// Query and Body are its fields; those of confirmation, plan and pages are not among them.
	Query, Body []Field
	// Paged says that its list has pages.
	Paged bool
	// Answer names the type of a good answer, or of the entries of a list; empty where it is something else.
	Answer string
}

// Field is a value of a query or a body.
type Field struct {
	Name string
	Kind Kind
	// About is the first sentence of its description.
	About string
	// Values are all that it may be, where they are few.
	Values   []string
	Required bool
	// Null says that it may be null, which clears what is there.
	Null bool
}

// Kind is the type of a field's value.
type Kind int

// The kinds of values.
const (
	Text Kind = iota
	Whole
	Number
	Switch
	Texts
	// Time is a moment, such as 2030-01-31T08:00:00Z.
	Time
	// JSON is everything else.
	JSON
)

// Find gives the operation of an id. It panics for one that the table lacks, which a test of the commands holds.
func Find(id string) *Operation {
	for i := range Operations {
		if Operations[i].ID == id {
			return &Operations[i]
		}
	}
	panic("the API has no operation " + id)
}

// Match gives the operation that a path without its query belongs to, and nil where there is none. A literal goes before a parameter.
func Match(method, path string) *Operation {
	var found *Operation
	best := -1
	for i := range Operations {
		if o := &Operations[i]; o.Method == method {
			if literals, ok := matches(o.Path, path); ok && literals > best {
				found, best = o, literals
			}
		}
	}
	return found
}

func matches(template, path string) (literals int, ok bool) {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return 0, false
	}
	for i, part := range want {
		if strings.HasPrefix(part, "{") {
			continue
		}
		if part != have[i] {
			return 0, false
		}
		literals++
	}
	return literals, true
}

// Expand is the operation's path with these values, which are escaped.
func (o *Operation) Expand(values map[string]string) string {
	parts := strings.Split(o.Path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parts[i] = url.PathEscape(values[strings.TrimSuffix(name, "}")])
		}
	}
	return strings.Join(parts, "/")
}
