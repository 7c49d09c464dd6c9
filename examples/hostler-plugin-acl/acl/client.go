package acl

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxAnswer limits an answer in bytes. The endpoint may be anything: an answer without end must not fill our memory.
const maxAnswer = 4 << 20

// client sends requests to one target with its one credential.
type client struct {
	target    endpoint.Target
	transport *http.Transport
}

// get reads the list at a path, and its ETag.
func (c *client) get(ctx context.Context, path string) ([]row, string, error) {
	return c.send(ctx, http.MethodGet, path, "", nil)
}

// put replaces the list at a path if it still has the ETag. It is sent once: net/http repeats a PUT only when nothing of it was sent.
func (c *client) put(ctx context.Context, path, etag string, rows []row) (after string, err error) {
	_, after, err = c.send(ctx, http.MethodPut, path, etag, rows)
	return after, err
}

func (c *client) send(ctx context.Context, method, path, etag string, rows []row) ([]row, string, error) {
	var body io.Reader
	if method == http.MethodPut {
		text, err := json.Marshal(list{rows})
		if err != nil {
			return nil, "", err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://"+c.target.Address+path, body)
	if err != nil {
		return nil, "", firewall.Invalid("address", "the target's address is invalid")
	}
	if etag != "" {
		req.Header.Set("If-Match", etag)
	}
	// The one place where the secret becomes a string.
	req.Header.Set("Authorization", "Bearer "+string(c.target.Credential.Secret))
	// RoundTrip follows no redirects: nothing goes to anybody but the target.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, "", endpoint.NetworkError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, "", refusal(resp)
	}
	var answer list
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, "", endpoint.NetworkError(ctx, err)
	case len(text) > maxAnswer || json.Unmarshal(text, &answer) != nil || resp.Header.Get("ETag") == "":
		return nil, "", plugin.Errorf(plugin.Protocol, "the answer is not an access list")
	}
	return answer.Rules, resp.Header.Get("ETag"), nil
}

// refusal says what an answer that is not a good one means.
func refusal(resp *http.Response) error {
	var body struct{ Error, Field string }
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&body) != nil || body.Error == "" {
		return plugin.Errorf(plugin.Protocol, "a server other than one for access lists answers at this address: %s", resp.Status)
	}
	switch resp.StatusCode {
	case http.StatusBadRequest:
		return firewall.Invalid(fieldOf[body.Field], "%s", body.Error)
	case http.StatusUnauthorized:
		return plugin.Errorf(plugin.TokenRejected, "%s", body.Error)
	case http.StatusForbidden:
		err := plugin.Errorf(plugin.Denied, "%s", body.Error)
		err.Missing, err.Path = []string{"write"}, "/"
		return err
	case http.StatusNotFound:
		return plugin.Errorf(plugin.NotFound, "%s", body.Error)
	case http.StatusPreconditionFailed:
		return firewall.Stale()
	}
	return plugin.Errorf(plugin.Refused, "%s", body.Error)
}
