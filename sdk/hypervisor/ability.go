package hypervisor

// AsLifecycler gives the host's Lifecycler when it has one, whether it is a driver's own host or one behind a plugin.
// Use it in place of a type assertion.
func AsLifecycler(host Host) (Lifecycler, bool) { return as[Lifecycler](host, AbilityLifecycle) }

// AsTaskStopper gives the host's TaskStopper when it has one.
func AsTaskStopper(host Host) (TaskStopper, bool) { return as[TaskStopper](host, AbilityTaskStop) }

// AsNodeReader gives the host's NodeReader when it has one.
func AsNodeReader(host Host) (NodeReader, bool) { return as[NodeReader](host, AbilityNodeRead) }

// AsRoleScripter gives the driver's RoleScripter when it has one.
func AsRoleScripter(driver Driver) (RoleScripter, bool) {
	return as[RoleScripter](driver, AbilityRoleScript)
}

// as asserts an optional interface, and asks what the plugin claims where the assertion would always hold.
func as[Optional any](v any, ability Ability) (Optional, bool) {
	var none Optional
	switch remote := v.(type) {
	case *Client:
		if !remote.can(ability) {
			return none, false
		}
	case *remoteHost:
		if !remote.client.can(ability) {
			return none, false
		}
	}
	optional, ok := v.(Optional)
	return optional, ok
}
