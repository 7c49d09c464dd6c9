package hypervisor

import (
	"context"
	"strings"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// CredentialReader is satisfied by drivers that check credentials before they are tried and kept. Of drivers that are none,
// ReadToken does it.
type CredentialReader interface {
	// ReadCredential gives what was entered as it is to be kept: the id of a certificate is found, line ends and what else differs
	// without a meaning are made one form. It uses no network. Of its own answer it gives the same again. What cannot be a
	// credential of its form is Invalid with the field "id" or "secret", and the error does not tell the secret. It is not
	// called for forms that are OneTime.
	ReadCredential(ctx context.Context, entered endpoint.Credential) (endpoint.Credential, error)
}

// Bounds of a token in bytes: it stands in one line of a header.
const (
	maxTokenID     = 255
	maxTokenSecret = 1024
)

// ReadToken checks an API token: its id and its secret are printable ASCII without spaces, and the id is not the whole token.
// Faults are Invalid with the field "id" or "secret".
func ReadToken(entered endpoint.Credential) (endpoint.Credential, error) {
	entered.ID = strings.TrimSpace(entered.ID)
	if entered.Form == "" {
		entered.Form = endpoint.FormToken
	}
	switch {
	case entered.Form != endpoint.FormToken:
		return endpoint.Credential{}, invalid("form", "only API tokens are taken")
	case strings.Contains(entered.ID, "="):
		// Hypervisors print "id=secret" in one piece; pasted whole, the secret would be kept in the open.
		return endpoint.Credential{}, invalid("id", "must be the token's id alone, without = and the secret")
	case !plain(entered.ID, maxTokenID):
		return endpoint.Credential{}, invalid("id", "must be a token's id of printable ASCII without spaces")
	case !plain(string(entered.Secret), maxTokenSecret):
		return endpoint.Credential{}, invalid("secret", "must be a token's secret of printable ASCII without spaces")
	}
	return entered, nil
}

// plain holds for what can stand in a header: printable ASCII without spaces.
func plain(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// invalid is the error for a parameter that is not taken.
func invalid(field, message string) *plugin.Error {
	err := plugin.Errorf(plugin.Invalid, "%s", message)
	err.Field = field
	return err
}
