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
	// writeGrace is how long a client may take to read a response, in addition
	// to the time of the handler.
	writeGrace = 2 * time.Minute
)

// Config has the dependencies and limits of an API. Router, Authenticator,
// Resolver and Recorder are required.
type Config struct {
	Router        *route.Router
	Authenticator Authenticator
	Resolver      Resolver
	Recorder      Recorder
	// Tokens tells for which capabilities hosts have tokens; nil means for all.
	Tokens Tokens
	// Entitlements reports whether a feature is enabled; nil means that all
	// are.
	Entitlements func(ctx context.Context, name string) bool
	Logger       hclog.Logger
	// Version is the version of the service in the OpenAPI document.
	Version string
	// Fallback serves GET and HEAD of every path outside /api that has no
	// operation, such as the web page; nil means 404.
	Fallback http.Handler
	// BodyTime is how long a client may take to send its body; 0 means 30 s.
	BodyTime time.Duration
	// Observe is called after every response of an operation, for metrics; nil
	// is allowed. For a stream it is called at the end.
	Observe func(operation, method string, status int, took time.Duration)
	// KeepAlive is the time between comments on an idle event stream, and
	// between pings of a socket; 0 means 15 s.
	KeepAlive time.Duration
	// Rights wakes the checks of open streams when a caller's rights may have
	// changed; nil leaves it to Reauthorise.
	Rights Rights
	// Reauthorise is the longest time between two checks whether the reader of
	// an open stream may still read it. It covers what wakes nobody, such as
	// the expiry of a session. 0 means 5 s.
	Reauthorise time.Duration
	// GapRetry is the delay between two attempts to record in the audit log how
	// many entries it did not accept; 0 means 5 s.
	GapRetry time.Duration
	// Replays stores what was done under Idempotency-Keys; nil ignores the
	// keys.
	Replays *idempotency.Store
	// Proxy has the trusted reverse proxies and the base URL. The zero value
	// has neither.
	Proxy proxy.Config
	// Browser returns a name for a browser that has logged in before, "" for
	// others; nil knows none. Such a browser has its own limit for public
	// operations once the limit of its address is reached.
	Browser func(ctx context.Context, r *http.Request) (string, error)
	// PublicRequests is how many requests to public operations an address may
	// send at once, and PublicRate how many more per second after that; 0 means
	// 200 and 5.
	PublicRequests int
	PublicRate     float64
	// Stopping is closed when the service stops, which ends sockets. nil leaves
	// that to the contexts of the requests.
	Stopping <-chan struct{}
	// OpenSockets is locked for reading by each open socket. The service locks
	// it for writing when it stops: that waits for the sockets and lets no
	// further one open. nil if nothing waits.
	OpenSockets *sync.RWMutex
	// StrictAudit makes an operation panic if it declares an audit action and
	// succeeds without having written its entry in the transaction of its
	// change. Tests set it.
	StrictAudit bool
}

// API holds the declared operations and serves them. It is safe for concurrent
// use after all operations are registered.
type API struct {
	config     Config
	huma       huma.API
	operations []*Operation
	// compressed is serveHTTP with compressed responses.
	compressed     http.Handler
	origins        *http.CrossOriginProtection
	log            hclog.Logger
	attemptLimiter *attemptLimiter
	// nullsDeclared are the components whose nulls are declared.
	nullsDeclared map[string]bool
	// reauthorising is a semaphore for checks of a reader's rights.
	reauthorising chan struct{}
	// public counts requests to public operations.
	public *limiter
	// checking is a semaphore for checks of large bodies.
	checking chan struct{}
	// streams, downloads, sockets and uploads count the open ones. begun limits
	// how fast a caller starts sockets and uploads.
	streams, downloads, sockets, uploads *openLimiter
	begun                                *limiter
	gap                                  *gap
	outages                              outages
	inFlight                             keysInFlight
	// settling is a semaphore for changes whose outcome is being determined.
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
	// bound are the path parameters that no field of the input reads, because
	// they name what the operation is On.
	bound []*huma.Param
	// params are the query and header parameters that the operation reads.
	params []*huma.Param
	// enums are the declared values of path parameters that have an enum.
	enums map[string][]any
}

// New returns an API without operations. It panics on a base URL that does not
// come from proxy.ParseBaseURL.
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

// Operations returns the registered operations, in the order of registration.
func (a *API) Operations() []*Operation { return slices.Clone(a.operations) }

// request is the state of the current request. It is in the context.
type request struct {
	api       *API
	id        string
	operation *Operation
	found     Resource
	// missing is a 404 that is reported only after the input was found valid.
	missing *problem.Error
	// plans says that only a plan was requested.
	plans bool
	// faults are those of the raw input, and misfits those against the body's
	// schema. Both are found before the input is bound.
	faults  []problem.Fault
	misfits []problem.Fault
	attempt *attempt
	failed  bool
	w       *responseWriter
	// raw and params are used to authorize the caller again while a stream is
	// open.
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

// ServeHTTP gives the request its ID and the response its security headers,
// runs the operation, and turns a panic into a problem. Handlers that take over
// the connection must set its write deadline again.
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
	// The values of headers that every response has. All responses share these
	// slices: http.Header.Set and Del replace a value, and Add copies it,
	// because a slice of one element has no spare capacity.
	noSniff    = []string{"nosniff"}
	noFrames   = []string{"DENY"}
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
	noStore    = []string{"no-store"}
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}
)

// setHeaders writes into the map directly, because Set would allocate a slice
// for each response.
func setHeaders(h http.Header, id string) {
	h[requestIDHeader] = []string{id}
	h["X-Content-Type-Options"] = noSniff
	h["X-Frame-Options"] = noFrames
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Cache-Control"] = noStore
	h["Content-Security-Policy"] = noContent
}

// notFound answers for paths without an operation. Below /api, an anonymous
// caller gets 401, so that nobody can find out which paths exist without
// logging in.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	page := r.Method == http.MethodGet || r.Method == http.MethodHead
	if a.config.Fallback != nil && page && !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/api" {
		a.config.Fallback.ServeHTTP(w, r)
		return
	}
	a.refuseKnown(r, problem.New(problem.CodeNotFound, "this path does not exist"))
}

// methodNotAllowed tells a known caller which methods the path has, and
// everybody if the path is public. A method that no path supports, such as
// TRACE, is refused for everybody alike, because logging in would not help.
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

// serves reports whether an operation has the path of the request.
func (a *API) serves(o *Operation, r *http.Request) bool {
	_, pattern, _, ok := a.config.Router.Match(o.Method, r.URL.EscapedPath())
	return ok && pattern == o.Pattern
}

// refuseKnown sends the problem to a known caller and 401 to an unknown one.
func (a *API) refuseKnown(r *http.Request, p *problem.Error) {
	if _, err := a.authenticate(r.Context(), r); err != nil {
		requestOf(r.Context()).w.Header().Del("Allow")
		p = a.problem(r.Context(), err)
	}
	a.fail(r.Context(), p)
}

// observe reports the response to the metrics and the log. It logs nothing that
// the caller sent.
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

// recover turns a panic of a handler into a 500, or cuts the connection if the
// response has already begun.
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

// JSONWriter is a body that writes its own JSON. It is for responses with so
// many numbers that reflection would take most of the time. WriteJSON fails
// only if the client has disconnected.
type JSONWriter interface{ WriteJSON(w io.Writer) error }

// marshal writes JSON without HTML escapes, completely or not at all.
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
