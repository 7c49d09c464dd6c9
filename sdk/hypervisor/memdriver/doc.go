// Package memdriver is a hypervisor in memory behind the interfaces of package hypervisor:
// clusters with nodes, guests, tasks and logs, tokens with privileges, and faults that make
// any method fail, block, slow down, panic or end the process. It implements every optional
// interface. Tests use it wherever no wire protocol of a real hypervisor is under test, and
// authors of drivers can read it as a complete example.
//
// It does not imitate the details of one hypervisor and stores nothing.
//
// # Main types
//
//   - Driver holds clusters by address. New returns an empty one, NewByName one that creates
//     clusters on demand.
//   - Cluster is the state of one cluster. Its methods are for tests: they add guests, hold
//     tasks, take nodes offline and set faults. Spec and Shape describe a new cluster.
//   - Host implements hypervisor.Host and the optional interfaces on a cluster.
//   - Fault says how a method misbehaves.
//   - CertificateDriver is a driver of another shape: client certificates and one-time codes
//     instead of tokens, names instead of numbers as guest IDs. Code that works with drivers
//     should be tested with both.
//
// # In a test
//
//	driver := memdriver.New()
//	cluster := driver.Add("pool.mem:8006", memdriver.Spec{Nodes: 2, VMs: 10})
//	cluster.SetFault("version", memdriver.Fault{Block: true})
//
// # As a plugin process
//
// The programs hostler-plugin-mem and hostler-plugin-certmem have no test that could create
// clusters, so the address says what is wanted: each address that ends in ".mem" is a
// cluster, created at its first use, and the labels in front of it are its size and its
// faults. See Driver.Open.
//
// # Locks
//
// Each Cluster has one mutex for its whole state. The mutex of the Driver protects only the
// map of clusters.
package memdriver
