// Package firewall is the contract between Hostler and the author of a firewall
// backend. A backend reads and changes the packet filter of one kind of hypervisor.
//
// The package does not know drafts, approvals or schedules: the service decides which
// change is made and when. It does not filter packets itself.
//
// # Main types
//
//   - Backend runs in its own process, describes itself (Info) and opens a Firewall for
//     a target: an endpoint, how its certificate is checked, and one credential.
//   - Firewall has only Close. Everything that it can do is an optional interface, from
//     RuleLister to Evaluator. ability.go lists them; ask As or AsAt for one.
//   - Scope says whose firewall is meant: the cluster, a node, a guest, or a group of
//     rules. Info.Scopes says which abilities each kind of scope has, and the service
//     does not call others.
//   - State is everything that one scope consists of. ReadState reads it through the
//     abilities that the scope has.
//   - Service registers a backend with plugin.Serve, Client is the service's side.
//
// Package firewalltest is the conformance suite, package membackend a backend in
// memory.
//
// # Life cycle
//
// The service opens a Firewall for each call and closes it afterwards. All methods may
// be called at the same time. A backend keeps no state that matters between calls.
//
// # Digests
//
// A list or a set of options is read together with a digest, which changes whenever
// its content changes. A change may name the digest that it is based on. If the
// hypervisor accepts a digest, the backend sends it with the request; otherwise it
// compares the digest immediately before the request. An outdated digest is Conflict
// with the field FieldDigest, and nothing is changed. An empty digest is not checked.
//
// # Changes
//
// A method that changes something sends its request once and never repeats it. Texts
// are untrusted: a text that CheckText, CheckName or CheckRule rejects is Invalid, and
// nothing is sent.
//
// # Errors
//
// Methods return a *plugin.Error for a failure that the service should report to its
// users. Any other error is Internal.
package firewall
