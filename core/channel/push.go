package channel

import (
	"context"
	"net/http"
)

// sendNtfy publishes a message as JSON (docs.ntfy.sh/publish). Its text is
// limited to 1000 characters, because ntfy turns a message of more than 4 KiB
// into an attachment.
func sendNtfy(ctx context.Context, out *sender, m *message) error {
	priority := map[string]int{"info": 3, "warning": 4, "critical": 5, "resolved": 3}
	tags := map[string]string{"info": "information_source", "warning": "warning", "critical": "rotating_light",
		"resolved": "white_check_mark"}
	body := map[string]any{"topic": m.channel.Settings.Topic, "title": cut(m.title(), 250), "message": m.text(1000),
		"priority": priority[m.tone()], "tags": []string{tags[m.tone()]}}
	if url := m.url(); url != "" {
		body["click"] = url
	}
	return out.post(ctx, http.MethodPost, out.url, body, out.bearer())
}

// sendGotify creates a message of an application (gotify.net/api-docs,
// createMessage).
func sendGotify(ctx context.Context, out *sender, m *message) error {
	priority := map[string]int{"info": 2, "warning": 5, "critical": 8, "resolved": 2}
	body := map[string]any{"title": cut(m.title(), 250), "message": m.text(10000), "priority": priority[m.tone()]}
	if url := m.url(); url != "" {
		body["extras"] = map[string]any{"client::notification": map[string]any{"click": map[string]string{"url": url}}}
	}
	return out.post(ctx, http.MethodPost, out.url+"/message", body, http.Header{"X-Gotify-Key": {out.secrets["token"].Reveal()}})
}

// sendPushover creates a message (pushover.net/api). The limits are 250
// characters for the title, 1024 for the text and 512 for the URL. The highest
// priority, 2, is not used: it requires users to acknowledge the message there.
func sendPushover(ctx context.Context, out *sender, m *message) error {
	priority := map[string]int{"info": -1, "warning": 0, "critical": 1, "resolved": -1}
	body := map[string]any{"token": out.secrets["token"].Reveal(), "user": out.secrets["user"].Reveal(), "title": cut(m.title(), 250),
		"message": m.text(1024), "priority": priority[m.tone()], "timestamp": m.at.Unix()}
	if m.channel.Settings.Device != "" {
		body["device"] = m.channel.Settings.Device
	}
	if url := m.url(); url != "" && len(url) <= 512 {
		body["url"], body["url_title"] = url, "Open in Hostler"
	}
	return out.post(ctx, http.MethodPost, out.url+"/1/messages.json", body, nil)
}
