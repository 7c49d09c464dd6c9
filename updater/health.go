package updater

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// lookEvery is how often the service is asked while it comes up.
const lookEvery = 100 * time.Millisecond

// health waits until the new version is ready, and then until it has been so
// for Settled, in one and the same process.
func (r *run) health(ctx context.Context) error { return r.healthy(ctx, r.plan.To, r.cfg.Settled) }

// healthy waits until the service of the new version is ready, and then as long
// as settled to see that the process stays the same one. A service that is
// ready and dies a moment later is restarted by systemd and would look ready
// again.
func (r *run) healthy(ctx context.Context, version string, settled time.Duration) error {
	coming, cancel := contextWithin(ctx, r.cfg.ReadyTime)
	defer cancel()
	process, err := r.becomeReady(coming, version)
	if err != nil {
		return err
	}
	r.hook("ready")
	until := time.NewTimer(settled)
	defer until.Stop()
	for {
		select {
		case <-until.C:
			return nil
		case <-time.After(lookEvery):
		}
		if err := r.ready(ctx, version); err != nil {
			return fmt.Errorf("the service was ready, but no longer is: %w", err)
		}
		if state, err := r.cfg.Service.State(ctx); err != nil || state != process {
			return fmt.Errorf("the service was ready, but its process has ended: %w", errors.Join(err, errors.New(state.String())))
		}
	}
}

// maxRestarts is how often the service may end while it starts. One end may be
// the database's fault; a version that ends again and again is not waited for.
const maxRestarts = 5

// becomeReady asks until the answer is good, and returns the process that gave
// it.
func (r *run) becomeReady(ctx context.Context, version string) (State, error) {
	var last error
	restarts := -1
	for {
		last = r.ready(ctx, version)
		if state, err := r.cfg.Service.State(ctx); err == nil {
			if last == nil && state.Process != 0 {
				return state, nil
			}
			if restarts < 0 {
				restarts = state.Restarts
			}
			if n := state.Restarts - restarts; n >= maxRestarts {
				return State{}, fmt.Errorf("the service did not become ready: it ended %d times: %w", n, last)
			}
		}
		select {
		case <-ctx.Done():
			return State{}, fmt.Errorf("the service did not become ready: %w: %w", context.Cause(ctx), last)
		case <-time.After(lookEvery):
		}
	}
}

// ready asks once. The version in the answer must be that of the started
// release, because the old one may still answer.
func (r *run) ready(ctx context.Context, version string) error {
	status, answers, err := r.ask(ctx)
	if err == nil && (status != http.StatusOK || answers != version) {
		err = fmt.Errorf("the service answers %d, version %q", status, answers)
	}
	return err
}

// reachable asks the old version, ready or not, before anything is done. If it
// cannot be asked, the new one could not be either, and every update would end
// with a rollback.
func (r *run) reachable(ctx context.Context) error {
	within, cancel := contextWithin(ctx, min(r.cfg.ReadyTime, programTime))
	defer cancel()
	for {
		_, version, err := r.ask(within)
		if err == nil && version == r.plan.From {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("version %q answers at this address", version)
		}
		select {
		case <-within.Done():
			return fmt.Errorf("cannot get the state of the running service at %s, the ready address of the updater's configuration: "+
				"start the service, or correct the address: %w", r.cfg.Ready, err)
		case <-time.After(lookEvery):
		}
	}
}

// ask asks the service for its state.
func (r *run) ask(ctx context.Context) (status int, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.cfg.Ready, http.NoBody)
	if err != nil {
		return 0, "", fmt.Errorf("checking whether the service is ready: %w", err)
	}
	answer, err := r.cfg.HTTP.Do(request)
	if err != nil {
		return 0, "", fmt.Errorf("checking whether the service is ready: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var body struct {
		Version string `json:"version"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&body); err != nil {
		return 0, "", fmt.Errorf("the service answers %d without its state", answer.StatusCode)
	}
	return answer.StatusCode, firstWord(body.Version), nil
}

// local returns a client for a service on this machine. It does not verify the
// certificate, which is usually self-signed: nothing secret is sent, and the
// answer decides nothing that somebody who can listen at that address could not
// decide anyway.
func local() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	transport.Proxy = nil
	return &http.Client{Transport: transport, Timeout: 5 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
