// Package lxdapi is a client of the REST API of LXD, from release 5.0, and of
// Incus, from release 6.0.
//
// A Client belongs to one server and one client certificate. The certificate is
// presented in the TLS handshake, and the server identifies its callers by
// nothing else. The server's certificate is checked on each connection, as
// package endpoint does it. A Pool shares the connections of all clients of a
// process.
//
// Responses are limited in size, in rows and in time, because a server can be
// faulty or hostile. Every failure is a *plugin.Error, whose kind is derived
// from the status and, where LXD uses one status for many causes, from the text
// (refusal.go). Texts of the server are cleaned of secrets and control
// characters before they are returned.
//
// A change is an operation of the server. The call that starts it returns an
// Operation, and Client.Wait waits for its end:
//
//	op, err := client.Act(ctx, ref, lxdapi.Stop, lxdapi.ActOptions{Force: true})
//	// ...
//	op, err = client.Wait(ctx, op.ID)
//	// err: the end could not be found out; op.Failure(): how it ended
//
// A request that changes something is sent once, on a connection of its own,
// and never repeated. The server forgets an operation 5 s after its end, and
// all of them when it restarts; both lead to ErrOperationNotFound. Client.Watch
// reads the server's events into an EventRing, from which several readers can
// follow operations without missing one.
package lxdapi
