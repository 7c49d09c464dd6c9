package lxd

import (
	"context"
	"slices"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxProjects bounds the lists that are read for one inventory: there is one for each project of a restricted certificate.
const maxProjects = 100

// sight is what a certificate may see.
type sight struct {
	// whole is every project, in one list.
	whole bool
	// projects are those of a restricted certificate, sorted.
	projects []string
	// known is false where the server has no entry for the certificate: releases with finer rights than restricted or not.
	known bool
}

// sight asks what the certificate may see.
func (h *Host) sight(ctx context.Context) (sight, error) {
	own, err := h.api.OwnCertificate(ctx)
	switch {
	case plugin.KindOf(err) == plugin.NotFound:
		return sight{whole: true}, nil // lists are filtered by what it may see
	case err != nil:
		return sight{}, h.judge(ctx, err, "")
	case !own.Restricted:
		return sight{whole: true, known: true}, nil
	}
	projects := slices.Clone(own.Projects)
	slices.Sort(projects)
	projects = slices.Compact(projects)
	if len(projects) > maxProjects {
		return sight{}, plugin.Errorf(plugin.Refused, "the certificate is restricted to %d projects, but at most %d are supported; "+
			"restrict it to fewer projects, or use an unrestricted certificate", len(projects), maxProjects)
	}
	return sight{projects: projects, known: true}, nil
}

// partial reports whether there may be what the certificate does not see.
func (s sight) partial() bool { return !s.whole || !s.known }

// scopes are the lists that have all it sees.
func (s sight) scopes() []lxdapi.Scope {
	if s.whole {
		return []lxdapi.Scope{{All: true}}
	}
	scopes := make([]lxdapi.Scope, len(s.projects))
	for i, p := range s.projects {
		scopes[i] = lxdapi.Scope{Project: p}
	}
	return scopes
}
