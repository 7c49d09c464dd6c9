package memdriver

import (
	"crypto/subtle"
	"slices"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// The privileges of this hypervisor.
const (
	GuestAudit   = "Guest.Audit"
	GuestPower   = "Guest.Power"
	GuestConsole = "Guest.Console"
	GuestBackup  = "Guest.Backup"
	NodeAudit    = "Node.Audit"
	NodePower    = "Node.Power"
)

// needs are the privileges of each capability, sorted.
var needs = map[hypervisor.Capability][]string{
	hypervisor.Monitoring: {GuestAudit, NodeAudit},
	hypervisor.Lifecycle:  {GuestAudit, GuestPower},
	hypervisor.Console:    {GuestConsole},
	hypervisor.Backup:     {GuestBackup},
	hypervisor.NodePower:  {NodePower},
}

type token struct {
	secret     hypervisor.Secret
	privileges []string
}

func tokenID(capability hypervisor.Capability, suffix string) string {
	return "service@mem!" + string(capability) + suffix
}

// NewToken makes a further token for a capability with exactly these privileges and gives a target with it.
func (c *Cluster) NewToken(capability hypervisor.Capability, name string, privileges ...string) hypervisor.Target {
	slices.Sort(privileges)
	c.mu.Lock()
	c.tokens[tokenID(capability, "-"+name)] = token{secret: hypervisor.Secret("secret-of-" + name), privileges: privileges}
	c.mu.Unlock()
	return c.target(capability, "-"+name)
}

// Revoke makes a target's token unknown.
func (c *Cluster) Revoke(target hypervisor.Target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, target.Credential.TokenID)
}

// admit checks certificate and token, in the order of a TLS endpoint, and gives the token's privileges.
func (c *Cluster) admit(target hypervisor.Target) ([]string, error) {
	if target.Fingerprint != "" && !hypervisor.EqualFingerprint(target.Fingerprint, c.fingerprint) ||
		target.Fingerprint == "" && target.VerifyTLS && !c.anyToken {
		err := hypervisor.Errorf(hypervisor.Untrusted, "the endpoint's certificate is not the pinned or a trusted one")
		err.Fingerprint = c.fingerprint
		return nil, err
	}
	given := target.Credential
	if c.anyToken {
		if given.Secret == "" || given.Secret == "wrong" {
			return nil, rejected(given)
		}
		return needs[given.Capability], nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tokens[given.TokenID]
	if !ok || subtle.ConstantTimeCompare([]byte(t.secret), []byte(given.Secret)) != 1 {
		return nil, rejected(given)
	}
	return t.privileges, nil
}

func rejected(given hypervisor.Credential) error {
	return hypervisor.Errorf(hypervisor.TokenRejected, "token %s is wrong or was revoked", given.TokenID)
}

// require is Denied unless the privilege is there.
func require(privileges []string, privilege, path string) error {
	if slices.Contains(privileges, privilege) {
		return nil
	}
	err := hypervisor.Errorf(hypervisor.Denied, "the token may not do this")
	err.Missing, err.Path = []string{privilege}, path
	return err
}
