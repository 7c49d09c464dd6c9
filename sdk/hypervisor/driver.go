// Package hypervisor is what the author of a hypervisor driver sees of Hostler.
//
// A Driver runs in a process of its own. The service opens a Host for each call: an endpoint, how its certificate is
// checked, and the one credential that the call's capability needs. A driver keeps nothing that matters between calls;
// the service may kill it at any time and start it again. What every driver must do is in Driver and Host. All else is
// an optional interface of one to five methods, listed in ability.go and found by type assertion on the host type
// (RoleScripter, RoleOutputReader, CertificateReader, CredentialReader and Enroller on the driver), and the service asks As before
// it calls one. The comments here are the contract; the protobuf files say only how it travels. The file sdk/DRIVER.md leads from an
// empty folder to a driver that passes the conformance suite, drivertest.
//
// Credentials: Inventory, TaskLog and what only reads come with the credential of Monitoring. A job that changes a guest has that
// of Lifecycle and calls Guest, Tasks and WaitTask with it too, so that its rights include reading guests and the tasks that it
// started.
//
// Time: a call's context ends it within half a minute, an inventory too. Only WaitTask may last for hours. A call that goes on after
// its context has ended holds a place that others wait for.
//
// Errors: every method returns a *plugin.Error for whatever the service should tell its users; any other error is Internal, and so is
// a panic, which ends the call and not the process.
package hypervisor

import (
	"context"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// Driver makes hosts. Its methods may be called at the same time from several goroutines.
type Driver interface {
	// Info describes the driver. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open gives a host for the target. It must be cheap and must not use the network: the first call does. The caller
	// closes the host. Connections may be kept and shared between hosts of the same target.
	Open(ctx context.Context, target endpoint.Target) (Host, error)
}

// Host is one hypervisor endpoint seen through one credential. Its methods may be called at the same time.
type Host interface {
	// Version asks the endpoint for its release. It is the cheapest call that proves address, certificate and token.
	Version(ctx context.Context) (Version, error)
	// Permissions compares what the credential may do with what its capability, Credential.Capability, needs. What is missing or
	// too much is an answer and no error. Of a hypervisor that cannot tell, Missing and Extra are empty.
	Permissions(ctx context.Context) (Permissions, error)
	// Inventory reports all nodes, guests and storages of the endpoint's cluster in pages of at most a few hundred rows,
	// each handed to page; an error from page ends the call and is returned. It is asked for every half minute, so the number of
	// requests to the hypervisor must not grow with the number of guests. A page belongs to page once it was handed over. Guests that
	// are missing in an inventory without error that is not Partial are taken to be gone: an answer that was cut is an error. An
	// answer of the hypervisor that names no node is Protocol.
	Inventory(ctx context.Context, query InventoryQuery, page func(Page) error) error
	// Guest reads one guest's present state past any cache of the hypervisor. NotFound is proof: there is no such guest under
	// that id on that node. A guest that the credential may not see is Denied, whether it is there or not, and one whose node cannot be
	// asked is Unreachable.
	Guest(ctx context.Context, ref GuestRef) (Guest, error)
	// Tasks lists the hypervisor's tasks, newest first, running ones included, with those that others started, and says how
	// far back the list is complete.
	Tasks(ctx context.Context, query TaskQuery) (TaskList, error)
	// TaskLog reads lines of one task's log. An unknown task is NotFound.
	TaskLog(ctx context.Context, taskID string, query LogQuery) (Log, error)
	// WaitTask follows a task to its end: each new log line, counted from line `from` (0-based), is handed to line in
	// order, then the result is returned. A task that ended badly is a result, not an error. It may be called again for
	// the same task, after its end too. An error from line ends the call and is returned. An unknown task, which includes one that the
	// hypervisor has forgotten, is NotFound: the service finds out from the guest's state what it can.
	WaitTask(ctx context.Context, taskID string, from int, line func(LogLine) error) (TaskResult, error)
	// Close releases what the host holds. It is called once, after the last call has returned.
	Close() error
}

// Version is the answer of Host.Version.
type Version struct {
	// Version is the full version, such as "9.2.11"; Release its first two parts.
	Version string
	Release string
	// Fingerprint is the SHA-256 of the certificate that the endpoint showed, upper-case hexadecimal with colons.
	Fingerprint string
	// NotAfter is when that certificate ends.
	NotAfter time.Time
	// NotBefore is when it begins, CertificateNames what it is for, and CertificateIssuer who has signed it; empty where the driver
	// does not tell. endpoint.CertificateNames and endpoint.CertificateIssuer read them.
	NotBefore         time.Time
	CertificateNames  []string
	CertificateIssuer string
	// Node is the name of the node that answered, when the hypervisor tells it.
	Node string
}

// Permissions is the answer of Host.Permissions. Privileges are the hypervisor's own identifiers, sorted.
type Permissions struct {
	// Missing are privileges that the capability needs and the credential lacks: a feature will fail.
	Missing []string
	// Extra are privileges that the credential has and the capability does not need.
	Extra []string
	// Recommended are privileges that this release of the hypervisor wants in addition and the credential lacks.
	Recommended []string
	// Paths are the paths at which the needed privileges hold: "/" for everywhere, or scopes as Info.Scope names them.
	Paths []string
	// Ends are when credentials end, the asked one or others of the same user, as far as the hypervisor tells; the service keeps those of
	// credentials that it has. One that is not named is one of which nothing is known.
	Ends []CredentialEnd
	// Version is what Host.Version tells, where the driver had to ask for it anyway; nil otherwise.
	Version *Version
	// Remedy is a command for an administrator of the hypervisor, on one line, that gives the credential what is Missing and takes what
	// its role has beyond need. Empty where nothing is to be mended, or the driver knows no such command.
	Remedy string
}

// CredentialEnd is when one credential ends.
type CredentialEnd struct {
	// ID is the credential's, as in endpoint.Credential.
	ID string
	// At is zero for one that does not end.
	At time.Time
}
