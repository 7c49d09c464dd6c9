package channel

import (
	"context"
	"slices"

	"github.com/hostler/hostler/core/outbound"
)

// kind is what tells one kind of channel from others.
type kind struct {
	// settings and secrets are the names of those that it may have; with a star
	// at its end, one that it must.
	settings, secrets []string
	// url is the public server's; empty where there is none.
	url string
	// send sends one message. The error is a refusal, or away.
	send func(ctx context.Context, out *sender, m *message) error
}

// kinds are all kinds. Beside the settings named here each may pin a certificate.
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

// may and must say what a list of names has of a name.
func may(list []string, name string) bool {
	return slices.Contains(list, name) || must(list, name)
}

// must reports whether a field is required. A star behind its name says so.
func must(list []string, name string) bool { return slices.Contains(list, name+"*") }

// values are the settings by name, "" for absent ones.
func (s *Settings) values() map[string]string {
	to := ""
	if len(s.To) > 0 {
		to = "there"
	}
	return map[string]string{"url": s.URL, "server": s.Server, "security": s.Security, "username": s.Username, "from": s.From, "to": to,
		"topic": s.Topic, "chat": s.Chat, "room": s.Room, "device": s.Device}
}

// destination is where a channel's messages go: the address that is dialled,
// and the URL where it has one.
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
