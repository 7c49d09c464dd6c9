package sso

import (
	"slices"
	"strings"

	"github.com/hostler/hostler/core/identity"
)

// maxGroups is how many groups of a user are evaluated; further ones are
// ignored.
const maxGroups = 5000

// claims are the claims of a user, from the ID token and, where needed, from
// the UserInfo endpoint.
type claims map[string]any

// find returns the claim at a path, nil if it does not exist. Dots lead into
// objects, as in realm_access.roles, unless a claim has exactly this name.
func (c claims) find(path string) any {
	if value, there := c[path]; there {
		return value
	}
	var at any = map[string]any(c)
	for name := range strings.SplitSeq(path, ".") {
		object, _ := at.(map[string]any)
		at = object[name]
	}
	return at
}

// texts returns the strings of a claim that is a list or a single string. It
// skips other values.
func (c claims) texts(path string) []string {
	switch value := c.find(path).(type) {
	case string:
		return []string{value}
	case []any:
		var all []string
		for _, one := range value[:min(len(value), maxGroups)] {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

// text returns a claim that is a string. It returns "" for other types, and for
// strings with NUL, which PostgreSQL cannot store.
func (c claims) text(name string) string {
	text, _ := c[name].(string)
	if strings.ContainsRune(text, 0) {
		return ""
	}
	return text
}

// verified reports whether the provider says that the email address is
// verified. Some providers send the boolean as a string.
func (c claims) verified() bool { return c["email_verified"] == true || c["email_verified"] == "true" }

// external combines the claims with the rules of the provider. Grants has an
// entry for every team that a rule names; the role is NoRole if no rule of the
// team applies to the user.
func (c claims) external(p *stored, subject string) *identity.ExternalLogin {
	e := &identity.ExternalLogin{
		Provider: p.ID, Name: p.Name, UpdatedAt: p.UpdatedAt, Subject: subject, DisplayName: c.text("name"), Create: p.Accounts == Create,
		Factors: slices.Contains(c.texts("amr"), "mfa"), // RFC 8176 section 2
		Grants:  map[int64]identity.Role{},
	}
	// A provider that says that an address is not verified is believed, whatever is trusted.
	_, said := c["email_verified"]
	if c.verified() || p.TrustEmail && !said {
		e.Email = c.text("email")
	}
	groups := map[string]bool{Everybody: true}
	for _, group := range c.texts(p.GroupsClaim) {
		groups[group] = true
	}
	for _, rule := range p.Rules {
		role := identity.NoRole
		if groups[rule.Group] {
			role, _ = identity.ParseRole(rule.Role) // the table has no others
		}
		e.Grants[rule.TeamID] = max(e.Grants[rule.TeamID], role)
	}
	return e
}
