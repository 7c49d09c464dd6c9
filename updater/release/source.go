package release

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Source is where releases are published.
type Source interface {
	// Open reads the file of the name, which is a plain name without folders.
	// The caller closes it. A file that is not there is fs.ErrNotExist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// String names the place for people; it holds no password.
	String() string
}

// NewSource opens a folder, given by its absolute path, or an https address.
// Everything else is refused: a manifest is signed, but who asks for it and
// when is nobody's business.
func NewSource(place string, options SourceOptions) (Source, error) {
	if filepath.IsAbs(place) {
		return folder(filepath.Clean(place)), nil
	}
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("a source of releases must be an absolute path or an https address without user and query")
	}
	return newServer(u, options), nil
}

// folder is a source on this computer, for machines without the Internet.
type folder string

// String gives the path.
func (f folder) String() string { return string(f) }

// Open opens a file of the folder. A name with a separator is refused: it comes
// from a manifest.
func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name != filepath.Base(name) {
		return nil, fmt.Errorf("%q is not a plain file name", name)
	}
	path := filepath.Join(string(f), name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening a file of the release: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path) // a FIFO would hang
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening a file of the release: %w", err)
	}
	return file, nil
}

// SourceOptions are for servers. The zero value takes the defaults.
type SourceOptions struct {
	// TLS is the client's side of TLS; nil means the system's authorities.
	TLS *tls.Config `json:"-"`
	// Retries after a failed request; 3 when zero, none when negative.
	Retries int
	// Idle ends a transfer that brings nothing for so long; 30 s when zero.
	Idle time.Duration
	// Whole bounds the transfer of one file, however slowly it comes; 2 h when zero.
	Whole time.Duration
}

// server is a source at an HTTPS server.
type server struct {
	base        *url.URL
	client      *retryablehttp.Client
	idle, whole time.Duration
	// asking bounds all attempts until a body begins.
	asking time.Duration
}

// maxRedirects that are followed, all to https.
const maxRedirects = 5

// newServer makes a source of a server. Attempts are repeated, and each has its
// own bound.
func newServer(base *url.URL, options SourceOptions) *server {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if options.TLS != nil {
		transport.TLSClientConfig = options.TLS
	}
	transport.DisableCompression = true // a body is as large as it says
	if options.Idle == 0 {
		options.Idle = 30 * time.Second
	}
	if options.Whole == 0 {
		options.Whole = 2 * time.Hour
	}
	transport.ResponseHeaderTimeout = options.Idle
	transport.MaxResponseHeaderBytes = 64 << 10 // errors quote from them
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax = 3
	if options.Retries != 0 {
		client.RetryMax = max(0, options.Retries)
	}
	client.RetryWaitMin, client.RetryWaitMax = 200*time.Millisecond, 5*time.Second
	// Without the answer, in which a server may ask to be left alone for years.
	client.Backoff = func(least, most time.Duration, attempt int, _ *http.Response) time.Duration {
		return retryablehttp.DefaultBackoff(least, most, attempt, nil)
	}
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	client.HTTPClient = &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" {
			return errors.New("the server redirects to an address that is not https")
		}
		if len(via) > maxRedirects {
			return errors.New("the server redirects too often")
		}
		r.Header.Del("Referer")
		return nil
	}}
	return &server{base: base, client: client, idle: options.Idle, whole: options.Whole,
		asking: time.Duration(client.RetryMax+1) * (2*options.Idle + client.RetryWaitMax)}
}

// String gives the address.
func (s *server) String() string { return s.base.String() }

// Open asks for the file and for nothing else: no cookie, no version, no name of this installation.
func (s *server) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name != filepath.Base(name) || name == ".." {
		return nil, fmt.Errorf("%q is not a plain file name", name)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(name).String(), nil)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("asking for %s: %w", name, err)
	}
	r.Header.Set("User-Agent", "hostler")
	// The client reads what is left of an answer before it tries again, and waits for it.
	asking := time.AfterFunc(s.asking, func() { cancel(errSlow) })
	answer, err := s.client.Do(r)
	if !asking.Stop() && err == nil {
		_ = answer.Body.Close()
		err = errSlow
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errSlow) {
			err = errSlow
		}
		cancel(nil)
		return nil, fmt.Errorf("asking for %s: %w", name, plain(err))
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		cancel(nil)
		if answer.StatusCode == http.StatusNotFound {
			return nil, fmt.Errorf("asking for %s: %w", name, os.ErrNotExist)
		}
		return nil, fmt.Errorf("asking for %s: the server answered %d %s", name, answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return newPatient(ctx, answer.Body, s.idle, s.whole, cancel), nil
}

// plain drops the address that net/http puts before its errors: a redirect may
// have brought one with a secret.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// patient is a body that ends with an error when nothing comes for a time, or
// when all of it takes too long.
type patient struct {
	ctx        context.Context
	body       io.ReadCloser
	timer, end *time.Timer
	idle       time.Duration
	cancel     context.CancelCauseFunc
}

var (
	errIdle = errors.New("the server stopped sending data")
	errSlow = errors.New("the server sends too slowly")
)

// newPatient bounds a body: in the time between two reads by idle, and as a
// whole by whole. Close must be called.
func newPatient(ctx context.Context, body io.ReadCloser, idle, whole time.Duration, cancel context.CancelCauseFunc) *patient {
	return &patient{ctx: ctx, body: body, idle: idle, cancel: cancel,
		timer: time.AfterFunc(idle, func() { cancel(errIdle) }), end: time.AfterFunc(whole, func() { cancel(errSlow) })}
}

// Read reads and starts the time between two reads again.
func (p *patient) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	if n > 0 {
		p.timer.Reset(p.idle)
	}
	// What was cut off may look like the end.
	if cause := context.Cause(p.ctx); err != nil && cause != nil {
		err = cause
	}
	return n, err
}

// Close stops the timers and closes the body.
func (p *patient) Close() error {
	p.timer.Stop()
	p.end.Stop()
	p.cancel(nil)
	return p.body.Close()
}
