package lxdapi

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Client sends requests to one server with one certificate. It is safe for
// concurrent use and needs no closing, because connections belong to the Pool.
type Client struct {
	base     string // https://host:port
	identity Identity
	ways     *transports
	waits    Timeouts
}

// Format keeps the key out of logs and error messages.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "lxdapi.Client("+c.base+")") }

// NewClient returns a client for a target. It uses no network. The secret of
// the credential is parsed by ParseIdentity. Without a secret the client
// presents no certificate, which is enough for Server and for learning the
// server's fingerprint.
func (p *Pool) NewClient(target endpoint.Target) (*Client, error) {
	var identity Identity
	if target.Credential.Secret != "" {
		var err error
		if identity, err = ParseIdentity(target.Credential.Secret); err != nil {
			return nil, err
		}
	}
	ways, err := p.get(target, identity)
	if err != nil {
		return nil, err
	}
	return &Client{base: "https://" + target.Address, identity: identity, ways: ways, waits: p.timeouts}, nil
}

// Identity is the client's certificate; zero without one.
func (c *Client) Identity() Identity { return c.identity }

// request is one request to the server.
type request struct {
	method, path string
	query        url.Values
	body         any    // as JSON; nil for none
	ifMatch      string // an ETag that the thing must still have; empty for none
	limit        int64  // bytes of a good answer
	stays        bool   // it may take long, and must not hold up others
}

// Meta is what the headers and the connection of a response say.
type Meta struct {
	// Date is the server's clock when it answered; zero if it did not report
	// it.
	Date time.Time
	// ETag identifies the version of the configuration that was read; empty if
	// the server sends none. It makes a later change conditional.
	ETag string
	// Certificate was shown by the server, and Fingerprint is its own.
	Fingerprint string
	Certificate *x509.Certificate
}

// get reads one small object.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) (Meta, error) {
	return c.read(ctx, path, query, maxSmall, object(into))
}

// list reads an array of objects.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, Meta, error) {
	var all []T
	meta, err := c.read(ctx, path, query, maxList, rows(&all))
	if err != nil {
		return nil, Meta{}, err
	}
	return all, meta, nil
}

// read sends a GET and decodes its metadata. limit is the maximum size of the
// response in bytes.
func (c *Client) read(ctx context.Context, path string, query url.Values, limit int64, metadata metadataReader) (Meta, error) {
	a, err := c.send(ctx, request{method: http.MethodGet, path: path, query: query, limit: limit})
	if err != nil {
		return Meta{}, err
	}
	defer a.close()
	if _, err := a.envelope(metadata); err != nil {
		return Meta{}, err
	}
	return a.meta(), nil
}

// change sends a request that changes something, once, and returns the
// operation that performs it, or nil if the server was done at once.
func (c *Client) change(ctx context.Context, r request) (*Operation, error) {
	r.limit, r.stays = maxSmall, true
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer a.close()
	var op Operation
	head, err := a.envelope(object(&op))
	if err != nil || head.Type != typeAsync {
		return nil, err
	}
	if checkOperationID(op.ID) != nil {
		return nil, a.protocol(errShape)
	}
	return &op, nil
}

// send sends a request and turns every response but a good one into an error.
// The caller must close the returned response.
func (c *Client) send(ctx context.Context, r request) (*answer, error) {
	// Stopping the request ends a body that comes too slowly.
	ctx, stop := context.WithCancelCause(ctx)
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			stop(nil)
			return nil, fmt.Errorf("cannot encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		stop(nil)
		return nil, plugin.Errorf(plugin.Invalid, "%s is not a valid address", c.base)
	}
	req.Header.Set("User-Agent", "hostler")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.ifMatch != "" {
		req.Header.Set("If-Match", r.ifMatch)
	}
	resp, err := c.sender(r.stays).Do(req)
	if err != nil {
		defer stop(nil)
		return nil, endpoint.NetworkError(ctx, err)
	}
	a := newAnswer(resp, r.limit, c.waits.Body, stop)
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
		return a, nil
	}
	defer a.close()
	return nil, c.explain(ctx, r.path, a.refusal())
}

// sender returns the HTTP client for a request, with shared connections or with
// one of its own. It follows no redirects: the certificate must not be
// presented elsewhere.
func (c *Client) sender(own bool) *http.Client {
	way := c.ways.shared
	if own {
		way = c.ways.own
	}
	return &http.Client{
		Transport:     plugin.CountRequests(way),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// explain tells the two meanings of status 403 apart: an unknown certificate,
// and one that may not do this. Only GET /1.0 says which, because it answers
// every caller.
func (c *Client) explain(ctx context.Context, path string, err error) error {
	var e *plugin.Error
	if path == rootPath || !errors.As(err, &e) || e.Kind != plugin.Denied {
		return err
	}
	server, _, failed := c.Server(ctx)
	if failed != nil || server.Trusted() {
		return err
	}
	return plugin.Errorf(plugin.TokenRejected, "the host does not know this certificate, or the certificate has expired: %s", e.Message)
}
