// Package draft tries out changes of firewalls. A draft is a list of changes to one or
// more scopes of a cluster. The changes are checked together, made by one job in an order
// that opens nothing in between, and undone unless somebody confirms them in time. A user
// who locks everybody out, including Hostler, therefore only waits.
//
// The package does not evaluate packets: the firewall plugin does that (firewall.Evaluator
// of the sdk). It does not edit single rules directly either; core/firewall does.
//
// # Main types
//
//   - Store keeps drafts and carries out their jobs. Request and Change describe what a
//     user wants, Draft and Summary what the API shows, Content and Filling the rules,
//     aliases, sets and options of a scope.
//   - way (in route.go) is the list of steps from the state before to the state after, or
//     back. step is one change of one scope that is never half in effect.
//   - work is one run of a job. It walks along the way from wherever the scopes are.
//
// # Life cycle
//
// A draft is open until Commit. Commit checks it against the present state, and asks for
// confirmations where the service or the caller may be cut off. The job then makes the
// changes (committing), and waits for the confirmation (waiting) while it checks that the
// nodes still answer. A confirmed draft is applied. A draft whose window ends, whose job
// is canceled, or that cuts off a node is undone (undoing, undone). It is unknown if
// somebody else changed the same scope in between: nothing of that is overwritten, and
// the outcome says what is in effect.
//
// # Order of the steps
//
// order.go explains and proves the order. In short: at no moment a packet gets through
// that neither the state before nor the state after lets through. Where no order can
// promise that, Commit asks the user first.
//
// # Invariants
//
//   - The position of a job is not stored as a step number. It is found by comparing the
//     scopes with the states along the way, so a request that was carried out although
//     its answer was lost is not repeated.
//   - Each request names the digest of the list that it was decided by. A late or
//     repeated request changes nothing.
//   - A scope belongs to at most one draft that is being carried out (firewall_busy).
//   - The status in the draft's row changes with a condition on the previous status, so a
//     confirmation and the end of the window cannot both win.
//
// # Errors
//
// Problems of requests are documented at Commit. A job that cannot read or change the
// firewall retries while the hypervisor does not answer; a refusal starts the undo.
package draft
