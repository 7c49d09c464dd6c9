// Package nodetest is for tests of what the service does on a hypervisor's machine: a machine of the test's own, with a real systemd as
// process 1 and a real sshd, in name spaces. Its root is this machine's, read only below an overlay, so that nothing that happens there
// is seen here; its disk has Room bytes, and can be filled. It has loopback and no other network. A test can switch it off, boot it
// again, and give it containers.
//
// A test is skipped where there can be no such machine, and fails where HOSTLER_SERVERS_REQUIRED is set. Wanted are Linux, root with the
// right to make name spaces, overlays, a hierarchy of control groups of version 2, systemd 247 or later, and OpenSSH's server.
package nodetest
