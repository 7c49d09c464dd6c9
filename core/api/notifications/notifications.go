// Package notifications is the HTTP resource of notification channels and of
// the deliveries over them. Package channel sends the notifications.
package notifications

import (
	"context"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/secret"
)

// Deps has what the operations of this package need.
type Deps struct{ Channels *channel.Store }

type handlers struct{ channels *channel.Store }

const tag = "Notifications"

// form is the part of the description that all operations which write a channel
// share.
const form = "`settings` and `secrets` depend on the kind; an asterisk marks required ones.\n\n" +
	"| kind | settings | secrets |\n|---|---|---|\n| `webhook` | `url`* | `secret`, `token` |\n| `smtp` | " +
	"`server`*, `from`*, `to`*, `security`, `username` | `password` |\n| `ntfy` | `topic`*, `url` | `token` |\n| " +
	"`gotify` | `url`* | `token`* |\n| `discord`, `slack`, `teams` | | `url`* |\n| `telegram` | `chat`*, `url` | " +
	"`token`* |\n| `matrix` | `url`*, `room`* | `token`* |\n| `pushover` | `url`, `device` | `token`*, `user`* |\n\n" +
	"A webhook is a POST in the format of [Standard Webhooks](https://www.standardwebhooks.com): `webhook-id`, " +
	"which is the same for each attempt, `webhook-timestamp`, and with a `secret` `webhook-signature`, the " +
	"HMAC-SHA256 of ID, timestamp and body. `token` is sent as a bearer token. Redirects are not followed and no " +
	"proxy is used. Private addresses are refused unless `allow_private` is set, which requires an owner of the " +
	"instance; loopback and link-local addresses are refused unless the configuration of the service allows them. " +
	"The check applies to the resolved address, not to the name. Secrets are sent only over `https://`, except to " +
	"private addresses.\n\n" +
	"A channel of a team sends events of the objects of that team; a channel of the default team sends all events. " +
	"Its `routes` filter them. It sends the start and the end of an incident once each, and the end only if the " +
	"start was sent. Messages beyond `hourly_cap` per hour, and incidents that started and ended in `quiet_hours`, " +
	"are sent as a digest. A failed message is retried for 24 hours with increasing delays, or with the delay that " +
	"the receiver requests by `Retry-After`.\n\n" +
	"A webhook of the default team with `audit_actions` sends audit entries instead, as `audit` in the message. " +
	"Each item names an action, such as `vm.start`, or all actions that begin with the text before an asterisk, " +
	"such as `vm.*`; a single asterisk means all. It requires a `secret`, and `https://` unless `allow_private` is " +
	"set. Entries are sent in the order of the audit log, from now on, without hourly limit and quiet hours; if the " +
	"receiver does not accept an entry, the following ones wait. At most 1,000 entries wait as messages, the others " +
	"in the audit log. An entry that is older than a day when its turn comes is not sent, but counted in " +
	"`audit_skipped`."

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Channels}
	const all, one = "/api/v1/notification-channels", "/api/v1/notification-channels/:channel_id"
	op.Get(a, all, h.list, op.Spec{
		ID: "list_notification_channels", Summary: "List notification channels", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Description: "Lists the channels of the teams of which the caller is an admin, by name. Secrets are never " +
			"returned.",
	})
	op.Post(a, all, h.create, op.Spec{
		ID: "create_notification_channel", Summary: "Create a notification channel", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Status: http.StatusCreated, Audit: op.Audit{Action: "notification_channel.create"}, Replay: h.again,
		Description: "The caller must be an admin of the channel's team. " +
			form +
			"\n\n" +
			"A team has at most 100 channels; creating more is 409 `conflict`. With `account_mail`, a mail channel " +
			"of the default team notifies users, at their own addresses, of log-ins to their accounts from new " +
			"places; a second such channel is 409 `conflict`.",
	})
	op.Get(a, one, h.get, op.Spec{
		ID: "get_notification_channel", Summary: "Get a notification channel", Tag: tag, Role: identity.Admin, On: op.Channel,
		Description: "Returns the channel with its queue and its last error.",
	})
	op.Patch(a, one, h.update, op.Spec{
		ID: "update_notification_channel", Summary: "Change a notification channel", Tag: tag, Role: identity.Admin, On: op.Channel,
		Audit: op.Audit{Action: "notification_channel.update"},
		Description: "`settings`, `quiet_hours` and `routes` are replaced as a whole. In `secrets`, null clears a " +
			"secret, and absent secrets are kept. If the server, its certificate or the security changes, secrets " +
			"that are sent to it must be given again. Queued messages are retried at once. " +
			form,
	})
	op.Delete(a, one, h.remove, op.Spec{
		ID: "delete_notification_channel", Summary: "Delete a notification channel", Tag: tag, Role: identity.Admin, On: op.Channel,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "notification_channel.delete"},
		Description: "Deletes the channel with its queued messages and its delivery log.",
	})
	op.Post(a, one+"/test", h.try, op.Spec{
		ID: "test_notification_channel", Summary: "Send a test message to a notification channel", Tag: tag, Role: identity.Admin,
		On:    op.Channel,
		Audit: op.Audit{Action: "notification_channel.test"},
		Description: "Sends a message once and immediately, even if the channel is disabled or in its quiet hours, and " +
			"returns the result: `state` is `sent`, or `failed` with the `error`. If `HOSTLER_BASE_URL` is not set, " +
			"messages contain no links, and `notice` says so.",
	})
	op.Get(a, "/api/v1/notification-deliveries", h.deliveries, op.Spec{
		ID: "list_notification_deliveries", Summary: "List notification deliveries", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Description: "Lists the delivery of each event to the channels of the teams of which the caller is an admin, " +
			"newest first. Deliveries are kept for 30 days.",
	})
}

func (h handlers) list(ctx context.Context, in *struct{ op.Page }) (*op.List[*channel.Channel], error) {
	all, total, err := h.channels.List(ctx, in.Offset(), in.Limit())
	return &op.List[*channel.Channel]{Total: total, Body: all}, err
}

// Secrets are the secrets in a request. Null clears a secret.
type Secrets struct {
	URL      op.Optional[string] `json:"url,omitzero" minLength:"1" maxLength:"1000" doc:"discord, slack, teams: complete URL of the webhook"`
	Secret   op.Optional[string] `json:"secret,omitzero" minLength:"1" maxLength:"1000" doc:"webhook: key for signatures; after whsec_ it is base64"`
	Token    op.Optional[string] `json:"token,omitzero" minLength:"1" maxLength:"1000" doc:"Token: webhook, ntfy, gotify, telegram, matrix, pushover"`
	Password op.Optional[string] `json:"password,omitzero" minLength:"1" maxLength:"1000" doc:"smtp: password"`
	User     op.Optional[string] `json:"user,omitzero" minLength:"1" maxLength:"1000" doc:"pushover: key of the user or group"`
}

// given returns the secrets that the request names. A secret that is to be
// cleared is nil.
func (s *Secrets) given() map[string]*secret.String {
	all := map[string]*secret.String{}
	for name, value := range map[string]op.Optional[string]{"url": s.URL, "secret": s.Secret, "token": s.Token, "password": s.Password,
		"user": s.User} {
		switch {
		case value.Set && value.Null:
			all[name] = nil
		case value.Set:
			all[name] = new(secret.New(value.Value))
		}
	}
	return all
}

type createInput struct {
	Body struct {
		Name         string                          `json:"name" minLength:"1" maxLength:"100" example:"on call"`
		TeamID       int64                           `json:"team_id,omitempty" minimum:"1" default:"1" example:"1"`
		Kind         channel.Kind                    `json:"kind" enum:"webhook,smtp,ntfy,gotify,discord,slack,telegram,matrix,teams,pushover" example:"webhook"`
		Enabled      *bool                           `json:"enabled,omitempty" default:"true"`
		Settings     channel.Settings                `json:"settings,omitempty"`
		Secrets      Secrets                         `json:"secrets,omitempty" doc:"Stored encrypted and never shown again"`
		AllowPrivate bool                            `json:"allow_private,omitempty" doc:"Allow private addresses; only owners of the instance can set it"`
		AccountMail  bool                            `json:"account_mail,omitempty" doc:"Email users about log-ins to their accounts; only for the kind smtp and the default team"`
		HourlyCap    int                             `json:"hourly_cap,omitempty" minimum:"1" maximum:"10000" default:"60" example:"60"`
		Quiet        op.Optional[channel.QuietHours] `json:"quiet_hours,omitzero" doc:"Quiet hours; null for none"`
		Routes       []channel.Route                 `json:"routes,omitempty" nullable:"false" maxItems:"20" doc:"Filters; an event is sent if it matches at least one of them. Without filters, all events are sent"`
		AuditActions []string                        `json:"audit_actions,omitempty" nullable:"false" maxItems:"50" example:"[\"vm.*\"]" doc:"For a webhook of the default team: actions of the audit log to send, and nothing else"`
	}
}

func (h handlers) create(ctx context.Context, in *createInput) (*op.Body[*channel.Channel], error) {
	b := &in.Body
	secrets := channel.Secrets{}
	for name, value := range b.Secrets.given() {
		if value != nil {
			secrets[name] = *value
		}
	}
	made, err := h.channels.Create(ctx, channel.Channel{TeamID: b.TeamID, Name: b.Name, Kind: b.Kind, Enabled: b.Enabled == nil ||
		*b.Enabled, Settings: b.Settings,
		AllowPrivate: b.AllowPrivate, AccountMail: b.AccountMail, HourlyCap: b.HourlyCap, Quiet: b.Quiet.Pointer(), Routes: b.Routes,
		AuditActions: b.AuditActions}, secrets)
	return &op.Body[*channel.Channel]{Body: made}, err
}

// again rebuilds the answer of create for a repeated Idempotency-Key, with the
// current state of the channel.
func (h handlers) again(ctx context.Context, made idempotency.Result) (any, error) {
	return h.channels.Get(ctx, made.Target())
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[*channel.Channel], error) {
	found, err := h.channels.Get(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[*channel.Channel]{Body: found}, err
}

type updateInput struct {
	Body struct {
		Name         op.Optional[string]             `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"100" example:"on call"`
		Enabled      op.Optional[bool]               `json:"enabled,omitzero" nullable:"false"`
		Settings     op.Optional[channel.Settings]   `json:"settings,omitzero" nullable:"false"`
		Secrets      op.Optional[Secrets]            `json:"secrets,omitzero" nullable:"false"`
		AllowPrivate op.Optional[bool]               `json:"allow_private,omitzero" nullable:"false"`
		AccountMail  op.Optional[bool]               `json:"account_mail,omitzero" nullable:"false"`
		HourlyCap    op.Optional[int]                `json:"hourly_cap,omitzero" nullable:"false" minimum:"1" maximum:"10000" example:"60"`
		Quiet        op.Optional[channel.QuietHours] `json:"quiet_hours,omitzero" doc:"Quiet hours; null for none"`
		Routes       op.Optional[[]channel.Route]    `json:"routes,omitzero" nullable:"false" maxItems:"20"`
		AuditActions op.Optional[[]string]           `json:"audit_actions,omitzero" nullable:"false" maxItems:"50" example:"[\"vm.*\"]"`
	}
}

func (h handlers) update(ctx context.Context, in *updateInput) (*op.Body[*channel.Channel], error) {
	b := &in.Body
	now, err := h.channels.Update(ctx, op.ResourceOf(ctx).ID, func(c *channel.Channel) {
		set(&c.Name, b.Name)
		set(&c.Enabled, b.Enabled)
		set(&c.Settings, b.Settings)
		set(&c.AllowPrivate, b.AllowPrivate)
		set(&c.AccountMail, b.AccountMail)
		set(&c.HourlyCap, b.HourlyCap)
		set(&c.Routes, b.Routes)
		set(&c.AuditActions, b.AuditActions)
		if b.Quiet.Set {
			c.Quiet = b.Quiet.Pointer()
		}
	}, b.Secrets.Value.given())
	return &op.Body[*channel.Channel]{Body: now}, err
}

func set[T any](field *T, given op.Optional[T]) {
	if value := given.Pointer(); value != nil {
		*field = *value
	}
}

func (h handlers) remove(ctx context.Context, _ *struct{}) (*op.Empty, error) {
	return nil, h.channels.Delete(ctx, op.ResourceOf(ctx).ID)
}

func (h handlers) try(ctx context.Context, _ *struct{}) (*op.Body[*channel.TestResult], error) {
	became, err := h.channels.SendTest(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[*channel.TestResult]{Body: became}, err
}

type deliveriesInput struct {
	op.Page
	ChannelID int64  `query:"channel_id" minimum:"1" doc:"Only deliveries of this channel"`
	State     string `query:"state" enum:"pending,held,folded,sent,failed,skipped" doc:"Only deliveries in this state"`
	Incident  string `query:"incident" maxLength:"100" example:"alert:5" doc:"Only deliveries of this incident: its start and its end"`
}

func (h handlers) deliveries(ctx context.Context, in *deliveriesInput) (*op.List[channel.Delivery], error) {
	f := channel.Filter{ChannelID: in.ChannelID, State: in.State, Incident: in.Incident}
	all, total, err := h.channels.Deliveries(ctx, f, in.Offset(), in.Limit())
	return &op.List[channel.Delivery]{Total: total, Body: all}, err
}
