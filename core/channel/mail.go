package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/hostler/hostler/core/notify"
	"github.com/hostler/hostler/core/secret"
)

// sendMail sends one email, in plain text and HTML. Its Message-ID is derived
// from the ID of the message, so that mailboxes recognize one that is sent
// again. The end of an incident is a reply to its start.
func sendMail(ctx context.Context, out *sender, m *message) error {
	host, port, err := net.SplitHostPort(out.target.Address)
	if err != nil {
		return &unavailable{text: "the server's address is not valid"}
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return &unavailable{text: "the server's address is not valid"}
	}
	letter, err := m.letter(out.channel)
	if err != nil {
		return &refusal{"the mail cannot be created: " + out.plain(err.Error())}
	}
	config, err := out.target.TLS()
	if err != nil {
		return &unavailable{text: out.plain(err.Error())}
	}
	dialer := out.target.Dialer(out.limit / 3)
	options := []mail.Option{mail.WithPort(number), mail.WithTimeout(out.limit), mail.WithTLSConfig(config), mail.WithHELO("hostler"),
		mail.WithoutNoop()}
	switch out.channel.Settings.Security {
	case "tls":
		// The library dials TLS itself only where it dials with a dialer of its own.
		options = append(options, mail.WithSSL(), mail.WithDialContextFunc((&tls.Dialer{NetDialer: dialer, Config: config}).DialContext))
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS), mail.WithDialContextFunc(dialer.DialContext))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory), mail.WithDialContextFunc(dialer.DialContext))
	}
	if password := out.secrets["password"]; !password.Empty() {
		options = append(options, mail.WithSMTPAuthCustom(&login{host: host, user: out.channel.Settings.Username, password: password}))
	}
	client, err := mail.NewClient(host, options...)
	if err != nil {
		return &unavailable{text: out.plain(err.Error())}
	}
	return judgeMail(out, deliver(ctx, client, letter))
}

// deliver sends a mail. The library checks the context only while it connects,
// so deliver closes the connection when the context ends.
func deliver(ctx context.Context, client *mail.Client, letter *mail.Msg) error {
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = client.CloseWithSMTPClient(connection) })
	defer stop()
	err = client.SendWithSMTPClient(connection, letter)
	_ = client.CloseWithSMTPClient(connection)
	if letter.IsDelivered() { // it was taken, whatever becomes of the farewell
		return nil
	}
	return err
}

// login authenticates with the strongest mechanism that both the server and the
// library support. The library's own choice is not used: it treats a connection
// that was encrypted by our dialer as unencrypted.
type login struct {
	host, user string
	password   secret.String
	chosen     smtp.Auth
}

// Start implements smtp.Auth.
func (l *login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	if !server.TLS {
		return "", nil, smtp.ErrUnencrypted
	}
	for _, way := range []struct {
		name string
		auth smtp.Auth
	}{
		{"SCRAM-SHA-256", smtp.ScramSHA256Auth(l.user, l.password.Reveal())},
		{"PLAIN", smtp.PlainAuth("", l.user, l.password.Reveal(), l.host, false)},
		{"LOGIN", smtp.LoginAuth(l.user, l.password.Reveal(), l.host, false)},
	} {
		if slices.Contains(server.Auth, way.name) {
			l.chosen = way.auth
			return way.auth.Start(server)
		}
	}
	return "", nil, errors.New("the server offers no supported log-in method")
}

// Next implements smtp.Auth.
func (l *login) Next(from []byte, more bool) ([]byte, error) { return l.chosen.Next(from, more) }

// judgeMail classifies an error of sending. A permanent error about the
// recipient or the mail itself is a refusal (RFC 5321 section 4.2.1). An error
// about the sender or its rights is not, because the owner of the channel can
// fix the settings.
func judgeMail(out *sender, err error) error {
	if err == nil {
		return nil
	}
	told := "the server rejected the mail: " + out.plain(err.Error())
	var failed *mail.SendError
	if errors.As(err, &failed) && !failed.IsTemp() && failed.ErrorCode() >= 500 &&
		(failed.Reason == mail.ErrSMTPData || failed.Reason == mail.ErrSMTPDataClose || failed.Reason == mail.ErrSMTPRcptTo) {
		return &refusal{told}
	}
	return &unavailable{text: told}
}

// letter returns the message as an email.
func (m *message) letter(c *Channel) (*mail.Msg, error) {
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	to := c.Settings.To
	if m.recipient != "" {
		to = []string{m.recipient}
	}
	page, err := m.page()
	if err = errors.Join(err, letter.From(c.Settings.From), letter.To(to...)); err != nil {
		return nil, err
	}
	letter.Subject(cut(m.title(), 250))
	letter.SetDateWithValue(m.at)
	letter.SetMessageIDWithValue(messageID(m.id))
	if m.begin != "" {
		letter.SetGenHeader(mail.HeaderInReplyTo, "<"+messageID(m.begin)+">")
		letter.SetGenHeader(mail.HeaderReferences, "<"+messageID(m.begin)+">")
	}
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: nobody's absence answers it
	letter.SetGenHeader("X-Hostler-Delivery", m.id)
	if m.event.Severity == "critical" && m.event.State != notify.Resolved {
		letter.SetImportance(mail.ImportanceHigh)
	}
	letter.SetBodyString(mail.TypeTextPlain, m.text(100000)+"\n")
	letter.AddAlternativeString(mail.TypeTextHTML, page)
	return letter, nil
}

// messageID returns the Message-ID of an e-mail (RFC 5322 section 3.6.4).
func messageID(id string) string { return fmt.Sprintf("%s@hostler", id) }
