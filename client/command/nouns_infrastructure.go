package command

import "github.com/spf13/cobra"

// infrastructure lists the nouns for everything except guests and jobs: hosts,
// nodes, storages, schedules, the catalog, alerts, the audit log, users, teams
// and API keys. Each verb is a row; see verb for its fields.
var infrastructure = []noun{
	{
		name: "host", aliases: []string{"hosts"}, short: "Hypervisor hosts", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_hosts", columns: "id name address driver status version cluster.name ok_at reason"},
			{name: "show", op: "get_host", args: "host_id:host"},
			{name: "probe", op: "probe_host", short: "Probe a host before you add it",
				example: "--address pve1.lab --token-id service@pve!monitoring"},
			{name: "create", aliases: []string{"add"}, op: "create_host", args: "+name",
				example: "lab --address pve1.lab --token-id service@pve!monitoring --token-secret-file secret"},
			{name: "edit", op: "patch_host", args: "host_id:host"},
			{name: "credential", op: "rotate_host_credentials", args: "host_id:host", short: "Set the token of a host for a capability",
				example: "lab --capability lifecycle --token-id service@pve!lifecycle --token-secret-file -"},
			{name: "sync", op: "sync_host", args: "host_id:host"},
			{name: "test", op: "test_host", args: "host_id:host"},
			{name: "peers", op: "list_peers", args: "host_id:host", columns: "node address online reachable version enrolled host_id error"},
			{name: "tasks", op: "list_host_tasks", args: "host_id:host", columns: "started_at node type guest_ref user status error"},
			{name: "delete", aliases: []string{"rm"}, op: "remove_host", args: "host_id:host", example: "lab --confirm lab"},
		}, more: func(s *session) []*cobra.Command { return []*cobra.Command{s.enrolCommand()} },
	},
	{
		name: "node", aliases: []string{"nodes"}, short: "Nodes of hosts", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_nodes",
				columns: "node host cluster status cpu cpus memory_bytes memory_total_bytes vms apps uptime_s"},
			{name: "show", op: "get_node_status", args: "node:node"},
			{name: "hardware", op: "get_node_hardware", args: "node:node"},
			{name: "placement", op: "get_placement", args: "node:node", short: "Show the resources of a node for new guests"},
			{name: "reboot", aliases: powerAliases["reboot"], op: "power_node", args: "node:node", body: map[string]any{"command": "reboot"},
				short:   "Reboot a node",
				example: "pve2 --plan"},
			{name: "shutdown", op: "power_node", args: "node:node", body: map[string]any{"command": "shutdown"}, short: "Shut down a node"},
		}, more: consoleOf("node"),
	},
	{
		name: "storage", aliases: []string{"storages"}, short: "Storages and their content", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_storage",
				columns: "host cluster name type shared status used_bytes total_bytes days_until_full content"},
			{name: "show", op: "get_storage", args: "name:storage"},
			{name: "content", op: "list_storage_content", args: "name:storage",
				columns: "volid kind content size_bytes node created_at guest_ref notes"},
			{name: "fetch", op: "download_storage_content", args: "name:storage", short: "Download a file to a storage",
				example: "local --node pve1 --url https://example.org/rescue.iso --content iso --wait"},
			{name: "delete-volume", op: "delete_storage_volume", args: "name:storage volid",
				example: "local local:iso/rescue.iso --node pve1 --confirm rescue.iso --wait"},
			{name: "templates", op: "list_storage_templates", args: "name:storage", columns: "template title os version architecture present"},
			{name: "attach", op: "attach_storage", args: "+storage", example: "scratch --host lab --type dir --config @scratch.json"},
			{name: "detach", op: "detach_storage", args: "name:storage"},
		}, more: uploadCommands,
	},
	{
		name: "schedule", aliases: []string{"schedules"}, short: "Scheduled jobs", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_schedules",
				columns: "id name cron timezone job_kind enabled next_run_at last_run_at last_error"},
			{name: "create", op: "create_schedule", args: "+name",
				example: `nightly-stop --cron "0 3 * * *" --job-kind vm.stop --params '{"vm_id":12}'`},
			{name: "edit", op: "update_schedule", args: "schedule_id:schedule"},
			{name: "run", op: "run_schedule", args: "schedule_id:schedule"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_schedule", args: "schedule_id:schedule"},
			{name: "kinds", op: "list_schedule_kinds", columns: "kind summary"},
			{name: "times", op: "list_schedule_times"},
		},
	},
	{
		name: "catalog", short: "Apps that can be installed", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_catalog", columns: "slug name entry_type category source installable summary"},
			{name: "show", op: "get_catalog_entry", args: "slug:catalog"},
			{name: "plan", op: "plan_catalog_entry", args: "slug:catalog", short: "Show the plan of an installation or update"},
			{name: "install", op: "install_catalog_entry", args: "slug:catalog", example: "adguard --host lab --name dns --consent --wait"},
			{name: "refresh", op: "refresh_catalog"},
			{name: "status", op: "get_catalog_status"},
			{name: "sources", op: "list_catalog_sources", columns: "name title version enabled entries synced_at"},
		},
	},
	{
		name: "alert", aliases: []string{"alerts"}, short: "Alerts and alert rules", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_alerts",
				columns: "id severity state kind target.name message raised_at acknowledged_at resolved_at"},
			{name: "show", op: "get_alert", args: "alert_id:id"},
			{name: "ack", op: "acknowledge_alert", args: "alert_id:id", example: `7 --note "on my way"`},
			{name: "silence", op: "silence_alert", args: "alert_id:id", example: "7 --for-s 3600"},
			{name: "resolve", op: "resolve_alert", args: "alert_id:id"},
			{name: "rules", op: "list_alert_rules", columns: "id name kind severity threshold unit for_s enabled open"},
			{name: "create-rule", op: "create_alert_rule", args: "+name",
				example: `"Must run" --kind guest_down --severity critical --on '{"targets":["vm:12"]}'`},
			{name: "delete-rule", op: "delete_alert_rule", args: "rule_id:rule"},
		},
	},
	{
		name: "audit", short: "Audit log", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_audit", columns: "id at who=actor_email action target.name result error address"},
			{name: "show", op: "get_audit_entry", args: "entry_id:id"},
			{name: "verify", op: "verify_audit", short: "Verify the audit log"},
		}, more: exportCommands,
	},
	{
		name: "user", aliases: []string{"users"}, short: "Users", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_users",
				columns: "id email display_name role is_active totp_enabled passkeys last_login_at teams"},
			{name: "create", op: "create_user", args: "+email", example: "anna@example.org --role operator --password-file -"},
			{name: "edit", op: "patch_user", args: "user_id:user"},
			{name: "password", op: "reset_password", args: "user_id:user", short: "Reset the password of a user"},
			{name: "reset-totp", op: "reset_totp", args: "user_id:user"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_user", args: "user_id:user"},
		},
	},
	{
		name: "team", aliases: []string{"teams"}, short: "Teams and their members", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_teams", columns: "id name slug members hosts description"},
			{name: "create", op: "create_team", args: "+name"},
			{name: "edit", op: "patch_team", args: "team_id:team"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_team", args: "team_id:team"},
			{name: "members", op: "list_team_members", args: "team_id:team", columns: "user_id email display_name role is_active added_at"},
			{name: "set-member", op: "set_team_member", args: "team_id:team user_id:user", example: "shop anna@example.org --role operator"},
			{name: "remove-member", op: "remove_team_member", args: "team_id:team user_id:user"},
		},
	},
	{
		name: "key", aliases: []string{"keys"}, short: "Your API keys", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_api_keys",
				columns: "id name prefix current scopes expires_at last_used_at created_at"},
			{name: "create", op: "create_api_key", args: "+name",
				example: "backup-script --scopes read,vms:write --expires-at 720h"},
			{name: "delete", aliases: []string{"rm", "revoke"}, op: "revoke_api_key", args: "key_id:key"},
		},
	},
}
