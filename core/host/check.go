package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Check is the answer of Test.
type Check struct {
	Reachable bool `json:"reachable" example:"true" doc:"The endpoint answered to the monitoring token over a trusted connection, and gave its inventory"`
	// Reason and Error say why not.
	Reason    *string `json:"reason" example:"tls_fingerprint"`
	Error     *string `json:"error"`
	Version   *string `json:"version" example:"9.2.11"`
	LatencyMS *int64  `json:"latency_ms" example:"18"`
	// SeenFingerprint is the certificate that was shown, trusted or not.
	SeenFingerprint    *string      `json:"seen_fingerprint" doc:"The certificate that was shown, trusted or not"`
	FingerprintChanged bool         `json:"fingerprint_changed" example:"false" doc:"It is not the pinned one; PATCH tls_fingerprint to accept it"`
	Tokens             []TokenCheck `json:"capabilities" doc:"One entry for each stored token"`
}

// TokenCheck is the check of one stored token.
type TokenCheck struct {
	Key         string   `json:"key" example:"lifecycle"`
	OK          bool     `json:"ok" example:"true" doc:"The token was accepted and lacks nothing"`
	Reason      *string  `json:"reason" example:"auth"`
	Error       *string  `json:"error"`
	Missing     []string `json:"missing"`
	Extra       []string `json:"extra"`
	Recommended []string `json:"recommended"`
}

// Test checks a host again with every token that it has, and keeps what was found of their privileges. A host that fails
// is an answer and no error.
func (s *Store) Test(ctx context.Context, id int64) (Check, error) {
	h, err := s.Get(ctx, id)
	if err != nil {
		return Check{}, err
	}
	h.Tokens = s.meaningful(ctx, h)
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
		if token.Key == string(endpoint.Monitoring) {
			out.endpoint(h, found[i], cmp.Or(errs[i], unread))
		}
	}
	return out, s.keepChecks(ctx, id, h.Tokens, found)
}

// meaningful are the host's credentials but for those of capabilities that its driver does not have.
func (s *Store) meaningful(ctx context.Context, h Host) []Credential {
	d, known := s.recall(ctx, h.Driver)
	return slices.DeleteFunc(h.Tokens, func(c Credential) bool { return known && !d.info.Has(endpoint.Capability(c.Key)) })
}

func (s *Store) verifyStored(ctx context.Context, id int64, c endpoint.Capability) (Verification, error) {
	driver, target, err := s.target(ctx, id, c)
	if err != nil {
		return Verification{}, err
	}
	return s.verify(ctx, driver, target)
}

// readOnce reads the host's inventory as a poll does and keeps nothing of it. Version and permissions prove less: at some
// hypervisors the front answers these though what it stands before is down.
func (s *Store) readOnce(ctx context.Context, id int64) error {
	nodes, err := AskWithin(ctx, s, s.timeout, id, endpoint.Monitoring, func(ctx context.Context, h hypervisor.Host) (nodes int, err error) {
		err = h.Inventory(ctx, hypervisor.InventoryQuery{}, func(page hypervisor.Page) error {
			nodes += len(page.Nodes)
			return nil
		})
		return nodes, err
	})
	if err == nil && nodes == 0 {
		return sdk.Errorf(sdk.Protocol, "the inventory tells no node")
	}
	return err
}

func tokenCheck(key string, v *Verification, err error) TokenCheck {
	t := TokenCheck{Key: key, Missing: []string{}, Extra: []string{}, Recommended: []string{}}
	if err != nil {
		reason, text := Reason(err)
		t.Reason, t.Error = &reason, &text
		return t
	}
	t.Missing, t.Extra, t.Recommended = v.Missing, v.Extra, v.Recommended
	t.OK = len(v.Missing) == 0
	return t
}

// endpoint fills in what the monitoring token's check says of the host.
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

func (s *Store) keepChecks(ctx context.Context, id int64, tokens []Credential, found []*Verification) error {
	return s.db.Tx(ctx, func(tx *db.Tx) error {
		for i, v := range found {
			if v == nil {
				continue
			}
			_, err := tx.Pgx.Exec(ctx, `UPDATE host_credentials SET missing = $3, extra = $4, recommended = $5, verified_at = now()
				WHERE host_id = $1 AND capability = $2 AND token_id = $6`, id, tokens[i].Key, v.Missing, v.Extra, v.Recommended, tokens[i].TokenID)
			if err != nil {
				return fmt.Errorf("keeping what a token may do: %w", err)
			}
			if tokens[i].Key != string(endpoint.Monitoring) {
				continue
			}
			if _, err := tx.Pgx.Exec(ctx, "UPDATE hosts SET version = $2 WHERE id = $1", id, v.Version); err != nil {
				return fmt.Errorf("keeping the host's version: %w", err)
			}
		}
		return audit.Write(ctx, tx)
	})
}
