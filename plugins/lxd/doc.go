// Package lxd is Hostler's driver for LXD, from release 5.0, and for Incus,
// from release 6.0. README.md lists the requests that it sends, the rights that
// they need, and what is not possible.
//
// A Driver opens a Host for each target. A Host sends its requests with one
// client certificate, through package lxdapi. Between calls the driver only
// keeps connections, event streams that are in use, and the projects of the
// last operations.
//
// What a reader should know about LXD:
//
//   - Guests are named by project and name (guest_id.go). A UID tells a
//     guest apart from a later one with the same name.
//   - An inventory takes the same few requests for any number of guests.
//     Without detail it has states only, because usage values of instances
//     cost the server 45 ms per running guest; with detail they come from
//     the server's metrics in one request.
//   - Every change is an operation of the server, which forgets it 5 s
//     after its end and at every restart. So Tasks shows what runs and what
//     has just ended, and the state of a guest must tell what became of an
//     operation that was forgotten.
//   - WaitTask waits at the server for 3 s. Then it follows the server's
//     events, over one stream for all waits with the same address,
//     certificate and project, and without a stream it asks again and
//     again.
//   - The server cannot limit a certificate to a capability, only to
//     projects.
package lxd
