package pve

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// grants are the effective rights of a token, as /access/permissions returns
// them: by path and privilege, whether the right propagates.
type grants map[string]map[string]pveapi.Flag

// Permissions compares the rights of the token with those of its capability's
// role. Rights on single guests, nodes or storages do not count: the capability
// would work for some objects and fail for others.
func (h *Host) Permissions(ctx context.Context) (hypervisor.Permissions, error) {
	r, err := roleOf(h.capability)
	if err != nil {
		return hypervisor.Permissions{}, err
	}
	version, err := h.Version(ctx)
	if err != nil {
		return hypervisor.Permissions{}, err
	}
	var have grants
	if _, err := h.api.Get(ctx, "/access/permissions", nil, &have); err != nil {
		return hypervisor.Permissions{}, err
	}
	at := parseRelease(version.Release)
	result, place := compare(have, r, at)
	result.Version = &version
	if len(result.Missing)+len(result.Extra)+len(result.Recommended) > 0 {
		result.Remedy = mending(h.tokenID, r, have, place, at)
	}
	if h.capability == endpoint.Monitoring && have.holds("Sys.Audit", "/") {
		result.Ends = h.ends(ctx)
	}
	return result, nil
}

// ends returns when the tokens of the token's own user end. A token without
// Sys.Audit on /access/groups may not read that, not even about itself; then
// the list is empty.
func (h *Host) ends(ctx context.Context) []hypervisor.CredentialEnd {
	user, _, found := strings.Cut(h.tokenID, "!")
	path, err := pveapi.Path("access", "users", user)
	if !found || err != nil {
		return nil
	}
	var answer struct {
		Expire pveapi.Int `json:"expire"`
		Tokens map[string]struct {
			Expire pveapi.Int `json:"expire"`
		} `json:"tokens"`
	}
	if _, err := h.api.Get(ctx, path, nil, &answer); err != nil {
		h.log.Debug("cannot read when tokens expire", "error", err)
		return nil
	}
	ends := make([]hypervisor.CredentialEnd, 0, len(answer.Tokens))
	for _, name := range slices.Sorted(maps.Keys(answer.Tokens)) {
		end := hypervisor.CredentialEnd{ID: user + "!" + name}
		// A token is useless after the end of its user. Zero stands for no end.
		for _, at := range []pveapi.Int{answer.Expire, answer.Tokens[name].Expire} {
			if at.N > 0 && at.N < maxTime && (end.At.IsZero() || time.Unix(at.N, 0).Before(end.At)) {
				end.At = time.Unix(at.N, 0).UTC()
			}
		}
		ends = append(ends, end)
	}
	return ends
}

// maxTime is the end of the year 9999, after which a time has no form in RFC
// 3339.
const maxTime = 253402300799

// compare judges the rights at "/" and at each pool, and returns the result for
// the place where least is missing, with the place.
func compare(have grants, r role, at release) (hypervisor.Permissions, string) {
	needed, recommended := known(r.privileges, at), known(r.recommended, at)
	result := hypervisor.Permissions{Extra: have.beyond(slices.Concat(r.privileges, r.optional, r.recommended))}

	places := append([]string{"/"}, have.pools()...)
	best := -1
	for i, place := range places {
		missing := have.lacking(needed, place)
		if len(missing) == 0 {
			result.Paths = append(result.Paths, place)
		}
		if best < 0 || len(missing) < len(result.Missing) {
			best, result.Missing = i, missing
		}
		if place == "/" && len(missing) == 0 {
			break // pools below add nothing
		}
	}
	result.Recommended = have.lacking(recommended, places[best])
	return result, places[best]
}

// trees are the paths below which the privileges of a family are checked.
var trees = map[string][]string{
	"VM":        {"/vms"},
	"Datastore": {"/storage"},
	"Sys":       {"/nodes"},
	"Pool":      {"/pool"},
	"SDN":       {"/sdn"},
}

// holds reports whether a privilege counts as held at a place. At "/" it must
// propagate; without that it is worth nothing for guests. A right on the tree
// of the privilege's family, such as /vms, is as good. On a pool it counts in
// both cases, because it applies to the members of the pool.
func (g grants) holds(privilege, place string) bool {
	if g["/"][privilege] {
		return true
	}
	family, _, _ := strings.Cut(privilege, ".")
	if family != "Sys" { // checked on "/" itself as well
		for _, tree := range trees[family] {
			if g[tree][privilege] {
				return true
			}
		}
	}
	if place == "/" {
		// Without propagation both "/" and /nodes must have it.
		_, onRoot := g["/"][privilege]
		return family == "Sys" && onRoot && bool(g["/nodes"][privilege])
	}
	_, inPool := g[place][privilege]
	return inPool
}

// lacking returns the privileges that do not hold at a place, sorted; nil if
// all do.
func (g grants) lacking(privileges []string, place string) []string {
	var missing []string
	for _, p := range privileges {
		if !g.holds(p, place) {
			missing = append(missing, p)
		}
	}
	slices.Sort(missing)
	return missing
}

// beyond returns all privileges that are held anywhere and are not allowed,
// sorted.
func (g grants) beyond(allowed []string) []string {
	var extra []string
	for _, privileges := range g {
		for p := range privileges {
			if !slices.Contains(allowed, p) {
				extra = append(extra, p)
			}
		}
	}
	slices.Sort(extra)
	return slices.Compact(extra)
}

// pools returns the paths of the pools on which the token has any right,
// sorted.
func (g grants) pools() []string {
	var pools []string
	for path := range g {
		if strings.HasPrefix(path, "/pool/") {
			pools = append(pools, path)
		}
	}
	slices.Sort(pools)
	return pools
}
