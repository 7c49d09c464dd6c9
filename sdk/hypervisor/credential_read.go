package hypervisor

import (
	"context"
	"strings"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// CredentialReader is implemented by drivers that check and normalise credentials
// before they are used and stored. For a driver that does not implement it, the
// service calls ReadToken.
type CredentialReader interface {
	// ReadCredential returns the credential in the form in which it is stored: it
	// derives the ID of a certificate, and gives line ends and other insignificant
	// differences one form. It does not use the network, and returns its own result
	// unchanged when that is passed in again.
	//
	// Input that cannot be a credential of its form is Invalid with the field "id"
	// or "secret". The error must not contain the secret. The method is not called
	// for forms that are OneTime.
	ReadCredential(ctx context.Context, entered endpoint.Credential) (endpoint.Credential, error)
}

// Limits of a token in bytes. The token is sent in one line of an HTTP header.
const (
	maxTokenID     = 255
	maxTokenSecret = 1024
)

// ReadToken checks an API token: its ID and its secret must be printable ASCII
// without spaces, and the ID must not be the whole token. It returns the token
// without spaces around the ID. An error is Invalid with the field "form", "id" or
// "secret".
func ReadToken(entered endpoint.Credential) (endpoint.Credential, error) {
	entered.ID = strings.TrimSpace(entered.ID)
	if entered.Form == "" {
		entered.Form = endpoint.FormToken
	}
	switch {
	case entered.Form != endpoint.FormToken:
		return endpoint.Credential{}, invalid("form", "only API tokens are supported")
	case strings.Contains(entered.ID, "="):
		// Hypervisors print "id=secret" as one string. If that were accepted as an
		// ID, the secret would be stored unencrypted and shown.
		return endpoint.Credential{}, invalid("id", "must be only the token ID, without = and the secret")
	case !plain(entered.ID, maxTokenID):
		return endpoint.Credential{}, invalid("id", "must be a token ID in printable ASCII without spaces")
	case !plain(string(entered.Secret), maxTokenSecret):
		return endpoint.Credential{}, invalid("secret", "must be a token secret in printable ASCII without spaces")
	}
	return entered, nil
}

// plain reports whether s can be part of a header: printable ASCII without spaces.
func plain(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// invalid returns an error of kind Invalid for a parameter.
func invalid(field, message string) *plugin.Error {
	err := plugin.Errorf(plugin.Invalid, "%s", message)
	err.Field = field
	return err
}
