package pveapi

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Client sends the requests for one target with its token. It is safe for
// concurrent use. It needs no Close; the connections belong to the Pool.
type Client struct {
	base   string
	token  string // value of the Authorization header
	secret string
	ways   *transports
	waits  Timeouts
	// Remedy gives the command that grants the privileges at the path; nil
	// gives none. It may ask the endpoint by the client that it is given. It is
	// set before the client is used.
	Remedy func(ctx context.Context, c *Client, missing []string, path string) string
}

// Format keeps the token out of everything that prints a client, also with %+v
// and %#v.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "pveapi.Client("+c.base+")") }

// NewClient returns a client for the target. It makes no connection.
func (p *Pool) NewClient(target endpoint.Target) (*Client, error) {
	credential := target.Credential
	if strings.ContainsAny(credential.ID+string(credential.Secret), "\r\n\x00") {
		return nil, plugin.Errorf(plugin.Invalid, "the token contains a control character")
	}
	ways, err := p.get(target)
	if err != nil {
		return nil, err
	}
	c := &Client{base: "https://" + target.Address + "/api2/json", secret: string(credential.Secret), ways: ways, waits: p.timeouts}
	if credential.ID != "" {
		c.token = "PVEAPIToken=" + credential.ID + "=" + string(credential.Secret)
	}
	return c, nil
}

// Get reads a small answer. It is repeated if that can help.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) (*Meta, error) {
	a, err := c.send(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.decode(into)
}

// Stream opens an answer with many rows. It is repeated as long as no answer
// has begun. The caller closes the answer.
func (c *Client) Stream(ctx context.Context, path string, query url.Values) (*Response, error) {
	return c.send(ctx, http.MethodGet, path, query, nil)
}

// Post sends a form once and reads the small answer.
func (c *Client) Post(ctx context.Context, path string, form url.Values, into any) (*Meta, error) {
	return c.write(ctx, http.MethodPost, path, form, into)
}

// Put sends a form once and reads the small answer.
func (c *Client) Put(ctx context.Context, path string, form url.Values, into any) (*Meta, error) {
	return c.write(ctx, http.MethodPut, path, form, into)
}

// write sends a request that changes something. It is not repeated here:
// whether it arrived is unknown after a broken connection.
func (c *Client) write(ctx context.Context, method, path string, form url.Values, into any) (*Meta, error) {
	if form == nil {
		form = url.Values{}
	}
	a, err := c.send(ctx, method, path, nil, form)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.decode(into)
}

// Delete sends a DELETE once. All parameters are in the query, because pveproxy
// refuses a body.
func (c *Client) Delete(ctx context.Context, path string, query url.Values, into any) (*Meta, error) {
	a, err := c.send(ctx, http.MethodDelete, path, query, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.decode(into)
}

// send sends the request, and turns every answer except success into an error.
func (c *Client) send(ctx context.Context, method, path string, query, form url.Values) (*Response, error) {
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode() // percent-encodes `;`, at which the hypervisor would split
	}
	// The request can be stopped, which ends a body that stalls.
	asking := ctx
	ctx, stop := context.WithCancelCause(ctx)
	var body any
	if len(form) > 0 {
		// The length of the body must be known, because pveproxy refuses a
		// chunked one. An empty body that is not nil would be chunked.
		body = []byte(form.Encode())
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		stop(nil)
		return nil, plugin.Errorf(plugin.Invalid, "%s is not a valid address", c.base)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "hostler")
	if c.token != "" {
		req.Header.Set("Authorization", c.token)
	}
	resp, err := c.retrying(ctx, method).Do(req)
	if err != nil {
		defer stop(nil)
		return nil, netError(ctx, err)
	}
	a := &Response{client: c, resp: resp, body: newLimited(ctx, resp.Body, stop, c.waits.Stall), stop: stop, sent: query}
	if len(form) > 0 {
		a.sent = form
	}
	if resp.StatusCode != http.StatusOK {
		defer a.Close()
		return nil, a.refusal(asking, path)
	}
	return a, nil
}

// retrying returns the sender for one request. The connections are shared.
func (c *Client) retrying(ctx context.Context, method string) *retryablehttp.Client {
	var way http.RoundTripper = overOpen{c.ways.write, c.ways.read}
	check := retryNever
	if method == http.MethodGet {
		way = c.ways.read
		if !plugin.IsOnce(ctx) {
			check = retryRead(time.Now())
		}
	}
	return &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     plugin.CountRequests(way),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: retries, RetryWaitMin: retryMin, RetryWaitMax: retryMax,
		CheckRetry: check,
		Backoff:    retryablehttp.DefaultBackoff,
		// The last answer or error is returned unchanged.
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// Meta holds the facts beside the data of an answer.
type Meta struct {
	// Date is the hypervisor's clock when it answered; zero when it did not tell.
	Date time.Time
	// Total is the number of rows that a list has in all, where the hypervisor tells it.
	Total int
	// Changes is the diff of what is staged and not in force, where an answer has one.
	Changes string
	// Certificate was shown, and Fingerprint is its own.
	Fingerprint string
	Certificate *x509.Certificate
}

// decode reads a small answer completely.
func (a *Response) decode(into any) (*Meta, error) {
	raw, err := a.all()
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Data    json.RawMessage `json:"data"`
		Total   Int             `json:"total"`
		Changes Text            `json:"changes"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, a.protocol(err)
	}
	if into != nil && len(envelope.Data) > 0 {
		if err := json.Unmarshal(envelope.Data, into); err != nil {
			return nil, a.protocol(err)
		}
	}
	meta := a.Meta()
	meta.Total = int(min(max(envelope.Total.N, 0), 1<<31-1))
	meta.Changes = string(envelope.Changes)
	return &meta, nil
}

// errStalled is the cause with which a request ends whose answer stopped.
var errStalled = errors.New("the answer ended early")
