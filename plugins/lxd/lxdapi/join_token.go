package lxdapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	maxJoinToken = 16 << 10 // bytes
	maxAddresses = 64       // addresses of one server that are kept
)

// JoinToken is what "lxc config trust add" and "incus config trust add" print.
// A server accepts it once, and then trusts one certificate. The rights of the
// certificate were fixed when the token was created.
type JoinToken struct {
	text plugin.Secret
	// ClientName is the name that the certificate will have in the list.
	ClientName string
	// Fingerprint is that of the server's certificate, in the form of endpoint.Fingerprint: it pins the endpoint.
	Fingerprint string
	// Addresses are where the server listens, as host:port; 64 at most.
	Addresses []string
	// Expires is zero for one that does not expire.
	Expires time.Time
}

// Format keeps the secret out of logs and error messages.
func (t JoinToken) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "lxdapi.JoinToken("+t.ClientName+")")
}

// ParseJoinToken parses a token without using the network. Any other text is
// Invalid with the field secret.
func ParseJoinToken(text plugin.Secret) (JoinToken, error) {
	if len(text) > maxJoinToken {
		return JoinToken{}, badToken("it is longer than %d bytes", maxJoinToken)
	}
	trimmed := strings.TrimSpace(string(text))
	raw, err := base64.StdEncoding.DecodeString(trimmed)
	if err != nil {
		return JoinToken{}, badToken("it is not base64")
	}
	var body struct {
		ClientName  string    `json:"client_name"`
		Fingerprint string    `json:"fingerprint"`
		Addresses   []string  `json:"addresses"`
		Secret      string    `json:"secret"`
		Expires     time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Secret == "" {
		return JoinToken{}, badToken("it does not contain a join token")
	}
	fingerprint, err := endpoint.ParseFingerprint(body.Fingerprint)
	if err != nil {
		return JoinToken{}, badToken("its fingerprint is invalid")
	}
	return JoinToken{text: plugin.Secret(trimmed), ClientName: cut(body.ClientName, maxSegment), Fingerprint: fingerprint,
		Addresses: body.Addresses[:min(len(body.Addresses), maxAddresses)], Expires: body.Expires}, nil
}

// badToken returns the Invalid error for a text that is not a join token. It
// never contains the token, which is a secret.
func badToken(format string, args ...any) error {
	e := plugin.Errorf(plugin.Invalid, "this is not a join token of LXD or Incus: "+format, args...)
	e.Field = "secret"
	return e
}

// Join redeems the token: the server adds the client's own certificate to its
// trust store. It is sent once. A token that was used or has expired is
// TokenRejected. Other members of a cluster may not know the certificate for
// some seconds.
func (c *Client) Join(ctx context.Context, token JoinToken) error {
	if c.identity.Fingerprint == "" {
		return plugin.Errorf(plugin.Invalid, "joining needs a client certificate")
	}
	// LXD wants the token as the password and Incus as the trust token. Which of the two it is they tell only those whom they
	// trust, and each ignores the other's field.
	body := map[string]string{"type": "client", "name": token.ClientName, "password": string(token.text), "trust_token": string(token.text)}
	_, err := c.change(ctx, request{method: http.MethodPost, path: rootPath + "/certificates", body: body})
	if err != nil && plugin.KindOf(err) == plugin.TokenRejected {
		return plugin.Errorf(plugin.TokenRejected, "the host rejected the join token: it was used, has expired or belongs to another "+
			"server")
	}
	return err
}
