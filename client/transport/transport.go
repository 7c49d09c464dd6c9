// Package transport carries requests of the program hostler to a service, and bounds what an answer can do: it follows no redirect, so
// that a key goes to the one address that it was made for; it reads so much and no more, for so long and no longer; and it sends again
// only what the service does once.
package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Options of a Client. URL is needed; zero values of the others take the defaults.
type Options struct {
	// URL of the service, without /api/v1.
	URL *url.URL
	// Key is an API key; empty asks as nobody.
	Key string
	// Fingerprint is the SHA-256 of the certificate that the service must show, in hexadecimal digits; empty asks the authorities.
	Fingerprint string
	// Authorities are certificates in PEM that stand in the place of the system's.
	Authorities []byte
	// Agent is the User-Agent.
	Agent string
	// MaxResponse bounds an answer that is read whole, in bytes; 64 MiB when zero: ten thousand guests have a fifth of it.
	MaxResponse int64
	// Limit is how long a request and its answer may take, when the answer is read whole; three minutes when zero.
	Limit time.Duration
	// RetryWait is how long to wait between two tries at first; 300 ms when zero.
	RetryWait time.Duration
}

// Client speaks to one service. It may be used by several goroutines.
type Client struct {
	options   Options
	transport *http.Transport
	retrying  *retryablehttp.Client
}

const (
	tries        = 4
	maxPatience  = 20 * time.Second
	headerLimit  = 2 * time.Minute
	defaultLimit = 3 * time.Minute
	defaultMax   = 64 << 20
)

// New makes a Client. It does not connect yet.
func New(o Options) (*Client, error) {
	if o.URL == nil || o.URL.Host == "" || o.URL.Scheme != "http" && o.URL.Scheme != "https" || o.URL.User != nil {
		return nil, errors.New("invalid URL of the service: it must start with http:// or https:// and contain a host")
	}
	if o.MaxResponse == 0 {
		o.MaxResponse = defaultMax
	}
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	if o.RetryWait == 0 {
		o.RetryWait = 300 * time.Millisecond
	}
	trust, err := tlsConfig(o)
	if err != nil {
		return nil, err
	}
	c := &Client{options: o, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: headerLimit,
		MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
	}}
	c.retrying = &retryablehttp.Client{
		HTTPClient: c.HTTP(), RetryMax: tries - 1, RetryWaitMin: o.RetryWait, RetryWaitMax: maxPatience,
		CheckRetry: again, Backoff: retryablehttp.DefaultBackoff, ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return c, nil
}

// HTTP is a client with the service's certificate that follows no redirect. It adds no key.
func (c *Client) HTTP() *http.Client {
	return &http.Client{Transport: c.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// URL of the service.
func (c *Client) URL() *url.URL { return c.options.URL }

// Header is what each request has.
func (c *Client) Header() http.Header {
	h := http.Header{"User-Agent": {c.options.Agent}}
	if c.options.Key != "" {
		h.Set("Authorization", "Bearer "+c.options.Key)
	}
	return h
}

// Request is one of the API.
type Request struct {
	Method, Path string
	Query        url.Values
	// Body is JSON; nil sends none.
	Body []byte
	// Repeatable says that the service does it once however often it comes, by an Idempotency-Key that is added here, or because
	// it changes nothing.
	Repeatable bool
	// Accept is the media type that is asked for; JSON when empty.
	Accept string
	// Cookies are for requests of a session.
	Cookies []*http.Cookie
	// LastEvent resumes a stream behind this event.
	LastEvent string
}

// Response of a request, read whole. Its status is below 300.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call makes a request and reads its answer. A refusal is a *Problem; everything else that goes wrong is an error without secrets.
func (c *Client) Call(ctx context.Context, r Request) (*Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Limit, errSlow)
	defer cancel()
	answer, err := c.Open(ctx, r)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := c.read(answer.Body)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: body}, nil
}

var errSlow = errors.New("the service did not respond in time")

func (c *Client) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
		return &UnreachableError{URL: c.options.URL.Host, Err: fmt.Errorf("no complete response within %s", c.options.Limit)}
	}
	return err
}

func (c *Client) read(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, c.options.MaxResponse+1))
	if err != nil {
		return nil, &UnreachableError{URL: c.options.URL.Host, Err: fmt.Errorf("the response was interrupted: %w", err)}
	}
	if int64(len(body)) > c.options.MaxResponse {
		return nil, fmt.Errorf("the response exceeds %d MiB", c.options.MaxResponse>>20)
	}
	return body, nil
}

// Open makes a request and gives its answer, which is good; the caller closes its body.
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	key := ""
	if r.Repeatable && r.Method != http.MethodGet {
		key = rand.Text()
	}
	for waited := 0; ; waited++ {
		answer, err := c.send(ctx, r, key)
		var p *Problem
		// The first try of this request is under way: it was not answered here, and will be.
		if key != "" && errors.As(err, &p) && p.Code == "request_in_progress" && waited < 60 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				continue
			}
		}
		return answer, err
	}
}

func (c *Client) send(ctx context.Context, r Request, key string) (*http.Response, error) {
	at, err := c.at(r.Path)
	if err != nil {
		return nil, err
	}
	at.RawQuery = r.Query.Encode()
	var body any
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	request, err := retryablehttp.NewRequestWithContext(context.WithValue(ctx, repeatable{}, r.Repeatable), r.Method, at.String(), body)
	if err != nil {
		return nil, err
	}
	request.Header = c.Header()
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", "application/json")
	if r.Accept != "" {
		request.Header.Set("Accept", r.Accept+", application/problem+json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	if r.LastEvent != "" {
		request.Header.Set("Last-Event-ID", r.LastEvent)
	}
	for _, cookie := range r.Cookies {
		request.AddCookie(cookie)
	}
	answer, err := c.retrying.Do(request)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return answer, c.CheckResponse(answer)
}

// at is the URL of a path of the API, whose escapes stay as they are.
func (c *Client) at(path string) (*url.URL, error) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return nil, fmt.Errorf("invalid path %q: it must start with one slash", path)
	}
	below, err := url.Parse(path)
	if err != nil || below.Host != "" {
		return nil, fmt.Errorf("invalid path %q", path)
	}
	at := *c.options.URL
	at.Path = strings.TrimSuffix(at.Path, "/") + below.Path
	at.RawPath = strings.TrimSuffix(c.options.URL.EscapedPath(), "/") + below.EscapedPath()
	return &at, nil
}

// Post sends a body that is read once, such as an upload, of so many bytes and this type.
func (c *Client) Post(ctx context.Context, path string, query url.Values, media string, size int64, body io.Reader) (*Response, error) {
	at, err := c.at(path)
	if err != nil {
		return nil, err
	}
	at.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), body)
	if err != nil {
		return nil, err
	}
	request.Header, request.ContentLength = c.Header(), size
	request.Header.Set("Content-Type", media)
	answer, err := c.HTTP().Do(request)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if err := c.CheckResponse(answer); err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := c.read(answer.Body)
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: text}, err
}

// CheckResponse is nil for a good answer. Of any other it reads and closes the body.
func (c *Client) CheckResponse(answer *http.Response) error {
	if answer.StatusCode < 300 {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < 400 {
		to := "elsewhere"
		if at, err := answer.Location(); err == nil {
			to = "to " + at.Scheme + "://" + at.Host + at.Path
		}
		return fmt.Errorf("%s redirects %s; redirects are not followed, because your key is only for the address that you logged in to",
			c.options.URL.Host, to)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return &UnreachableError{URL: c.options.URL.Host, Err: fmt.Errorf("the response was interrupted: %w", err)}
	}
	return newProblem(answer.StatusCode, answer.Header, body, c.options.URL.Host)
}

type repeatable struct{}

// again decides on another try: for what may come twice when no answer came or somebody before the service gave it, and for everything
// that was refused for coming too often.
func again(ctx context.Context, answer *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	may, _ := ctx.Value(repeatable{}).(bool)
	if err != nil {
		return may && !untrusted(err), nil
	}
	if wait, known := retryAfter(answer); known && wait > maxPatience {
		return false, nil
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests:
		return true, nil
	case http.StatusServiceUnavailable:
		return may, nil
	case http.StatusBadGateway, http.StatusGatewayTimeout: // as problems they are the service's own words about a hypervisor
		return may && !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/problem+json"), nil
	}
	return false, nil
}

func retryAfter(answer *http.Response) (time.Duration, bool) {
	var seconds int64
	if err := json.Unmarshal([]byte(answer.Header.Get("Retry-After")), &seconds); err != nil || seconds < 0 || seconds > 1<<30 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

// tlsConfig trusts what the options say.
func tlsConfig(o Options) (*tls.Config, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(o.Authorities) > 0 {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(o.Authorities) {
			return nil, errors.New("the CA file contains no certificate")
		}
	}
	if o.Fingerprint != "" {
		// What VerifyConnection compares is the whole certificate, and holds on resumed connections too.
		trust.InsecureSkipVerify = true
		trust.VerifyConnection = func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return &UntrustedError{Want: o.Fingerprint}
			}
			if seen := Fingerprint(state.PeerCertificates[0]); !SameFingerprint(seen, o.Fingerprint) {
				return &UntrustedError{Want: o.Fingerprint, Seen: seen}
			}
			return nil
		}
	}
	return trust, nil
}

// Fingerprint is the SHA-256 of a certificate, in pairs of upper-case digits with colons between them, as browsers and openssl show it.
func Fingerprint(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	pairs := make([]string, len(sum))
	for i, b := range sum {
		pairs[i] = strings.ToUpper(hex.EncodeToString([]byte{b}))
	}
	return strings.Join(pairs, ":")
}

// SameFingerprint says whether two are the same, with colons or without.
func SameFingerprint(a, b string) bool { return plainFingerprint(a) == plainFingerprint(b) }

func plainFingerprint(text string) string { return strings.ToLower(strings.ReplaceAll(text, ":", "")) }

// Certificate is what a service shows, and whether the authorities of the options vouch for it.
func (c *Client) Certificate(ctx context.Context) (certificate *x509.Certificate, trusted bool, err error) {
	look := c.transport.Clone()
	look.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} // nothing but the certificate is taken from it
	defer look.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.options.URL.JoinPath("healthz").String(), nil)
	if err != nil {
		return nil, false, err
	}
	client := c.HTTP()
	client.Transport = look
	answer, err := client.Do(request)
	if err != nil {
		return nil, false, c.unreachable(err)
	}
	_ = answer.Body.Close()
	if answer.TLS == nil || len(answer.TLS.PeerCertificates) == 0 {
		return nil, false, errors.New("the service presented no certificate")
	}
	chain := answer.TLS.PeerCertificates
	verify := x509.VerifyOptions{DNSName: c.options.URL.Hostname(), Intermediates: x509.NewCertPool()}
	verify.Roots = c.transport.TLSClientConfig.RootCAs
	for _, other := range chain[1:] {
		verify.Intermediates.AddCert(other)
	}
	_, err = chain[0].Verify(verify)
	return chain[0], err == nil, nil
}
