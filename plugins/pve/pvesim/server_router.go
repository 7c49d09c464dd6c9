package pvesim

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// request is one call of the API after routing: who, on which node, with which
// parameters. The cluster's mutex is held while its functions run.
type request struct {
	c      *Cluster
	who    identity
	entry  *node // the node that was called
	node   *node // the node that carries the request out
	values values
	path   string // relative to the API's root, unescaped
	kind   string // QEMU or LXC where the path names a guest type
	now    time.Time
	upload *upload // the file that came with it, at the one path that takes one
}

// handlerFunc carries a request out. Parameters and privileges have been checked.
type handlerFunc func(r *request) (result, *apiError)

// endpoint is one simulated method of the API. Its parameters, its privileges
// and who carries it out stand in the schema; only where the real server is
// known to differ from that, something is said here.
type endpoint struct {
	method string
	path   string // template, as the API's own documentation writes it
	run    handlerFunc

	since       string
	paramsSince map[string]string
	facts       func() *schema.Method

	segments []string
	kind     string
	// rest says that the last segment, a volume's name or a network, takes all
	// that is left of a path.
	rest bool
}

// serve declares an endpoint.
func serve(method, path string, run handlerFunc) *endpoint {
	e := &endpoint{method: method, path: path, run: run, segments: splitPath(path),
		rest: strings.HasSuffix(path, "/{volume}") || strings.HasSuffix(path, "/{cidr}")}
	if len(e.segments) > 2 && e.segments[0] == "nodes" && (e.segments[2] == QEMU || e.segments[2] == LXC) {
		e.kind = e.segments[2]
	}
	e.facts = sync.OnceValue(func() *schema.Method {
		m := schema.Find(method, path)
		if m == nil { // a test asks for the facts of every endpoint
			panic("the schema has no " + method + " " + path)
		}
		return m
	})
	return e
}

// serveGuests declares the same endpoint for virtual machines and for
// containers; path is what follows the guest's id.
func serveGuests(method, path string, run handlerFunc) []*endpoint {
	return []*endpoint{
		serve(method, "/nodes/{node}/qemu/{vmid}"+path, run),
		serve(method, "/nodes/{node}/lxc/{vmid}"+path, run),
	}
}

// from says which release brought the endpoint, where the schema knows it less exactly.
func (e *endpoint) from(release string) *endpoint { e.since = release; return e }

// paramFrom does so for a parameter.
func (e *endpoint) paramFrom(name, release string) *endpoint {
	if e.paramsSince == nil {
		e.paramsSince = map[string]string{}
	}
	e.paramsSince[name] = release
	return e
}

// undocumented serves what the real server has and its schema lacks, to all who are authenticated.
func (e *endpoint) undocumented() *endpoint {
	e.facts = func() *schema.Method { return &schema.Method{Access: schema.Access{User: "all"}} }
	return e
}

// absent reports whether a release does not have the endpoint yet.
func (e *endpoint) absent(rel release) bool {
	if e.since != "" {
		return rel.before(e.since)
	}
	return rel.before(e.facts().Since)
}

// parameter finds a parameter that the release has.
func (e *endpoint) parameter(name string, rel release) *schema.Parameter {
	p := e.facts().Parameter(name)
	if p == nil {
		return nil
	}
	since := p.Since
	if s := e.paramsSince[p.Name]; s != "" {
		since = s
	}
	if rel.before(since) {
		return nil
	}
	return p
}

// hasSegment reports whether the path has the parameter.
func (e *endpoint) hasSegment(name string) bool { return strings.Contains(e.path, "{"+name+"}") }

// router finds an endpoint by method and path.
type router struct {
	byLength map[int][]*endpoint
	open     []*endpoint // those whose last segment takes the rest
}

// newRouter sorts endpoints by the number of parts of their paths.
func newRouter(list []*endpoint) *router {
	r := &router{byLength: map[int][]*endpoint{}}
	for _, e := range list {
		r.byLength[len(e.segments)] = append(r.byLength[len(e.segments)], e)
		if e.rest {
			r.open = append(r.open, e)
		}
	}
	return r
}

// splitPath returns the parts of a path.
func splitPath(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// find returns the endpoint and the values of its path's parameters. A literal
// segment wins over a parameter.
func (r *router) find(method, path string) (*endpoint, map[string]string) {
	segments := splitPath(path)
	var best *endpoint
	for _, e := range r.byLength[len(segments)] {
		if e.method == method && e.matches(segments) && (best == nil || strings.Count(e.path, "{") < strings.Count(best.path, "{")) {
			best = e
		}
	}
	if best == nil {
		if best, segments = r.findOpen(method, segments); best == nil {
			return nil, nil
		}
	}
	found := map[string]string{}
	for i, s := range best.segments {
		if strings.HasPrefix(s, "{") {
			found[s[1:len(s)-1]] = segments[i]
		}
	}
	return best, found
}

// findOpen finds an endpoint whose last segment takes the rest of the path, which it joins.
func (r *router) findOpen(method string, segments []string) (*endpoint, []string) {
	for _, e := range r.open {
		n := len(e.segments)
		if e.method == method && len(segments) > n && e.matches(segments[:n]) {
			return e, append(slices.Clone(segments[:n-1]), strings.Join(segments[n-1:], "/"))
		}
	}
	return nil, nil
}

// matches reports whether a path is one of the endpoint.
func (e *endpoint) matches(segments []string) bool {
	for i, s := range e.segments {
		if !strings.HasPrefix(s, "{") && s != segments[i] {
			return false
		}
	}
	return true
}

// fill replaces {name} in a path by the parameter's value.
func (r *request) fill(path string) string {
	for name, v := range r.values {
		path = strings.ReplaceAll(path, "{"+name+"}", v.text)
	}
	return path
}
