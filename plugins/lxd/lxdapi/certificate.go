package lxdapi

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// Certificate is an entry of the server's list of those whom it trusts.
type Certificate struct {
	Name string `json:"name"`
	// Type is client, or metrics for one that may read Metrics and nothing else.
	Type string `json:"type"`
	// Restricted is one that may act in Projects only.
	Restricted bool     `json:"restricted"`
	Projects   []string `json:"projects"`
}

// OwnCertificate reads what the client's own certificate may do.
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
