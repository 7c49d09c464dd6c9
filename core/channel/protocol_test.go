package channel_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/notify"
)

// hostile is what somebody may call a VM to have others mentioned, or a page changed.
const hostile = `<b>@everyone</b> <!channel> & "x" | *y*`

// Each service gets what its documentation says, over HTTP, with the link back, and nobody is mentioned by what a guest is called.
func TestEachServiceGetsItsForm(t *testing.T) {
	t.Parallel()
	const link = "https://hostler.example.com/sub/guests/vm/3"
	for _, test := range []struct {
		kind     channel.Kind
		settings channel.Settings
		secrets  map[string]string
		// at is what goes before the server's URL is a setting or a secret.
		secretURL string
		check     func(t *testing.T, r *request)
	}{
		{channel.Ntfy, channel.Settings{Topic: "ops"}, map[string]string{"token": "tk_canary"}, "", func(t *testing.T, r *request) {
			is(t, r.URL.Path, "/")
			is(t, r.Header.Get("Authorization"), "Bearer tk_canary")
			is(t, r.json("topic"), "ops")
			is(t, r.json("title"), "[critical] "+hostile)
			is(t, r.json("priority"), "5")
			is(t, r.json("click"), link)
			has(t, r.json("message"), "no answer since 12:03", "About: vm web1", "Rule: guest.down", link)
		}},
		{channel.Gotify, channel.Settings{}, map[string]string{"token": "canary"}, "", func(t *testing.T, r *request) {
			is(t, r.URL.Path, "/message")
			is(t, r.Header.Get("X-Gotify-Key"), "canary")
			is(t, r.URL.RawQuery, "")
			is(t, r.json("priority"), "8")
			is(t, r.json("extras", "client::notification", "click", "url"), link)
			has(t, r.json("message"), "no answer since 12:03")
		}},
		{channel.Discord, channel.Settings{}, nil, "/api/webhooks/1/canary-token", func(t *testing.T, r *request) {
			is(t, r.URL.Path, "/api/webhooks/1/canary-token")
			is(t, r.URL.Query().Get("wait"), "true")
			is(t, r.json("allowed_mentions", "parse"), "[]")
			is(t, r.json("embeds", 0, "url"), link)
			is(t, r.json("embeds", 0, "color"), strconv.Itoa(0xd22f2f))
			has(t, r.json("embeds", 0, "description"), "no answer since 12:03")
			_, err := time.Parse(time.RFC3339, r.json("embeds", 0, "timestamp"))
			is(t, fmt.Sprint(err), "<nil>")
		}},
		{channel.Slack, channel.Settings{}, nil, "/services/T1/B1/canary-token", func(t *testing.T, r *request) {
			has(t, r.json("text"), "&lt;!channel&gt;")
			is(t, r.json("attachments", 0, "color"), "#d22f2f")
			has(t, r.json("attachments", 0, "blocks", 0, "text", "text"), "*<"+link+"|[critical]", "¦")
			has(t, r.json("attachments", 0, "blocks", 1, "text", "text"), "no answer since 12:03")
			if strings.Contains(string(r.body), "<!channel>") || strings.Contains(string(r.body), `\u003c!channel\u003e`) {
				t.Error("the channel is mentioned")
			}
		}},
		{channel.Teams, channel.Settings{}, nil, "/workflows/canary-token?sig=canary-sig", func(t *testing.T, r *request) {
			is(t, r.URL.Query().Get("sig"), "canary-sig")
			is(t, r.json("type"), "message")
			is(t, r.json("attachments", 0, "contentType"), "application/vnd.microsoft.card.adaptive")
			is(t, r.json("attachments", 0, "content", "type"), "AdaptiveCard")
			is(t, r.json("attachments", 0, "content", "body", 0, "color"), "attention")
			is(t, r.json("attachments", 0, "content", "actions", 0, "url"), link)
		}},
		{channel.Telegram, channel.Settings{Chat: "-100123"}, map[string]string{"token": "123:canary"}, "", func(t *testing.T, r *request) {
			is(t, r.URL.Path, "/bot123:canary/sendMessage")
			is(t, r.json("chat_id"), "-100123")
			is(t, r.json("parse_mode"), "HTML")
			has(t, r.json("text"), "<b>[critical] &lt;b&gt;@everyone", "no answer since 12:03", link)
		}},
		{channel.Matrix, channel.Settings{Room: "!a/b:example.com"}, map[string]string{"token": "syt_canary"}, "",
			func(t *testing.T, r *request) {
				is(t, r.Method, http.MethodPut)
				has(t, r.URL.EscapedPath(), "/_matrix/client/v3/rooms/%21a%2Fb:example.com/send/m.room.message/")
				is(t, r.Header.Get("Authorization"), "Bearer syt_canary")
				is(t, r.json("msgtype"), "m.text")
				is(t, r.json("format"), "org.matrix.custom.html")
				is(t, r.json("m.mentions"), "{}")
				has(t, r.json("formatted_body"), "<strong>[critical] &lt;b&gt;@everyone")
			}},
		{channel.Pushover, channel.Settings{Device: "phone"}, map[string]string{"token": "canary-app", "user": "canary-user"}, "",
			func(t *testing.T, r *request) {
				is(t, r.URL.Path, "/1/messages.json")
				is(t, r.json("token"), "canary-app")
				is(t, r.json("user"), "canary-user")
				is(t, r.json("device"), "phone")
				is(t, r.json("priority"), "1")
				is(t, r.json("url"), link)
			}},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			t.Parallel()
			f, c := newFixture(t), newReceiver(t)
			if test.secretURL != "" {
				test.secrets = map[string]string{"url": c.URL + test.secretURL}
			} else {
				test.settings.URL = c.URL
			}
			made := f.add(channel.Channel{Kind: test.kind, Settings: test.settings}, test.secrets)
			f.tell(notify.Event{Incident: "alert:1", State: notify.Open, Severity: "critical", Rule: "guest.down", TargetKind: "vm",
				TargetName: "web1", Title: hostile, Body: "no answer since 12:03", Link: "/guests/vm/3"})
			f.turn()
			got := c.requests()
			if len(got) != 1 {
				t.Fatalf("%d requests; %v, %+v", len(got), f.states(), f.queue(made.ID))
			}
			is(t, got[0].Header.Get("Content-Type"), "application/json")
			test.check(t, got[0])
			// A text that is far too long, and an answer that repeats what is secret.
			f.tell(notify.Event{Title: strings.Repeat("é", 5000), Body: strings.Repeat("ü\n", 200_000)})
			c.answer(func(w http.ResponseWriter, r *request) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprintf(w, "no %s (%s) %s %s", url.QueryEscape(r.URL.String()), r.URL, r.Header, r.body)
			})
			f.turn()
			got = c.requests()
			if most := 64 << 10; len(got) != 2 || len(got[1].body) > most {
				t.Errorf("%d requests, the last one of %d bytes", len(got), len(got[len(got)-1].body))
			}
			q := f.queue(made.ID)
			if q.LastError == nil || !strings.Contains(*q.LastError, "403 Forbidden") || strings.Contains(*q.LastError, "canary") {
				t.Errorf("%+v", q)
			}
		})
	}
}

func is(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}

// A webhook is signed as Standard Webhooks says, which is computed here anew, and has all of the event.
func TestWebhook(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef0123456789abcdef")
	for name, secret := range map[string]string{"base64": "whsec_" + base64.StdEncoding.EncodeToString(key), "plain": string(key)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, c := newFixture(t), newReceiver(t)
			f.add(channel.Channel{Kind: channel.Webhook, Settings: channel.Settings{URL: c.URL + "/in?tenant=1"}},
				map[string]string{"secret": secret, "token": "canary"})
			target := int64(3)
			f.tell(notify.Event{Incident: "alert:1", State: notify.Open, Severity: "critical", Rule: "guest.down", TargetKind: "vm",
				TargetID:   &target,
				TargetName: "web1", Tags: []string{"prod"}, Title: "web1 is down", Body: "no answer", Link: "/guests/vm/3"})
			f.turn()
			got := c.requests()
			if len(got) != 1 {
				t.Fatalf("%d requests", len(got))
			}
			r := got[0]
			is(t, r.URL.RequestURI(), "/in?tenant=1")
			is(t, r.Header.Get("Authorization"), "Bearer canary")
			id, stamp := r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp")
			sum := hmac.New(sha256.New, key)
			sum.Write([]byte(id + "." + stamp + "." + string(r.body)))
			is(t, r.Header.Get("Webhook-Signature"), "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
			seconds, err := strconv.ParseInt(stamp, 10, 64)
			if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
				t.Errorf("the timestamp is %q", stamp)
			}
			is(t, r.json("id"), id)
			for member, want := range map[string]string{"kind": "alert", "state": "open", "incident": "alert:1", "severity": "critical",
				"rule": "guest.down", "target": `{"id":3,"kind":"vm","name":"web1"}`, "tags": `["prod"]`, "title": "web1 is down", "body": "no answer",
				"link": "https://hostler.example.com/sub/guests/vm/3", "team_id": "null"} {
				is(t, r.json(member), want)
			}
		})
	}
}

// Where nobody has said how the service is reached, messages have the path alone.
func TestWithoutABaseURL(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t, func(c *channel.Config) { c.BaseURL = "" }), newReceiver(t)
	f.hook(c)
	f.add(channel.Channel{Kind: channel.Ntfy, Settings: channel.Settings{URL: c.URL, Topic: "ops"}}, nil)
	f.tell(notify.Event{Link: "/guests/vm/3"})
	f.turn()
	for _, r := range c.requests() {
		if r.json("topic") == "ops" {
			is(t, r.json("click"), "null")
			has(t, r.json("message"), "\n/guests/vm/3")
		} else {
			is(t, r.json("link"), "/guests/vm/3")
		}
	}
	if n := len(c.requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}
