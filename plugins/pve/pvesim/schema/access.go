package schema

import (
	"encoding/json"
	"fmt"
)

// Access says who may call a method: with Check whoever passes it, otherwise User; with neither only root@pam.
type Access struct {
	User  string `json:"user"` // "all" is everybody who is authenticated, "world" everybody
	Check *Check `json:"check"`
}

// Kinds of checks.
const (
	And        = "and"          // all of Of
	Or         = "or"           // one of Of
	Perm       = "perm"         // Privileges on Path
	PermModify = "perm-modify"  // what lets one change the entries of Path
	UserParam  = "userid-param" // about the parameter userid: Subject
	UserGroup  = "userid-group" // Privileges on a group of the user in the parameter userid
)

// Check is one step of a method's permission check.
type Check struct {
	Kind string
	Of   []*Check // of And and Or

	Path       string   // with {parameters}
	Privileges []string // all are needed, with Any one of them
	Any        bool
	// OnlyWith is a parameter without which the check passes.
	OnlyWith string
	// Subject of UserParam is "self" or a privilege on the realm of the user.
	Subject string
	// Groups of UserGroup is "create" or "update" where the request's parameter groups counts too.
	Groups string
}

// UnmarshalJSON reads the list that the real schema writes: the kind, then what belongs to it.
func (c *Check) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) < 2 {
		return fmt.Errorf("check %s has no content", raw)
	}
	if err := json.Unmarshal(list[0], &c.Kind); err != nil {
		return err
	}
	list = list[1:]
	take := func(into any) error {
		if len(list) == 0 {
			return fmt.Errorf("check %s is too short", raw)
		}
		err := json.Unmarshal(list[0], into)
		list = list[1:]
		return err
	}
	switch c.Kind {
	case And, Or:
		for len(list) > 0 {
			sub := &Check{}
			if err := take(sub); err != nil {
				return err
			}
			c.Of = append(c.Of, sub)
		}
		return nil
	case Perm:
		if err := take(&c.Path); err != nil {
			return err
		}
		if err := take(&c.Privileges); err != nil {
			return err
		}
	case UserGroup:
		if err := take(&c.Privileges); err != nil {
			return err
		}
	case UserParam:
		if err := take(&c.Subject); err != nil {
			return err
		}
	case PermModify:
		if err := take(&c.Path); err != nil {
			return err
		}
	default:
		return fmt.Errorf("check of unknown kind %q", c.Kind)
	}
	return c.options(list)
}

// options reads the pairs at the end of a check.
func (c *Check) options(list []json.RawMessage) error {
	for ; len(list) >= 2; list = list[2:] {
		var name string
		if err := json.Unmarshal(list[0], &name); err != nil {
			return err
		}
		var err error
		switch name {
		case "any":
			var n Flag
			err = json.Unmarshal(list[1], &n)
			c.Any = bool(n)
		case "require_param":
			err = json.Unmarshal(list[1], &c.OnlyWith)
		case "groups_param":
			err = json.Unmarshal(list[1], &c.Groups)
		default:
			err = fmt.Errorf("check with unknown option %q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
