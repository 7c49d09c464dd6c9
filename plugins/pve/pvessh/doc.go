// Package pvessh logs in to a node by SSH (RFC 4251 to 4254) and runs programs there, with golang.org/x/crypto/ssh. What its calls do is
// said of hypervisor.NodeExecutor.
//
// Algorithms are the modern ones only: host keys ed25519, ECDSA and RSA with SHA-2, exchanges of keys on curve 25519 with and without
// ML-KEM, ciphers that authenticate. Releases of Proxmox VE from 6 on have all of these.
//
// The text of the command that SSH carries is a constant: see script. A login takes one connection, which belongs to its call.
package pvessh
