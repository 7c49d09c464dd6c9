package channel

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// sendDiscord executes a webhook of Discord
// (discord.com/developers/docs/resources/webhook) and waits until the message
// exists. Mentions in the text have no effect.
func sendDiscord(ctx context.Context, out *sender, m *message) error {
	embed := map[string]any{"title": cut(m.title(), 256), "description": m.text(4000), "color": colours[m.tone()],
		"timestamp": m.at.Format("2006-01-02T15:04:05Z")}
	if link := m.url(); link != "" {
		embed["url"] = link
	}
	address, err := url.Parse(out.url)
	if err != nil {
		return &unavailable{text: "the receiver's URL is not valid"}
	}
	query := address.Query()
	query.Set("wait", "true")
	address.RawQuery = query.Encode()
	return out.post(ctx, http.MethodPost, address.String(), map[string]any{"embeds": []any{embed},
		"allowed_mentions": map[string]any{"parse": []string{}}}, nil)
}

// slackText escapes the control characters of Slack's markup, so that text
// cannot contain mentions and links.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// sendSlack posts to an incoming webhook of Slack
// (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
func sendSlack(ctx context.Context, out *sender, m *message) error {
	title := slackText.Replace(cut(m.title(), 250))
	section := func(text string) map[string]any {
		return map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": text, "verbatim": true}}
	}
	heading := "*" + title + "*"
	if link := m.url(); link != "" {
		heading = "*<" + slackText.Replace(link) + "|" + strings.ReplaceAll(title, "|", "¦") + ">*"
	}
	return out.post(ctx, http.MethodPost, out.url, map[string]any{"text": title, "attachments": []any{map[string]any{
		"color": fmt.Sprintf("#%06x", colours[m.tone()]), "fallback": title,
		"blocks": []any{section(heading), section(slackText.Replace(m.text(2200)))}}}}, nil)
}

// sendTeams posts an adaptive card to the webhook of a Teams workflow
// (learn.microsoft.com, "Create incoming webhooks with Workflows").
func sendTeams(ctx context.Context, out *sender, m *message) error {
	style := map[string]string{"info": "accent", "warning": "warning", "critical": "attention", "resolved": "good"}
	block := func(text string, more map[string]any) map[string]any {
		b := map[string]any{"type": "TextBlock", "text": text, "wrap": true}
		for key, value := range more {
			b[key] = value
		}
		return b
	}
	body := []any{block(cut(m.title(), 250), map[string]any{"weight": "Bolder", "size": "Medium", "color": style[m.tone()]})}
	lines := slices.DeleteFunc(strings.Split(m.text(4000), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	if most := 60; len(lines) > most { // a message has 28 KiB at most
		lines = append(lines[:most], "…")
	}
	for _, line := range lines {
		body = append(body, block(line, map[string]any{"spacing": "Small"}))
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"body": body}
	if link := m.url(); link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open in Hostler", "url": link}}
	}
	return out.post(ctx, http.MethodPost, out.url, map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}}}, nil)
}

// sendTelegram calls sendMessage of a bot (core.telegram.org/bots/api). A
// message has at most 4096 characters. The token is part of the URL, which
// errors must therefore not repeat.
func sendTelegram(ctx context.Context, out *sender, m *message) error {
	text := "<b>" + html.EscapeString(cut(m.title(), 250)) + "</b>\n" + html.EscapeString(m.text(3500))
	body := map[string]any{"chat_id": m.channel.Settings.Chat, "text": text, "parse_mode": "HTML",
		"link_preview_options": map[string]any{"is_disabled": true}}
	if m.tone() == "info" || m.tone() == "resolved" {
		body["disable_notification"] = true
	}
	return out.post(ctx, http.MethodPost, out.url+"/bot"+url.PathEscape(out.secrets["token"].Reveal())+"/sendMessage", body, nil)
}

// sendMatrix sends an m.room.message (spec.matrix.org, client-server API). The
// ID of the message is the transaction ID, so the server recognizes a message
// that is sent again.
func sendMatrix(ctx context.Context, out *sender, m *message) error {
	text := m.text(3000) // an event has 64 KiB at most
	formatted := "<strong>" + html.EscapeString(m.title()) + "</strong><br>" +
		strings.ReplaceAll(html.EscapeString(text), "\n", "<br>")
	return out.post(ctx, http.MethodPut, out.url+"/_matrix/client/v3/rooms/"+url.PathEscape(m.channel.Settings.Room)+
		"/send/m.room.message/"+url.PathEscape(m.id), map[string]any{"msgtype": "m.text", "body": m.title() + "\n" + text,
		"format": "org.matrix.custom.html", "formatted_body": formatted, "m.mentions": map[string]any{}}, out.bearer())
}
