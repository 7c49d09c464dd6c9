// Package pvefirewall evaluates the firewall of Proxmox VE: may this packet pass, and which rule decides. It has no I/O and imports
// nothing of Hostler; whoever calls it has read the configuration, from the API or from the text of .fw files (ParseCluster, ParseNode,
// ParseGuest).
//
// A Config is what a cluster enforces: the rules, aliases, IP sets, groups and options of each scope, the nodes with their addresses,
// and their guests with their network interfaces. Compile turns it into a Firewall once: sets become sorted segments of addresses,
// macros and groups become flat lists of conditions, and what Proxmox would skip is left out and told as a Problem. A Firewall does not
// change any more and may be used by many goroutines. Evaluate is cheap; Trace answers the same with every rule that was looked at, and
// why it did not match. Reach asks which guests get through to one of them, and on which ports.
//
// Judged is the first packet of a connection, as the default back end (iptables) of pve-firewall 6 treats it. Not judged are replies,
// limits of rates, the queue of an IPS, layer 2 protocols, address translation and routing: the caller says where a packet comes
// from and where it goes to. Packets of ICMP that open no connection (errors, replies) are judged as if connection tracking did not
// know them. Where Proxmox itself would not load the rules (it then goes on with the old ones, for ever), or would stop in the middle of
// making them, or where the node uses nftables, there is a UndecidedError instead of a verdict.
package pvefirewall
