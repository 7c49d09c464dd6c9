// Package hypervisor is the contract between Hostler and the author of a
// hypervisor driver.
//
// A driver translates the calls of this package into requests to one kind of
// hypervisor. It runs in its own process, as a plugin (see package plugin). The
// service talks to it over gRPC, but neither side sees that: the author implements
// Go interfaces, and the service calls the same interfaces on a Client.
//
// The package does not store anything, does not schedule anything and does not know
// users, teams or jobs. It does not decide whether a change is allowed: the service
// has decided that before it calls.
//
// # Main types
//
//   - Driver describes itself (Info) and opens a Host for a target.
//   - Host is one endpoint seen through one credential. It reads the version, the
//     inventory, single guests and tasks.
//   - Everything else is an optional interface of one to five methods: LifecycleManager,
//     Snapshotter, Provisioner, BackupManager, Migrator and others. ability.go lists them
//     all. The host type implements them, except RoleScriptWriter, RoleOutputReader,
//     CertificateReader, CredentialReader and Enroller, which the driver implements.
//   - Service registers a driver with plugin.Serve. It finds the optional interfaces
//     with type assertions and reports their names in Info.Abilities.
//   - Client is the service's side of the same contract.
//
// The service calls As before it uses an optional interface. A type assertion on a
// Client proves nothing, because the client type implements every interface; As also
// looks at the abilities that the plugin reported.
//
// The comments in this package are the contract. The protobuf files only say how
// values travel. The file sdk/DRIVER.md leads from an empty folder to a driver that
// passes the conformance suite, package drivertest.
//
// # Life cycle
//
// The service opens a Host for each call, with an endpoint, the rule by which its
// certificate is checked, and the one credential that the call's capability needs. It
// closes the Host when the call has returned. A driver must not keep state that
// matters between calls: the service may kill the process at any time and start it
// again. Connections may be cached.
//
// All methods of drivers and hosts may be called from several goroutines at the same
// time.
//
// # Credentials
//
// Host.Inventory, Host.TaskLog and other methods that only read are called with the
// credential of the Monitoring capability. A job that changes a guest uses the
// credential of Lifecycle, and calls Host.Guest, Host.Tasks and Host.WaitTask with it
// too. The rights of Lifecycle must therefore include reading guests and the tasks
// that the credential started.
//
// # Time
//
// The context of a call ends after at most half a minute, for an inventory too. Only
// WaitTask may last for hours. A call that continues after its context has ended
// occupies a slot that other calls wait for.
//
// # Changes
//
// A method that changes something sends its request once and never repeats it, even if
// the connection breaks. An error of kind Unreachable or Timeout then means that the
// hypervisor may or may not have accepted the request. The service finds out by
// looking at the tasks (see TaskList.CompleteSince) and at the state of the guest.
//
// Such a method returns the ID of the task that the hypervisor started, or an empty
// ID if the change was complete when it returned.
//
// # Errors
//
// Every method returns a *plugin.Error for a failure that the service should report
// to its users. Any other error counts as plugin.Internal. A panic also counts as
// Internal: it ends the call, not the process. The kinds that a method can return are
// in its comment; Denied, TokenRejected, Untrusted, Unreachable, Timeout, Busy and
// Protocol may come from every method that uses the network.
//
// # Values
//
// A number that the hypervisor did not report is a nil pointer, never zero. A text
// that it did not report is empty. Sizes are bytes unless the name ends in MB (MiB) or
// GB (GiB). Durations and uptimes are seconds. Times of the hypervisor are taken from
// its own clock.
package hypervisor
