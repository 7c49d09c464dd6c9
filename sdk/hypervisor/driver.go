package hypervisor

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// Driver opens hosts. Its methods may be called from several goroutines at the same
// time. A driver that can do more implements RoleScriptWriter, RoleOutputReader,
// CertificateReader, CredentialReader or Enroller as well.
type Driver interface {
	// Info returns the description of the driver. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open returns a Host for the target. It must be cheap and must not use the
	// network; the first method call of the host does. The caller closes the host.
	// A driver may keep connections and share them between hosts of the same
	// target.
	Open(ctx context.Context, target endpoint.Target) (Host, error)
}

// Host is one hypervisor endpoint seen through one credential. Its methods may be
// called from several goroutines at the same time.
type Host interface {
	// Version returns the release of the endpoint and what its certificate says. It
	// is the cheapest call that proves that address, certificate and credential are
	// right. A rejected credential is TokenRejected, a certificate that does not
	// fit the target is Untrusted.
	Version(ctx context.Context) (Version, error)
	// Permissions compares the rights of the credential with those that its
	// capability, Credential.Capability, needs. Missing or superfluous rights are a
	// result, not an error. If the hypervisor cannot report rights, Missing and
	// Extra are empty.
	Permissions(ctx context.Context) (Permissions, error)
	// Inventory reports all nodes, guests and storages of the endpoint's cluster.
	// It passes them to page in pages of at most a few hundred rows. An error from
	// page ends the call and is returned. A page belongs to the callback once it is
	// passed: the driver must not change it afterwards.
	//
	// The service requests an inventory every half minute, so the number of
	// requests to the hypervisor must not grow with the number of guests.
	//
	// The service considers a guest deleted if an inventory without error, and
	// without Cluster.Partial, does not contain it. A driver must therefore return
	// an error if an answer of the hypervisor was cut off. An answer that names no
	// node is Protocol.
	Inventory(ctx context.Context, query InventoryQuery, page func(Page) error) error
	// Guest reads the present state of one guest and bypasses any cache of the
	// hypervisor. NotFound is proof that no guest with this ID exists on that node.
	// A guest that the credential may not see is Denied, whether it exists or not.
	// A guest whose node cannot be reached is Unreachable.
	Guest(ctx context.Context, ref GuestRef) (Guest, error)
	// Tasks lists the hypervisor's tasks, newest first. The list contains running
	// tasks and tasks that other users started. The result says how far back it is
	// complete.
	Tasks(ctx context.Context, query TaskQuery) (TaskList, error)
	// TaskLog reads lines of the log of one task. An unknown task is NotFound.
	TaskLog(ctx context.Context, taskID string, query LogQuery) (Log, error)
	// WaitTask follows a task to its end. It passes each new log line to the
	// callback, in order, beginning with line `from` (0-based), and then returns
	// the result. A failed task is a result, not an error. An error from the
	// callback ends the call and is returned.
	//
	// WaitTask may be called several times for the same task, also after the task
	// has ended. An unknown task is NotFound. That includes a task that the
	// hypervisor has forgotten; the service then looks at the state of the guest.
	WaitTask(ctx context.Context, taskID string, from int, line func(LogLine) error) (TaskResult, error)
	// Close releases the resources of the host. It is called once, after the last
	// call has returned.
	Close() error
}

// Version is the result of Host.Version.
type Version struct {
	// Version is the full version, such as "9.2.11". Release is its first two
	// parts, such as "9.2".
	Version string
	Release string
	// Fingerprint is the SHA-256 of the certificate that the endpoint showed:
	// upper-case hexadecimal bytes with colons between them, as
	// endpoint.Fingerprint returns it.
	Fingerprint string
	// NotAfter is the time at which that certificate expires.
	NotAfter time.Time
	// NotBefore is the time from which the certificate is valid, CertificateNames
	// are the host names and addresses that it is issued for, and CertificateIssuer
	// is the name of its issuer. They are zero if the driver does not report them.
	// endpoint.CertificateNames and endpoint.CertificateIssuer read them from a
	// certificate.
	NotBefore         time.Time
	CertificateNames  []string
	CertificateIssuer string
	// Node is the name of the node that answered, empty if the hypervisor does not
	// report it.
	Node string
}

// Permissions is the result of Host.Permissions. Privileges are the hypervisor's
// own identifiers, sorted.
type Permissions struct {
	// Missing lists privileges that the capability needs and the credential lacks:
	// some feature will fail.
	Missing []string
	// Extra lists privileges that the credential has and the capability does not
	// need.
	Extra []string
	// Recommended lists privileges that this release of the hypervisor needs in
	// addition for some features, and that the credential lacks.
	Recommended []string
	// Paths lists the paths at which the needed privileges apply: "/" for
	// everywhere, or scopes in the form of Info.Scope.
	Paths []string
	// Ends lists the expiry times of credentials that the hypervisor reported: of
	// the credential itself and possibly of others of the same user. The service
	// keeps those of credentials that it knows. A credential that is not in the
	// list has an unknown expiry time.
	Ends []CredentialEnd
	// Version is the result of Host.Version if the driver had to read it anyway,
	// else nil. It saves the service a request.
	Version *Version
	// Remedy is a one-line command for an administrator of the hypervisor. It
	// grants the credential what is Missing and Recommended, and removes from its
	// role what it does not need. It is empty if nothing is wrong or if the driver knows no such
	// command.
	Remedy string
}

// CredentialEnd is the expiry time of one credential.
type CredentialEnd struct {
	// ID is the ID of the credential, as in endpoint.Credential.
	ID string
	// At is the expiry time. Zero means that the credential does not expire.
	At time.Time
}
