// Package host knows the hypervisor endpoints: which driver speaks to each, where it is,
// how its certificate is checked, and the credentials for it, one per capability.
//
// The package does not poll (core/poll does) and does not know guests (core/guest does).
// It is the only way to a hypervisor: nobody else opens a driver with a credential.
//
// # Main types
//
//   - Store adds, lists, changes, checks and removes hosts. It also opens them.
//   - Host is a host as the API shows it. Enrolment is a request to add one, Change a
//     request to change one, Check the result of a test, ProbeResult the result of a probe.
//   - Opener is the part of the Store that jobs use. Ask and CallWithTimeout call one method of
//     a driver with the credential of one capability; CallPlugin does the same for
//     plugins of other kinds, such as firewall backends.
//   - Driver describes an installed driver to people.
//   - SSH, Login and OnNode concern logins to the machine of a host.
//
// # Life cycle of a host
//
// A host is verified before it is stored: the credential is tried, its privileges are
// compared, and the server is compared with those of all other hosts, because two rows
// for one server would let two jobs work on the same guest. It is verified again before
// its address, certificate or a token is replaced. The network is used outside of
// transactions; the transaction that stores a result then checks that the host has not
// changed in between.
//
// A one-time code is exchanged for a credential as the last step before the checks that
// need access. If a later step fails, the error names the credential that the hypervisor
// now trusts without use.
//
// # Secrets
//
// Secrets of credentials are encrypted with the row that they belong to, and decrypted
// for one call. A capability without a credential is refused before anything is sent.
//
// # Errors
//
// Errors for users are problems of package core/problem. Reason turns any failure into
// the word and the sentence that a host's row keeps. CallWithTimeout returns the driver's
// errors unchanged, because jobs decide by their kind.
package host
