package scripts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// pace is how often a fetcher tries and how long it waits.
type pace struct {
	tries int
	// first is the first pause between two tries, which doubles; longest is the
	// longest that it waits when it is told to, in all.
	first, longest time.Duration
	// answer is how long the answer may take to begin.
	answer time.Duration
}

// usualPace is the pace outside of tests. With the longest wait of 90 seconds,
// a sync that meets a rate limit of an hour fails at once instead of blocking
// the daemon.
var usualPace = pace{tries: 4, first: 500 * time.Millisecond, longest: 90 * time.Second, answer: 30 * time.Second}

// fetcher downloads commits and archives over HTTP. archives is the base
// address of the archives and api that of the API of GitHub.
type fetcher struct {
	client        *http.Client
	archives, api string
	pace          pace
	logger        hclog.Logger
}

// newClient returns the HTTP client for archives and the API. It only connects
// to addresses that the configuration allows, checked after name resolution, so
// a name cannot lead to a private network. Redirects stay with https if they
// began there, and are five at most. Compression is off, because archives are
// compressed already and a small response must not unpack to a large one.
func newClient(config catalog.Config, pace pace, proxy *url.URL, roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: 15 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		dialled, err := netip.ParseAddrPort(address)
		if err != nil {
			return plugin.Errorf(plugin.Forbidden, "the address to connect to is invalid").WithCause(err)
		}
		if err := endpoint.CheckAddress(dialled.Addr(), config.AllowLoopback); err != nil {
			return err
		}
		if endpoint.IsPrivate(dialled.Addr()) && !config.AllowPrivate {
			return plugin.Errorf(plugin.Forbidden, "%s is an address of a private network, which is not allowed", dialled.Addr())
		}
		return nil
	}}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: pace.answer, MaxResponseHeaderBytes: 64 << 10,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		// What is fetched is compressed already, and what is not must not grow unseen.
		DisableCompression: true,
	}
	if proxy != nil {
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return plugin.Errorf(plugin.Protocol, "the address has too many redirects")
		}
		if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
			return plugin.Errorf(plugin.Protocol, "the address is redirected from https to %s", r.URL.Scheme)
		}
		return nil
	}}
}

// get fetches an address and passes the body of a 200 to read. If the
// connection breaks, it starts again, and read is called again with the body
// from its beginning; read must therefore discard what it got before.
//
// A non-empty etag is sent as If-None-Match. For an answer of 304, get returns
// unchanged without calling read. All other answers are errors of a fitting
// kind (see try). Pauses double and are partly random, so that several daemons
// that failed together do not return together.
func (f *fetcher) get(ctx context.Context, address, accept, etag string, read func(http.Header, io.Reader) error) (unchanged bool,
	err error) {
	pause := f.pace.first
	left := f.pace.longest
	for try := 1; ; try++ {
		unchanged, wait, err := f.try(ctx, address, accept, etag, read)
		if err == nil || wait < 0 || ctx.Err() != nil {
			return unchanged, err
		}
		if wait == 0 {
			wait = pause + rand.N(pause/2+1)
			pause *= 2
		}
		if try >= f.pace.tries || wait > left {
			return false, err
		}
		left -= wait
		f.logger.Debug("retrying", "after", wait.String(), "because", err.Error())
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// try makes one request. wait says when to try again: a negative value means
// never, zero soon, and a positive value is what the origin asked for
// (Retry-After, or the rate limit headers of GitHub). GitHub reports an
// exceeded rate limit as 403 or 429. unchanged reports that the origin answered
// 304 to the ETag.
func (f *fetcher) try(ctx context.Context, address, accept, etag string, read func(http.Header, io.Reader) error) (
	unchanged bool, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, -1, plugin.Errorf(plugin.Invalid, "the address is invalid").WithCause(err)
	}
	request.Header.Set("User-Agent", "hostler-plugin-scripts/"+version)
	request.Header.Set("Accept", accept)
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	answer, err := f.client.Do(request)
	if err != nil {
		err = networkError(ctx, err)
		if kind := plugin.KindOf(err); kind == plugin.Unreachable || kind == plugin.Timeout {
			return false, 0, err
		}
		return false, -1, err
	}
	defer func() { _ = answer.Body.Close() }()
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		body := &bodyReader{from: answer.Body}
		err := read(answer.Header, body)
		if err != nil && body.err != nil && ctx.Err() == nil { // the connection broke, and not what was read
			return false, 0, networkError(ctx, body.err)
		}
		return false, -1, err
	case code == http.StatusNotModified && etag != "":
		return true, -1, nil
	case code == http.StatusNotFound || code == http.StatusGone || code == http.StatusUnprocessableEntity:
		return false, -1, plugin.Errorf(plugin.NotFound, "the commit, branch or repository does not exist at the origin")
	case code == http.StatusTooManyRequests || code == http.StatusForbidden && limited(answer.Header):
		wait := retryAfter(answer.Header, time.Now())
		return false, wait, plugin.Errorf(plugin.Busy, "the origin limits requests; retry in %s",
			max(wait, time.Second).Round(time.Second))
	case code >= 500:
		return false, retryAfter(answer.Header, time.Now()), plugin.Errorf(plugin.Unreachable, "the origin answered with status %d", code)
	default:
		return false, -1, plugin.Errorf(plugin.Refused, "the origin answered with status %d", code)
	}
}

// limited reports whether a 403 means that the rate limit is exceeded. GitHub
// uses 403 for this as well as for missing permissions; the headers tell them
// apart.
func limited(h http.Header) bool {
	return h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0"
}

// retryAfter returns how long the answer asks the client to wait, or 0 if it
// does not say. It reads Retry-After (RFC 9110 section 10.2.3), which is a
// number of seconds or a date, and GitHub's X-RateLimit-Reset, which is a time
// in seconds since 1970. A time that has passed gives a millisecond, because 0
// would mean that the answer said nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds)*time.Second + time.Millisecond
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), time.Millisecond)
	}
	if seconds, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && seconds > 0 &&
		h.Get("X-RateLimit-Remaining") == "0" {
		return max(time.Unix(seconds, 0).Sub(now), time.Millisecond)
	}
	return 0
}

// bodyReader reads a body and remembers an error of the connection. get needs
// this to tell a broken connection, which is worth another try, from an archive
// that is invalid, which is not.
type bodyReader struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// networkError turns an error of the HTTP client into an error of the plugin
// protocol. Unlike endpoint.NetworkError it does not name the host, and a
// certificate that is not trusted has the kind Untrusted. Errors that already
// have a kind, such as those of the dialer in newClient, are returned as they
// are.
func networkError(ctx context.Context, err error) error {
	var known *plugin.Error
	if errors.As(err, &known) {
		return known
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return plugin.Errorf(plugin.Untrusted, "the certificate of the origin is not trusted").WithCause(err)
	}
	told := plugin.KindOf(endpoint.NetworkError(ctx, err))
	var message string
	switch told {
	case plugin.Timeout:
		message = "the origin did not answer in time"
	case plugin.Protocol:
		message = "the server at the origin's address does not speak HTTPS"
	default:
		told, message = plugin.Unreachable, "the origin cannot be reached, or the connection was lost"
	}
	return (&plugin.Error{Kind: told, Message: message}).WithCause(err)
}

// resolve returns the commit of a branch or tag in one request. The media type
// application/vnd.github.sha makes GitHub answer with only the commit, 40
// bytes, instead of its description in JSON.
func (f *fetcher) resolve(ctx context.Context, repository, ref, etag string) (commit, newTag string, unchanged bool, err error) {
	address := f.api + "/repos/" + repository + "/commits/" + url.PathEscape(ref)
	unchanged, err = f.get(ctx, address, "application/vnd.github.sha", etag, func(h http.Header, body io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(body, 200))
		if err != nil {
			return err
		}
		commit, newTag = strings.TrimSpace(string(text)), h.Get("ETag")
		if !commitForm.MatchString(commit) {
			return plugin.Errorf(plugin.Protocol, "the origin did not answer with a commit")
		}
		return nil
	})
	return commit, newTag, unchanged, err
}

// archive downloads the archive of a commit and passes it to read, perhaps
// several times (see get). The caller checks the content, because the address
// alone does not prove which commit was sent.
func (f *fetcher) archive(ctx context.Context, repository, commit string, read func(io.Reader) error) error {
	_, err := f.get(ctx, f.archives+"/"+repository+"/archive/"+commit+".tar.gz", "*/*", "", func(_ http.Header, body io.Reader) error {
		return read(body)
	})
	return err
}

// close closes idle connections.
func (f *fetcher) close() { f.client.CloseIdleConnections() }
