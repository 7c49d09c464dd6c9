package command

// networking lists the nouns for the firewall and the networks of nodes.
var networking = []noun{
	{
		name: "firewall", short: "Firewall of guests and clusters", verbs: []verb{
			{name: "rules", op: "list_vm_firewall_rules", appOp: "list_app_firewall_rules", args: "vm_id:guest",
				short: "List the firewall rules of a guest", columns: ruleColumns},
			{name: "add-rule", op: "create_vm_firewall_rule", appOp: "create_app_firewall_rule", args: "vm_id:guest",
				short:   "Add a firewall rule to a guest",
				example: "web-1 --type in --action ACCEPT --proto tcp --dport 443 --source 192.0.2.0/24"},
			{name: "edit-rule", op: "change_vm_firewall_rule", appOp: "change_app_firewall_rule", args: "vm_id:guest pos",
				short: "Change a firewall rule of a guest", example: "web-1 0 --enable 0"},
			{name: "move-rule", op: "move_vm_firewall_rule", appOp: "move_app_firewall_rule", args: "vm_id:guest pos",
				short: "Move a firewall rule of a guest", example: "web-1 2 --moveto 0"},
			{name: "delete-rule", op: "delete_vm_firewall_rule", appOp: "delete_app_firewall_rule", args: "vm_id:guest pos",
				short: "Delete a firewall rule of a guest", example: "web-1 2"},
			{name: "options", op: "get_vm_firewall_options", appOp: "get_app_firewall_options", args: "vm_id:guest",
				short: "Show the firewall options of a guest"},
			{name: "set-options", op: "change_vm_firewall_options", appOp: "change_app_firewall_options", args: "vm_id:guest",
				short: "Change the firewall options of a guest", example: "web-1 --enable 1 --policy-in DROP"},
			{name: "log", op: "read_vm_firewall_log", appOp: "read_app_firewall_log", args: "vm_id:guest",
				short: "Read the firewall log of a guest", columns: "n time direction action proto source dest dport text"},
			{name: "test", op: "test_firewall_packet", args: "+from:end +to:end", short: "Test whether a packet passes, and why",
				example: "192.0.2.7 web-1 --protocol tcp --dport 443"},
			{name: "reach", op: "list_firewall_reach", args: "+to:end", short: "Show who can reach a guest or a node", example: "web-1",
				rows: "rows", columns: "from.name from.address from.kind open ping"},
			{name: "cluster-rules", op: "list_cluster_firewall_rules", args: "host_id:host", columns: ruleColumns},
			{name: "cluster-options", op: "get_cluster_firewall_options", args: "host_id:host"},
			{name: "groups", op: "list_firewall_groups", args: "host_id:host", columns: "group comment"},
			{name: "macros", op: "list_firewall_macros", args: "host_id:host"},
			{name: "drafts", op: "list_firewall_drafts", columns: "id name host_id status change_count deadline created_by updated_at"},
			{name: "commit", op: "commit_firewall_draft", args: "draft_id:id", short: "Apply a draft; it is rolled back unless confirmed"},
			{name: "confirm", op: "confirm_firewall_draft", args: "draft_id:id", short: "Keep the changes of an applied draft"},
		},
	},
	{
		name: "network", aliases: []string{"networks"}, short: "Networks of nodes", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_bridges", short: "List the network interfaces of the nodes"},
			{name: "create", op: "create_bridge", args: "+iface", short: "Stage a new bridge, bond or VLAN on a node",
				example: `vmbr1 --host lab --node pve1 --type bridge --config '{"comment":"for tests"}'`},
			{name: "edit", op: "edit_bridge", args: "node:node iface", short: "Stage a change of an interface"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_bridge", args: "node:node iface", short: "Stage the removal of an interface"},
			{name: "apply", op: "apply_network", args: "node:node", short: "Apply the staged changes of a node", example: "pve1 --plan"},
			{name: "revert", op: "revert_network", args: "node:node", short: "Discard the staged changes of a node"},
		},
	},
}

// ruleColumns are the columns of a list of firewall rules.
const ruleColumns = "pos enable type action macro proto source dest sport dport log comment"
