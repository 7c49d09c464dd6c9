package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

func loggedPacket(second int, action, proto, from, to string) sdk.LogLine {
	at := time.Date(2026, 3, 1, 12, 0, second, 0, time.UTC)
	return sdk.LogLine{Text: fmt.Sprintf("%d %s %s", second, action, from),
		Entry: &sdk.LogEntry{Time: at, Guest: "101", Scope: sdk.GroupScope,
			Group: "web",
			Level: "info", Chain: "IN", Direction: "in", Action: action, Protocol: proto, Source: from, Destination: to, DestinationPort: "22"}}
}

// The log of a guest is read with the token for consoles where there is one, and each other log with the one for monitoring.
func TestFirewallLogOfAGuestTakesTheTokenForConsoles(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	consoles := l.Cluster.Target(endpoint.Console)
	token := consoles.Credential
	l.Expect(t, "POST", "hosts/1/credentials", fmt.Sprintf(`{"capability":"console","credential_form":%q,"token_id":%q,"token_secret":%q}`,
		token.Form, token.ID, string(token.Secret)), apitest.Owner, 200, "")
	logs := func(guests int, code string) {
		t.Helper()
		for _, s := range l.scopes() {
			switch {
			case s.sdk.Kind == sdk.GuestScope:
				l.Expect(t, "GET", s.path+"/log", "", apitest.Viewer, guests, code)
			case s.sdk.Kind == sdk.NodeScope && s.word != "firewall_node":
				l.Expect(t, "GET", s.path+"/log", "", apitest.Viewer, 200, "")
			}
		}
	}
	logs(200, "")
	consoles.Credential.Secret = "another"
	l.firewall.Admit(consoles)
	logs(502, "hypervisor_error")
	l.Exec("DELETE FROM host_credentials WHERE capability = 'console'")
	logs(200, "")
}

func TestFirewallLogIsFiltered(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	for _, s := range l.scopes() {
		if s.sdk.Kind != sdk.NodeScope && s.sdk.Kind != sdk.GuestScope || s.word == "firewall_node" {
			continue
		}
		url := s.path + "/log"
		l.Expect(t, "GET", url, "", apitest.Viewer, 200, "", "[]")
		l.firewall.AddLog(s.sdk, loggedPacket(1, "DROP", "tcp", "198.51.100.7", "192.0.2.10"),
			loggedPacket(2, "ACCEPT", "UDP", "198.51.100.8", "192.0.2.11"),
			sdk.LogLine{Text: "firewall was restarted"}, loggedPacket(4, "drop", "tcp", "2001:db8::1", "2001:db8::2"))
		for query, want := range map[string]string{
			"": "1 2 3 4", "?start=1&limit=2": "2 3", "?action=DROP": "1 4", "?proto=udp": "2", "?source=198.51.100.0/24": "1 2",
			"?source=2001:db8::/32": "4", "?dest=192.0.2.11": "2", "?action=drop&limit=1": "1", "?start=9": "",
			"?since=2026-03-01T12:00:02Z": "1 2 3", "?until=2026-03-01T12:00:01Z": "1 2", "?action=REJECT": "",
		} {
			var lines []struct {
				N    int
				Text string
				Time *time.Time
			}
			l.Get(t, url+query, &lines)
			var numbers []string
			for _, line := range lines {
				numbers = append(numbers, fmt.Sprint(line.N))
			}
			if got := strings.Join(numbers, " "); got != want {
				t.Errorf("%s%s: %q, want %q", s.word, query, got, want)
			}
		}
		l.Expect(t, "GET", url+"?start=2&limit=1", "", apitest.Viewer, 200, "",
			`{"n":3,"text":"firewall was restarted","time":null,"guest":null,"scope":null`)
		l.Expect(t, "GET", url+"?limit=1", "", apitest.Viewer, 200, "",
			`"time":"2026-03-01T12:00:01Z","guest":"101","scope":"group","group":"web",`+
				`"level":"info","chain":"IN"`,
			`"direction":"in","action":"DROP","proto":"tcp","source":"198.51.100.7","dest":"192.0.2.10","sport":null,"dport":"22"`)
	}
	url := l.VM("running") + "/firewall/log"
	for query, at := range map[string]string{
		"source=everywhere": `["query","source"]`, "dest=1.2.3": `["query","dest"]`, "limit=0": `["query","limit"]`,
		"limit=2001": `["query","limit"]`, "start=-1": `["query","start"]`, "since=yesterday": `["query","since"]`,
		"since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z": `["query","until"]`, "action=": `["query","action"]`,
	} {
		l.Expect(t, "GET", url+"?"+query, "", apitest.Viewer, 422, "invalid", at)
		if !strings.HasPrefix(query, "limit") && query != "start=-1" {
			l.Expect(t, "GET", url+"/stream?"+query, "", apitest.Viewer, 422, "invalid", at)
		}
	}
}

// Filters that leave out much look at so many lines and say where to go on.
func TestFirewallLogWithFewLinesThatFit(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	s := l.scopes()[0]
	lines := make([]sdk.LogLine, 20_500)
	for i := range lines {
		lines[i] = loggedPacket(i%60, "ACCEPT", "tcp", "198.51.100.7", "192.0.2.10")
	}
	lines[20_400].Entry.Action = "DROP"
	l.firewall.AddLog(s.sdk, lines...)
	next := ""
	look := func(query string) {
		a := l.Expect(t, "GET", s.path+"/log?action=DROP"+query, "", apitest.Viewer, 200, "")
		next = a.Header.Get("X-Next-Start") + " of " + a.Header.Get("X-Total-Count") + " " + fmt.Sprint(strings.Count(string(a.Body), `"n":`))
	}
	if look(""); next != "20000 of 20500 0" {
		t.Errorf("at first %s", next)
	}
	if look("&start=20000"); next != "20500 of 20500 1" {
		t.Errorf("then %s", next)
	}
}

// followedLog are the lines that a stream sends.
type followedLog struct {
	*bufio.Scanner
	t *testing.T
}

// follow opens a stream as a viewer until the test ends.
func (l *firewallLab) follow(url string, header http.Header) *followedLog {
	l.t.Helper()
	server := httptest.NewServer(l.Lab.API.Handler)
	l.t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(context.Background())
	l.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/v1/"+url, http.NoBody)
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header = header
	l.Lab.API.LogIn(r, apitest.Viewer)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		l.t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	return &followedLog{bufio.NewScanner(answer.Body), l.t}
}

// next is the id and the text of the next line.
func (f *followedLog) next() string {
	f.t.Helper()
	id := ""
	for f.Scan() {
		if rest, is := strings.CutPrefix(f.Text(), "id: "); is {
			id = rest
		}
		if data, is := strings.CutPrefix(f.Text(), "data: "); is {
			var line struct{ Text string }
			if err := json.Unmarshal([]byte(data), &line); err != nil {
				f.t.Fatal(err)
			}
			return id + " " + line.Text
		}
	}
	f.t.Fatalf("the stream ended: %v", f.Err())
	return ""
}

func TestFirewallLogIsFollowed(t *testing.T) {
	t.Parallel()
	l := newFirewallLab(t)
	s := l.scopes()[0]
	add := func(texts ...string) {
		for _, text := range texts {
			l.firewall.AddLog(s.sdk, sdk.LogLine{Text: text})
		}
	}
	add("one", "two")
	all := l.follow(s.path+"/log/stream?start=0", http.Header{})
	for _, want := range []string{"1 one", "2 two"} {
		if got := all.next(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	back := l.follow(s.path+"/log/stream", http.Header{"Last-Event-Id": {"1"}})
	if got := back.next(); got != "2 two" {
		t.Errorf("back again: %q", got)
	}
	late := l.follow(s.path+"/log/stream", http.Header{})
	l.firewall.Fail(plugin.Errorf(plugin.Unreachable, "away"))
	add("three")
	l.firewall.Fail(nil)
	for name, stream := range map[string]*followedLog{"from the beginning": all, "back again": back, "from now on": late} {
		if got := stream.next(); got != "3 three" {
			t.Errorf("%s: %q", name, got)
		}
	}
	few := l.follow(s.path+"/log/stream?start=1&limit=1", http.Header{})
	if got := few.next(); got != "2 two" || few.Scan() && few.Text() != "" || few.Scan() {
		t.Errorf("one line: %q, and then %q", got, few.Text())
	}
	l.Expect(t, "GET", "firewall/cluster/1/log/stream", "", apitest.Viewer, 501, "unsupported_at_scope")
	l.Expect(t, "GET", "vms/999/firewall/log/stream", "", apitest.Viewer, 404, "not_found")
}
