package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Check is the result of Test.
type Check struct {
	Reachable bool `json:"reachable" example:"true" doc:"true if the endpoint accepted the monitoring token over a trusted connection and returned its inventory"`
	// Reason and Error say why not.
	Reason    *string `json:"reason" example:"tls_fingerprint"`
	Error     *string `json:"error"`
	Version   *string `json:"version" example:"9.2.11"`
	LatencyMS *int64  `json:"latency_ms" example:"18"`
	// SeenFingerprint is the certificate that was shown, trusted or not.
	SeenFingerprint    *string      `json:"seen_fingerprint" doc:"Fingerprint of the certificate that the host presented, trusted or not"`
	FingerprintChanged bool         `json:"fingerprint_changed" example:"false" doc:"true if seen_fingerprint differs from the pinned one; PATCH tls_fingerprint of the host to accept it"`
	Tokens             []TokenCheck `json:"capabilities" doc:"One entry for each stored token"`
}

// TokenCheck is the result for one token.
type TokenCheck struct {
	Key     string  `json:"key" example:"lifecycle" doc:"Capability of the token"`
	TokenID *string `json:"token_id" example:"service@pve!lifecycle" doc:"Token ID on the hypervisor; null for a one-time code, and for a value that cannot be a token"`
	Form    *string `json:"form" example:"token" doc:"Form of the credential, as the driver names it"`
	OK      bool    `json:"ok" example:"true" doc:"true if the token was accepted and has all required privileges"`
	// Reason and Error say why it was not accepted.
	Reason        *string        `json:"reason" doc:"Why it was not accepted, as in the reason of a host: auth for a token that the hypervisor rejects. It is not tried if it cannot be a token (invalid) or the driver does not have its capability (unsupported)"`
	Error         *string        `json:"error" doc:"The reason as a sentence"`
	Missing       []string       `json:"missing" doc:"Required privileges that the token lacks; features that use them fail"`
	Extra         []string       `json:"extra" doc:"Privileges that the token has but does not need"`
	Recommended   []string       `json:"recommended" doc:"Additional privileges that this release of the hypervisor requires for some features"`
	Remedy        *string        `json:"remedy" doc:"Command for an administrator of the hypervisor that adds the missing privileges and removes the unneeded ones from the role; null if nothing needs a fix or the driver knows no command"`
	ConsoleLimits []ConsoleLimit `json:"console_limits" doc:"For a console token: consoles that this release of the hypervisor does not open with a token"`
	// Expires is of a one-time code, which is not used by a check.
	Expires *time.Time `json:"expires_at" doc:"When a one-time code expires, according to the code itself; null for a token"`
}

// Test checks a host with every token that it has, in parallel, and stores what
// it found out about their privileges. A host that fails is a result, not an
// error.
func (s *Store) Test(ctx context.Context, id int64) (Check, error) {
	h, err := s.Get(ctx, id)
	if err != nil {
		return Check{}, err
	}
	h.Tokens = s.supportedCredentials(ctx, h)
	out := Check{Tokens: make([]TokenCheck, len(h.Tokens))}
	found := make([]*Verification, len(h.Tokens))
	errs := make([]error, len(h.Tokens))
	var unread error
	var all sync.WaitGroup
	for i, token := range h.Tokens {
		all.Go(func() {
			v, err := s.verifyStored(ctx, id, endpoint.Capability(token.Key))
			if errs[i] = err; err != nil {
				return
			}
			found[i] = &v
			if token.Key == string(endpoint.Monitoring) {
				unread = s.readOnce(ctx, id)
			}
		})
	}
	all.Wait()
	for i, token := range h.Tokens {
		out.Tokens[i] = tokenCheck(token.Key, found[i], errs[i])
		out.Tokens[i].TokenID, out.Tokens[i].Form = orNil(token.TokenID), orNil(token.Form)
		if token.Key == string(endpoint.Monitoring) {
			out.endpoint(h, found[i], cmp.Or(errs[i], unread))
		}
	}
	return out, s.keepChecks(ctx, id, h.Tokens, found)
}

// supportedCredentials returns the host's credentials without those of capabilities that
// its driver does not have.
func (s *Store) supportedCredentials(ctx context.Context, h Host) []Credential {
	d, known := s.recall(ctx, h.Driver)
	return slices.DeleteFunc(h.Tokens, func(c Credential) bool { return known && !d.info.Has(endpoint.Capability(c.Key)) })
}

// verifyStored checks a stored credential.
func (s *Store) verifyStored(ctx context.Context, id int64, c endpoint.Capability) (Verification, error) {
	driver, target, err := s.target(ctx, id, c)
	if err != nil {
		return Verification{}, err
	}
	return s.verify(ctx, driver, target)
}

// readOnce reads the host's inventory as a poll does, and stores nothing.
// Version and permissions prove less: at some hypervisors a proxy answers them
// although the service behind it is down.
func (s *Store) readOnce(ctx context.Context, id int64) error {
	nodes, err := CallWithTimeout(ctx, s, s.timeout, id, endpoint.Monitoring, func(ctx context.Context, h hypervisor.Host) (nodes int,
		err error) {
		err = h.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
			nodes += len(page.Nodes)
			return nil
		})
		return nodes, err
	})
	if err == nil && nodes == 0 {
		return sdk.Errorf(sdk.Protocol, "the inventory contains no node")
	}
	return err
}

// tokenCheck converts a verification or its error to the result for one token.
func tokenCheck(key string, v *Verification, err error) TokenCheck {
	t := TokenCheck{Key: key, Missing: []string{}, Extra: []string{}, Recommended: []string{}, ConsoleLimits: []ConsoleLimit{}}
	if err != nil {
		reason, text := Reason(err)
		t.Reason, t.Error = &reason, &text
		return t
	}
	t.Missing, t.Extra, t.Recommended, t.ConsoleLimits = v.Missing, v.Extra, v.Recommended, v.ConsoleLimits
	t.Remedy = v.Remedy
	t.OK = len(v.Missing) == 0
	return t
}

// endpoint fills in what the check of the monitoring token says about the host.
func (c *Check) endpoint(h Host, v *Verification, err error) {
	if err == nil {
		c.Reachable, c.Version, c.LatencyMS, c.SeenFingerprint = true, &v.Version, &v.LatencyMS, orNil(v.Fingerprint)
		return
	}
	reason, text := Reason(err)
	c.Reason, c.Error = &reason, &text
	var e *sdk.Error
	if errors.As(err, &e) && e.Kind == sdk.Untrusted {
		c.SeenFingerprint = CleanOrNil(e.Fingerprint)
		c.FingerprintChanged = h.Fingerprint != nil && reason == plugin.ReasonFingerprint
	}
}

// keepChecks stores the privileges of all tokens that were accepted. The
// condition on token_id skips a token that was replaced in the meantime.
func (s *Store) keepChecks(ctx context.Context, id int64, tokens []Credential, found []*Verification) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		for i, v := range found {
			if v == nil {
				continue
			}
			_, err := tx.Pgx.Exec(ctx, `UPDATE host_credentials SET missing = $3, extra = $4, recommended = $5,
				console_limits = COALESCE($7::jsonb, '[]'), verified_at = now() WHERE host_id = $1 AND capability = $2 AND token_id = $6`,
				id, tokens[i].Key, v.Missing, v.Extra, v.Recommended, tokens[i].TokenID, v.ConsoleLimits)
			if err != nil {
				return fmt.Errorf("storing the abilities of a token: %w", err)
			}
			if err := v.facts.Save(ctx, tx.Pgx, id); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx)
	})
}
