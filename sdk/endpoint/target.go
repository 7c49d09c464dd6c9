package endpoint

import "github.com/hostler/hostler/sdk/plugin"

// Target describes the endpoint that a call goes to and the credential that it
// uses.
type Target struct {
	// Address is "host:port", with IPv6 addresses in brackets.
	Address string
	// Fingerprint pins the endpoint's certificate, in the form of the function
	// Fingerprint. If it is set, every connection must present exactly this
	// certificate; its name, issuer and validity do not matter then.
	Fingerprint string
	// VerifyTLS applies if Fingerprint is empty. True verifies the certificate with
	// the system's authorities and the name in Address. False accepts any
	// certificate, which is only right for reading the fingerprint before a host is
	// added.
	VerifyTLS bool
	// AllowLocal permits loopback and link-local addresses and the metadata
	// services of clouds. Without it a driver must refuse to dial them. Multicast
	// and unspecified addresses are never permitted. See CheckAddress.
	AllowLocal bool
	// Credential is the only credential that the call may use.
	Credential Credential
	// SSH is set if the credential has the form FormSSHKey. It is zero otherwise.
	SSH SSH
}

// MaxSecret is the largest secret of a credential in bytes.
const MaxSecret = 16 << 10

// Credential grants the access of one capability, such as an API token, or a client
// certificate with its key. Its secret never appears in a log, not even with %v.
type Credential struct {
	// Capability is what the credential may be used for.
	Capability Capability
	// Form is one of the driver's credential forms. Empty means FormToken.
	Form string
	// ID is the hypervisor's name of the credential, such as the ID of a token or
	// the SHA-256 of a certificate. It is not a secret.
	ID string
	// Secret is not interpreted by the service. It has at most MaxSecret bytes.
	Secret plugin.Secret
}

// The usual forms of credentials. A driver may define others; see
// hypervisor.CredentialForm.
const (
	FormToken             = "token"
	FormClientCertificate = "client_certificate"
	// FormJoinToken is a code that is exchanged for another credential once.
	FormJoinToken = "join_token"
	// FormSSHKey is a private key in PEM for the SSH login to the machine. It
	// belongs to no capability, and no driver lists it among its forms: the service
	// generates it, and a person installs the public key on the machine.
	FormSSHKey = "ssh_key"
)

// Capability is the purpose of one credential. The service keeps a separate
// credential for each, so that reading the inventory does not need the right to
// delete guests.
type Capability string

// The capabilities, in the order in which they are displayed. Monitoring is always
// required.
const (
	Monitoring Capability = "monitoring"
	Lifecycle  Capability = "lifecycle"
	Console    Capability = "console"
	Backup     Capability = "backup"
	NodePower  Capability = "node_power"
)

// Capabilities returns all capabilities, in that order.
func Capabilities() []Capability {
	return []Capability{Monitoring, Lifecycle, Console, Backup, NodePower}
}
