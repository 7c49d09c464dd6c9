// Package lxdapi speaks the REST API of LXD, from release 5.0, and of Incus, from 6.0.
//
// A Client belongs to one server and one client certificate, which is shown in the TLS handshake and is all that the server
// knows its callers by. The server's certificate is checked on each connection as package endpoint does it. Answers are bounded
// in size, in rows and in time, and every failure is a *plugin.Error.
//
// A change is an operation of the server: the call that begins it returns an Operation, Client.Wait follows it to its end.
// A request that changes something is sent once, on a connection of its own. The server forgets an operation 5 s after its
// end, and all of them when it restarts; both give ErrOperationNotFound. EventRing keeps what Client.Watch sees of operations, as
// long as somebody watches.
package lxdapi
