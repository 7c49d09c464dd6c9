// Package pvessh logs in to a node over SSH (RFC 4251 to 4254) and runs
// programs there, with golang.org/x/crypto/ssh. The contract of its calls is
// that of hypervisor.NodeExecutor and hypervisor.GuestExecutor.
//
// Only modern algorithms are used: host keys of types ed25519, ECDSA, and RSA
// with SHA-2; key exchange on curve 25519, with and without ML-KEM; and
// authenticated ciphers. Proxmox VE has all of these since release 6.
//
// The text of the SSH command is always the same constant (see script), so no
// value of a caller is ever parsed by a shell. Each call opens its own
// connection and closes it at the end; a connection is never shared between
// calls.
//
// The files are:
//
//   - machine.go: the login and the host key.
//   - run.go: one program on a connection, its streams, limits and end.
//   - frame.go: how a command is sent as lines on standard input.
//   - gate.go: how the output of the login is separated from the program's.
//   - container.go, copy.go and socket.go: programs in containers, files,
//     and listening sockets, all built on RunOnNode.
package pvessh
