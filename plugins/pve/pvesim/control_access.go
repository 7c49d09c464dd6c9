package pvesim

import (
	"errors"
	"net/http"
)

// controlRole defines a role.
func controlRole(c *Cluster, r *http.Request) (any, error) {
	var in struct {
		ID         string   `json:"id"`
		Privileges []string `json:"privileges"`
	}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	if in.ID == "" {
		return nil, errors.New("id is missing")
	}
	c.SetRole(in.ID, in.Privileges...)
	return nil, nil
}

// controlACL adds or removes an access control entry.
func controlACL(c *Cluster, r *http.Request) (any, error) {
	in := struct {
		Path      string `json:"path"`
		Subject   string `json:"subject"`
		Role      string `json:"role"`
		Propagate bool   `json:"propagate"`
		Delete    bool   `json:"delete"`
	}{Propagate: true}
	if err := decodeControl(r, &in); err != nil {
		return nil, err
	}
	switch {
	case !validACLPath(normaliseACLPath(in.Path)) || in.Subject == "" || in.Role == "":
		return nil, errors.New("path, subject or role is missing or bad")
	case in.Delete:
		c.Revoke(in.Path, in.Subject, in.Role)
	default:
		c.Grant(in.Path, in.Subject, in.Role, in.Propagate)
	}
	return nil, nil
}
