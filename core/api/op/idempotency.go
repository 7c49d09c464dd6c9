package op

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

// Names of the headers for idempotent requests.
const (
	idempotencyHeader = "Idempotency-Key"
	replayedHeader    = "Idempotent-Replayed"
	// maxIdempotencyKey in characters.
	maxIdempotencyKey = 255
)

// idempotencyKey is the form of an idempotency key: visible ASCII.
var idempotencyKey = regexp.MustCompile(`^[!-~]{1,255}$`)

// keptHeaders are the headers of a response that a replay repeats.
var keptHeaders = []string{"Content-Type", "X-Total-Count"}

// takesIdempotencyKey reports whether the operation accepts an Idempotency-Key.
// That is a POST of a known caller that creates a job or an object; see Check.
// Log-in and setup have no caller to whom a key could belong. Operations that
// only replace or end something can be repeated safely without a key.
func (o *Operation) takesIdempotencyKey() bool { return o.Spec.Replay != nil || o.Retry }

// makes reports whether the operation creates a job or an object, by its
// status.
func (o *Operation) makes() bool {
	return o.Method == http.MethodPost && !o.Spec.Public && !o.Upload &&
		(o.Spec.Status == http.StatusCreated || o.Spec.Status == http.StatusAccepted)
}

// documentIdempotency adds the header and its effect to the OpenAPI document.
func documentIdempotency(o *Operation, declared *huma.Operation) {
	if !o.takesIdempotencyKey() {
		return
	}
	least, most := 1, maxIdempotencyKey
	declared.Parameters = append(declared.Parameters, &huma.Param{
		Name: idempotencyHeader, In: "header",
		Description: "Makes it safe to repeat a request after its response was lost: a request with the same key is " +
			"not executed twice. For 24 hours, the same request gets the same response, with the header `" +
			replayedHeader +
			": true`. A key is 1 to 255 visible ASCII characters, preferably a random UUID, and belongs to you (keys " +
			"of an API key are separate). The same key with another path, query or body is 422; while the first " +
			"request is running, it is 409 `request_in_progress`. Refused requests are not remembered. The repeated " +
			"request requires the same rights.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: idempotencyKey.String()},
	})
	status := strconv.Itoa(o.Spec.Status)
	if o.Spec.Status == 0 {
		status = "200"
	}
	if answer := declared.Responses[status]; answer != nil {
		if answer.Headers == nil {
			answer.Headers = map[string]*huma.Param{}
		}
		answer.Headers[replayedHeader] = &huma.Param{
			Description: "true for the response of an earlier request with the same " +
				idempotencyHeader,
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"true"}},
		}
	}
}

// keysInFlight has the keys of the requests that this instance is serving.
type keysInFlight struct {
	mu   sync.Mutex
	keys map[idempotency.Key]bool
}

// enter records that a request with the key is being served. It returns false
// if one is already, so that a retry which overtakes the first request is not
// carried out as well.
func (f *keysInFlight) enter(k idempotency.Key) (leave func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = map[idempotency.Key]bool{}
	}
	if f.keys[k] {
		return nil, false
	}
	f.keys[k] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.keys, k)
	}, true
}

// serveIdempotent serves a request that may have a key: with the stored
// response of the first request with this key, or by calling serve.
func (a *API) serveIdempotent(ctx context.Context, q *request, r *http.Request, body []byte, serve func(context.Context)) {
	given := r.Header.Values(idempotencyHeader)
	caller := identity.FromContext(ctx)
	if len(given) == 0 || !q.operation.takesIdempotencyKey() || a.config.Replays == nil || caller == nil || q.attempt == nil {
		serve(ctx)
		return
	}
	if len(given) > 1 || !idempotencyKey.MatchString(given[0]) {
		q.faults = append(q.faults,
			problem.Fault{Loc: []any{"header", idempotencyHeader}, Msg: "must be one key of 1 to 255 visible ASCII characters",
				Type: "string_pattern_mismatch"})
		serve(ctx)
		return
	}
	if q.plans { // it does nothing, so that there is nothing to be done once
		serve(ctx)
		return
	}
	key := idempotency.Key{Caller: callerName(caller), Name: given[0]}
	leave, ok := a.inFlight.enter(key)
	if !ok {
		a.fail(ctx, a.problem(ctx, idempotency.InProgress()))
		return
	}
	defer leave()
	request := fingerprint(r, body)
	found, err := a.config.Replays.Find(ctx, key)
	switch {
	case err != nil:
		a.fail(ctx, a.problem(ctx, err))
	case found != nil:
		if err := a.replay(ctx, q, caller, found, request); err != nil {
			a.fail(ctx, a.problem(ctx, err))
		}
	default:
		a.serveFirst(ctx, q, key, request, serve)
	}
}

// serveFirst serves the first request with a key. The key is stored in the
// transaction of the change, and the response once it is complete.
func (a *API) serveFirst(ctx context.Context, q *request, key idempotency.Key, request string, serve func(context.Context)) {
	roles := map[int64]int{}
	for team, role := range identity.FromContext(ctx).Teams {
		roles[team] = int(role)
	}
	ctx, use := a.config.Replays.Begin(ctx, key, request, roles)
	q.attempt.OnWrite(func(ctx context.Context, tx *db.Tx, e audit.Entry) error {
		return use.WriteRecord(ctx, tx, e.JobID, e.TargetID)
	})
	q.w.copy = &bytes.Buffer{}
	serve(ctx)
	if q.failed || q.w.status >= http.StatusBadRequest {
		return
	}
	answer := idempotency.Response{Status: q.w.status, Header: map[string]string{}, Body: q.w.copy.Bytes()}
	for _, name := range keptHeaders {
		if value := q.w.Header().Get(name); value != "" {
			answer.Header[name] = value
		}
	}
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if err := use.Complete(keeping, answer); err != nil {
		a.log.Warn("an answer was not stored under its Idempotency-Key; it will be built again on request", "request_id", q.id, "error",
			err)
	}
}

// replay repeats the response of the first request, after checking that the
// caller's rights have not become less. If the response was lost before it was
// stored, Spec.Replay builds it again from the result of the change.
func (a *API) replay(ctx context.Context, q *request, caller *identity.Caller, found *idempotency.Record, request string) error {
	if found.Request != request {
		return problem.InvalidField("was already used for a different request", "idempotency_key_reused", "header", idempotencyHeader)
	}
	if q.missing != nil {
		return q.missing
	}
	if q.operation.Spec.On == Anywhere {
		// The handler has decided by what the body names; who has lost a role
		// since may have lost the right.
		for team, role := range found.Roles {
			if caller.On(team) < identity.Role(role) {
				return problem.New(problem.CodeForbidden, "you have lost a role since the request was made").With("team_id", team)
			}
		}
	}
	answer := found.Response
	if answer == nil {
		made, err := q.operation.Spec.Replay(ctx, found.Result)
		if err != nil {
			return fmt.Errorf("rebuilding the answer of an earlier request: %w", err)
		}
		var body bytes.Buffer
		if err := marshal(&body, made); err != nil {
			return fmt.Errorf("rebuilding the answer of an earlier request: %w", err)
		}
		answer = &idempotency.Response{Status: q.operation.status(), Header: map[string]string{"Content-Type": "application/json"},
			Body: body.Bytes()}
	}
	for name, value := range answer.Header {
		q.w.Header().Set(name, value)
	}
	q.w.Header().Set(replayedHeader, "true")
	q.w.WriteHeader(answer.Status)
	_, _ = q.w.Write(answer.Body) // the reader may be gone
	return nil
}

// status returns the status of a success.
func (o *Operation) status() int {
	if o.Spec.Status == 0 {
		return http.StatusOK
	}
	return o.Spec.Status
}

// callerName distinguishes the sessions of a user, all together, from each API
// key of the user.
func callerName(c *identity.Caller) string {
	if c.KeyID != 0 {
		return fmt.Sprintf("key:%d", c.KeyID)
	}
	return fmt.Sprintf("user:%d", c.UserID)
}

// fingerprint returns a hash that is equal for requests with the same method,
// path, query and body, byte for byte.
func fingerprint(r *http.Request, body []byte) string {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body)} {
		_, _ = fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
