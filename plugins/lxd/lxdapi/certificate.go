package lxdapi

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// Certificate is an entry of the server's trust store.
type Certificate struct {
	Name string `json:"name"`
	// Type is "client", or "metrics" for a certificate that may only read
	// metrics.
	Type string `json:"type"`
	// Restricted certificates may only act in Projects.
	Restricted bool     `json:"restricted"`
	Projects   []string `json:"projects"`
}

// OwnCertificate reads the entry of the client's own certificate. It is
// NotFound on releases with fine-grained rights, where a certificate need not
// be in the trust store.
func (c *Client) OwnCertificate(ctx context.Context) (*Certificate, error) {
	if c.identity.Fingerprint == "" {
		return nil, plugin.Errorf(plugin.TokenRejected, "this client has no certificate")
	}
	var own Certificate
	if _, err := c.get(ctx, rootPath+"/certificates/"+plainFingerprint(c.identity.Fingerprint), nil, &own); err != nil {
		return nil, err
	}
	return &own, nil
}
