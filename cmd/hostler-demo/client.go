package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"time"
)

// client calls the API as a user would, with a session cookie. It uses no
// internal interface, so the demo also shows that the API is sufficient.
type client struct {
	base string
	http *http.Client
	// browser is the User-Agent to send; empty for the usual one.
	browser string
}

// newClient returns a client without a session. base is the URL of the service
// without a path.
func newClient(base string) *client {
	jar, _ := cookiejar.New(nil) // fails for no options
	return &client{base: base, http: &http.Client{Jar: jar, Timeout: 60 * time.Second}}
}

// waitReady polls /readyz until it succeeds, for at most a minute: the first
// start creates a database. It fails early if the process of the service ends.
// If the service ended although a response arrived, another program listens at
// the address.
func (c *client) waitReady(ctx context.Context, service *process) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		if err := c.call(ctx, http.MethodGet, "/readyz", nil, nil); err == nil {
			select {
			case <-service.done: // another program answers
				return fmt.Errorf("the service ended: %v", service.err)
			default:
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the service: %w", ctx.Err())
		case <-service.done:
			return fmt.Errorf("the service ended: %v", service.err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// setUp creates the first owner with the setup token, which the service writes
// to its state folder at its first start, and logs in.
func (c *client) setUp(ctx context.Context, tokenFile, email, password string) error {
	setupToken, err := os.ReadFile(tokenFile)
	if err != nil {
		return fmt.Errorf("reading the setup token: %w", err)
	}
	err = c.call(ctx, http.MethodPost, "/api/v1/setup", map[string]any{
		"setup_token": strings.TrimSpace(string(setupToken)), "email": email, "password": password,
	}, nil)
	if err != nil {
		return fmt.Errorf("creating the owner: %w", err)
	}
	if err := c.call(ctx, http.MethodPost, "/api/v1/auth/login", map[string]any{"email": email, "password": password}, nil); err != nil {
		return fmt.Errorf("logging in: %w", err)
	}
	return nil
}

// enrol adds the simulated cluster with a separate token for each capability,
// reads its inventory once and returns the number of guests. The tokens are the
// ones that pvesim prints at its start.
func (c *client) enrol(ctx context.Context, sim simulator) (int, error) {
	var host struct {
		ID int64 `json:"id"`
	}
	err := c.call(ctx, http.MethodPost, "/api/v1/hosts", map[string]any{
		"name": "demo", "address": sim.URL, "tls_fingerprint": sim.Fingerprint,
		"token_id": sim.Tokens["monitoring"].ID, "token_secret": sim.Tokens["monitoring"].Secret,
	}, &host)
	if err != nil {
		return 0, fmt.Errorf("enrolling the cluster: %w", err)
	}
	for _, capability := range []string{"lifecycle", "console", "backup", "node_power"} {
		err := c.call(ctx, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/credentials", host.ID), map[string]any{
			"capability": capability, "token_id": sim.Tokens[capability].ID, "token_secret": sim.Tokens[capability].Secret,
		}, nil)
		if err != nil {
			return 0, fmt.Errorf("adding the token for %s: %w", capability, err)
		}
	}
	if err := c.call(ctx, http.MethodPost, fmt.Sprintf("/api/v1/hosts/%d/sync", host.ID), nil, nil); err != nil {
		return 0, fmt.Errorf("reading the inventory: %w", err)
	}
	var vms, containers []struct{}
	if err := c.call(ctx, http.MethodGet, "/api/v1/vms", nil, &vms); err != nil {
		return 0, err
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/apps/discovered", nil, &containers); err != nil {
		return 0, err
	}
	return len(vms) + len(containers), nil
}

// call sends a request with JSON. in is the body, or nil for none; out receives
// the response, or is nil. A status of 300 or more is an error with the body in
// its text.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	_, err := c.send(ctx, method, path, in, out)
	return err
}

// send is call and also returns the cookies that the response sets.
func (c *client) send(ctx context.Context, method, path string, in, out any) ([]*http.Cookie, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.browser != "" {
		req.Header.Set("User-Agent", c.browser)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 32<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if out == nil {
		return resp.Cookies(), nil
	}
	return resp.Cookies(), json.Unmarshal(text, out)
}
