package toy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxAnswer limits a small answer in bytes. The endpoint may be anything: an answer without end must not fill our memory.
const maxAnswer = 4 << 20

// client sends requests to one target with its one credential.
type client struct {
	target    endpoint.Target
	transport http.RoundTripper
	log       hclog.Logger
}

// get reads a small answer and gives the response for its certificate.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) (*http.Response, error) {
	resp, err := c.send(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return resp, decode(ctx, resp.Body, into)
}

// send makes one request, with a body of JSON unless that is nil. Any answer but a good one becomes an error; the caller closes
// the answer's body. What changes something is sent once: net/http repeats a POST or DELETE only when nothing of it was sent.
func (c *client) send(ctx context.Context, method, path string, query url.Values, body any) (*http.Response, error) {
	address := "https://" + c.target.Address + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return nil, invalid("address", "the target's address is invalid")
	}
	// A credential that is a token would go into a header here, the one place where the secret becomes a string.
	req.Header.Set("Accept", "application/json")
	// RoundTrip follows no redirects: nothing goes to anybody but the target.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, endpoint.NetworkError(ctx, err)
	}
	c.log.Debug("asked", "method", method, "path", path, "status", resp.StatusCode)
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusAccepted {
		defer func() { _ = resp.Body.Close() }()
		return nil, refusal(resp)
	}
	return resp, nil
}

func decode(ctx context.Context, body io.ReadCloser, into any) error {
	return decodeError(ctx, json.NewDecoder(http.MaxBytesReader(nil, body, maxAnswer)).Decode(into))
}

// decodeError tells an answer that is not the toy's from one that the network cut.
func decodeError(ctx context.Context, err error) error {
	var syntax *json.SyntaxError
	var form *json.UnmarshalTypeError
	var long *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax), errors.As(err, &form), errors.As(err, &long), errors.Is(err, io.EOF):
		return plugin.Errorf(plugin.Protocol, "the answer does not come from a toy hypervisor: %w", err)
	}
	return endpoint.NetworkError(ctx, err)
}

// refusal says what an answer that is not a good one means. The kind is what the service acts on, the message what people
// read, so both should be as exact as the hypervisor allows.
func refusal(resp *http.Response) error {
	var body struct {
		Error   string   `json:"error"`
		Missing []string `json:"missing"`
		Field   string   `json:"field"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&body) != nil || body.Error == "" {
		return plugin.Errorf(plugin.Protocol, "a server other than a toy hypervisor answers at this address: %s", resp.Status)
	}
	kind, known := map[int]plugin.ErrorKind{
		http.StatusBadRequest: plugin.Invalid, http.StatusUnauthorized: plugin.TokenRejected,
		http.StatusForbidden: plugin.Denied, http.StatusNotFound: plugin.NotFound,
		http.StatusConflict: plugin.Conflict, http.StatusLocked: plugin.Busy,
	}[resp.StatusCode]
	if !known {
		kind = plugin.Refused
	}
	err := plugin.Errorf(kind, "%s", body.Error)
	err.Missing, err.Field = body.Missing, body.Field
	if kind == plugin.Denied {
		err.Path = "/"
	}
	return err
}

func invalid(field, message string) error {
	err := plugin.Errorf(plugin.Invalid, "%s", message)
	err.Field = field
	return err
}
