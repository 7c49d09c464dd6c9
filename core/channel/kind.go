package channel

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/outbound"
)

// kind describes one kind of channel.
type kind struct {
	// settings and secrets are the names of the allowed fields. An asterisk at
	// the end marks a required field.
	settings, secrets []string
	// url is the public server of the service; empty if there is none.
	url string
	// send sends one message. Its error is a *refusal or an *unavailable.
	send func(ctx context.Context, out *sender, m *message) error
}

// kinds describes all kinds. Each may also pin a certificate, which is not
// listed here.
var kinds = map[Kind]kind{
	Webhook:  {settings: []string{"url*"}, secrets: []string{"secret", "token"}, send: sendWebhook},
	SMTP:     {settings: []string{"server*", "security", "username", "from*", "to*"}, secrets: []string{"password"}, send: sendMail},
	Ntfy:     {settings: []string{"url", "topic*"}, secrets: []string{"token"}, url: "https://ntfy.sh", send: sendNtfy},
	Gotify:   {settings: []string{"url*"}, secrets: []string{"token*"}, send: sendGotify},
	Discord:  {secrets: []string{"url*"}, send: sendDiscord},
	Slack:    {secrets: []string{"url*"}, send: sendSlack},
	Teams:    {secrets: []string{"url*"}, send: sendTeams},
	Telegram: {settings: []string{"url", "chat*"}, secrets: []string{"token*"}, url: "https://api.telegram.org", send: sendTelegram},
	Matrix:   {settings: []string{"url*", "room*"}, secrets: []string{"token*"}, send: sendMatrix},
	Pushover: {settings: []string{"url", "device"}, secrets: []string{"token*", "user*"}, url: "https://api.pushover.net",
		send: sendPushover},
}

// may reports whether a list of names has a field, required or not.
func may(list []string, name string) bool {
	return slices.Contains(list, name) || must(list, name)
}

// must reports whether a list of names has a field with an asterisk.
func must(list []string, name string) bool { return slices.Contains(list, name+"*") }

// values returns the settings by name; an absent one is "". The value for the
// list of recipients only says whether it is empty.
func (s *Settings) values() map[string]string {
	to := ""
	if len(s.To) > 0 {
		to = "there"
	}
	return map[string]string{"url": s.URL, "server": s.Server, "security": s.Security, "username": s.Username, "from": s.From, "to": to,
		"topic": s.Topic, "chat": s.Chat, "room": s.Room, "device": s.Device}
}

// destination returns where a channel sends its messages: the URL, empty for
// email, and the address with port to connect to.
func (c *Channel) destination(rules outbound.Rules, secrets Secrets) (url, address string, err error) {
	if c.Kind == SMTP {
		port := "587"
		switch c.Settings.Security {
		case "tls":
			port = "465"
		case "none":
			port = "25"
		}
		address, err = rules.ParseAddress(c.Settings.Server, port)
		return "", address, err
	}
	url = c.Settings.URL
	if may(kinds[c.Kind].secrets, "url") {
		url = secrets["url"].Reveal()
	}
	if url == "" {
		url = kinds[c.Kind].url
	}
	_, address, err = rules.ParseURL(url)
	return url, address, err
}
