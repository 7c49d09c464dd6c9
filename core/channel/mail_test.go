package channel_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/hostler/hostler/core/channel"
	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/sdk/endpoint"
)

// post is a mail server. A recipient that begins with "later" is refused for now, and one that begins with "never" for good.
type post struct {
	address, fingerprint string
	mu                   sync.Mutex
	got                  []letter
	hang                 chan struct{}
}

type letter struct {
	from, user string
	to         []string
	text       []byte
	encrypted  bool
}

const password = "canary-password"

// newPost starts a server that takes mail by STARTTLS, by TLS from the beginning, or in clear.
func newPost(t testing.TB, security string) *post {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS() // for its certificate alone
	t.Cleanup(certified.Close)
	p := &post{fingerprint: endpoint.Fingerprint(certified.Certificate())}
	server := smtp.NewServer(p)
	server.Domain = "mail.example.com"
	server.AllowInsecureAuth = false
	config := &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}
	if security != "none" {
		server.TLSConfig = config
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = listener.Addr().String()
	if security == "tls" {
		listener = tls.NewListener(listener, config)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return p
}

func (p *post) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, encrypted := c.TLSConnectionState()
	return &session{post: p, letter: letter{encrypted: encrypted}}, nil
}

func (p *post) letters() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]letter{}, p.got...)
}

type session struct {
	post *post
	letter
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, given string) error {
		if given != password {
			return &smtp.SMTPError{Code: 535, Message: "no such user with " + given}
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "later") {
		return &smtp.SMTPError{Code: 451, Message: "greylisted"}
	}
	if strings.HasPrefix(to, "never") {
		return &smtp.SMTPError{Code: 550, Message: "no such mailbox"}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.post.hang != nil {
		<-s.post.hang
	}
	s.text = text
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	s.post.got = append(s.post.got, s.letter)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// parts are a letter's bodies by media type.
func parts(t testing.TB, text []byte) (mail.Header, map[string]string) {
	t.Helper()
	read, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for reader := multipart.NewReader(read.Body, params["boundary"]); ; {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return read.Header, bodies
		}
		if err != nil {
			t.Fatal(err)
		}
		media, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		bodies[media] = string(body)
	}
}

// by makes a channel to the server.
func (f *fixture) by(p *post, security string, edits ...func(*channel.Channel)) *channel.Channel {
	f.t.Helper()
	c := channel.Channel{Kind: channel.SMTP, Settings: channel.Settings{Server: p.address, Security: security,
		From: "Hostler <hostler@example.com>", To: []string{"ops@example.com", "Anna <anna@example.com>"}}}
	secrets := map[string]string{}
	if security != "none" {
		c.Settings.Fingerprint, c.Settings.Username, secrets["password"] = p.fingerprint, "hostler", password
	}
	for _, edit := range edits {
		edit(&c)
	}
	return f.add(c, secrets)
}

func TestMail(t *testing.T) {
	t.Parallel()
	for _, security := range []string{"starttls", "tls", "none"} {
		t.Run(security, func(t *testing.T) {
			t.Parallel()
			f, p := newFixture(t), newPost(t, security)
			made := f.by(p, security)
			f.tell(notify.Event{Incident: "alert:1", State: notify.Open, Severity: "critical", Rule: "guest.down", TargetKind: "vm",
				TargetName: "wüb1", Title: "wüb1 <down>\r\nBcc: evil@example.com", Body: "no answer\n<script>alert(1)</script>",
				Link: "/guests/vm/3"})
			f.turn()
			f.end("alert:1")
			f.turn()
			got := p.letters()
			if len(got) != 2 {
				t.Fatalf("%d letters, %+v", len(got), f.queue(made.ID))
			}
			l := got[0]
			is(t, l.from, "hostler@example.com")
			is(t, strings.Join(l.to, ","), "ops@example.com,anna@example.com")
			if l.encrypted != (security != "none") || (l.user == "hostler") != (security != "none") {
				t.Errorf("encrypted: %v, as %q", l.encrypted, l.user)
			}
			header, bodies := parts(t, l.text)
			subject, err := (&mime.WordDecoder{}).DecodeHeader(header.Get("Subject"))
			is(t, subject, "[critical] wüb1 <down> Bcc: evil@example.com")
			if err != nil || header.Get("Bcc") != "" {
				t.Errorf("%v, Bcc %q", err, header.Get("Bcc"))
			}
			is(t, header.Get("Auto-Submitted"), "auto-generated")
			is(t, header.Get("Message-Id"), "<"+header.Get("X-Hostler-Delivery")+"@hostler>")
			has(t, bodies["text/plain"], "no answer", "About: vm wüb1", "https://hostler.example.com/sub/guests/vm/3")
			has(t, bodies["text/html"], "wüb1 &lt;down&gt;", "&lt;script&gt;", `<a href="https://hostler.example.com/sub/guests/vm/3"`)
			end, _ := parts(t, got[1].text)
			is(t, end.Get("Subject"), "[resolved] alert:1")
			is(t, end.Get("In-Reply-To"), header.Get("Message-Id"))
		})
	}
}

// Servers that cannot be trusted get nothing, and passwords stay out of what is told.
func TestMailServersThatAreNotRight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, security string
		edit           func(p *post, c *channel.Channel)
		says           string
		refused        bool
	}{
		{"no pin", "starttls", func(_ *post, c *channel.Channel) { c.Settings.Fingerprint = "" }, "not trusted", false},
		{"another pin", "tls", func(_ *post, c *channel.Channel) { c.Settings.Fingerprint = strings.Repeat("AB", 32) }, "not the pinned one",
			false},
		{"no STARTTLS", "none", func(_ *post, c *channel.Channel) { c.Settings.Security = "" }, "STARTTLS", false},
		{"later", "tls", func(_ *post, c *channel.Channel) { c.Settings.To = []string{"later@example.com"} }, "greylisted", false},
		{"never", "tls", func(_ *post, c *channel.Channel) { c.Settings.To = []string{"never@example.com"} }, "no such mailbox", true},
		{"nobody there", "tls", func(_ *post, c *channel.Channel) { c.Settings.Server = "127.0.0.1:1" }, "refused", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, p := newFixture(t), newPost(t, test.security)
			made := f.by(p, test.security, func(c *channel.Channel) { test.edit(p, c) })
			f.begin("alert:1", "warning")
			f.turn()
			if test.refused {
				f.wantStates("alert:1 open failed")
			} else {
				f.wantStates("alert:1 open pending")
			}
			q := f.queue(made.ID)
			if q.LastError == nil || !strings.Contains(*q.LastError, test.says) || len(p.letters()) != 0 {
				t.Errorf("%v, %d letters", *q.LastError, len(p.letters()))
			}
		})
	}
	t.Run("a wrong password", func(t *testing.T) {
		t.Parallel()
		f, p := newFixture(t), newPost(t, "starttls")
		c := channel.Channel{Kind: channel.SMTP, Settings: channel.Settings{Server: p.address, From: "a@example.com",
			To:       []string{"b@example.com"},
			Username: "hostler", Fingerprint: p.fingerprint}}
		made := f.add(c, map[string]string{"password": "canary-wrong"})
		f.begin("alert:1", "warning")
		f.turn()
		q := f.queue(made.ID)
		if q.LastError == nil || !strings.Contains(*q.LastError, "no such user with") || strings.Contains(*q.LastError, "canary") {
			t.Errorf("%v", *q.LastError)
		}
		f.wantStates("alert:1 open pending")
	})
}

// A server that hangs in the middle is cut off.
func TestAMailServerThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a server that does not respond: make check runs it")
	}
	t.Parallel()
	f, p := newFixture(t, func(c *channel.Config) { c.SendTime = time.Second }), newPost(t, "tls")
	p.hang = make(chan struct{})
	t.Cleanup(func() { close(p.hang) })
	made := f.by(p, "tls")
	f.begin("alert:1", "warning")
	f.turn() // and the server hangs on
	if q := f.queue(made.ID); q.Failures != 1 || q.Pending != 1 {
		t.Errorf("%+v", q)
	}
}

// What concerns one account goes to its user by the channel that is meant for that, and to nobody else; in quiet hours too.
func TestAccountMail(t *testing.T) {
	t.Parallel()
	f, p, other := newFixture(t), newPost(t, "tls"), newReceiver(t)
	f.exec("INSERT INTO users (email, email_key, password_hash, is_active) VALUES ('Dora@example.com', 'dora@example.com', 'x', true)")
	user := int64(1)
	f.hook(other)
	f.by(p, "tls", func(c *channel.Channel) {
		c.AccountMail, c.HourlyCap = true, 1
		c.Routes = []channel.Route{{Severity: "critical"}}
		c.Quiet = &channel.QuietHours{From: "00:00", To: "23:59", Timezone: "UTC"}
	})
	for range 3 {
		f.tell(notify.Event{Kind: notify.NewLogin, UserID: &user, Title: "New log-in to your account", Severity: "info"})
	}
	f.turn()
	other.wantTitles(t)
	got := p.letters()
	if len(got) != 3 {
		t.Fatalf("%d letters", len(got))
	}
	is(t, strings.Join(got[0].to, ","), "Dora@example.com")
}
