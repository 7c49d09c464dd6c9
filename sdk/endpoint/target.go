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
	// Credential is the one credential of this call.
	Credential Credential
	// SSH is set where the credential has the form FormSSHKey, and zero otherwise.
	SSH SSH
}

// MaxSecret is how many bytes a credential's secret may have.
const MaxSecret = 16 << 10

// Credential is the access that one capability has: an API token, a client's certificate with its key. Its secret is never
// logged, not even by %v.
type Credential struct {
	Capability Capability
	// Form is one of the driver's forms of credentials; empty is FormToken.
	Form string
	// ID is what the hypervisor calls the credential in its records, such as a token's id or the SHA-256 of a certificate. It is
	// no secret.
	ID string
	// Secret is opaque to the service, at most MaxSecret bytes.
	Secret plugin.Secret
}

// The usual forms of credentials.
const (
	FormToken             = "token"
	FormClientCertificate = "client_certificate"
	// FormJoinToken is a code that is traded for a credential once.
	FormJoinToken = "join_token"
	// FormSSHKey is a private key in PEM, to log in to the machine itself with. It is of no capability, and no driver lists it among its
	// forms: the service makes it, and a person brings its public half to the machine.
	FormSSHKey = "ssh_key"
)

// Capability is what one credential is for.
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
