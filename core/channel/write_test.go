package channel_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
)

func given(value string) *secret.String { return new(secret.New(value)) }

// Secrets are sealed and never told, stay where a change does not name them, and go to no server that they were not given for.
func TestSecretsStayWhereTheyWereGivenFor(t *testing.T) {
	t.Parallel()
	f, c, other := newFixture(t), newReceiver(t), newReceiver(t)
	made := f.add(channel.Channel{Kind: channel.Webhook, Settings: channel.Settings{URL: c.URL}},
		map[string]string{"secret": "canary-secret", "token": "canary-token"})
	if text := dbtest.Value[string](t, f.DB, "SELECT row_to_json(c)::text FROM notification_channels c"); strings.Contains(text, "canary") {
		t.Errorf("stored as it is: %s", text)
	}
	update := func(edit func(*channel.Channel), secrets map[string]*secret.String) error {
		now, err := f.Update(asOwner(t), made.ID, edit, secrets)
		if err == nil && strings.Contains(fmt.Sprintf("%+v", now), "canary") {
			t.Errorf("told: %+v", now)
		}
		return err
	}
	if err := update(func(c *channel.Channel) { c.Name = "other" }, nil); err != nil {
		t.Fatal(err)
	}
	f.begin("alert:1", "warning")
	f.turn()
	is(t, c.requests()[0].Header.Get("Authorization"), "Bearer canary-token")
	elsewhere := func(c *channel.Channel) { c.Settings.URL = other.URL }
	if err := update(elsewhere, nil); problem.CodeOf(err) != problem.CodeInvalid || !strings.Contains(fmt.Sprint(problem.From(err).Faults),
		"token") {
		t.Errorf("the token goes elsewhere: %v", err)
	}
	if err := update(elsewhere, map[string]*secret.String{"token": given("canary-new")}); err != nil {
		t.Fatal(err)
	}
	f.end("alert:1")
	f.turn()
	is(t, other.requests()[0].Header.Get("Authorization"), "Bearer canary-new")
	if other.requests()[0].Header.Get("Webhook-Signature") == "" {
		t.Error("the secret that signs is gone")
	}
	if err := update(func(*channel.Channel) {}, map[string]*secret.String{"token": nil, "secret": nil}); err != nil {
		t.Fatal(err)
	}
	if now, err := f.Get(asOwner(t), made.ID); err != nil || len(now.SecretsSet) != 0 {
		t.Errorf("%+v, %v", now, err)
	}
	if text := dbtest.Value[string](t, f.DB, "SELECT coalesce(string_agg(details::text, ''), '') FROM audit"); strings.Contains(text,
		"canary") {
		t.Errorf("in the audit log: %s", text)
	}
}

// Admins of a team have its channels and no others; only owners of the instance let one into private networks.
func TestWhoMayWhat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec("INSERT INTO teams (id, name, slug) VALUES (2, 'Two', 'two')")
	hook := func(team int64, private bool) channel.Channel {
		return channel.Channel{TeamID: team, Name: "x", Kind: channel.Webhook, HourlyCap: 1, AllowPrivate: private,
			Settings: channel.Settings{URL: "https://203.0.113.1/x"}}
	}
	for _, test := range []struct {
		name    string
		in      int64
		role    identity.Role
		team    int64
		private bool
		code    problem.Code
	}{
		{"an admin of the instance", 1, identity.Admin, 1, false, ""},
		{"for another team", 1, identity.Admin, 2, false, ""},
		{"for no team", 1, identity.Admin, 77, false, problem.CodeNotFound},
		{"privately", 1, identity.Admin, 1, true, problem.CodeForbidden},
		{"an owner, privately", 1, identity.Owner, 2, true, ""},
		{"an admin of the team", 2, identity.Admin, 2, false, ""},
		{"an owner of the team, privately", 2, identity.Owner, 2, true, problem.CodeForbidden},
		{"an operator of the team", 2, identity.Operator, 2, false, problem.CodeForbidden},
		{"of another team", 2, identity.Owner, 1, false, problem.CodeNotFound},
	} {
		_, err := f.Create(as(t, test.in, test.role), hook(test.team, test.private), nil)
		if (err == nil) != (test.code == "") || err != nil && problem.CodeOf(err) != test.code {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	// 1 is the instance's, 2 team 2's, 3 team 2's in a private network, 4 team 2's.
	team := as(t, 2, identity.Admin)
	all, total, err := f.List(team, 0, 10)
	if err != nil || total != 3 || slices.ContainsFunc(all, func(c *channel.Channel) bool { return c.TeamID != 2 }) {
		t.Errorf("%d, %v", total, err)
	}
	rename := func(c *channel.Channel) { c.Name = "y" }
	elsewhere := func(c *channel.Channel) { c.Settings.URL = "https://10.0.0.1/" }
	for _, test := range []struct {
		name string
		do   func() error
		code problem.Code
	}{
		{"read another team's", func() error { _, err := f.Get(team, 1); return err }, problem.CodeNotFound},
		{"change another team's", func() error { _, err := f.Update(team, 1, rename, nil); return err }, problem.CodeNotFound},
		{"delete another team's", func() error { return f.Delete(team, 1) }, problem.CodeNotFound},
		{"test another team's", func() error { _, err := f.SendTest(team, 1); return err }, problem.CodeNotFound},
		{"switch privacy on", func() error {
			_, err := f.Update(team, 2, func(c *channel.Channel) { c.AllowPrivate = true }, nil)
			return err
		}, problem.CodeForbidden},
		{"rename a private one", func() error { _, err := f.Update(team, 3, rename, nil); return err }, ""},
		{"lead a private one elsewhere", func() error { _, err := f.Update(team, 3, elsewhere, nil); return err }, problem.CodeForbidden},
		{"lead one inside", func() error { _, err := f.Update(team, 2, elsewhere, nil); return err }, problem.CodeInvalid},
		{"delete", func() error { return f.Delete(team, 4) }, ""},
		{"delete again", func() error { return f.Delete(team, 4) }, problem.CodeNotFound},
	} {
		if err := test.do(); (err == nil) != (test.code == "") || err != nil && problem.CodeOf(err) != test.code {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	f.exec(`INSERT INTO notification_channels (team_id, name, kind, hourly_cap) SELECT 1, 'x', 'webhook', 1 FROM generate_series(1, 100)`)
	if _, err := f.Create(asOwner(t), hook(1, false), nil); problem.CodeOf(err) != problem.CodeConflict {
		t.Errorf("more than a team may have: %v", err)
	}
}

// All that is wrong with a channel is told at once, and nothing of it is stored.
func TestWhatIsNoChannelIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixtureOn(t, dbtest.New(t), newFixture(t).keys, func(c *channel.Config) { c.AllowLocal = false })
	mail := channel.Settings{Server: "mail.example.com", From: "a@example.com", To: []string{"b@example.com"}}
	with := func(s channel.Settings, edit func(*channel.Settings)) channel.Settings {
		edit(&s)
		return s
	}
	url := func(url string) channel.Settings { return channel.Settings{URL: url} }
	for name, test := range map[string]struct {
		c       channel.Channel
		secrets map[string]string
		at      string
	}{
		"no kind":           {channel.Channel{Kind: "pigeon"}, nil, "kind"},
		"no URL":            {channel.Channel{Kind: channel.Webhook}, nil, "settings url"},
		"a file":            {channel.Channel{Kind: channel.Webhook, Settings: url("file:///etc/passwd")}, nil, "settings url"},
		"loopback":          {channel.Channel{Kind: channel.Webhook, Settings: url("http://127.0.0.1/")}, nil, "settings url"},
		"a private network": {channel.Channel{Kind: channel.Webhook, Settings: url("https://192.168.1.1/")}, nil, "settings url"},
		"a private IPv6":    {channel.Channel{Kind: channel.Webhook, Settings: url("https://[fd12::1]/")}, nil, "settings url"},
		"metadata":          {channel.Channel{Kind: channel.Webhook, Settings: url("http://169.254.169.254/")}, nil, "settings url"},
		"metadata, privately": {channel.Channel{Kind: channel.Webhook, Settings: url("http://169.254.169.254/"), AllowPrivate: true}, nil,
			"settings url"},
		"a user in the URL": {channel.Channel{Kind: channel.Webhook, Settings: url("https://me:canary@example.com/")}, nil, "settings url"},
		"NUL":               {channel.Channel{Kind: channel.Webhook, Settings: url("https://a\x00b/")}, nil, "settings url"},
		"a token in clear": {channel.Channel{Kind: channel.Gotify, Settings: url("http://example.com/")},
			map[string]string{"token": "canary"}, "settings url"},
		"no token": {channel.Channel{Kind: channel.Gotify, Settings: url("https://example.com/")}, nil, "secrets token"},
		"a strange secret": {channel.Channel{Kind: channel.Gotify, Settings: url("https://example.com/")}, map[string]string{"token": "x",
			"user": "canary"}, "secrets user"},
		"a strange setting": {channel.Channel{Kind: channel.Webhook, Settings: with(url("https://example.com/"),
			func(s *channel.Settings) { s.Topic = "x" })}, nil, "settings topic"},
		"a secret of Chinese": {channel.Channel{Kind: channel.Gotify, Settings: url("https://example.com/")},
			map[string]string{"token": "符"}, "secrets token"},
		"a broken key": {channel.Channel{Kind: channel.Webhook, Settings: url("https://example.com/")},
			map[string]string{"secret": "whsec_?"}, "secrets secret"},
		"Discord inside":       {channel.Channel{Kind: channel.Discord}, map[string]string{"url": "http://127.0.0.1/canary"}, "secrets url"},
		"Discord in clear":     {channel.Channel{Kind: channel.Discord}, map[string]string{"url": "http://example.com/canary"}, "secrets url"},
		"a topic with a slash": {channel.Channel{Kind: channel.Ntfy, Settings: channel.Settings{Topic: "a/b"}}, nil, "settings topic"},
		"a pin in clear": {channel.Channel{Kind: channel.Webhook, Settings: with(url("http://example.com/"),
			func(s *channel.Settings) { s.Fingerprint = strings.Repeat("AB", 32) })}, nil, "settings tls_fingerprint"},
		"no pin": {channel.Channel{Kind: channel.Webhook, Settings: with(url("https://example.com/"),
			func(s *channel.Settings) { s.Fingerprint = "x" })}, nil, "settings tls_fingerprint"},
		"no recipients": {channel.Channel{Kind: channel.SMTP, Settings: with(mail, func(s *channel.Settings) { s.To = nil })}, nil,
			"settings to"},
		"a broken sender": {channel.Channel{Kind: channel.SMTP, Settings: with(mail, func(s *channel.Settings) { s.From = "a\r\nBcc: x" })},
			nil, "settings from"},
		"a broken one": {channel.Channel{Kind: channel.SMTP, Settings: with(mail, func(s *channel.Settings) {
			s.To = []string{"b@c",
				"x"}
		})}, nil, "settings to 1"},
		"mail inside": {channel.Channel{Kind: channel.SMTP, Settings: with(mail, func(s *channel.Settings) {
			s.Server = "10.0.0.1:25"
		})}, nil, "settings server"},
		"a lone password": {channel.Channel{Kind: channel.SMTP, Settings: mail}, map[string]string{"password": "canary"}, "settings username"},
		"password, no TLS": {channel.Channel{Kind: channel.SMTP, Settings: with(mail, func(s *channel.Settings) {
			s.Security,
				s.Username = "none", "u"
		})}, map[string]string{"password": "canary"}, "settings security"},
		"quiet nowhere": {channel.Channel{Kind: channel.SMTP, Settings: mail, Quiet: &channel.QuietHours{From: "01:00", To: "02:00",
			Timezone: "Mars"}}, nil, "quiet_hours"},
		"quiet for ever": {channel.Channel{Kind: channel.SMTP, Settings: mail, Quiet: &channel.QuietHours{From: "01:00", To: "01:00",
			Timezone: "UTC"}}, nil, "quiet_hours"},
		"account mail by a webhook": {channel.Channel{Kind: channel.Webhook, Settings: url("https://example.com/"), AccountMail: true}, nil,
			"account_mail"},
		"another team's events": {channel.Channel{TeamID: 2, Kind: channel.Webhook, Settings: url("https://example.com/"),
			Routes: []channel.Route{{Severity: "info", Teams: []int64{1}}}}, nil, "routes 0 teams"},
		"long routes": {channel.Channel{Kind: channel.Webhook, Settings: url("https://example.com/"),
			Routes: slices.Repeat([]channel.Route{{Severity: "info", Rules: slices.Repeat([]string{strings.Repeat("x", 100)}, 100)}}, 7)}, nil,
			"routes"},
	} {
		if test.c.Name = "x"; test.c.TeamID == 0 {
			test.c.TeamID = 1
		}
		secrets := channel.Secrets{}
		for name, value := range test.secrets {
			secrets[name] = secret.New(value)
		}
		_, err := f.Create(asOwner(t), test.c, secrets)
		p := problem.From(err)
		if err == nil || p.Code != problem.CodeInvalid || strings.Contains(fmt.Sprint(p.Faults), "canary") {
			t.Errorf("%s: %v, %v", name, err, p)
			continue
		}
		var at []string
		for _, fault := range p.Faults {
			at = append(at, strings.TrimSpace(strings.Trim(fmt.Sprintln(fault.Loc[1:]...), "\n")))
		}
		if !slices.Equal(at, []string{test.at}) {
			t.Errorf("%s: the faults are at %q, want %q", name, at, test.at)
		}
	}
	if n := dbtest.Value[int](t, f.DB, "SELECT count(*) FROM notification_channels"); n != 0 {
		t.Errorf("%d channels", n)
	}
	one := channel.Channel{TeamID: 1, Name: "mail", Kind: channel.SMTP, Settings: mail, AccountMail: true, HourlyCap: 1}
	if _, err := f.Create(asOwner(t), one, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(asOwner(t), one, nil); problem.CodeOf(err) != problem.CodeConflict {
		t.Errorf("two tell users of their accounts: %v", err)
	}
}

// A test goes out at once, whatever state the channel is in, is in the log with what became of it, and counts for no cap.
func TestTry(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	made := f.hook(c, func(c *channel.Channel) {
		c.HourlyCap = 1
		c.Quiet = &channel.QuietHours{From: "00:00", To: "23:59", Timezone: "UTC"}
	})
	if _, err := f.Update(t.Context(), made.ID, func(c *channel.Channel) { c.Enabled = false }, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d, err := f.SendTest(asOwner(t), made.ID)
		if err != nil || d.State != "sent" || d.Error != nil || d.Kind != "test" || d.MessageID != c.requests()[0].Header.Get("Webhook-Id") &&
			d.ID == 1 || d.Notice != nil {
			t.Errorf("%+v, %v", d, err)
		}
	}
	has(t, c.requests()[0].json("title"), "Test of the channel to webhook")
	has(t, c.requests()[0].json("body"), "anna@example.com")
	c.answer(status(http.StatusUnauthorized, "no canary-secret"))
	d, err := f.SendTest(asOwner(t), made.ID)
	if err != nil || d.State != "failed" || d.Error == nil || !strings.Contains(*d.Error, "401") || strings.Contains(*d.Error, "canary") {
		t.Errorf("%+v, %v", d, err)
	}
	c.answer(status(http.StatusOK, ""))
	f.BaseURL = ""
	if d, err = f.SendTest(asOwner(t), made.ID); err != nil || d.State != "sent" || d.Notice == nil ||
		!strings.Contains(*d.Notice, "HOSTLER_BASE_URL") {
		t.Errorf("without an address to link to: %+v, %v", d, err)
	}
	c.answer(status(http.StatusUnauthorized, ""))
	if d, err = f.SendTest(asOwner(t), made.ID); err != nil || d.State != "failed" {
		t.Errorf("%+v, %v", d, err)
	}
	f.turn()
	if n := len(c.requests()); n != 5 {
		t.Errorf("%d requests: a test is tried once", n)
	}
	if q := f.queue(made.ID); q.LastError == nil || q.LastOKAt == nil || q.Pending != 0 {
		t.Errorf("%+v", q)
	}
	if _, err := f.SendTest(asOwner(t), 99); problem.CodeOf(err) != problem.CodeNotFound {
		t.Errorf("no channel: %v", err)
	}
}

// Secrets are sealed anew when the key changes, and a channel goes on with them.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newReceiver(t)
	f.add(channel.Channel{Kind: channel.Webhook, Settings: channel.Settings{URL: c.URL}}, map[string]string{"token": "canary-token"})
	sealed := func() []byte { return dbtest.Value[[]byte](t, f.DB, "SELECT secrets FROM notification_channels") }
	before := sealed()
	if _, err := f.keys.Rotate(t.Context(), secret.Rotation{DB: f.DB, Tables: []secret.Table{channel.SealedTable}}); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(before, sealed()) {
		t.Error("the secrets are sealed with the old key")
	}
	f.begin("alert:1", "warning")
	f.turn()
	is(t, c.requests()[0].Header.Get("Authorization"), "Bearer canary-token")
}

// Long routes that an older release kept stay, and all else of the channel can be changed.
func TestLongRoutesOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := channel.Channel{TeamID: 1, Name: "x", Kind: channel.Webhook, Settings: channel.Settings{URL: "https://example.com/"}, HourlyCap: 1,
		Routes: []channel.Route{{Severity: "info"}}}
	made, err := f.Create(asOwner(t), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, f.DB, "UPDATE notification_routes SET rules = array_fill(repeat('x', 1000), ARRAY[100])")
	now, err := f.Update(asOwner(t), made.ID, func(c *channel.Channel) { c.Enabled = false }, nil)
	if err != nil || now.Enabled || len(now.Routes[0].Rules) != 100 {
		t.Errorf("%v", err)
	}
	_, err = f.Update(asOwner(t), made.ID, func(c *channel.Channel) {
		c.Routes = []channel.Route{{Severity: "info", Rules: append(now.Routes[0].Rules, "one more")}}
	}, nil)
	if faults := problem.From(err).Faults; len(faults) != 1 || fmt.Sprint(faults[0].Loc) != "[body routes]" {
		t.Errorf("longer ones: %v", err)
	}
}
