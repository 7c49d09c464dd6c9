// Package alert evaluates rules about what is measured and known, and keeps a
// record of the alerts.
//
// # Cycles
//
// A cycle evaluates all rules at once, by a few statements whose number depends
// neither on the number of rules nor on that of objects: one over the newest
// samples, one over the states that core/cluster reports as problems, and some
// over facts that change rarely. They return the breaches. A breach that lasts
// as long as its rule wants becomes an alert; there is at most one for a rule
// and an object. The alert is resolved when the breach has been over for as
// long as the rule wants. What is unknown is neither a breach nor the end of
// one.
//
// Durations are summed over cycles and not read from a clock: a clock that is
// set, or a service that was down, makes no breach longer. All instances share
// one row with the time of the last cycle; the instance that locks it
// evaluates, in one transaction.
//
// # Messages
//
// An alert that follows from a greater one is folded under it; see cause.
// Nobody gets a message about an alert that is folded, silenced or in a
// maintenance window. Messages are written as rows, which core/notify sends.
//
// # Main types
//
// Engine runs the cycles. Store reads and writes alerts, rules and windows.
// Rule and Window are what people write; Alert and Detail what they read.
package alert

import (
	"encoding/json"
	"time"
)

// Severity is the importance of an alert.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Alert is a matter that people should look at; the JSON names are those of the
// API.
type Alert struct {
	ID       int64    `json:"id" example:"31"`
	RuleID   *int64   `json:"rule_id" example:"3" doc:"ID of the rule; null if the rule was deleted"`
	Rule     string   `json:"rule" example:"node.offline" doc:"Key or name of the rule when the alert was raised"`
	Kind     string   `json:"kind" example:"node_away" doc:"Kind of condition that the rule watches; empty for alerts raised by older releases"`
	Severity Severity `json:"severity" enum:"critical,warning,info" example:"critical"`
	State    string   `json:"state" enum:"open,resolved" example:"open"`
	Target   Target   `json:"target"`
	TeamID   *int64   `json:"team_id" example:"1" doc:"Team that the alert belongs to; null if it belongs to no team, and only users with a role in the default team see it"`
	HostID   *int64   `json:"host_id" example:"1"`
	Message  string   `json:"message" example:"The node is off or has lost contact with the other nodes." doc:"Description of the problem when the alert was raised"`
	Remedy   string   `json:"remedy" doc:"How to fix it; empty if not known"`
	// Labels are those of the rule.
	Labels   json.RawMessage `json:"labels" doc:"Labels of the rule when the alert was raised"`
	RaisedAt time.Time       `json:"raised_at"`

	AcknowledgedAt *time.Time `json:"acknowledged_at" doc:"When it was acknowledged; null if it was not"`
	AcknowledgedBy *Person    `json:"acknowledged_by"`
	AckNote        string     `json:"ack_note" example:"looking at it"`
	SilencedUntil  *time.Time `json:"silenced_until" doc:"Until when notifications of this alert, and of its rule about the same object, are silenced; null if not silenced"`
	SilencedBy     *Person    `json:"silenced_by"`
	SilenceNote    string     `json:"silence_note"`
	CauseID        *int64     `json:"cause_id" doc:"Alert that caused this one, which then sends no notifications; null if there is none"`
	WindowID       *int64     `json:"window_id" doc:"Maintenance window that covers the alert, which then sends no notifications; null if there is none"`
	Folded         int64      `json:"folded" example:"40" doc:"Number of alerts that this one caused"`
	ResolvedAt     *time.Time `json:"resolved_at"`
	ResolvedBy     *Person    `json:"resolved_by" doc:"User who resolved it by hand; null otherwise"`
	Resolution     string     `json:"resolution" example:"The condition has cleared." doc:"Why it was resolved; empty while it is open"`
}

// Target is the object of an alert.
type Target struct {
	Kind string `json:"kind" example:"node" doc:"host, node, cluster, vm, app, container, storage, service, or the kind of object that a job works on"`
	ID   int64  `json:"id" example:"1" doc:"ID of the object; for a node or a storage, ID of a host of its cluster"`
	Name string `json:"name" example:"alpha"`
	Node string `json:"node" example:"alpha" doc:"Node that the object is on; empty if it is on none or on several"`
}

// Person is a user of the service.
type Person struct {
	ID    *int64 `json:"id" doc:"ID of the user; null if the user was deleted"`
	Email string `json:"email" example:"ann@example.org" doc:"Email address of the user; empty if the user was deleted"`
}

// Reason is the reason for which an alert was raised.
type Reason struct {
	Threshold  *float64 `json:"threshold" example:"95" doc:"Threshold of the rule when the alert was raised; null for kinds without one"`
	ClearLevel *float64 `json:"clear_level" example:"85"`
	Unit       *Unit    `json:"unit" enum:"percent,bytes_per_second,days,minutes,seconds"`
	ForS       int64    `json:"for_s" example:"900"`
	ClearForS  int64    `json:"clear_for_s" example:"600"`
	Value      *float64 `json:"value" example:"97.4" doc:"Value that raised the alert; null for kinds without one"`
	Samples    []Sample `json:"samples" nullable:"false" doc:"Samples that raised the alert, oldest first. Alerts raised together with many others, and kinds that are not measured, have only the last value or none"`
	// Since and EndsAt are of states.
	Since  *time.Time `json:"since" doc:"When the condition began, if known"`
	EndsAt *time.Time `json:"ends_at" doc:"When the certificate or the token expires; null for other kinds"`
	JobID  *int64     `json:"job_id" doc:"The job that failed; null for other kinds"`
}

// Sample is one measured value.
type Sample struct {
	At    time.Time `json:"at"`
	Value float64   `json:"value" example:"97.4"`
}
