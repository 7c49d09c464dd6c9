package channel

import (
	"context"
	"encoding/json"
	"net/mail"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

// topic is the pattern of topics that ntfy accepts.
var topic = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

// maxRoutes is the maximum size of a channel's routes in bytes of JSON, because
// lists show them. Routes that do not change may be longer.
const maxRoutes = 64 << 10

// faults collects what is wrong with a channel.
type faults []problem.Fault

// add records a fault of the body.
func (f *faults) add(msg string, at ...any) {
	*f = append(*f, problem.Fault{Loc: append([]any{"body"}, at...), Msg: msg, Type: "value_error"})
}

// rules returns which addresses a channel may connect to.
func (s *Store) rules(c *Channel) outbound.Rules {
	return outbound.Rules{AllowLocal: s.AllowLocal, AllowPrivate: c.AllowPrivate}
}

// check converts a channel to the form in which it is stored. was are its
// routes so far. It returns the problem invalid with all faults.
func (s *Store) check(was []Route, c *Channel, secrets Secrets) error {
	var f faults
	if c.Name = strings.TrimSpace(c.Name); c.Name == "" {
		f.add("must not be empty", "name")
	}
	is, known := kinds[c.Kind]
	if !known {
		f.add("must be a kind of channel", "kind")
		return problem.Invalid(f...)
	}
	values := c.Settings.values()
	for name, value := range values {
		switch {
		case value != "" && !may(is.settings, name):
			f.add("not allowed for this kind of channel", "settings", name)
		case value == "" && must(is.settings, name):
			f.add("is required for this kind of channel", "settings", name)
		}
	}
	for _, name := range []string{"url", "secret", "token", "password", "user"} {
		value := secrets[name]
		switch {
		case !value.Empty() && !may(is.secrets, name):
			f.add("not allowed for this kind of channel", "secrets", name)
		case value.Empty() && must(is.secrets, name):
			f.add("is required for this kind of channel", "secrets", name)
		case name != "secret" && name != "password" && strings.ContainsFunc(value.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }):
			f.add("must consist of visible ASCII characters", "secrets", name)
		}
	}
	if key := secrets["secret"]; !key.Empty() {
		if _, err := signingKey(key.Reveal()); err != nil {
			f.add(err.Error(), "secrets", "secret")
		}
	}
	if len(f) == 0 {
		s.checkDestination(c, secrets, &f)
	}
	c.checkMail(secrets, &f)
	if c.Settings.Topic != "" && !topic.MatchString(c.Settings.Topic) {
		f.add("must consist of letters, digits, - and _", "settings", "topic")
	}
	if err := c.Quiet.check(); err != nil {
		f.add(err.Error(), "quiet_hours")
	}
	if c.AccountMail && (c.Kind != SMTP || c.TeamID != identity.DefaultTeam) {
		f.add("only allowed for a channel of the kind smtp of the default team", "account_mail")
	}
	c.checkRoutes(was, &f)
	c.checkTrail(secrets, &f)
	if len(f) > 0 {
		return problem.Invalid(f...)
	}
	return nil
}

// checkDestination checks the address of the receiver. Secrets must not cross
// the network without encryption, except in private networks that an owner
// allows. The signing key is exempt, because it is never sent.
func (s *Store) checkDestination(c *Channel, secrets Secrets, f *faults) {
	at := []any{"settings", "url"}
	if must(kinds[c.Kind].secrets, "url") {
		at = []any{"secrets", "url"}
	} else if c.Kind == SMTP {
		at = []any{"settings", "server"}
	}
	url, _, err := c.destination(s.rules(c), secrets)
	if err != nil {
		f.add(err.Error(), at...)
		return
	}
	clear := strings.HasPrefix(url, "http://")
	crossing := slices.DeleteFunc(secrets.names(), func(name string) bool { return name == "secret" })
	if clear && len(crossing) > 0 && !c.AllowPrivate {
		f.add("must be https://, because secrets would be readable on the network. Only in private networks that an owner allows, "+
			"http:// is possible", at...)
	}
	if clear && c.Settings.Fingerprint != "" || c.Settings.Security == "none" && c.Settings.Fingerprint != "" {
		f.add("requires TLS", "settings", "tls_fingerprint")
	} else if c.Settings.Fingerprint != "" {
		if pin, err := endpoint.ParseFingerprint(c.Settings.Fingerprint); err != nil {
			f.add("must be a SHA-256 in hexadecimal digits", "settings", "tls_fingerprint")
		} else {
			c.Settings.Fingerprint = pin
		}
	}
}

// checkMail checks the settings of a mail channel, and sets the default of
// Security.
func (c *Channel) checkMail(secrets Secrets, f *faults) {
	if c.Kind != SMTP {
		return
	}
	if _, err := mail.ParseAddress(c.Settings.From); err != nil {
		f.add("must be an email address, with or without a name", "settings", "from")
	}
	for i, to := range c.Settings.To {
		if _, err := mail.ParseAddress(to); err != nil {
			f.add("must be an email address", "settings", "to", i)
		}
	}
	password := !secrets["password"].Empty()
	if password != (c.Settings.Username != "") {
		f.add("username and password must be set together", "settings", "username")
	}
	switch c.Settings.Security {
	case "":
		c.Settings.Security = "starttls"
	case "none":
		if password {
			f.add("must be starttls or tls with a password, which would otherwise be readable on the network", "settings", "security")
		}
	}
}

// checkRoutes checks the routes of a channel. A route that has not changed is
// not checked again, so that an old one does not block other changes.
func (c *Channel) checkRoutes(was []Route, f *faults) {
	for i := range c.Routes {
		r := &c.Routes[i]
		if len(r.Teams) > 0 && c.TeamID != identity.DefaultTeam {
			f.add("only allowed for channels of the default team", "routes", i, "teams")
		}
		for _, list := range []*[]string{&r.Kinds, &r.Tags, &r.Rules} {
			if *list == nil {
				*list = []string{}
			}
		}
		if r.Teams == nil {
			r.Teams = []int64{}
		}
	}
	text, err := json.Marshal(c.Routes)
	if err != nil || len(text) > maxRoutes && !reflect.DeepEqual(was, c.Routes) {
		f.add("must be at most "+problem.Size(maxRoutes), "routes")
	}
}

// moved refuses a change of the receiver that keeps secrets without sending
// them again. Otherwise a user who may edit the channel but does not know its
// secrets could have them sent to a server of their own.
func moved(was, is *Channel, given map[string]*secret.String) error {
	a, b := was.Settings, is.Settings
	if a.URL == b.URL && a.Server == b.Server && a.Security == b.Security && a.Fingerprint == b.Fingerprint {
		return nil
	}
	var f faults
	for _, name := range was.SecretsSet {
		if _, anew := given[name]; !anew && name != "secret" { // that one never crosses
			f.add("must be sent again when the server, certificate or security changes", "secrets", name)
		}
	}
	if len(f) > 0 {
		return problem.Invalid(f...)
	}
	return nil
}

// permit refuses changes that require an owner of the instance: letting a
// channel connect to private networks, and changing the receiver of such a
// channel.
func permit(ctx context.Context, was, is *Channel, given map[string]*secret.String) error {
	caller := identity.FromContext(ctx)
	if caller == nil || caller.Instance() >= identity.Owner {
		return nil
	}
	_, url := given["url"]
	if is.AllowPrivate && (was == nil || !was.AllowPrivate || url || was.Settings.URL != is.Settings.URL ||
		was.Settings.Server != is.Settings.Server) {
		return problem.New(problem.CodeForbidden, "only an owner of the instance can allow a channel to reach private networks, or "+
			"change the target of such a channel").With("role", identity.Owner.String())
	}
	return nil
}
