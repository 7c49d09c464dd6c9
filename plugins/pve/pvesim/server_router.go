package pvesim

import (
	"strings"
	"time"
)

// request is one call of the API after routing: who, on which node, with which parameters. The cluster's mutex is
// held while its functions run.
type request struct {
	c      *Cluster
	who    identity
	entry  *node // the node that was called
	node   *node // the node that carries the request out
	values values
	path   string // relative to the API's root, unescaped
	now    time.Time
}

// endpoint declares one method of the API.
type endpoint struct {
	method string
	path   string // template, as the API's own documentation writes it
	params []param

	// daemon marks what the real server hands to its privileged daemon.
	daemon bool
	// onNode passes the request on to the node that the path names.
	onNode bool
	// open lets requests in without authentication.
	open bool
	// noToken refuses API tokens.
	noToken bool
	// since is the release that brought it, empty for always.
	since string

	// check tests the privileges, before the parameters are verified; nil lets every identity in.
	check func(r *request) *apiError
	run   func(r *request) (result, *apiError)

	segments []string
}

// router finds an endpoint by method and path.
type router struct {
	byLength map[int][]*endpoint
}

func newRouter(list []*endpoint) *router {
	r := &router{byLength: map[int][]*endpoint{}}
	for _, e := range list {
		e.segments = splitPath(e.path)
		for _, s := range e.segments {
			if strings.HasPrefix(s, "{") {
				e.addPathParam(s[1 : len(s)-1])
			}
		}
		r.byLength[len(e.segments)] = append(r.byLength[len(e.segments)], e)
	}
	return r
}

// addPathParam declares the parameter of a path segment unless the endpoint has declared it itself.
func (e *endpoint) addPathParam(name string) {
	for i := range e.params {
		if e.params[i].name == name {
			e.params[i].inPath = true
			return
		}
	}
	switch name {
	case "node":
		e.params = append(e.params, nodeParam())
	case "vmid":
		e.params = append(e.params, vmidParam())
	case "upid":
		e.params = append(e.params, upidParam())
	default:
		e.params = append(e.params, param{name: name, inPath: true})
	}
}

func splitPath(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// find returns the endpoint and the values of its path's parameters. A literal segment wins over a parameter.
func (r *router) find(method, path string) (*endpoint, map[string]string) {
	segments := splitPath(path)
	var best *endpoint
	for _, e := range r.byLength[len(segments)] {
		if e.method == method && e.matches(segments) && (best == nil || strings.Count(e.path, "{") < strings.Count(best.path, "{")) {
			best = e
		}
	}
	if best == nil {
		return nil, nil
	}
	found := map[string]string{}
	for i, s := range best.segments {
		if strings.HasPrefix(s, "{") {
			found[s[1:len(s)-1]] = segments[i]
		}
	}
	return best, found
}

func (e *endpoint) matches(segments []string) bool {
	for i, s := range e.segments {
		if !strings.HasPrefix(s, "{") && s != segments[i] {
			return false
		}
	}
	return true
}

// endpoints lists all of the API that is simulated; api routes it.
func endpoints() []*endpoint {
	var all []*endpoint
	for _, part := range [][]*endpoint{
		indexEndpoints(), versionEndpoints(), ticketEndpoints(), permissionEndpoints(), userEndpoints(), tokenEndpoints(),
		groupEndpoints(), roleEndpoints(), aclEndpoints(), nodeEndpoints(), taskEndpoints(), clusterEndpoints(),
		exportEndpoints(), guestEndpoints(QEMU), guestEndpoints(LXC), lifecycleEndpoints(),
	} {
		all = append(all, part...)
	}
	return all
}

var (
	apiEndpoints = endpoints()
	api          = newRouter(apiEndpoints)
)

// needs builds a check for privileges on a path whose {parameters} are filled in; several are alternatives.
func needs(path string, anyOf ...string) func(*request) *apiError {
	return func(r *request) *apiError { return r.c.check(r.who, r.fill(path), anyOf...) }
}

// fill replaces {name} in a path by the parameter's value.
func (r *request) fill(path string) string {
	for name, v := range r.values {
		path = strings.ReplaceAll(path, "{"+name+"}", v.text)
	}
	return path
}

func ok(data any) (result, *apiError) { return result{data: data}, nil }

func fail(e *apiError) (result, *apiError) { return result{}, e }

// index is a directory listing: rows with one key each.
func index(key string, names ...string) []map[string]any {
	rows := make([]map[string]any, len(names))
	for i, n := range names {
		rows[i] = map[string]any{key: n}
	}
	return rows
}

// EndpointInfo describes one simulated method of the API, for tests that go through all of them.
type EndpointInfo struct {
	Method     string
	Path       string   // template
	Parameters []string // those in the path included
	Daemon     bool     // the real server hands it to its privileged daemon
	OnNode     bool     // it is passed on to the node that the path names
}

// Served lists everything that is simulated.
func Served() []EndpointInfo {
	var out []EndpointInfo
	for _, e := range apiEndpoints {
		info := EndpointInfo{Method: e.method, Path: e.path, Daemon: e.daemon, OnNode: e.onNode}
		for _, p := range e.params {
			info.Parameters = append(info.Parameters, p.name)
		}
		out = append(out, info)
	}
	return out
}
