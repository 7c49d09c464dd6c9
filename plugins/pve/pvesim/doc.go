// Package pvesim simulates the HTTP API of Proxmox VE 9.2: one standalone host, a cluster of nodes, or a fleet
// of several of them, all in memory.
//
// It is meant to be as strict as the real server. A request that a real host refuses is refused here with the same
// status, the same reason phrase and the same body; a list that a real host shortens for want of privileges is
// shortened here. Where the real server surprises its clients (error texts in the reason phrase, a connection that
// closes after every error, a list that lags ten seconds behind, a start that answers 200 and fails in its task), so
// does this one.
//
// # Actors
//
// A [Cluster] holds the whole state: nodes, guests, storages, pools, users, tokens, roles, access control entries
// and tasks. Every node is an [http.Handler] ([Cluster.Node]) that answers under /api2/json and passes requests for
// another node on, as pveproxy does. [Cluster.Start] gives each node a TLS listener with a certificate of its own; the
// first node's listener is the entry address. A [Fleet] is a list of clusters.
//
// Time comes from the cluster's clock: real time, until [Cluster.StopClock], plus what [Cluster.Advance] added. Tasks
// and the broadcast behind /cluster/resources follow that clock and are brought up to date whenever the state is
// looked at, so a test can let an hour pass in no time.
//
// # Where things are
//
// A file's name begins with its subject; the endpoints of a subject stand together at the top of the file that serves them, and
// endpoints.go lists them all.
//
//	server_…     how a request is taken apart and answered: connections, body, parameters, formats, router, errors
//	access_…     users, tokens, groups, roles, access control entries, tickets; access_check.go evaluates an endpoint's privileges
//	cluster_…    the cluster as a whole: its state, its scenario, /cluster/status, /cluster/resources, metrics
//	node_…       nodes, and the parts of a node that can be down
//	guest_…      virtual machines and containers: state, lists, configuration, lifecycle, snapshots, backups; guest_task.go is for
//	             their tasks
//	storage_…    storages, the volumes, backups and uploads on them, and storages that clusters share
//	console_…    consoles: ports, tickets, WebSockets, what terminals and screens say
//	firewall_…   firewall scopes with their rules, aliases, IP sets, groups, options and logs; see below
//	task_…       the task table, task lists, logs
//	control…     the control interface; fault.go the faults; options… what can be set
//	schema/      what the API says about itself: parameters, privileges, who carries it out
//
// # How to add an endpoint
//
// Write its function in the file of its subject, with the request as the only argument:
//
//	// readNote shows a guest's note.
//	func readNote(r *request) (result, *apiError) {
//		g, err := r.guestOf()
//		if err != nil {
//			return fail(err)
//		}
//		return ok(map[string]any{"note": g.note})
//	}
//
// and declare it in that file's list:
//
//	serveGuests("GET", "/note", readNote),   // for virtual machines and containers
//	serve("GET", "/cluster/note", readNote), // once
//
// A new subject gets a list of its own, which endpoints.go names. The schema knows the parameters, the privileges and the
// node, so the function gets a request that has passed all of it; [schema.Find] is asked with the method and the path of the
// declaration. Privileges that the schema has in prose only the function checks itself, with Cluster.check. A release that the
// schema knows less exactly is given with from or paramFrom. An effect that takes time is a guestWork for guestTask. The
// recorded exchanges of the endpoint are replayed as soon as it is declared; what state they need is a line in
// replay_states_test.go. Read-only endpoints are held against the schema's answers without further ado.
//
// # Control interface
//
// [Cluster.ControlHandler] and [Fleet.ControlHandler] serve plain HTTP with JSON bodies, for loopback only. A fleet takes the query
// parameter host (an index, default 0) on each call.
//
//	GET    /stats          {requests: {"GET /nodes/{node}/status": 3, …}, total, bytes_in, bytes_out, connections_open,
//	                       connections_total, privileges: {"service@pve!lifecycle": ["VM.Audit"]}, those that were looked for}
//	POST   /stats/reset    sets the counters to zero (open connections stay counted)
//	GET    /fault          the faults that are set
//	POST   /fault          {match: {method, path, node}, kind, status, reason, delay_ms, times, after}; answers {id}
//	DELETE /fault          removes all faults (?id=N: one)
//	POST   /clock          {advance_s}
//	POST   /guest          {op, vmid, type, node, name, status, lock, …}; see below
//	POST   /node           {name, online, resolves}: those that are given change, or {name, power}; see below
//	POST   /network        {node, files: {interfaces, staged, links}, apply: {hangs, cuts, fails}, restore}: those that are given change;
//	                       answers the files of the node's network; see below
//	POST   /storage        {id, used, away, disabled}: those that are given change; used is in bytes, and as large as the storage fills it
//	POST   /task           {node, user, type, ago_s}: a task of a user or token in the node's archive that ended well so long ago
//	POST   /token          {id, op: "revoke" or "expire"}, or {id, revoke: true}, {id, expire: true}
//	POST   /role           {id, privileges}: gives the role exactly these
//	POST   /acl            {path, subject, role, propagate, delete}: an entry for a user, a token or an @group
//	POST   /certificate    {node}: gives the node (default: the first) a new certificate; answers {fingerprint}
//	POST   /option         {resources_lag_ms, latency_ms, task_ms, auth_delay_ms, exit_lag_ms, upload_room_bytes, firewall_ms,
//	                       console_release}: those that are given change; the last is a version of pve-manager, see below
//	GET    /firewall       {clients, delay_ms, nodes: [{node, since, pending, failures, clients}], configured}; see below
//	POST   /firewall       {cluster, host, nodes, guests}: replaces all firewall configurations; see below
//	POST   /firewall/clients  {clients: [{network, as}]}: as what the nodes' firewalls see clients
//	POST   /firewall/log   {node, lines}: writes lines to a node's firewall log
//
// In a fault's match an empty member matches everything. path is a path template as the statistics show it
// ("/nodes/{node}/qemu/{vmid}/status/start") or a prefix of the request's own path ("/nodes/pve2/"). kind is one of
//
//	status    answer with status and reason instead of the real answer
//	delay     wait delay_ms, then go on
//	cut       close the connection without an answer
//	hang      never answer; ends when the client gives up or the simulator stops
//	truncate  carry the request out, send half of the answer and break off
//	empty     answer with an empty list
//	pvedaemon the node's privileged daemon is down: what it does is 595, what the proxy does itself works (match by node only)
//	pmxcfs    the node's cluster file system is down: everything is 500 (match by node only)
//	refuse    reset connections to the node when they are opened, other nodes' too (method and path do not count)
//
// times limits how often the fault strikes (0: until removed). after moves it behind the effect: the request is carried out, and only its
// answer is lost, replaced or late. "cut" with after set on a start is "the task was created but nobody knows".
//
// A node that does not resolve answers itself, and other nodes cannot pass requests on to it: 500 with a text of the
// resolver. It may be the name of no member; op strand of /guest leaves a guest's configuration on such a one.
//
// The power of a node is {down_ms, away_ms, stays, lost}: what it does when it is told to reboot or to shut down. It answers for down_ms
// still, while its guests are shut down, and is away for away_ms; stays never goes down, and lost never comes back.
//
// The files of a node's network are texts: what is in force, and what an apply puts there. A node whose own address leads nowhere after an
// apply answers nobody until restore, which puts the file before the last apply back. How the next applies go besides: hangs lets their
// tasks run for ever, cuts lets the node answer nobody, fails is the error that the reload ends with.
//
// The op of /guest is one of create, delete, rename, migrate, status, lock and set; they act at once and behind the API's
// back, without task, lock or permission. set changes what is given: name, tags, memory_mb, cores, pool,
// ignore_shutdown, bridge_missing, warnings, task_lines, storage, snapshot_error, backup_error, hotplug_errors (a text by key of the
// configuration), interfaces ([{name, mac, addresses}], what the guest tells of itself; without any the agent of a VM is silent).
//
// # Consoles
//
// A console listens at a port of the node that was called, waits ten seconds for one client and leaves a task. Behind it is a small shell,
// or a small server of the RFB protocol: see package consoletest. That of a node asks everybody but root@pam for a name and a password, of
// which all are right. Tickets and refusals are those of the release: before 9.0.13 tokens get no shell of a node, before 9.1.9 the
// program behind the terminals of guests lets no token in, tickets are good for any port and screens have no password of their own.
// [Cluster.SetConsoleRelease] sets the release for consoles alone.
//
// # Firewall
//
// Every scope that the API has is served with the digests, positions and texts of the real server: what was recorded agrees to the
// letter. Its oddities are here too. A new rule is the first one, a move does nothing else, guests need not exist, what is in use
// can be deleted, an alias is looked up whatever its case, an IP set or a group never (and has no capitals, for they are lost in the
// file), an update of an alias or a member forgets the comment that is not sent again, rules follow a group that is renamed, and a
// clone has a copy of its original's firewall. Changes are atomic, and nobody ever waits for the lock of a configuration: a fault of
// kind status stands for that.
//
// A cluster whose firewall is on decides about its clients as soon as [Cluster.SetFirewallClients] says as what they are seen: a
// connection to a node's API (port 8006 at the node's address in the cluster) is judged by package pvefirewall with all that the
// scopes have, the built-in accept for the management network included. A connection that is dropped is never answered, one that is
// rejected is reset, and what one node passes on to another is judged too (595). Connections that were established live on. What
// the firewall does to other traffic of the cluster, such as corosync's, has no effect here. Without clients nothing is judged.
//
// Changes are in force at once, or with [Cluster.SetFirewallDelay] (firewall_ms) at the next round of the node's daemon. What a node
// cannot load leaves the rules in force that it has; what is configured with nftables is not judged, and lets everything pass.
//
// A scope in /firewall is {options, aliases: [{name, cidr, comment}], ipsets: [{name, comment, entries: [{cidr, nomatch, comment}]}],
// groups: [{group, comment, rules}], rules}, where rules are as the API shows them; host is the first node. Scopes that are not given
// are empty then, and members that are not known are left alone.
//
// The log of a node's firewall is a file that is not there before its first line. Connections that are judged write a line where the
// rule that decides has a level, or where the node's log_level_in is set and the policy or the blacklist decides.
package pvesim
