package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxProjects limits the lists that are read for one inventory: one per project
// of a restricted certificate.
const maxProjects = 100

// visibility is what a certificate may see.
type visibility struct {
	// whole is every project, in one list.
	whole bool
	// projects are those of a restricted certificate, sorted.
	projects []string
	// known is false where the server has no entry for the certificate: releases with finer rights than restricted or not.
	known bool
}

// visibility asks what the certificate may see.
func (h *Host) visibility(ctx context.Context) (visibility, error) {
	own, err := h.api.OwnCertificate(ctx)
	switch {
	case plugin.KindOf(err) == plugin.NotFound:
		return visibility{whole: true}, nil // lists are filtered by what it may see
	case err != nil:
		return visibility{}, h.judge(ctx, err, "")
	case !own.Restricted:
		return visibility{whole: true, known: true}, nil
	}
	projects := slices.Clone(own.Projects)
	slices.Sort(projects)
	projects = slices.Compact(projects)
	if len(projects) > maxProjects {
		return visibility{}, plugin.Errorf(plugin.Refused, "the certificate is restricted to %d projects, but at most %d are supported; "+
			"restrict it to fewer projects, or use an unrestricted certificate", len(projects), maxProjects)
	}
	return visibility{projects: projects, known: true}, nil
}

// partial reports whether there may be guests that the certificate does not
// see.
func (s visibility) partial() bool { return !s.whole || !s.known }

// scopes returns the lists that together contain everything that the
// certificate sees.
func (s visibility) scopes() []lxdapi.Scope {
	if s.whole {
		return []lxdapi.Scope{{All: true}}
	}
	scopes := make([]lxdapi.Scope, len(s.projects))
	for i, p := range s.projects {
		scopes[i] = lxdapi.Scope{Project: p}
	}
	return scopes
}
