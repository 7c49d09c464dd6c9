// Package poll keeps the caches of what the hypervisors have: clusters, nodes, guests, storages and samples.
//
// A cycle polls one cluster, through one of the hosts that front it: the healthy one that was asked longest ago. When
// that host fails, the next one takes over in the same cycle, and the failed one is tried again with growing pauses.
// When no host answers, what is known stays listed with the status unknown. Every instance runs the loop; a cycle holds
// its cluster's advisory lock, so that one instance polls it, and another goes on when that one dies. Each cycle runs in
// a goroutine of its own under its own time limit: a host that hangs delays nobody.
//
// What a driver reports is taken page by page into buffers in the form of PostgreSQL's COPY, sent to staging tables and
// merged there by a fixed number of statements, in one transaction for each poll.
//
// A driver may tell states only, and figures less often: those that are known then stay, with the time at which they were measured.
// Where CPU time is counted, the used part of the cores is made of two readings.
//
// A guest keeps its row for as long as its identity is told: the UID, or kind and id where the hypervisor has none.
package poll
