package lxdapi

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/sdk/plugin"
)

// maxSegment is the maximum length of a name in a path or a query, in bytes.
// Names on the server have at most 63.
const maxSegment = 255

// apiPath joins names to a path below /1.0 and escapes each of them. A name
// that could lead to another path is Invalid.
func apiPath(segments ...string) (string, error) {
	var path strings.Builder
	path.WriteString("/1.0")
	for _, s := range segments {
		if err := checkName(s); err != nil {
			return "", err
		}
		path.WriteByte('/')
		path.WriteString(url.PathEscape(s))
	}
	return path.String(), nil
}

// checkName returns an Invalid error for a text that cannot be the name of
// anything on a server.
func checkName(name string) error {
	switch {
	case name == "", name == ".", name == "..", len(name) > maxSegment, !utf8.ValidString(name):
	case strings.ContainsAny(name, `/\`), strings.ContainsFunc(name, unicode.IsControl):
	default:
		return nil
	}
	return plugin.Errorf(plugin.Invalid, "%q is not a valid name on the host", cut(name, maxSegment))
}

// Scope says which projects a list covers. The zero value is the project
// default.
type Scope struct {
	Project string
	// All covers every project. LXD denies that to a restricted certificate;
	// Incus returns what it may see.
	All bool
}

// query returns the scope as parameters, to which the caller may add.
func (s Scope) query() (url.Values, error) {
	query := url.Values{}
	switch {
	case s.All:
		query.Set("all-projects", "true")
	case s.Project != "":
		if err := checkName(s.Project); err != nil {
			return nil, err
		}
		query.Set("project", s.Project)
	}
	return query, nil
}

// recursive is query with the objects instead of their URLs.
func (s Scope) recursive() (url.Values, error) {
	query, err := s.query()
	if err != nil {
		return nil, err
	}
	query.Set("recursion", "1")
	return query, nil
}

// InstanceRef is the address of an instance at a server. Its name is unique in its project.
type InstanceRef struct {
	Project string // empty is default
	Name    string
}

// path is the path of the instance, or of what is below it, with its project as a parameter.
func (r InstanceRef) path(below ...string) (string, url.Values, error) {
	path, err := apiPath(append([]string{"instances", r.Name}, below...)...)
	if err != nil {
		return "", nil, err
	}
	query, err := Scope{Project: r.Project}.query()
	return path, query, err
}

// refOf parses the address of an instance in operations and events, such as
// /1.0/instances/web1?project=customers. ok is false for the address of
// anything else.
func refOf(address string) (ref InstanceRef, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return InstanceRef{}, false
	}
	rest, ok := strings.CutPrefix(u.Path, "/1.0/instances/")
	if !ok {
		return InstanceRef{}, false
	}
	name, _, _ := strings.Cut(rest, "/")
	project := u.Query().Get("project")
	if checkName(name) != nil || project != "" && checkName(project) != nil {
		return InstanceRef{}, false
	}
	return InstanceRef{Project: strings.Clone(project), Name: strings.Clone(name)}, true // parts would keep the whole address
}
