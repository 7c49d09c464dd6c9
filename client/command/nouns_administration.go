package command

// administration lists the nouns for the service itself: notifications,
// maintenance windows, settings and updates.
var administration = []noun{
	{
		name: "channel", aliases: []string{"channels"}, short: "Notification channels", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_notification_channels", columns: "id name kind enabled team_id hourly_cap"},
			{name: "show", op: "get_notification_channel", args: "channel_id:channel"},
			{name: "create", op: "create_notification_channel", args: "+name",
				example: `on-call --kind webhook --team default --settings '{"url":"https://example.org/hook"}'`},
			{name: "edit", op: "update_notification_channel", args: "channel_id:channel", example: "on-call --enabled=false"},
			{name: "test", op: "test_notification_channel", args: "channel_id:channel", short: "Send a test message"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_notification_channel", args: "channel_id:channel"},
			{name: "deliveries", op: "list_notification_deliveries",
				columns: "id created_at channel event severity title state attempts error"},
		},
	},
	{
		name: "window", aliases: []string{"windows"}, short: "Maintenance windows, in which alerts are not sent", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_maintenance_windows",
				columns: "id name enabled open starts_at ends_at cron timezone duration_s"},
			{name: "show", op: "get_maintenance_window", args: "window_id:window"},
			{name: "create", op: "create_maintenance_window", args: "+name",
				example: `night --cron "0 1 * * *" --duration-s 3600 --on '{"tags":["lab"]}'`},
			{name: "edit", op: "update_maintenance_window", args: "window_id:window", example: "night --enabled=false"},
			{name: "delete", aliases: []string{"rm"}, op: "delete_maintenance_window", args: "window_id:window"},
		},
	},
	{
		name: "setting", aliases: []string{"settings"}, short: "Settings of the service", verbs: []verb{
			{name: "list", aliases: []string{"ls"}, op: "list_settings", columns: "key value default changed_at changed_by"},
			{name: "edit", op: "patch_settings", example: "--poll-interval-s 30"},
		},
	},
	{
		name: "update", short: "Updates of the service", verbs: []verb{
			{name: "status", op: "get_update", short: "Show the running version, available updates and the last update"},
			{name: "start", op: "request_update", short: "Update the service"},
		},
	},
}
