package updater

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// lookEvery is how often the service is asked while it comes up.
const lookEvery = 100 * time.Millisecond

// health waits until the new version is ready, and then until it has been so for Settled, in one and the same process.
func (r *run) health(ctx context.Context) error { return r.healthy(ctx, r.plan.To, r.cfg.Settled) }

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
			return fmt.Errorf("the service was ready and is no more: %w", err)
		}
		if state, err := r.cfg.Service.State(ctx); err != nil || state != process {
			return fmt.Errorf("the service was ready and its process has ended since: %w", errors.Join(err, errors.New(state.String())))
		}
	}
}

// becomeReady asks until the answer is good, and says which process gave it.
func (r *run) becomeReady(ctx context.Context, version string) (State, error) {
	var last error
	for {
		if last = r.ready(ctx, version); last == nil {
			if state, err := r.cfg.Service.State(ctx); err == nil && state.Process != 0 {
				return state, nil
			}
		}
		select {
		case <-ctx.Done():
			return State{}, fmt.Errorf("the service does not become ready: %w: %w", context.Cause(ctx), last)
		case <-time.After(lookEvery):
		}
	}
}

// ready asks once. The version in the answer must be the one that was started: the old one may answer still.
func (r *run) ready(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.cfg.Ready, http.NoBody)
	if err != nil {
		return fmt.Errorf("asking whether the service is ready: %w", err)
	}
	answer, err := r.cfg.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("asking whether the service is ready: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var body struct {
		Status  string `json:"status"`
		Version string `json:"version"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&body); err != nil {
		return fmt.Errorf("the service answers %d and something else than its state", answer.StatusCode)
	}
	if answer.StatusCode != http.StatusOK || body.Version != version {
		return fmt.Errorf("the service answers %d, version %q", answer.StatusCode, firstWord(body.Version))
	}
	return nil
}
