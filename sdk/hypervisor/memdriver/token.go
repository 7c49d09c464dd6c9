package memdriver

import (
	"crypto/subtle"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// The privileges of this hypervisor.
const (
	GuestAudit   = "Guest.Audit"
	GuestPower   = "Guest.Power"
	GuestConsole = "Guest.Console"
	GuestBackup  = "Guest.Backup"
	NodeAudit    = "Node.Audit"
	NodePower    = "Node.Power"
	NodeShell    = "Node.Shell"
)

// needs are the privileges of each capability, sorted.
var needs = map[endpoint.Capability][]string{
	endpoint.Monitoring: {GuestAudit, NodeAudit},
	endpoint.Lifecycle:  {GuestAudit, GuestPower},
	endpoint.Console:    {GuestConsole},
	endpoint.Backup:     {GuestBackup},
	endpoint.NodePower:  {NodePower},
}

// proper are the privileges of a good credential: what its capability needs,
// and the shells of nodes, which it may have besides.
func proper(capability endpoint.Capability) []string {
	if capability == endpoint.Console {
		return []string{GuestConsole, NodeShell}
	}
	return needs[capability]
}

// token is a known credential with its privileges.
type token struct {
	secret     plugin.Secret
	privileges []string
}

// tokenID returns the id of a token.
func tokenID(capability endpoint.Capability, suffix string) string {
	return "service@mem!" + string(capability) + suffix
}

// NewToken makes a further token, or certificate, for a capability with exactly
// these privileges and gives a target with it.
func (c *Cluster) NewToken(capability endpoint.Capability, name string, privileges ...string) endpoint.Target {
	slices.Sort(privileges)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target(c.give(capability, "-"+name, plugin.Secret("secret-of-"+name), privileges))
}

// give makes a credential with privileges. It needs the lock.
func (c *Cluster) give(capability endpoint.Capability, suffix string, secret plugin.Secret, privileges []string) endpoint.Credential {
	made := endpoint.Credential{Capability: capability, Form: endpoint.FormToken, ID: tokenID(capability, suffix), Secret: secret}
	if c.certified {
		made = newCertificate(capability)
	}
	c.tokens[made.ID] = token{secret: made.Secret, privileges: privileges}
	return made
}

// HasToken reports whether there is a token or certificate of that id.
func (c *Cluster) HasToken(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.tokens[id]
	return ok
}

// Revoke makes a target's token unknown.
func (c *Cluster) Revoke(target endpoint.Target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, target.Credential.ID)
}

// show checks the certificate that the endpoint shows.
func (c *Cluster) show(target endpoint.Target) error {
	if target.Fingerprint != "" && !endpoint.EqualFingerprint(target.Fingerprint, c.Fingerprint()) ||
		target.Fingerprint == "" && target.VerifyTLS && !c.anyToken {
		err := plugin.Errorf(plugin.Untrusted, "the endpoint's certificate is not the pinned or a trusted one")
		err.Fingerprint = c.Fingerprint()
		return err
	}
	return nil
}

// admit checks certificate and token, in the order of a TLS endpoint, and gives
// the token's privileges.
func (c *Cluster) admit(target endpoint.Target) ([]string, error) {
	if err := c.show(target); err != nil {
		return nil, err
	}
	given := target.Credential
	if c.anyToken {
		if given.Secret == "" || given.Secret == "wrong" {
			return nil, rejected(given)
		}
		return proper(given.Capability), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tokens[given.ID]
	if !ok || subtle.ConstantTimeCompare([]byte(t.secret), []byte(given.Secret)) != 1 {
		return nil, rejected(given)
	}
	return t.privileges, nil
}

// rejected returns TokenRejected for a credential.
func rejected(given endpoint.Credential) error {
	return plugin.Errorf(plugin.TokenRejected, "token %s is wrong or was revoked", given.ID)
}

// require is Denied unless the privilege is there.
func require(privileges []string, privilege, path string) error {
	if slices.Contains(privileges, privilege) {
		return nil
	}
	err := plugin.Errorf(plugin.Denied, "the token may not do this")
	err.Missing, err.Path = []string{privilege}, path
	return err
}
