package memdriver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// code is a one-time code of the cluster.
type code struct {
	privileges []string
	expires    time.Time
	used       bool
}

// joinToken is the content of a code: the code is the base64 of its JSON.
type joinToken struct {
	Name        string    `json:"client_name"`
	Fingerprint string    `json:"fingerprint"`
	Addresses   []string  `json:"addresses"`
	Secret      string    `json:"secret"`
	Expires     time.Time `json:"expires_at"`
}

// NewCode makes a one-time code for a capability. It ends after valid; a
// negative value makes one that has ended.
func (c *Cluster) NewCode(capability endpoint.Capability, valid time.Duration) plugin.Secret {
	c.mu.Lock()
	defer c.mu.Unlock()
	secret := rand.Text()
	made := &code{privileges: needs[capability], expires: time.Now().Add(valid).UTC().Truncate(time.Second)}
	c.codes[secret] = made
	text, err := json.Marshal(joinToken{"hostler-" + string(capability), c.Fingerprint(), []string{c.address}, secret, made.expires})
	if err != nil {
		panic(err) // text and a time
	}
	return plugin.Secret(base64.StdEncoding.EncodeToString(text))
}

// Inspect implements hypervisor.Enroller.
func (d CertificateDriver) Inspect(_ context.Context, code plugin.Secret) (hypervisor.Code, error) {
	read, err := readCode(code)
	if err != nil {
		return hypervisor.Code{}, err
	}
	return hypervisor.Code{Addresses: read.Addresses, Fingerprint: read.Fingerprint, Expires: read.Expires}, nil
}

// Redeem implements hypervisor.Enroller. A fault of "redeem" acts before the
// code is used, and a late one after.
func (d CertificateDriver) Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error {
	read, err := readCode(code)
	if err != nil {
		return err
	}
	c, err := d.cluster(target)
	if err != nil {
		return err
	}
	fault := c.fault("redeem")
	if !fault.Late {
		if err := fault.apply(ctx, target); err != nil {
			return err
		}
	}
	if err := c.show(target); err != nil {
		return err
	}
	if err := c.trade(target.Credential, read.Secret); err != nil {
		return err
	}
	if fault.Late {
		return fault.apply(ctx, target)
	}
	return nil
}

// trade makes a certificate known in exchange for a code.
func (c *Cluster) trade(credential endpoint.Credential, secret string) error {
	proper, err := endpoint.ReadClientCertificate(credential)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	made, ok := c.codes[secret]
	if ok && !made.used && time.Now().Before(made.expires) {
		made.used = true
		c.tokens[proper.ID] = token{secret: proper.Secret, privileges: made.privileges}
		return nil
	}
	if c.anyToken {
		return nil
	}
	return plugin.Errorf(plugin.TokenRejected, "the join token does not exist, was used or has expired")
}

// readCode reads a code as strictly as the hypervisor that made it.
func readCode(code plugin.Secret) (read joinToken, err error) {
	text, err := base64.StdEncoding.DecodeString(string(code))
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || read.Secret == "" || len(read.Addresses) == 0 {
		return joinToken{}, invalid("secret", "must be a join token, whole and as it was printed")
	}
	if read.Fingerprint, err = endpoint.ParseFingerprint(read.Fingerprint); err != nil {
		return joinToken{}, invalid("secret", "must be a join token that names the server's certificate")
	}
	return read, nil
}
