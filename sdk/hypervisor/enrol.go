package hypervisor

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Enroller is implemented by drivers whose endpoint grants access in exchange for a
// one-time code. The service creates the credential and stores it first, and
// redeems the code for it afterwards. If the answer to Redeem is lost, the service
// still knows the credential that the code may have been used for.
type Enroller interface {
	// Inspect decodes the information in a code. It does not use the network. Input
	// that cannot be a code is Invalid with the field "secret", and the error must
	// not contain the code. An expired code is not an error.
	Inspect(ctx context.Context, code plugin.Secret) (Code, error)
	// NewCredential creates a credential that gains access once a code is redeemed
	// for it. Its form is not OneTime. The method does not use the network and
	// never returns the same credential twice.
	NewCredential(ctx context.Context, capability endpoint.Capability) (endpoint.Credential, error)
	// Redeem exchanges the code for access of the target's credential. The driver
	// sends the request once, whatever happens to the connection, and only over a
	// connection whose certificate fits the target.
	//
	// A code that is unknown, used or expired is TokenRejected. TokenRejected,
	// Denied, Invalid, Untrusted, Forbidden and Refused mean that the code was not
	// used. After any other error it may have been used.
	Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error
}

// Code is the information in a one-time code.
type Code struct {
	// Addresses are the addresses of the endpoint in the code, each "host:port".
	Addresses []string
	// Fingerprint is the fingerprint of the endpoint's certificate, in the form of
	// endpoint.Fingerprint. It is empty if the code does not contain one.
	Fingerprint string
	// Expires is the time at which the code expires. It is zero if the code does
	// not say.
	Expires time.Time
}
