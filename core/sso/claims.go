package sso

import (
	"slices"
	"strings"

	"github.com/hostler/hostler/core/identity"
)

// maxGroups is how many groups of a person are looked at.
const maxGroups = 5000

// claims is what a provider says of a person.
type claims map[string]any

// find is the claim of a name; nil where there is none. Dots lead into objects, unless there is a claim with a dot in its name.
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

// texts are those of a claim that is a list, or one alone.
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

// text is that of a claim; "" where it is none, or has what the database does not store.
func (c claims) text(name string) string {
	text, _ := c[name].(string)
	if strings.ContainsRune(text, 0) {
		return ""
	}
	return text
}

// verified reports whether the provider says that the address is the person's. Some write true as a text.
func (c claims) verified() bool { return c["email_verified"] == true || c["email_verified"] == "true" }

// external is who comes in, by what the provider says and by its rules.
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
