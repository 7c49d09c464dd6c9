package op

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/api/route"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
)

// Defaults of a Spec's limits.
const (
	defaultTimeout = 60 * time.Second
	defaultMaxBody = 1 << 20
	// writeGrace is how long a reader may take to fetch an answer beyond the handler's time.
	writeGrace = 2 * time.Minute
)

// Config is what an API is made of.
type Config struct {
	Router        *route.Router
	Authenticator Authenticator
	Resolver      Resolver
	Recorder      Recorder
	// Tokens says what hosts have tokens for; nil means that they have all.
	Tokens Tokens
	// Entitlements reports whether a feature flag is on; nil means that all are.
	Entitlements func(ctx context.Context, name string) bool
	Logger       hclog.Logger
	// Version of the service, for the OpenAPI document.
	Version string
	// Fallback serves GET and HEAD of every path outside /api that has no
	// operation, such as the web page; nil means 404.
	Fallback http.Handler
	// BodyTime is how long a client may take to send its body; 30 s when zero.
	BodyTime time.Duration
	// Observe is told of every answer of an operation, for metrics; nil for
	// none. Of a stream it is told at its end.
	Observe func(operation, method string, status int, took time.Duration)
	// KeepAlive is the time between comments on an idle event stream; 15 s when zero.
	KeepAlive time.Duration
	// Rights wakes those who watch over an open event stream; nil for none.
	Rights Rights
	// Reauthorise is the time between two looks at whether the reader of an
	// open event stream may still read it, when no wake-up comes before: for
	// what wakes nobody, such as the end of a session's time. 5 s when zero.
	Reauthorise time.Duration
	// GapRetry is the time between two tries to tell the trail of attempts that
	// have no row because it took none; 5 s when zero.
	GapRetry time.Duration
	// Replays remembers what was done under Idempotency-Keys; nil means that keys are not heeded.
	Replays *idempotency.Store
	// Proxy is the way to the service: which proxies are believed, and its base
	// URL. The zero value is one without either.
	Proxy proxy.Config
	// Browser names the browser of a request that has logged in before, "" for
	// others; nil knows none. Such a browser has a limit of its own for public
	// operations where that of its address is reached.
	Browser func(ctx context.Context, r *http.Request) (string, error)
	// PublicRequests is how many requests to public operations one address may
	// make at once, and PublicRate how many more in each second thereafter; 200
	// and 5 when zero.
	PublicRequests int
	PublicRate     float64
	// Stopping is closed when the service stops, which ends sockets; nil leaves
	// that to the requests' contexts.
	Stopping <-chan struct{}
	// OpenSockets is held for reading by each open socket. Who stops the service
	// locks it for writing, which waits for them and lets no further one open;
	// nil where nobody waits.
	OpenSockets *sync.RWMutex
	// StrictAudit panics when an operation that declares an audit action
	// succeeds without having written its row inside the transaction of its
	// change. For tests.
	StrictAudit bool
}

// API holds the declared operations and serves them. Its methods are safe for
// concurrent use once all is registered.
type API struct {
	config     Config
	huma       huma.API
	operations []*Operation
	// compressed is serveHTTP with answers compressed.
	compressed     http.Handler
	origins        *http.CrossOriginProtection
	log            hclog.Logger
	attemptLimiter *attemptLimiter
	// nullsDeclared are the components whose nulls are declared.
	nullsDeclared map[string]bool
	// reauthorising holds a value for each look at a reader's rights that is under way.
	reauthorising chan struct{}
	// public counts requests to public operations.
	public *limiter
	// checking holds a value for each large body that is being checked.
	checking chan struct{}
	// streams, downloads, sockets and uploads count those that are open, begun
	// how fast a caller begins the last two.
	streams, downloads, sockets, uploads *openLimiter
	begun                                *limiter
	gap                                  *gap
	outages                              outages
	inFlight                             keysInFlight
	// settling holds a value for each change whose outcome is asked for.
	settling chan struct{}
}

// Operation is one registered operation.
type Operation struct {
	Method string
	// Path as in OpenAPI: /api/v1/vms/{vm_id}.
	Path string
	// Pattern as registered with the router: /api/v1/vms/:vm_id.
	Pattern string
	Spec    Spec
	// Stream operations answer with Server-Sent Events.
	Stream bool
	// Download operations answer with a file.
	Download bool
	// Socket operations answer with a WebSocket.
	Socket bool
	// Upload operations take a file.
	Upload bool
	// Retry operations ask for what was asked for before.
	Retry bool

	bodyDeclared, bodyRequired bool
	// body is the schema of the body; nil without one.
	body *huma.Schema
	// unlimited says that a list in the body may have any length.
	unlimited bool
	// bound are the path parameters that no field of the input reads: they name
	// what the operation is On.
	bound []*huma.Param
	// params are the query and header parameters that the operation reads.
	params []*huma.Param
	// enums are the declared values of path parameters that have such.
	enums map[string][]any
}

// New makes an API without operations.
func New(config Config) *API {
	a := &API{config: config, origins: http.NewCrossOriginProtection(), log: config.Logger, reauthorising: make(chan struct{}, reauthorising),
		checking: make(chan struct{}, runtime.GOMAXPROCS(0)), streams: newOpenLimiter(maxStreams), downloads: newOpenLimiter(maxDownloads),
		sockets: newOpenLimiter(maxSockets), uploads: newOpenLimiter(maxUploads), begun: newLimiter(begunAtOnce, begunRate),
		nullsDeclared: map[string]bool{}}
	if base := config.Proxy.BaseURL; base != nil {
		if err := a.origins.AddTrustedOrigin(proxy.Origin(base)); err != nil {
			panic("op: the base URL does not come from proxy.ParseBaseURL: " + err.Error())
		}
	}
	a.sockets.together = maxSocketsTotal
	a.compressed = compressing(http.HandlerFunc(a.serveHTTP))
	if a.config.KeepAlive <= 0 {
		a.config.KeepAlive = defaultKeepAlive
	}
	if a.config.Reauthorise <= 0 {
		a.config.Reauthorise = defaultReauthorise
	}
	if a.config.BodyTime <= 0 {
		a.config.BodyTime = defaultBodyTime
	}
	if a.config.PublicRequests <= 0 {
		a.config.PublicRequests = defaultPublicRequests
	}
	if a.config.PublicRate <= 0 {
		a.config.PublicRate = defaultPublicRate
	}
	a.public = newLimiter(a.config.PublicRequests, a.config.PublicRate)
	if a.log == nil {
		a.log = hclog.NewNullLogger()
	}
	if a.config.GapRetry <= 0 {
		a.config.GapRetry = defaultGapRetry
	}
	a.attemptLimiter, a.gap, a.settling = newAttemptLimiter(a), newGap(a), make(chan struct{}, maxSettling)
	format := huma.Format{Marshal: marshal, Unmarshal: unmarshal}
	a.huma = huma.NewAPI(huma.Config{
		OpenAPI:       newDocument(config.Version, config.Proxy.BaseURL),
		Formats:       map[string]huma.Format{"application/json": format, "json": format}, // json: what follows a + in a type
		DefaultFormat: "application/json",
	}, adapter{a})
	config.Router.NotFound = http.HandlerFunc(a.notFound)
	config.Router.MethodNotAllowed = http.HandlerFunc(a.methodNotAllowed)
	return a
}

// Operations lists what is registered, in the order of registration.
func (a *API) Operations() []*Operation { return slices.Clone(a.operations) }

// request is what op knows of the request at hand; it travels in the context.
type request struct {
	api       *API
	id        string
	operation *Operation
	found     Resource
	// missing is the 404 that is told only after the input was found valid.
	missing *problem.Error
	// plans says that only a plan is wanted.
	plans bool
	// faults are those of the raw input, misfits those against the body's
	// schema; both are found before it is bound.
	faults  []problem.Fault
	misfits []problem.Fault
	attempt *attempt
	failed  bool
	w       *responseWriter
	// raw and params are what the caller is found by again while a stream is open.
	raw    *http.Request
	params route.Params
}

// requestKey is the key of the request in a context.
type requestKey struct{}

// requestOf returns the request of a context, or nil outside of one.
func requestOf(ctx context.Context) *request {
	q, _ := ctx.Value(requestKey{}).(*request)
	return q
}

// safeID is the form of a client's request ID that is accepted. Others could
// forge lines in the log.
var safeID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// ServeHTTP gives the request its id and the answer its security headers, runs
// the operation, and turns a panic into a problem. Handlers that take the
// connection over must set its write deadline anew.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) { a.compressed.ServeHTTP(rw, r) }

func (a *API) serveHTTP(rw http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	id := r.Header.Get(requestIDHeader)
	if !safeID.MatchString(id) {
		id = rand.Text()
	}
	w := &responseWriter{ResponseWriter: rw}
	q := &request{api: a, id: id, w: w}
	setHeaders(w.Header(), id)
	control := http.NewResponseController(rw) // only the real server's writers have deadlines
	_ = control.SetWriteDeadline(begun.Add(defaultTimeout + writeGrace))
	if r.ContentLength != 0 { // holds for the server's own draining of a body that nobody reads, too
		_ = control.SetReadDeadline(begun.Add(a.config.BodyTime))
	}
	r, refused := a.config.Proxy.Request(r)
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q))
	defer a.observe(q, begun)
	defer a.recover(w, r)
	if refused != nil {
		a.fail(r.Context(), problem.New(problem.CodeMalformed, "%s", refused))
		return
	}
	a.config.Router.ServeHTTP(w, r)
}

// requestIDHeader is spelled as net/http keeps it; any other spelling costs an
// allocation at each use.
const requestIDHeader = "X-Request-Id"

// The values of headers that every answer has. The answers share them:
// http.Header.Set and Del replace a value, and Add copies it, for it has no
// room.
var (
	noSniff    = []string{"nosniff"}
	noFrames   = []string{"DENY"}
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
	noStore    = []string{"no-store"}
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}
)

// setHeaders writes past Set, which would make a value anew for each answer.
func setHeaders(h http.Header, id string) {
	h[requestIDHeader] = []string{id}
	h["X-Content-Type-Options"] = noSniff
	h["X-Frame-Options"] = noFrames
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Cache-Control"] = noStore
	h["Content-Security-Policy"] = noContent
}

// notFound answers for paths that have no operation. Below /api an anonymous
// caller is told to log in first: what exists is not theirs to learn.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	page := r.Method == http.MethodGet || r.Method == http.MethodHead
	if a.config.Fallback != nil && page && !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/api" {
		a.config.Fallback.ServeHTTP(w, r)
		return
	}
	a.refuseKnown(r, problem.New(problem.CodeNotFound, "this path does not exist"))
}

// methodNotAllowed tells a known caller which methods the path has, and
// everyone where the path is open to everyone. A method that no path can have,
// such as TRACE, is refused to everyone alike: no log-in would help.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	if !route.Knows(r.Method) {
		a.fail(r.Context(), problem.New(problem.CodeMethodNotAllowed, "no path supports this method"))
		return
	}
	refusal := problem.New(problem.CodeMethodNotAllowed, "this path supports the methods %s", w.Header().Get("Allow"))
	if slices.ContainsFunc(a.operations, func(o *Operation) bool { return o.Spec.Public && a.serves(o, r) }) {
		a.fail(r.Context(), refusal)
		return
	}
	a.refuseKnown(r, refusal)
}

// serves reports whether an operation is the one of the request's path, by the
// operation's own method.
func (a *API) serves(o *Operation, r *http.Request) bool {
	_, pattern, _, ok := a.config.Router.Match(o.Method, r.URL.EscapedPath())
	return ok && pattern == o.Pattern
}

// refuseKnown writes the problem to a known caller and a 401 to an unknown one.
func (a *API) refuseKnown(r *http.Request, p *problem.Error) {
	if _, err := a.authenticate(r.Context(), r); err != nil {
		requestOf(r.Context()).w.Header().Del("Allow")
		p = a.problem(r.Context(), err)
	}
	a.fail(r.Context(), p)
}

// observe reports the answer, in the log without anything that the caller sent.
func (a *API) observe(q *request, begun time.Time) {
	if q.operation == nil {
		return
	}
	status, took := q.w.status, time.Since(begun)
	if status == 0 {
		status = http.StatusOK
	}
	a.recovered(q, status, begun)
	if a.log.IsTrace() { // else its arguments would be allocated for nothing
		a.log.Trace("request served", "request_id", q.id, "operation", q.operation.Spec.ID, "status", status, "took", took)
	}
	if a.config.Observe != nil {
		a.config.Observe(q.operation.Spec.ID, q.operation.Method, status, took)
	}
}

// recover turns a panic of a handler into a 500, or cuts the connection when
// the answer has already begun.
func (a *API) recover(w *responseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	// huma panics with what an answer could not be written for.
	if err, is := cause.(error); is && !w.begun && requestOf(r.Context()).tooLargeIn(err) != nil {
		a.fail(r.Context(), a.problem(r.Context(), err))
		return
	}
	a.panicked(w, r, cause)
}

// JSONWriter is a body that writes its own JSON, for answers with so many
// numbers that reflection would take most of the time. It fails only when its
// reader is gone.
type JSONWriter interface{ WriteJSON(w io.Writer) error }

// marshal writes JSON without HTML escapes, wholly or not at all.
func marshal(w io.Writer, v any) error {
	if body, ok := v.(JSONWriter); ok {
		return body.WriteJSON(w)
	}
	if err := encodeBounded(w, v); err != nil {
		if body, ok := w.(*responseWriter); ok {
			body.discard = true // huma writes a note into the answer; the recovered panic writes a problem instead
		}
		return err
	}
	return nil
}
