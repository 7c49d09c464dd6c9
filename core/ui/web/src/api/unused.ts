// Operations of the API that the page does not use, each with the reason. unused.test.ts checks the list: it fails for an operation that is
// neither used nor listed, and for one that is both.

const told = 'The answer that gives the ticket has the path of this socket.'
const listed = 'The list that the page keeps has all of it, and the feed what changes of it.'
const spelled = 'Another spelling of an operation that the page uses.'
const machines = 'It is for other programs, not for people.'

/** The reason of each. */
export const unused: Readonly<Record<string, string>> = {
  ...all(told, 'connect_app_console connect_vm_console connect_node_shell'),
  ...all(listed, 'get_vm list_vms get_alert_rule get_maintenance_window get_notification_channel get_identity_provider'),
  ...all('The users of the list tell their teams and roles.', 'list_team_members'),
  ...all('The page follows the stream of the same events.', 'list_job_events'),
  ...all(machines, 'scrape_guests discover_prometheus_targets'),
  ...all('It is always refused: there is no way to the logs inside of a container.', 'get_app_logs'),
  ...all(spelled, 'get_meta_update request_meta_update'),
  ...all(
    spelled,
    `list_firewall_node_aliases create_firewall_node_alias change_firewall_node_alias delete_firewall_node_alias
    list_firewall_node_ipsets create_firewall_node_ipset delete_firewall_node_ipset list_firewall_node_ipset_members
    add_firewall_node_ipset_member change_firewall_node_ipset_member remove_firewall_node_ipset_member read_firewall_node_log
    follow_firewall_node_log get_firewall_node_options change_firewall_node_options list_firewall_node_refs list_firewall_node_rules
    create_firewall_node_rule change_firewall_node_rule delete_firewall_node_rule move_firewall_node_rule`,
  ),
}

function all(reason: string, names: string): Record<string, string> {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, reason]),
  )
}
