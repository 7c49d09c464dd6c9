package pvesim

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// rootUser may do everything, whatever the entries of the access control list
// say.
const rootUser = "root@pam"

var (
	userIDPattern  = regexp.MustCompile(`^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+$`)
	tokenIDPattern = regexp.MustCompile(`^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+![A-Za-z][A-Za-z0-9.\-_]+$`)
	authIDPattern  = regexp.MustCompile(`^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+(![A-Za-z][A-Za-z0-9.\-_]+)?$`)
	groupIDPattern = regexp.MustCompile(`^[A-Za-z0-9.\-_]+$`)
)

// user is an account with its tokens. Attributes hold what was set, as text.
type user struct {
	enable   bool
	expire   int64 // Unix time, 0 = never
	password string
	attrs    map[string]string // comment, email, firstname, lastname, keys
	groups   map[string]bool
	tokens   map[string]*token
}

// token is one API token of a user.
type token struct {
	secret  string
	privsep bool
	expire  int64
	comment string
}

// newUser returns an enabled user.
func newUser() *user {
	return &user{enable: true, attrs: map[string]string{}, groups: map[string]bool{}, tokens: map[string]*token{}}
}

// active reports whether a user may log in at a time.
func (u *user) active(now time.Time) bool {
	return u.enable && (u.expire == 0 || u.expire > now.Unix())
}

// identity is who sends a request: a user, or one of the user's tokens.
type identity struct {
	user  string
	token string // empty for a user
}

// id is the identity as Proxmox VE writes it: user@realm or user@realm!token.
func (i identity) id() string {
	if i.token == "" {
		return i.user
	}
	return i.user + "!" + i.token
}

// parseIdentity separates the user and the token of an ID "user@realm!token".
func parseIdentity(id string) identity {
	u, t, _ := strings.Cut(id, "!")
	return identity{user: u, token: t}
}

// realmOf returns the realm of a user ID.
func realmOf(userid string) string { return userid[strings.LastIndexByte(userid, '@')+1:] }

// Token is an API token as a client needs it.
type Token struct {
	ID     string `json:"id"`     // user@realm!name
	Secret string `json:"secret"` // a UUID
}

// AddUser creates an enabled user, or returns quietly when it exists. The
// password may be empty: then nobody can log in.
func (c *Cluster) AddUser(userid, password string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addUser(userid, password)
}

// addUser returns the user and creates it if it does not exist.
func (c *Cluster) addUser(userid, password string) *user {
	if u := c.users[userid]; u != nil {
		return u
	}
	u := newUser()
	u.password = password
	c.users[userid] = u
	c.accessChanged()
	return u
}

// AddToken creates a token, with its user when needed, and returns it. An
// existing token of that id gets a new secret. Names have two characters at
// least: a token with a shorter one cannot authenticate.
func (c *Cluster) AddToken(id string, privsep bool) Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addToken(id, privsep)
}

// addToken creates a token with a random secret, which is the only time that
// the secret is returned.
func (c *Cluster) addToken(id string, privsep bool) Token {
	who := parseIdentity(id)
	t := &token{secret: c.newUUID(), privsep: privsep}
	c.addUser(who.user, "").tokens[who.token] = t
	c.accessChanged()
	return Token{ID: id, Secret: t.secret}
}

// RevokeToken deletes a token. It reports an error when there is none of that id.
func (c *Cluster) RevokeToken(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, _, err := c.findToken(id)
	if err != nil {
		return err
	}
	delete(u.tokens, parseIdentity(id).token)
	c.dropTokenEntries(id)
	return nil
}

// ExpireToken lets a token's time run out now.
func (c *Cluster) ExpireToken(id string) error {
	return c.SetTokenEnd(id, c.Now().Add(-time.Second))
}

// SetTokenEnd says when a token ends; zero is never.
func (c *Cluster) SetTokenEnd(id string, at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, t, err := c.findToken(id)
	if err != nil {
		return err
	}
	if t.expire = 0; !at.IsZero() {
		t.expire = at.Unix()
	}
	return nil
}

// EnableUser switches an account on or off; the tokens of a disabled user are refused.
func (c *Cluster) EnableUser(userid string, enable bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.users[userid]
	if u == nil {
		return fmt.Errorf("no such user (%q)", userid)
	}
	u.enable = enable
	return nil
}

// findToken looks a token up; with an error the user is there when only the token is missing.
func (c *Cluster) findToken(id string) (*user, *token, error) {
	who := parseIdentity(id)
	u := c.users[who.user]
	if u == nil {
		return nil, nil, fmt.Errorf("no such user (%q)", who.user)
	}
	t := u.tokens[who.token]
	if t == nil {
		return u, nil, fmt.Errorf("no such token %q for user %q", who.token, who.user)
	}
	return u, t, nil
}

// deleteUser removes a user with its tokens and every access control entry of theirs.
func (c *Cluster) deleteUser(userid string) {
	u := c.users[userid]
	for name := range u.tokens {
		c.dropTokenEntries(userid + "!" + name)
	}
	c.acl.drop("user", userid)
	delete(c.users, userid)
	c.accessChanged()
}

// dropTokenEntries removes the access control entries of a token.
func (c *Cluster) dropTokenEntries(id string) {
	c.acl.drop("token", id)
	c.accessChanged()
}

// secretMatches compares in constant time, as the real server does.
func secretMatches(want, got string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}

// newUUID draws a version 4 UUID: from the seeded source while the scenario is
// built, afterwards from the system.
func (c *Cluster) newUUID() string {
	var b [16]byte
	if c.building {
		for i := range b {
			b[i] = byte(c.rand.Uint32())
		}
	} else {
		_, _ = rand.Read(b[:]) // never fails
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// sortedGroups returns the groups of a user, sorted.
func sortedGroups(u *user) []string {
	names := make([]string, 0, len(u.groups))
	for g := range u.groups {
		names = append(names, g)
	}
	slices.Sort(names)
	return names
}
