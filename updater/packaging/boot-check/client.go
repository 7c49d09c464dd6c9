package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"sync"
	"time"
)

// address is the service's address inside of the container.
const address = "http://127.0.0.1:8480"

// client speaks to the service from inside the container, with one session.
type client struct{ http *http.Client }

// newClient returns a client whose connections begin in the container's
// network. Connections are not kept, because the service restarts often.
func newClient(m *machine) (*client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &client{http: &http.Client{Jar: jar, Timeout: 10 * time.Second,
		Transport: &http.Transport{DialContext: m.dial, DisableKeepAlives: true}}}, nil
}

// call sends and receives JSON. It returns the HTTP status even with an error;
// 0 means that no response arrived.
func (c *client) call(ctx context.Context, method, path string, body, into any) (int, error) {
	var in io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		in = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, address+path, in)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return answer.StatusCode, err
	}
	if answer.StatusCode >= 300 {
		return answer.StatusCode, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	if into == nil {
		return answer.StatusCode, nil
	}
	return answer.StatusCode, json.Unmarshal(text, into)
}

// version returns the version of the service if it is ready, otherwise an
// error.
func (c *client) version(ctx context.Context) (string, error) {
	var body struct{ Version string }
	_, err := c.call(ctx, http.MethodGet, "/readyz", nil, &body)
	return body.Version, err
}

// serves waits until the given version is ready.
func (c *client) serves(ctx context.Context, version string, within time.Duration) error {
	return until(ctx, within, func() error {
		got, err := c.version(ctx)
		if err == nil && got != version {
			err = fmt.Errorf("version %s is running, not %s", got, version)
		}
		return err
	})
}

// prober measures how long the service is unavailable, by asking /readyz every
// 20 ms.
type prober struct {
	stop func()
	done sync.WaitGroup
	// down are the times without service, one for each.
	down []time.Duration
}

// probeEvery is the resolution of the measurement.
const probeEvery = 20 * time.Millisecond

// probe starts a prober. A period of unavailability is counted from the last
// good answer to the next one; one that has no end yet is not counted. The
// caller calls end.
func (c *client) probe(ctx context.Context) *prober {
	ctx, cancel := context.WithCancel(ctx)
	p := &prober{stop: cancel}
	p.done.Go(func() {
		tick := time.NewTicker(probeEvery)
		defer tick.Stop()
		good := time.Now() // of the last good answer
		bad := false
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := c.version(ctx); err != nil {
				bad = ctx.Err() == nil
				continue
			}
			if bad {
				p.down, bad = append(p.down, time.Since(good)), false
			}
			good = time.Now()
		}
	})
	return p
}

// end stops the prober and returns the total time of unavailability. It may be
// called several times.
func (p *prober) end() time.Duration {
	p.stop()
	p.done.Wait()
	var all time.Duration
	for _, d := range p.down {
		all += d
	}
	return all
}
