package hypervisor

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Enroller is satisfied by drivers whose endpoint gives access against a one-time code. The service makes the credential
// first and redeems the code for it, so that it knows for what the code may have been used whatever becomes of the answer.
type Enroller interface {
	// Inspect tells what a code says of itself. It uses no network. What cannot be a code is Invalid with the field "secret", and
	// the error does not tell the code. An expired one is none of its errors.
	Inspect(ctx context.Context, code plugin.Secret) (Code, error)
	// NewCredential makes a credential that has access once a code was redeemed for it, in a form that is not OneTime. It uses no
	// network, and never gives the same twice.
	NewCredential(ctx context.Context, capability endpoint.Capability) (endpoint.Credential, error)
	// Redeem trades the code for access of the target's credential. It is sent once, whatever happens to the connection, and only
	// over a connection whose certificate is the target's. A code that is unknown, used or expired is TokenRejected. These and
	// Denied, Invalid, Untrusted, Forbidden and Refused mean that the code was not taken; any other error means that it may or may
	// not have been.
	Redeem(ctx context.Context, target endpoint.Target, code plugin.Secret) error
}

// Code is what a one-time code says of itself.
type Code struct {
	// Addresses are where it says that the endpoint is, each "host:port".
	Addresses []string
	// Fingerprint pins the endpoint's certificate, in the form of endpoint.Fingerprint; empty when the code does not tell it.
	Fingerprint string
	// Expires is when it ends; zero when it does not tell.
	Expires time.Time
}
