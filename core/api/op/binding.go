package op

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/problem"
)

// maxNode and maxGroup are the longest names of a node and a security group, in characters.
const (
	maxNode  = 253
	maxGroup = 64
)

// groupForm is the form of the name of a security group.
var groupForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// bind decides who reads each placeholder of the path: a field of the input, or
// the object that the operation is On, which handlers get from ResourceOf. It
// panics on a placeholder that nobody reads, and on a field without a
// placeholder.
func (o *Operation) bind(input reflect.Type) {
	fields := pathFields(input)
	var names []string
	for _, found := range wildcard.FindAllStringSubmatch(o.Pattern, -1) {
		name := found[1]
		names = append(names, name)
		if slices.Contains(fields, name) {
			continue
		}
		if !slices.Contains(o.Spec.On.params(), name) {
			panic(fmt.Sprintf("op: nothing reads the placeholder %s in the path of %s", name, o.Spec.ID))
		}
		o.bound = append(o.bound, boundParam(name))
	}
	for _, name := range fields {
		if !slices.Contains(names, name) {
			panic(fmt.Sprintf("op: the input of %s has a field for %s, which is not in its path", o.Spec.ID, name))
		}
	}
}

// pathFields returns the path parameters for which an input has fields,
// including those of embedded structs.
func pathFields(t reflect.Type) (names []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("path"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// boundParam returns the documentation of a path parameter that no field reads.
func boundParam(name string) *huma.Param {
	s := &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(1.0)}
	param := &huma.Param{Name: name, In: "path", Required: true, Schema: s}
	if name == nodeParam {
		param.Schema = &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(maxNode), Examples: []any{"pve1"}}
		param.Description = "Name of a node of the host's cluster"
		param.Example = "pve1"
	}
	if name == groupParam {
		param.Schema = &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(maxGroup), Pattern: groupForm.String(),
			Examples: []any{"webserver"}}
		param.Description = "Name of a security group of the host's cluster"
		param.Example = "webserver"
	}
	return param
}

// pathFaults returns what is wrong with the path parameters that no field
// reads.
func (o *Operation) pathFaults(params route.Params) (faults []problem.Fault) {
	for _, param := range o.bound {
		value, loc := params.Get(param.Name), []any{"path", param.Name}
		if param.Name == nodeParam {
			if utf8.RuneCountInString(value) > maxNode {
				faults = append(faults, problem.Fault{Loc: loc, Msg: fmt.Sprintf("must have at most %d characters", maxNode), Type: "too_long"})
			}
			continue
		}
		if param.Name == groupParam {
			switch {
			case utf8.RuneCountInString(value) > maxGroup:
				faults = append(faults, problem.Fault{Loc: loc, Msg: fmt.Sprintf("must have at most %d characters", maxGroup), Type: "too_long"})
			case !groupForm.MatchString(value):
				faults = append(faults, problem.Fault{Loc: loc, Msg: "expected string to match pattern " + groupForm.String(),
					Type: "string_pattern_mismatch"})
			}
			continue
		}
		if id, err := strconv.ParseInt(value, 10, 64); err != nil {
			faults = append(faults, problem.Fault{Loc: loc, Msg: wholeNumber, Type: "int_parsing"})
		} else if id < 1 {
			faults = append(faults, problem.Fault{Loc: loc, Msg: "must be at least 1", Type: "greater_than_equal"})
		}
	}
	return faults
}
