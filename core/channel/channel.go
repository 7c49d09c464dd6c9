// Package channel brings what happened to people outside the service.
//
// Others write events (core/notify), each in the transaction of what happened. Here it is decided once who is told: an event becomes a
// delivery for each channel whose routes let it through, and all that is to be known of a delivery is in its row. Any instance may serve a
// channel, one at a time, under a lease that ends by itself when the instance dies. So a message is sent at least once, and twice only
// where an instance died, or an answer was lost, between the sending and the note of it; the message's id tells a receiver that.
//
// A channel is told of the beginning of a matter and of its end once each, and of the end only if it was told of the beginning. Beyond
// the channel's hourly cap, and in its quiet hours, deliveries are held; what was too much is told later in one digest.
//
// Chat and push services are a few lines each by our own client. The maintained fork of shoutrrr makes its HTTP clients inside and takes
// no context, its errors have URLs with tokens in them, and Retry-After does not come out of it: neither the address check, nor
// redirects, nor limits would hold.
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

// Config is what a Store works with. DB and Keys are required.
type Config struct {
	DB   *db.DB
	Keys *secret.Box
	// BaseURL is the address of the service as people reach it, without a slash at its end; empty where it is not known. Messages have
	// the path alone then.
	BaseURL string
	// AllowLocal permits receivers at loopback and link-local addresses.
	AllowLocal bool
	Logger     hclog.Logger
	// Heartbeat may be nil.
	Heartbeat *heartbeat.Monitor
	// SecretsUnavailable says that secrets cannot be opened now; nil means that they can.
	SecretsUnavailable func() bool

	// Lease is for how long an instance has a channel after it was last heard of; two minutes when zero. SendTime is how long one
	// message may take; 30 seconds when zero. It is less than half of Lease.
	Lease, SendTime time.Duration
	// FirstWait is the wait after a first failure; it doubles with each further one up to LongestWait. 5 seconds and 15 minutes when zero.
	FirstWait, LongestWait time.Duration
	// MaxAge is for how long a message is tried; 24 hours when zero.
	MaxAge time.Duration
	// Window is the hour of the hourly cap, for tests.
	Window time.Duration
	// Now is the clock of quiet hours; nil takes the machine's.
	Now func() time.Time
}

// Store has the channels of an instance.
type Store struct {
	Config
	// own names this process in leases.
	own string
	// hook is called at named points, for tests that kill the process there.
	hook func(point string)
}

// Kind is what a channel speaks.
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

// Settings are what a channel is told besides secrets. Which of them a kind has is in kinds.
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

// Secrets are a channel's by name. Which of them a kind has is in kinds.
type Secrets map[string]secret.String

// names are the names of those that are set.
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

// reveal are all values, and what is secret of a URL by itself, for hiding them in what others say: the longest first.
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

// Route lets events through to a channel. Lists let all through that are empty.
type Route struct {
	Severity string   `json:"severity" enum:"info,warning,critical" example:"warning" doc:"Minimum severity"`
	Kinds    []string `json:"kinds" required:"false" nullable:"false" maxItems:"20" enum:"alert,job_failed,backup_report,new_login,update_done,update_rolled_back" example:"[\"alert\"]"`
	Teams    []int64  `json:"teams" required:"false" nullable:"false" maxItems:"100" example:"[2]" doc:"Only events of these teams. Only for channels of the default team, which otherwise send the events of all teams"`
	Tags     []string `json:"tags" required:"false" nullable:"false" maxItems:"50" example:"[\"prod\"]" doc:"Only guests with at least one of these tags"`
	Rules    []string `json:"rules" required:"false" nullable:"false" maxItems:"100" example:"[\"host.permission\"]" doc:"Only alerts of these rules, by name"`
}

// Channel is a channel as it is told; the JSON names are those of the API.
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

// Queue is how a channel does.
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

// New makes a store.
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

// binding is what a channel's secrets are bound to.
func binding(id int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(id)}
}

// Get is a channel for a caller who is an admin of its team; any other is problem not_found or forbidden.
func (s *Store) Get(ctx context.Context, id int64) (*Channel, error) {
	if err := s.require(ctx, id); err != nil {
		return nil, err
	}
	return s.read(ctx, id)
}
