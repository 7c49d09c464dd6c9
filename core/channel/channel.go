// Package channel sends notifications to people: to webhooks, by email, and to
// chat and push services.
//
// The flow of an event is:
//
//   - Other packages write events (core/notify), each in the transaction of
//     what happened.
//   - route decides once which channels get an event, and inserts one
//     delivery per channel. A delivery has all its state in its row.
//   - begin claims channels that are due, and serve sends their deliveries in
//     order. One instance at a time serves a channel, under a lease that
//     expires if the instance dies.
//
// A message is sent at least once. It is sent twice only if an instance died,
// or a response was lost, between sending and recording. The ID of a message is
// the same for each attempt, so a receiver can detect that.
//
// The states of a delivery are:
//
//	pending -> sent      the receiver accepted it
//	pending -> failed    the receiver refused it, or MaxAge passed
//	pending -> held      quiet hours, or the hourly cap is reached
//	held    -> pending   quiet hours ended
//	held    -> folded    it is a line of a digest
//	any     -> skipped   the end of an incident whose start was not sent
//
// A channel gets the start and the end of an incident once each, and the end
// only if it got the start.
//
// Each chat and push service takes a few lines with the package's own HTTP
// client. The maintained fork of shoutrrr is not used: it creates its HTTP
// clients itself and takes no context, its errors contain URLs with tokens, and
// it does not report Retry-After. The address check, the handling of redirects,
// and the limits could not be enforced.
package channel

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/heartbeat"
	"github.com/hostler/hostler/core/secret"
)

// SealedTable is the column of the channels' secrets, for rotating the key.
var SealedTable = secret.Table{Name: "notification_channels", Column: "secrets", Key: []string{"id"}}

// Config has the dependencies and limits of a Store. DB and Keys are required.
type Config struct {
	DB   *db.DB
	Keys *secret.Box
	// BaseURL is the URL at which users reach the service, without a slash at
	// the end. If it is empty, messages have only paths instead of links.
	BaseURL string
	// AllowLocal allows receivers at loopback and link-local addresses.
	AllowLocal bool
	Logger     hclog.Logger
	// Heartbeat may be nil.
	Heartbeat *heartbeat.Monitor
	// SecretsUnavailable reports whether secrets cannot be decrypted now. Run
	// then routes events but sends nothing. nil means never.
	SecretsUnavailable func() bool

	// Lease is how long an instance keeps a channel after its last sign of
	// life; 0 means two minutes. SendTime bounds sending one message; 0 means
	// 30 seconds. It must be less than half of Lease, so that no message is
	// still being sent when the lease expires.
	Lease, SendTime time.Duration
	// FirstWait is the delay after a first failure. It doubles with each
	// further failure up to LongestWait. 0 means 5 seconds and 15 minutes.
	FirstWait, LongestWait time.Duration
	// MaxAge is how long a message is retried; 0 means 24 hours.
	MaxAge time.Duration
	// Window is the period of the hourly cap; 0 means an hour. Tests make it
	// shorter.
	Window time.Duration
	// Now is the clock of quiet hours; nil means time.Now. Everything else uses
	// the clock of the database.
	Now func() time.Time
}

// Store manages channels and sends messages. It is safe for concurrent use, and
// several instances may share one database.
type Store struct {
	Config
	// own is the random name of this process in leases.
	own string
	// hook is called at named points, for tests that kill the process there.
	hook func(point string)
}

// Kind is the protocol of a channel.
type Kind string

// The kinds of channels.
const (
	Webhook  Kind = "webhook"
	SMTP     Kind = "smtp"
	Ntfy     Kind = "ntfy"
	Gotify   Kind = "gotify"
	Discord  Kind = "discord"
	Slack    Kind = "slack"
	Telegram Kind = "telegram"
	Matrix   Kind = "matrix"
	Teams    Kind = "teams"
	Pushover Kind = "pushover"
)

// Settings are the settings of a channel without its secrets. The table kinds
// says which of them each kind has.
type Settings struct {
	URL      string   `json:"url,omitempty" maxLength:"1000" example:"https://hooks.example.com/hostler" doc:"URL that messages are posted to: webhook, gotify, matrix; ntfy, telegram and pushover default to their public servers"`
	Server   string   `json:"server,omitempty" maxLength:"300" example:"mail.example.com:587" doc:"smtp: address of the server, with port"`
	Security string   `json:"security,omitempty" enum:"starttls,tls,none" doc:"smtp: starttls if absent; none is allowed only without a password"`
	Username string   `json:"username,omitempty" maxLength:"200" example:"hostler" doc:"smtp: user name; requires a password"`
	From     string   `json:"from,omitempty" maxLength:"320" example:"Hostler <hostler@example.com>" doc:"smtp: sender address"`
	To       []string `json:"to,omitempty" maxItems:"20" nullable:"false" example:"[\"ops@example.com\"]" doc:"smtp: recipients"`
	Topic    string   `json:"topic,omitempty" maxLength:"64" example:"hostler-alerts" doc:"ntfy: topic"`
	Chat     string   `json:"chat,omitempty" maxLength:"64" example:"-1001234567890" doc:"telegram: ID of the chat, or @name of a channel"`
	Room     string   `json:"room,omitempty" maxLength:"255" example:"!abc:example.com" doc:"matrix: ID of the room"`
	Device   string   `json:"device,omitempty" maxLength:"100" example:"phone" doc:"pushover: one device; all devices if absent"`

	Fingerprint string `json:"tls_fingerprint,omitempty" maxLength:"200" doc:"SHA-256 of the certificate to pin; if absent, the certificate is checked against the system's certificate authorities"`
}

// Secrets are the secrets of a channel by name. The table kinds says which of
// them each kind has.
type Secrets map[string]secret.String

// names returns the names of the secrets that are set, sorted.
func (s Secrets) names() []string {
	all := []string{}
	for name, value := range s {
		if !value.Empty() {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// reveal returns all values, and the secret parts of a URL, in order to remove
// them from the text of receivers. The longest come first, so that a part does
// not break up a longer match.
func (s Secrets) reveal() []string {
	all := make([]string, 0, len(s))
	for name, value := range s {
		all = append(all, value.Reveal())
		if u, err := url.Parse(value.Reveal()); name == "url" && err == nil {
			all = append(all, u.RequestURI(), u.EscapedPath(), u.RawQuery)
			for part := range strings.SplitSeq(u.EscapedPath(), "/") {
				if len(part) >= 8 {
					all = append(all, part)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.DeleteFunc(all, func(part string) bool { return len(part) < 2 })
}

// Route is a filter for events. An empty list matches everything; the
// conditions of one route must all match.
type Route struct {
	Severity string   `json:"severity" enum:"info,warning,critical" example:"warning" doc:"Minimum severity"`
	Kinds    []string `json:"kinds" required:"false" nullable:"false" maxItems:"20" enum:"alert,job_failed,backup_report,new_login,update_done,update_rolled_back" example:"[\"alert\"]"`
	Teams    []int64  `json:"teams" required:"false" nullable:"false" maxItems:"100" example:"[2]" doc:"Only events of these teams. Only for channels of the default team, which otherwise send the events of all teams"`
	Tags     []string `json:"tags" required:"false" nullable:"false" maxItems:"50" example:"[\"prod\"]" doc:"Only guests with at least one of these tags"`
	Rules    []string `json:"rules" required:"false" nullable:"false" maxItems:"100" example:"[\"host.permission\"]" doc:"Only alerts of these rules, by name"`
}

// Channel is a channel without the values of its secrets. The JSON names are
// those of the API.
type Channel struct {
	ID           int64       `json:"id" example:"3"`
	TeamID       int64       `json:"team_id" example:"1" doc:"Team whose events it sends; a channel of the default team sends the events of all teams"`
	Name         string      `json:"name" example:"on call"`
	Kind         Kind        `json:"kind" enum:"webhook,smtp,ntfy,gotify,discord,slack,telegram,matrix,teams,pushover" example:"webhook"`
	Enabled      bool        `json:"enabled" example:"true"`
	Settings     Settings    `json:"settings"`
	SecretsSet   []string    `json:"secrets_set" nullable:"false" example:"[\"secret\"]" doc:"Names of the secrets that are set; their values are never returned"`
	AllowPrivate bool        `json:"allow_private" doc:"true if it may connect to private addresses"`
	AccountMail  bool        `json:"account_mail" doc:"true if it emails users about log-ins to their accounts from new places"`
	HourlyCap    int         `json:"hourly_cap" example:"60" doc:"Maximum number of messages per hour; further messages are sent as a digest"`
	Quiet        *QuietHours `json:"quiet_hours" doc:"Quiet hours; null for none"`
	Routes       []Route     `json:"routes" nullable:"false" doc:"Filters; an event is sent if it matches at least one of them. Without filters, all events are sent"`
	AuditActions []string    `json:"audit_actions" nullable:"false" example:"[\"vm.*\"]" doc:"Actions of the audit log that this webhook sends; it then sends nothing else"`
	Queue        Queue       `json:"queue"`
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
}

// Queue is the state of a channel's queue.
type Queue struct {
	Pending      int        `json:"pending" doc:"Number of messages that wait to be sent"`
	Held         int        `json:"held" doc:"Number of messages that wait for the end of quiet hours or for the next digest"`
	Failures     int        `json:"failures" doc:"Number of failures since the last success. The delay before the next attempt grows with each one, up to 15 minutes unless the receiver asks for more"`
	NextTryAt    *time.Time `json:"next_try_at" doc:"Time of the next attempt after a failure"`
	LastOKAt     *time.Time `json:"last_ok_at" doc:"When the receiver last accepted a message"`
	LastError    *string    `json:"last_error" example:"the receiver responded with 401 Unauthorized"`
	LastErrorAt  *time.Time `json:"last_error_at"`
	AuditSkipped int64      `json:"audit_skipped" doc:"Number of audit entries that were not sent because they were older than a day when their turn came"`
}

// New returns a store with defaults for the limits that are 0.
func New(c Config) *Store {
	fill := func(field *time.Duration, standard time.Duration) {
		if *field == 0 {
			*field = standard
		}
	}
	fill(&c.Lease, 2*time.Minute)
	fill(&c.SendTime, 30*time.Second)
	fill(&c.FirstWait, 5*time.Second)
	fill(&c.LongestWait, 15*time.Minute)
	fill(&c.MaxAge, 24*time.Hour)
	fill(&c.Window, time.Hour)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Store{Config: c, own: newOwner(), hook: func(string) {}}
}

// binding ties the encrypted secrets of a channel to its row.
func binding(id int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(id)}
}

// Get returns a channel to a caller who is an admin of its team. Problems:
// not_found and forbidden.
func (s *Store) Get(ctx context.Context, id int64) (*Channel, error) {
	if err := s.require(ctx, id); err != nil {
		return nil, err
	}
	return s.read(ctx, id)
}
