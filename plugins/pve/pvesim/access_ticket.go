package pvesim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ticketLifetime is how long a ticket is good.
const ticketLifetime = 2 * time.Hour

// ticketEndpoints serves logins with a password.
func ticketEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/access/ticket", func(*request) (result, *apiError) { return ok(nil) }),
		serve("POST", "/access/ticket", createTicket),
		serve("PUT", "/access/password", changePassword),
	}
}

// createTicket takes the password or, to renew it, a valid ticket. With a
// ticket of root@pam anybody's can be made.
func createTicket(r *request) (result, *apiError) {
	name := r.values.text("username")
	if realm := r.values.text("realm"); realm != "" {
		name += "@" + realm
	}
	refused := &apiError{status: 401, text: "authentication failure", delay: true}
	u, password := r.c.users[name], r.values.text("password")
	if u == nil || !u.active(r.now) {
		return fail(refused)
	}
	if holder, valid := r.c.verifyTicket(password); !valid || holder != name && holder != rootUser {
		if !secretMatches(u.password, password) {
			return fail(refused)
		}
	}
	return ok(map[string]any{
		"username":            name,
		"ticket":              r.c.signTicket("PVE", name, r.now),
		"CSRFPreventionToken": r.c.csrfToken(name, r.now),
		"cap":                 r.c.capabilities(identity{user: name}),
	})
}

// changePassword needs the caller's own password too, except for root.
func changePassword(r *request) (result, *apiError) {
	id := r.values.text("userid")
	u := r.c.users[id]
	if u == nil {
		return fail(failure("no such user ('%s')", id))
	}
	if r.who.user != rootUser && r.who.user != id {
		return fail(forbidden(""))
	}
	u.password = r.values.text("password")
	return ok(nil)
}

// capabilities groups a user's privileges as the web interface wants them.
func (c *Cluster) capabilities(who identity) map[string]any {
	out := map[string]any{}
	for _, part := range []struct{ key, path, prefix string }{
		{"vms", "/vms", "VM."}, {"storage", "/storage", "Datastore."}, {"access", "/access", ""}, {"nodes", "/nodes", "Sys."},
		{"dc", "/", "Sys."}, {"sdn", "/sdn", "SDN."}, {"mapping", "/mapping", "Mapping."},
	} {
		m := map[string]any{}
		for priv := range c.permissions(who, part.path) {
			if strings.HasPrefix(priv, part.prefix) && (part.key != "access" || !strings.HasPrefix(priv, "VM.")) {
				m[priv] = 1
			}
		}
		out[part.key] = m
	}
	return out
}

// mac authenticates tickets of this cluster. All nodes accept them.
func (c *Cluster) mac(parts ...string) string {
	h := hmac.New(sha256.New, c.ticketKey)
	_, _ = h.Write([]byte(strings.Join(parts, "\x00")))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// signTicket returns a ticket with its time, which limits its life.
func (c *Cluster) signTicket(kind, name string, now time.Time) string {
	plain := fmt.Sprintf("%s:%s:%08X", kind, name, now.Unix())
	return plain + "::" + c.mac("ticket", plain)
}

// csrfToken returns the token that a request with a cookie needs in addition.
func (c *Cluster) csrfToken(name string, now time.Time) string {
	stamp := fmt.Sprintf("%08X", now.Unix())
	return stamp + ":" + strings.TrimRight(c.mac("csrf", name, stamp), "=")
}

// verifyTicket checks signature and age of a ticket and tells whose it is.
func (c *Cluster) verifyTicket(value string) (user string, valid bool) {
	signed, sig, found := strings.Cut(value, "::")
	parts := strings.Split(signed, ":")
	if !found || len(parts) != 3 || parts[0] != "PVE" || !hmac.Equal([]byte(sig), []byte(c.mac("ticket", signed))) {
		return "", false
	}
	stamp, err := strconv.ParseInt(parts[2], 16, 64)
	return parts[1], err == nil && c.clock.now().Unix()-stamp <= int64(ticketLifetime/time.Second)
}

// authenticateTicket checks a ticket and, for methods that write, its CSRF prevention token.
func (c *Cluster) authenticateTicket(value string, r *http.Request) (identity, *apiError) {
	if plain, err := url.PathUnescape(value); err == nil {
		value = plain
	}
	name, valid := c.verifyTicket(value)
	if u := c.users[name]; !valid || u == nil || !u.active(c.clock.now()) {
		return identity{}, unauthorized(textAuthFailed)
	}
	if r.Method != http.MethodGet {
		csrf := r.Header.Get("CSRFPreventionToken")
		at, _, _ := strings.Cut(csrf, ":")
		n, err := strconv.ParseInt(at, 16, 64)
		if err != nil || !hmac.Equal([]byte(csrf), []byte(c.csrfToken(name, time.Unix(n, 0)))) {
			return identity{}, unauthorized("Permission denied - invalid csrf token")
		}
	}
	return identity{user: name}, nil
}
