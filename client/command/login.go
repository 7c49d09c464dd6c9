package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/transport"
)

// login contains the flags of hostler login.
type login struct {
	name, email, fingerprint, authorities string
	keyFile, expires                      string
	keyStdin, passwordStdin               bool
	keyring, readOnly, plain              bool
}

// loginCommand returns the command that logs in to a service and saves it as a
// context.
func (s *session) loginCommand() *cobra.Command {
	var l login
	c := &cobra.Command{
		Use: "login URL", Short: "Log in to a service and save it as a context", Args: cobra.ExactArgs(1),
		Long: "Log in to a service and save it as a context.\n\n" +
			"The command asks for email address, password and second factor, creates an API key that is named after this machine, and ends " +
			"the session. The password is not stored. With --key-file or --key-stdin, it uses an existing API key instead.\n\n" +
			"If the certificate is not trusted, the command shows its fingerprint and pins it when you confirm, or when it matches " +
			"--fingerprint; from then on the service must present this certificate. Log-in through a browser is not supported.\n\n" +
			"Contexts are stored in hostler/contexts.json in your configuration folder (HOSTLER_CONFIG sets another file), which only you " +
			"can read. With --keyring, the key is stored in the system's keyring.",
		Example: "  hostler login https://hostler.example.org\n  hostler login hostler.lab:8480 --name lab --keyring\n" +
			"  hostler login https://hostler.example.org --key-stdin < key",
		RunE: func(cmd *cobra.Command, args []string) error { return s.login(cmd.Context(), args[0], l) },
	}
	flags := c.Flags()
	flags.StringVar(&l.name, "name", "", "name of the context; the host of the URL if absent")
	flags.StringVar(&l.email, "email", "", "email address of the user")
	flags.BoolVar(&l.passwordStdin, "password-stdin", false,
		"read the password from standard input, and the second factor from its second line")
	flags.StringVar(&l.keyFile, "key-file", "", "use the API key in this file")
	flags.BoolVar(&l.keyStdin, "key-stdin", false, "use the API key from standard input")
	flags.StringVar(&l.fingerprint, "fingerprint", "", "SHA-256 of the certificate that the service must present")
	flags.StringVar(&l.authorities, "ca", "", "file with CA certificates in PEM format to use instead of the system's")
	flags.BoolVar(&l.keyring, "keyring", false, "store the key in the system's keyring")
	flags.BoolVar(&l.readOnly, "read-only", false, "create a read-only key")
	flags.StringVar(&l.expires, "expires", "", "expiry of the new key: a date such as 2099-12-31, or a duration such as 720h")
	flags.BoolVar(&l.plain, "plain-http", false, "allow a connection to another machine without TLS")
	c.MarkFlagsMutuallyExclusive("key-file", "key-stdin", "password-stdin")
	c.MarkFlagsMutuallyExclusive("fingerprint", "ca")
	return c
}

// login logs in and writes a context, in this order:
//
//   - It checks the address and the name of the context.
//   - It decides whether to trust the certificate. No password and no key
//     is sent before.
//   - It creates an API key with email address, password and second factor,
//     or checks the key that it was given.
//   - It saves the context and makes it the current one.
//   - It revokes the key of the previous log-in of the same context, now
//     that the new one is on disk.
//
// A failure before saving leaves the file of contexts as it was.
func (s *session) login(ctx context.Context, where string, l login) error {
	at, err := serviceURL(where)
	if err != nil {
		return err
	}
	if l.name == "" {
		l.name = strings.Trim(strings.ReplaceAll(at.Host, ":", "-"), "[]-")
	}
	if err := contexts.CheckName(l.name); err != nil {
		return &failure{statusUsage, err.Error() + "; set it with --name"}
	}
	if err := refusePlain(at, l.plain); err != nil {
		return err
	}
	file, err := openContexts()
	if err != nil {
		return err
	}
	c := contexts.Context{URL: at.String(), Authorities: l.authorities, PlainHTTP: l.plain && at.Scheme == "http", Keyring: l.keyring}
	options := transport.Options{URL: at, Agent: s.agent()}
	if l.authorities != "" {
		if options.Authorities, err = readFile(l.authorities); err != nil {
			return err
		}
	}
	if at.Scheme == "https" {
		if c.Fingerprint, err = s.trust(ctx, options, l.fingerprint); err != nil {
			return err
		}
		options.Fingerprint = c.Fingerprint
	}
	var key string
	switch {
	case l.keyFile != "" || l.keyStdin:
		key, err = s.givenKey(ctx, options, l, &c)
	default:
		key, err = s.makeKey(ctx, options, l, &c)
	}
	if err != nil {
		return err
	}
	old, again := file.Contexts[l.name]
	oldKey, unknown := file.Secret(l.name, old)
	if err := file.Put(l.name, c, key); err != nil {
		return err
	}
	if err := file.Save(); err != nil {
		return err
	}
	if again && unknown == nil && old.KeyID != 0 && old.URL == c.URL && oldKey != key {
		s.replace(ctx, options, oldKey, old.KeyID)
	}
	s.say("Logged in to %s as %s. The current context is %s.", c.URL, c.User, l.name)
	return nil
}

// replace revokes the key of the previous log-in. A failure is only a message,
// because the new log-in works; the message names the key so that the user can
// revoke it.
func (s *session) replace(ctx context.Context, o transport.Options, key string, id int64) {
	o.Key = key
	client, err := transport.New(o)
	if err == nil {
		err = revoke(ctx, client, id)
	}
	if err != nil {
		s.say("Cannot revoke key %d of the previous log-in; see hostler key list.", id)
	}
}

// trust returns the fingerprint to pin, or an empty one if the certificate is
// signed by a trusted authority and no fingerprint was requested. For an
// untrusted certificate it shows the SHA-256 fingerprint and asks; without a
// person at the terminal it refuses. Only the TLS handshake happens here.
func (s *session) trust(ctx context.Context, o transport.Options, want string) (string, error) {
	client, err := transport.New(o)
	if err != nil {
		return "", err
	}
	certificate, trusted, err := client.Certificate(ctx)
	if err != nil {
		return "", err
	}
	seen := transport.Fingerprint(certificate)
	if want != "" {
		if !transport.SameFingerprint(seen, want) {
			return "", &transport.UntrustedError{Want: want, Seen: seen}
		}
		return seen, nil
	}
	if trusted {
		return "", nil
	}
	s.screen.Say("The certificate of %s is not trusted.\n  SHA-256   %s\n  expires   %s\n"+
		"Compare it with the output of this command in the service's state folder: "+
		"openssl x509 -noout -fingerprint -sha256 -in tls/self-signed.pem",
		o.URL.Host, seen, certificate.NotAfter.Format(time.DateOnly))
	if !s.asks() {
		return "", &failure{statusUnreachable,
			"the certificate is not trusted: use --fingerprint to pin it, or --ca to trust its CA"}
	}
	said, err := s.ask(ctx, "Trust this certificate? Type yes: ")
	if err != nil || said != "yes" {
		return "", &failure{statusUnreachable, "certificate rejected; nothing was sent"}
	}
	return seen, nil
}

// givenKey reads an existing API key and checks it with a request. It sets the
// user of the context, but no key ID: logout must not revoke a key that the
// user created for something else.
func (s *session) givenKey(ctx context.Context, o transport.Options, l login, c *contexts.Context) (string, error) {
	var err error
	if l.keyStdin || l.keyFile == "-" {
		var text []byte
		text, err = s.readInput("-")
		o.Key = strings.TrimSpace(string(text))
	} else {
		o.Key, err = contexts.ReadKeyFile(l.keyFile)
	}
	if err != nil {
		return "", err
	}
	if o.Key == "" {
		return "", &failure{statusUsage, "the API key is empty"}
	}
	client, err := transport.New(o)
	if err != nil {
		return "", err
	}
	var me api.AuthMe
	if err := read(ctx, client, transport.Request{Method: http.MethodGet, Path: "/api/v1/auth/me", Repeatable: true}, &me); err != nil {
		return "", err
	}
	c.User = me.User.Email
	return o.Key, nil
}

// makeKey logs in with a password, creates an API key, and logs out again. The
// password is not stored; only the key remains. If logging out fails, login
// fails as well, so that no session stays open without the user knowing.
func (s *session) makeKey(ctx context.Context, o transport.Options, l login, c *contexts.Context) (key string, err error) {
	if c.User = l.email; c.User == "" {
		if l.passwordStdin {
			return "", &failure{statusUsage, "--password-stdin requires --email"}
		}
		if c.User, err = s.ask(ctx, "Email: "); err != nil {
			return "", err
		}
	}
	password, err := s.askHidden(ctx, "Password: ")
	if err != nil {
		return "", err
	}
	client, err := transport.New(o)
	if err != nil {
		return "", err
	}
	cookies, err := s.openSession(ctx, client, c.User, password)
	if err != nil {
		return "", err
	}
	defer func() { // the key stays, the session does not
		_, out := client.Call(ctx, transport.Request{Method: http.MethodPost, Path: "/api/v1/auth/logout", Cookies: cookies})
		if err == nil {
			err = out
		}
	}()
	body, err := keyRequest(l, time.Now())
	if err != nil {
		return "", err
	}
	var made api.KeyCreateResult
	request := transport.Request{Method: http.MethodPost, Path: "/api/v1/api-keys", Body: body, Repeatable: true, Cookies: cookies}
	if err := read(ctx, client, request, &made); err != nil {
		return "", err
	}
	c.KeyID = made.Id
	return made.Key, nil
}

// openSession logs in with email address and password, and with a second factor
// if the service requires one. It returns the cookies of the session. A person
// has three attempts for the code; piped input has one.
func (s *session) openSession(ctx context.Context, client *transport.Client, email, password string) ([]*http.Cookie, error) {
	body, err := json.Marshal(map[string]string{"email": email, "password": password})
	if err != nil {
		return nil, err
	}
	result, cookies, err := s.logInStep(ctx, client, "/api/v1/auth/login", body, nil)
	if err != nil {
		return nil, err
	}
	for left := 3; result.TotpRequired != nil && *result.TotpRequired && result.Pending != nil; left-- {
		code, err := s.ask(ctx, "Second factor (six digits, or a recovery code): ")
		if err != nil {
			return nil, err
		}
		if body, err = json.Marshal(map[string]string{"pending": *result.Pending, "code": strings.TrimSpace(code)}); err != nil {
			return nil, err
		}
		next, more, err := s.logInStep(ctx, client, "/api/v1/auth/totp", body, cookies)
		var p *transport.Problem
		if errors.As(err, &p) && p.Code == "invalid_credentials" && left > 1 && s.asks() {
			s.screen.Say("Wrong code.")
			continue
		}
		if err != nil {
			return nil, err
		}
		result, cookies = next, append(cookies, more...)
	}
	return cookies, nil
}

// logInStep sends one step of the log-in and returns its result and the cookies
// that it sets. Cookies are passed explicitly because the transport has no
// cookie jar: so no other request can send them by mistake.
func (s *session) logInStep(ctx context.Context, client *transport.Client, path string, body []byte, cookies []*http.Cookie) (
	result api.LogInResult, set []*http.Cookie, err error,
) {
	answer, err := client.Call(ctx, transport.Request{Method: http.MethodPost, Path: path, Body: body, Cookies: cookies})
	if err != nil {
		return result, nil, err
	}
	if err := json.Unmarshal(answer.Body, &result); err != nil {
		return result, nil, fmt.Errorf("unexpected response from the service: %w", err)
	}
	return result, (&http.Response{Header: answer.Header}).Cookies(), nil
}

// keyRequest returns the body that creates the API key. Its name contains the
// host name of this machine, so that a lost laptop's key can be found and
// revoked.
func keyRequest(l login, now time.Time) ([]byte, error) {
	machine, err := os.Hostname()
	if err != nil || machine == "" {
		machine = "a machine"
	}
	in := map[string]any{"name": "hostler on " + machine}
	if l.readOnly {
		in["scopes"] = []string{"read"}
	}
	if l.expires != "" {
		at, err := moment(l.expires, now, false)
		if err != nil {
			return nil, err
		}
		in["expires_at"] = at
	}
	return json.Marshal(in)
}

// moment parses a date, a time in RFC 3339 or a duration, and returns the time
// in UTC. A duration counts from now, into the future for an expiry and into
// the past if back is set, for filters such as --from 24h. A date means
// midnight in the local time zone.
func moment(text string, now time.Time, back bool) (string, error) {
	if span, err := time.ParseDuration(text); err == nil && span > 0 {
		if back {
			span = -span
		}
		return now.Add(span).UTC().Format(time.RFC3339), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day.UTC().Format(time.RFC3339), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format(time.RFC3339), nil
	}
	return "", &failure{statusUsage, fmt.Sprintf("%q is not a time: use a date such as 2030-01-31, a time such as "+
		"2030-01-31T08:00:00Z, or a duration such as 720h", text)}
}

// read sends a request and decodes its JSON response into out.
func read(ctx context.Context, client *transport.Client, r transport.Request, out any) error {
	answer, err := client.Call(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return fmt.Errorf("unexpected response from the service: %w", err)
	}
	return nil
}

// logoutCommand returns the command that revokes the API key and removes the
// context. If the key cannot be revoked, the context stays: otherwise a valid
// key would exist that nobody remembers. Keys that login did not create
// (--key-file, --key-stdin) are not revoked.
func (s *session) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout [CONTEXT]", Short: "Revoke the API key of a context and remove the context", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: s.completeContexts,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				s.contextName = args[0]
			}
			file, err := openContexts()
			if err != nil {
				return err
			}
			name, c, err := file.Get(s.contextName)
			if err != nil {
				return err
			}
			s.contextName = name
			if c.KeyID != 0 {
				client, err := s.connection()
				if err == nil {
					err = revoke(cmd.Context(), client, c.KeyID)
				}
				if err != nil {
					return fmt.Errorf("cannot revoke the key; the context was kept (remove it with hostler context remove): %w", err)
				}
			}
			if err := file.Remove(name); err != nil {
				return err
			}
			if err := file.Save(); err != nil {
				return err
			}
			s.say("Logged out of %s.", c.URL)
			return nil
		},
	}
}

// revoke revokes an API key of the user. A key that no longer exists, or that
// is rejected with 401 because it is revoked or expired already, counts as
// success.
func revoke(ctx context.Context, client *transport.Client, id int64) error {
	_, err := client.Call(ctx, transport.Request{Method: http.MethodDelete, Path: "/api/v1/api-keys/" + url.PathEscape(fmt.Sprint(id))})
	var p *transport.Problem
	if errors.As(err, &p) && (p.Status == http.StatusNotFound || p.Status == http.StatusUnauthorized) {
		return nil
	}
	return err
}
