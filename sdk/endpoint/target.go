// Package endpoint is where a call of a plugin goes to: the address, how its certificate is checked, and the one credential.
// What every plugin that dials must do is here once, whatever its kind: TLSConfig holds the pin, DialControl refuses
// addresses, NetworkError says what went wrong.
package endpoint

import "github.com/hostler/hostler/sdk/plugin"

// Target says which endpoint a call goes to and with which right.
type Target struct {
	// Address is "host:port"; IPv6 in brackets.
	Address string
	// Fingerprint is the SHA-256 over the DER form of the endpoint's certificate, upper-case hexadecimal with colons.
	// When it is set every connection must show exactly that certificate, and neither its name nor its issuer matter.
	Fingerprint string
	// VerifyTLS applies without a Fingerprint: true checks the certificate against the system's authorities and the
	// address's name; false takes any, which is right only for learning the fingerprint at enrolment.
	VerifyTLS bool
	// AllowLocal permits loopback and link-local addresses and clouds' metadata services. Without it a driver must refuse to
	// dial these, multicast and unspecified ones, judged by the address that is dialled and not by the name.
	AllowLocal bool
	// Credential is the one token of this call.
	Credential Credential
}

// Credential is one API token. Its secret is never logged, not even by %v.
type Credential struct {
	Capability Capability
	TokenID    string
	Secret     plugin.Secret
}

// Capability is what one token is for.
type Capability string

// The capabilities in the order in which people are shown them. Monitoring is always required.
const (
	Monitoring Capability = "monitoring"
	Lifecycle  Capability = "lifecycle"
	Console    Capability = "console"
	Backup     Capability = "backup"
	NodePower  Capability = "node_power"
)

// Capabilities lists all, in order.
func Capabilities() []Capability {
	return []Capability{Monitoring, Lifecycle, Console, Backup, NodePower}
}
