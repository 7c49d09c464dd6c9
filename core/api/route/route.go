// Package route adds the operations of the API to httprouter. By itself,
// httprouter accepts neither a literal beside a wildcard (/vms/:vm_id/clone
// beside /vms/:vm_id/:action) nor two names for the wildcard in one place.
//
// So this package merges patterns that share a place. Where one method has a
// wildcard, it registers the literals beside it as that wildcard, too.
// httprouter then sees one form and calls a handler with a list of candidates.
// A request goes to the first candidate whose literals match, whatever its
// method; literals come before wildcards. For example, POST /apps/adopt takes
// that path from GET /apps/:app_id, which would read "adopt" as an ID.
//
// Matching works on the escaped path, so %2F never splits a segment. Each
// parameter is unescaped exactly once. Redirects are off: a path either matches
// or is not found.
package route

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/julienschmidt/httprouter"
)

// maxPath is the maximum length of an escaped path. A longer one is not found.
const maxPath = 4096

// Param is the unescaped value of one parameter of a path.
type Param struct{ Name, Value string }

// Params has the values in the order of the pattern.
type Params []Param

// Get returns the value of a parameter, or "" if the pattern does not have it.
func (p Params) Get(name string) string {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value
		}
	}
	return ""
}

// Handler serves a request whose path matches.
type Handler func(http.ResponseWriter, *http.Request, Params)

// Router is an http.Handler. Register all patterns first: the first request
// builds the router, and it does not change after that.
type Router struct {
	// NotFound serves every path that has no operation, the user interface's too; by default a bare 404.
	NotFound http.Handler
	// MethodNotAllowed serves a path that exists for other methods only, and every path for a method that none can have; the Allow
	// header is already set, and empty when the path has no method at all. By default a bare 405.
	MethodNotAllowed http.Handler

	routes map[string][]*candidate // by method
	index  *httprouter.Router
	build  func()
}

// candidate is one registered pattern.
type candidate struct {
	pattern  string
	segments []string // literal, ":name" or "*name"
	handler  Handler
	// closer are the patterns of other methods that fit some of the same paths more closely. Such a path is theirs: the
	// method does not exist there.
	closer []*candidate
}

// New returns an empty router.
func New() *Router {
	rt := &Router{
		NotFound:         http.NotFoundHandler(),
		MethodNotAllowed: http.HandlerFunc(bareMethodNotAllowed),
		routes:           map[string][]*candidate{},
	}
	rt.build = sync.OnceFunc(rt.fold)
	return rt
}

// Handle registers a pattern such as /vms/:vm_id/:action or
// /ipsets/:name/members/*cidr. A :name captures one segment, which is never
// empty, "." or "..". A *name comes last and captures the rest, with its
// slashes. Handle panics if the pattern is malformed or matches exactly the
// same paths as an earlier one.
func (rt *Router) Handle(method, pattern string, handler Handler) {
	if rt.index != nil {
		panic("route: " + method + " " + pattern + " registered after the first request")
	}
	c := &candidate{pattern: pattern, segments: parse(pattern), handler: handler}
	for _, other := range rt.routes[method] {
		if other.same(c) {
			panic(fmt.Sprintf("route: %s %s answers the same paths as %s", method, pattern, other.pattern))
		}
	}
	rt.routes[method] = append(rt.routes[method], c)
}

func parse(pattern string) []string {
	if !strings.HasPrefix(pattern, "/") || (len(pattern) > 1 && strings.HasSuffix(pattern, "/")) {
		panic("route: pattern " + pattern + " must begin with a slash and not end with one")
	}
	segments := strings.Split(pattern[1:], "/")
	names := map[string]bool{}
	for i, s := range segments {
		wild := strings.HasPrefix(s, ":") || strings.HasPrefix(s, "*")
		name := strings.TrimLeft(s, ":*")
		switch {
		case s == "" && len(segments) > 1, wild && name == "", strings.ContainsAny(name, ":*{}%"):
			panic("route: pattern " + pattern + " has a malformed segment")
		case s != "" && s[0] == '*' && i != len(segments)-1:
			panic("route: pattern " + pattern + " has a catch-all that is not last")
		case wild && names[name]:
			panic("route: pattern " + pattern + " names " + name + " twice")
		}
		if wild {
			names[name] = true
		}
	}
	return segments
}

// same reports whether two patterns match exactly the same paths.
func (c *candidate) same(other *candidate) bool {
	return slices.EqualFunc(c.segments, other.segments, func(a, b string) bool {
		return a == b || (rank(a) > 0 && rank(a) == rank(b))
	})
}

// rank orders the kinds of segments: literals first, catch-all parameters last.
func rank(segment string) int {
	switch {
	case strings.HasPrefix(segment, ":"):
		return 1
	case strings.HasPrefix(segment, "*"):
		return 2
	}
	return 0
}

// Match returns the handler, the pattern and the parameters for a method and an
// escaped path. A HEAD that is not registered gets the handler of GET. ok is
// false if no pattern matches, or if the pattern of another method is closer to
// the path.
func (rt *Router) Match(method, escaped string) (handler Handler, pattern string, params Params, ok bool) {
	rt.build()
	if len(escaped) == 0 || len(escaped) > maxPath {
		return nil, "", nil, false
	}
	var p probe
	if handle, _, _ := rt.index.Lookup(method, escaped); handle != nil {
		handle(&p, nil, nil)
		for _, c := range p.candidates {
			if params, ok := c.match(escaped); ok {
				if slices.ContainsFunc(c.closer, func(d *candidate) bool { return d.fits(escaped) }) {
					break
				}
				return c.handler, c.pattern, params, true
			}
		}
	}
	if method == http.MethodHead {
		return rt.Match(http.MethodGet, escaped)
	}
	return nil, "", nil, false
}

// Knows reports whether any path can have the method. TRACE and OPTIONS are
// never handled.
func Knows(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// Allowed returns the methods of an escaped path, sorted. It is empty for an
// unknown path.
func (rt *Router) Allowed(escaped string) []string {
	var methods []string
	for method := range rt.routes {
		if _, _, _, ok := rt.Match(method, escaped); ok {
			methods = append(methods, method)
		}
	}
	if slices.Contains(methods, http.MethodGet) && !slices.Contains(methods, http.MethodHead) {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	return methods
}

// ServeHTTP finds the operation of the request and runs it.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	escaped := r.URL.EscapedPath()
	if handler, _, params, ok := rt.Match(r.Method, escaped); ok {
		handler(w, r, params)
		return
	}
	if allowed := rt.Allowed(escaped); len(allowed) > 0 || !Knows(r.Method) {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		rt.MethodNotAllowed.ServeHTTP(w, r)
		return
	}
	rt.NotFound.ServeHTTP(w, r)
}

func bareMethodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
}

var _ http.Handler = (*Router)(nil)
