package pvesim

import (
	"net/http"
	"strings"
	"time"
)

var _ http.Handler = (*node)(nil)

// ServeHTTP answers one request to this node, in the order in which the real
// server looks at it: method and transfer coding, authentication, body, format,
// endpoint, privileges, the node to carry it out, parameters.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := n.cluster
	format, path := splitFormat(r.URL.Path)
	template := "(unknown)"
	if e, _ := api.find(r.Method, path); e != nil && format != "" {
		template = e.path
	}
	last := isLast(r)
	c.stats.request(r.Method+" "+template, max(r.ContentLength, 0))
	call := faultCall{method: r.Method, template: template, path: path, node: n.name}
	if c.opts.Latency > 0 || c.server.latency.Load() > 0 {
		c.server.sleep(r.Context(), time.Duration(c.server.latency.Load())+c.opts.Latency)
	}
	if done := c.strike(w, r, call, false); done {
		return
	}
	res, viaDaemon, err := n.answer(r, format, path)
	if done := c.strike(w, r, call, true); done {
		return
	}
	if err != nil {
		if err.delay {
			c.server.sleep(r.Context(), c.authDelay())
		}
		c.sendError(w, err)
		return
	}
	if res.console != nil && wantsSocket(r) {
		c.serveConsole(w, r, *res.console)
		return
	}
	body, encodeErr := res.encode(format == "extjs")
	if encodeErr != nil {
		c.sendError(w, failure("encoding answer: %v", encodeErr))
		return
	}
	if f := c.fault.take(call, false, FaultTruncate); f != nil {
		c.stats.answer(len(body) / 2)
		truncate(w, body)
	}
	body, gzipped := c.packed(r, body, res.ready)
	c.stats.answer(len(body))
	// A connection that brought a file is closed.
	writeOK(w, body, okHeader{gzipped: gzipped, plain: res.plain, last: last || template == uploadPath, viaDaemon: viaDaemon,
		at: c.Now()})
}

// sendError sends an error in the form of the simulated release.
func (c *Cluster) sendError(w http.ResponseWriter, e *apiError) {
	body := e.encode(c.release.atLeast(8, 4, 0))
	c.stats.answer(len(body))
	writeError(w, e, body)
}

// splitFormat takes /api2/FORMAT off a path; format is empty for anything outside the API.
func splitFormat(p string) (format, rest string) {
	segments := splitPath(p)
	if len(segments) < 2 || segments[0] != "api2" {
		return "", p
	}
	return segments[1], "/" + strings.Join(segments[2:], "/")
}

// answer carries a request out. viaDaemon tells whether the privileged daemon took part.
func (n *node) answer(r *http.Request, format, path string) (res result, viaDaemon bool, err *apiError) {
	if err := checkTransfer(r); err != nil {
		return result{}, false, err
	}
	if format == "" {
		return result{}, false, serverError(501, "no such file '"+r.URL.Path+"'", bodyText)
	}
	c := n.cluster
	if err := c.fault.fileSystem(n.name); err != nil {
		return result{}, false, err
	}
	e, inPath := api.find(r.Method, path)
	var who identity
	if e == nil || e.facts().Access.User != "world" {
		if who, err = n.identify(r); err != nil {
			return result{}, false, err
		}
	}
	uploads := e != nil && e.path == uploadPath
	if err := checkBody(r); err != nil && !uploads {
		return result{}, false, err
	}
	if format != "json" && format != "extjs" {
		return result{}, false, serverError(501, "no formatter for uri "+path+", "+format, bodyText)
	}
	var vals values
	var file *upload
	if uploads {
		vals, file, err = c.readUpload(r)
	} else {
		vals, err = readValues(r)
	}
	if err != nil {
		return result{}, false, err
	}
	if e == nil || e.absent(c.release) {
		return result{}, false, &apiError{status: 501, text: "Method '" + r.Method + " " + path + "' not implemented", bareText: true}
	}
	for name, v := range inPath {
		if sent, again := vals[name]; again && (sent.isList || sent.text != v) {
			return result{}, false, badParameter(name, "duplicate parameter (already defined in URI) with conflicting values!")
		}
		vals[name] = paramValue{text: v}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	req := &request{c: c, who: who, entry: n, node: n, values: vals, path: path, kind: e.kind, now: c.clock.now(), upload: file}
	res, err = e.serve(req)
	return res, e.facts().Daemon, err
}

// identify authenticates; /access/domains and /access/ticket are open to all.
func (n *node) identify(r *http.Request) (identity, *apiError) {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	return n.cluster.authenticate(r)
}

// serve checks and runs an endpoint.
func (e *endpoint) serve(r *request) (result, *apiError) {
	facts := e.facts()
	if facts.NoToken && r.who.token != "" {
		return fail(forbidden("URI '" + r.path + "' not available with API token, need proper ticket.\n"))
	}
	if err := r.permitted(e); err != nil {
		return fail(err)
	}
	if facts.OnNode {
		if err := r.proxy(); err != nil {
			return fail(err)
		}
	}
	if err := r.c.fault.outage(r, e); err != nil {
		return fail(err)
	}
	if err := verify(e, r.values, r.c.release); err != nil {
		return fail(err)
	}
	return e.run(r)
}

// proxy passes the request on to the node that the path names. A name that is
// not in the cluster is looked up in the site's DNS, where it leads to some
// other machine: its certificate does not fit.
func (r *request) proxy() *apiError {
	name := r.values.text("node")
	if name == "localhost" || name == r.entry.name {
		return nil
	}
	target := r.c.nodeByName(name)
	switch {
	case r.c.unresolved[name]:
		return failure("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	case target == nil:
		return serverError(596, "tls_process_server_certificate: certificate verify failed", bodyNone)
	case !target.online.Load() && r.c.opts.OfflineStatus == 595:
		return serverError(595, "No route to host", bodyNone)
	case !target.online.Load():
		return serverError(596, "Connection timed out", bodyNone)
	case r.c.fault.refuses(name):
		return serverError(595, "Connection refused", bodyNone)
	}
	if err := r.c.reach(r.entry, target); err != nil {
		return err
	}
	r.node = target
	return nil
}
