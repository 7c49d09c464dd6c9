package pve

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// need is a privilege without which a list below a path is empty.
type need struct{ privilege, path string }

// hidden returns the refusal for an empty list if the token has one of the
// privileges nowhere: Proxmox VE leaves out what the token may not see, without
// an error. It makes one request, and returns nil for a list that is really
// empty.
func (h *Host) hidden(ctx context.Context, needs ...need) error {
	have, err := h.grants(ctx)
	if err != nil {
		return err
	}
	for _, n := range needs {
		if have.anywhere(n.privilege) {
			continue
		}
		e := plugin.Errorf(plugin.Denied, "the token sees nothing at %s; it needs %s", n.path, n.privilege)
		e.Missing, e.Path = []string{n.privilege}, n.path
		e.Remedy = h.api.RemedyOf(ctx, e.Missing, e.Path)
		return e
	}
	return nil
}

// anywhere reports whether the token has a privilege at any path.
func (g grants) anywhere(privilege string) bool {
	for _, privileges := range g {
		if _, held := privileges[privilege]; held {
			return true
		}
	}
	return false
}
