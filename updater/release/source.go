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
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Source is where releases are published.
type Source interface {
	// Open reads the file of the name, which is a plain name without folders. The caller closes it. A file that is not
	// there is fs.ErrNotExist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// String names the place for people; it holds no password.
	String() string
}

// NewSource opens a folder, given by its absolute path, or an https address. Everything else is refused: a manifest is
// signed, but who asks for it and when is nobody's business.
func NewSource(place string, options SourceOptions) (Source, error) {
	if filepath.IsAbs(place) {
		return folder(filepath.Clean(place)), nil
	}
	u, err := url.Parse(place)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("a source of releases is an absolute path or an https address without user and query")
	}
	return newServer(u, options), nil
}

type folder string

func (f folder) String() string { return string(f) }

func (f folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name != filepath.Base(name) {
		return nil, fmt.Errorf("%q is no plain file name", name)
	}
	path := filepath.Join(string(f), name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening a file of the release: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path) // a FIFO would hang
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
}

type server struct {
	base   *url.URL
	client *retryablehttp.Client
	idle   time.Duration
}

// maxRedirects that are followed, all to https.
const maxRedirects = 5

func newServer(base *url.URL, options SourceOptions) *server {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if options.TLS != nil {
		transport.TLSClientConfig = options.TLS
	}
	transport.DisableCompression = true // a body is as large as it says
	transport.ResponseHeaderTimeout = 30 * time.Second
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax = 3
	if options.Retries != 0 {
		client.RetryMax = max(0, options.Retries)
	}
	client.RetryWaitMin, client.RetryWaitMax = 200*time.Millisecond, 5*time.Second
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	client.HTTPClient = &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" {
			return errors.New("the server redirects to an address that is not https")
		}
		if len(via) > maxRedirects {
			return errors.New("the server redirects without end")
		}
		r.Header.Del("Referer")
		return nil
	}}
	if options.Idle == 0 {
		options.Idle = 30 * time.Second
	}
	return &server{base: base, client: client, idle: options.Idle}
}

func (s *server) String() string { return s.base.String() }

// Open asks for the file and for nothing else: no cookie, no version, no name of this installation.
func (s *server) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name != filepath.Base(name) || name == ".." {
		return nil, fmt.Errorf("%q is no plain file name", name)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(name).String(), nil)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("asking for %s: %w", name, err)
	}
	r.Header.Set("User-Agent", "hostler")
	answer, err := s.client.Do(r)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("asking for %s: %w", name, plain(err))
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		cancel(nil)
		if answer.StatusCode == http.StatusNotFound {
			return nil, fmt.Errorf("asking for %s: %w", name, os.ErrNotExist)
		}
		return nil, fmt.Errorf("asking for %s: the server answered %s", name, strings.ToValidUTF8(answer.Status, "?"))
	}
	return newPatient(answer.Body, s.idle, cancel), nil
}

// plain drops the address that net/http puts before its errors: a redirect may have brought one with a secret.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// patient is a body that ends with an error when nothing comes for a time, however slowly it comes otherwise.
type patient struct {
	body   io.ReadCloser
	timer  *time.Timer
	idle   time.Duration
	cancel context.CancelCauseFunc
}

var errIdle = errors.New("the server sends nothing any more")

func newPatient(body io.ReadCloser, idle time.Duration, cancel context.CancelCauseFunc) *patient {
	return &patient{body: body, idle: idle, cancel: cancel, timer: time.AfterFunc(idle, func() { cancel(errIdle) })}
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	if n > 0 {
		p.timer.Reset(p.idle)
	}
	return n, err
}

func (p *patient) Close() error {
	p.timer.Stop()
	p.cancel(nil)
	return p.body.Close()
}
