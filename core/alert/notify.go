package alert

import (
	"context"
	"fmt"
	"strings"
)

// mute stores the window of alerts that are open, or whose end was not reported
// yet. $1 are the windows that are open now.
const mute = `UPDATE alerts a SET window_id = n.window_id FROM (SELECT a.id,
	(SELECT min(w.id) FROM maintenance_windows w WHERE w.id = ANY ($1)
		AND (w.team_id IS NULL OR w.team_id = a.team_id)
		AND (w.host_id IS NULL OR w.host_id = a.host_id OR a.host_id IS NULL
			AND a.cluster_id = (SELECT h.cluster_id FROM hosts h WHERE h.id = w.host_id))
		AND (cardinality(w.tags) = 0 OR share_tag(w.tags, a.tags))) AS window_id
	FROM (SELECT * FROM alerts WHERE resolved_at IS NULL UNION ALL SELECT * FROM alerts WHERE told = 'open' AND resolved_at IS NOT NULL) a) n
WHERE n.id = a.id AND n.window_id IS DISTINCT FROM a.window_id`

// tellAlerts writes messages: the beginning of open alerts, and the end of
// those whose beginning was reported, once each. An alert that is folded, in a
// window or silenced is reported when it is so no longer. No message begins
// about an alert that is about to end, nor about one of which nothing is known
// now: $2. $1 is the time.
const tellAlerts = `WITH due AS (UPDATE alerts SET told = CASE WHEN resolved_at IS NULL THEN 'open' ELSE 'resolved' END
	WHERE (told = '' OR told = 'open' AND resolved_at IS NOT NULL) AND (told = 'open' OR resolved_at IS NULL) AND cause_id IS NULL
		AND window_id IS NULL AND (silenced_until IS NULL OR silenced_until <= $1)
		AND (told = 'open' OR NOT id = ANY ($2)
			AND NOT EXISTS (SELECT FROM alert_states s WHERE s.alert_id = alerts.id AND s.clear_s IS NOT NULL)) RETURNING *)
INSERT INTO notification_events (team_id, kind, incident, state, severity, rule, target_kind, target_id, target_name, tags, title,
	body, link, at)
SELECT team_id, 'alert', 'alert:' || id, told, severity, rule, target_kind, target_id, target_name, tags,
	CASE WHEN told = 'resolved' THEN 'Resolved: ' ELSE '' END || CASE WHEN target_name = '' THEN '' ELSE target_name || ': ' END || message,
	CASE WHEN told = 'resolved' THEN resolution ELSE remedy END, '/alerts/' || id, $1
FROM due ORDER BY id`

// tell writes the messages of this cycle.
func (c *cycle) tell(ctx context.Context) error {
	open, err := openWindows(ctx, c.tx, c.now)
	if err != nil {
		return err
	}
	if len(open) == 0 {
		err = c.exec(ctx, "muting alerts", "UPDATE alerts SET window_id = NULL WHERE window_id IS NOT NULL")
	} else {
		err = c.exec(ctx, "muting alerts", mute, open)
	}
	if err != nil {
		return err
	}
	return c.exec(ctx, "sending alerts", tellAlerts, c.now, c.changes.unsure)
}

// text describes an observation, and what to do about it.
func (c *cycle) text(o *observation) (message, remedy string) {
	r := c.rules[o.rule]
	switch r.Kind {
	case CPU, Memory, Disk:
		what := map[Kind]string{CPU: "CPU usage is %.0f %%", Memory: "Memory usage is %.0f %%",
			Disk: "Disk usage is %.0f %%"}
		return fmt.Sprintf(what[r.Kind]+", at least %s %%%s.", *o.value, number(*r.Threshold), lasting(r.ForS)), ""
	case NetIn, NetOut, DiskRead, DiskWrite:
		what := map[Kind]string{NetIn: "Incoming traffic is %s", NetOut: "Outgoing traffic is %s",
			DiskRead: "Disk reads are %s", DiskWrite: "Disk writes are %s"}
		return fmt.Sprintf(what[r.Kind]+", at least %s%s.", rate(*o.value), rate(*r.Threshold), lasting(r.ForS)), ""
	case StorageFills:
		return fmt.Sprintf("At the rate of the last two weeks, the storage will be full in %s days.", number(*o.value)),
			"Delete data that is no longer needed, or add space."
	case GuestDown:
		return fmt.Sprintf("The guest is %s.", o.fault.Word), "Start the guest, or exclude it from the rule."
	case NoData:
		runs := "The guest is running"
		if o.target.Kind == "storage" {
			runs = "The storage is available"
		}
		return fmt.Sprintf("%s, but has sent no metrics for %.0f minutes.", runs, *o.value),
			"Check whether its host answers and whether polls of the host succeed."
	case ClockSkew:
		way := "ahead of"
		if o.fault.N < 0 {
			way = "behind"
		}
		return fmt.Sprintf("The clock of the node is %s s %s the clock of the service, at least %s s%s.", number(*o.value), way,
				number(*r.Threshold), lasting(r.ForS)),
			"Synchronize the node and the machine of the service by NTP, for example with chrony, " +
				"and check which of the two is wrong."
	case TaskFailed:
		user, failure, _ := strings.Cut(o.fault.Detail, "\n")
		text := "The task " + o.fault.Word + " failed on the hypervisor"
		if user != "" {
			text += ", started by " + user
		}
		if failure = strings.TrimSuffix(strings.TrimSpace(failure), "."); failure != "" {
			text += ": " + failure
		}
		return text + ".", "Read its log on the hypervisor and run it again. The alert ends when a task of this type succeeds there, " +
			"or after a day."
	case UpdateAvailable:
		return fmt.Sprintf("Release %s of the service can be installed.", o.fault.Word), "Read its release notes, and request the " +
			"update with POST /api/v1/meta/update."
	}
	p := o.problem
	p.Describe(o.fault, c.now)
	return p.Text, p.Remedy
}

// number formats a value for people.
func number(n float64) string { return fmt.Sprintf("%.4g", n) }

// lasting formats a duration for people.
func lasting(seconds int64) string {
	switch {
	case seconds == 0:
		return ""
	case seconds%3600 == 0:
		return fmt.Sprintf(" for %d h", seconds/3600)
	case seconds >= 60:
		return fmt.Sprintf(" for %d min", seconds/60)
	}
	return fmt.Sprintf(" for %d s", seconds)
}

// rate formats bytes per second for people.
func rate(n float64) string {
	units := []string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"}
	i := 0
	for n >= 1000 && i < len(units)-1 {
		n, i = n/1000, i+1
	}
	return fmt.Sprintf("%.3g %s", n, units[i])
}
