package pvesim

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// tokenHeader finds a token in the Authorization header, as loosely as the
// original.
var tokenHeader = regexp.MustCompile(`(?:^|\s)PVEAPIToken[= ]([^;]*)`)

// textAuthFailed is the same for every failed login.
const textAuthFailed = "Authentication failed!"

// authenticate finds out who sends a request. A PVEAuthCookie wins over a
// token. Since release 9.1.5 every wrong credential gets the same text; "No
// ticket" means that there was none.
func (c *Cluster) authenticate(r *http.Request) (identity, *apiError) {
	if cookie, err := r.Cookie("PVEAuthCookie"); err == nil {
		return c.authenticateTicket(cookie.Value, r)
	}
	m := tokenHeader.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil || m[1] == "" {
		return identity{}, unauthorized("No ticket")
	}
	value, err := url.PathUnescape(m[1])
	if err != nil {
		value = m[1]
	}
	id, secret, found := strings.Cut(strings.TrimSpace(value), "=")
	if !found || !authIDPattern.MatchString(id) || !strings.Contains(id, "!") {
		return identity{}, unauthorized(textAuthFailed)
	}
	u, t, lookupErr := c.findToken(id)
	now := c.clock.now()
	who := parseIdentity(id)
	cause := ""
	switch {
	case u == nil:
		cause = "no such user ('" + who.user + "')"
	case lookupErr != nil:
		cause = "no such token '" + who.token + "' for user '" + who.user + "'"
	case !u.active(now):
		cause = "user '" + who.user + "' is disabled or expired"
	case t.expire != 0 && t.expire <= now.Unix():
		cause = "token '" + who.token + "' access expired"
	case !secretMatches(t.secret, secret):
		cause = "invalid token value!"
	default:
		return who, nil
	}
	if c.release.atLeast(9, 1, 5) {
		cause = textAuthFailed
	}
	return identity{}, unauthorized(cause)
}
