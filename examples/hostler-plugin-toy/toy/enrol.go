package toy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var _ hypervisor.Enroller = (*Driver)(nil)

// joinToken is what a code says: where the server is, which certificate it shows, and the secret that it trades.
type joinToken struct {
	Address     string
	Fingerprint string
	Secret      string
	Expires     time.Time
}

// readCode reads a code. No error tells anything of it.
func readCode(code plugin.Secret) (token joinToken, err error) {
	text, err := base64.StdEncoding.DecodeString(string(code))
	if err == nil {
		err = json.Unmarshal(text, &token)
	}
	if err == nil {
		token.Fingerprint, err = endpoint.ParseFingerprint(token.Fingerprint)
	}
	if err != nil || token.Secret == "" || token.Address == "" {
		return joinToken{}, invalid("secret", "must be a complete join code of a toy hypervisor")
	}
	return token, nil
}

// Inspect implements hypervisor.Enroller, without the network. The service pins what the code says.
func (d *Driver) Inspect(_ context.Context, code plugin.Secret) (hypervisor.Code, error) {
	token, err := readCode(code)
	if err != nil {
		return hypervisor.Code{}, err
	}
	return hypervisor.Code{Addresses: []string{token.Address}, Fingerprint: token.Fingerprint, Expires: token.Expires}, nil
}

// NewCredential implements hypervisor.Enroller. The service notes its id before the code is traded for it.
func (d *Driver) NewCredential(_ context.Context, capability endpoint.Capability) (endpoint.Credential, error) {
	return endpoint.NewClientCertificate(capability)
}

// Redeem implements hypervisor.Enroller. It is sent once: the toy takes the code whatever becomes of its answer.
func (d *Driver) Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error {
	token, err := readCode(code)
	if err != nil {
		return err
	}
	if target.Fingerprint == "" { // never to a server that the code does not name
		target.Fingerprint = token.Fingerprint
	}
	c, err := d.client(target)
	if err != nil {
		return err
	}
	resp, err := c.send(ctx, http.MethodPost, "/v1/join", nil, map[string]string{"secret": token.Secret})
	if plugin.KindOf(err) == plugin.Refused { // which would say that the code was not taken, and a server that fails may have
		return plugin.Errorf(plugin.Internal, "the toy hypervisor failed while it processed the code: %w", err)
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
