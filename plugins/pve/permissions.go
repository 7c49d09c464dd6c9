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

// grants are the effective rights of a token as /access/permissions gives them: path, privilege, and whether the right
// goes on to the paths below.
type grants map[string]map[string]pveapi.Flag

// Permissions compares the rights of the token with those of its capability's role. Rights on single guests, nodes or
// storages do not count as held: the capability would work for some and fail for others.
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
	if len(result.Missing)+len(result.Extra) > 0 {
		result.Remedy = mending(h.tokenID, r, have, place, at)
	}
	if h.capability == endpoint.Monitoring && have.holds("Sys.Audit", "/") {
		result.Ends = h.ends(ctx)
	}
	return result, nil
}

// ends are when the tokens of the token's own user end. A token without Sys.Audit on /access/groups may not read that, not even of itself.
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
		h.log.Debug("the ends of tokens are not readable", "error", err)
		return nil
	}
	ends := make([]hypervisor.CredentialEnd, 0, len(answer.Tokens))
	for _, name := range slices.Sorted(maps.Keys(answer.Tokens)) {
		end := hypervisor.CredentialEnd{ID: user + "!" + name}
		// A token is of no use after the end of its user. Zero is for ever.
		for _, at := range []pveapi.Int{answer.Expire, answer.Tokens[name].Expire} {
			if at.N > 0 && at.N < maxTime && (end.At.IsZero() || time.Unix(at.N, 0).Before(end.At)) {
				end.At = time.Unix(at.N, 0).UTC()
			}
		}
		ends = append(ends, end)
	}
	return ends
}

// maxTime is the end of the year 9999, after which no time has a form that others read.
const maxTime = 253402300799

// compare judges at "/" first, then at each pool, and reports the place where least is missing, which it gives too.
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

// trees are the paths below which privileges of a family are checked.
var trees = map[string][]string{
	"VM":        {"/vms"},
	"Datastore": {"/storage"},
	"Sys":       {"/nodes"},
	"Pool":      {"/pool"},
	"SDN":       {"/sdn"},
}

// holds reports whether a privilege counts as held at a place. At "/" the right must go on to everything below; an entry
// on "/" that does not is worth nothing for guests. Rights that were given separately on the tree of the privilege's
// family, such as /vms, are as good. On a pool the right counts either way, since it reaches the pool's members.
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
		// Without propagation "/" and /nodes must both have it.
		_, onRoot := g["/"][privilege]
		return family == "Sys" && onRoot && bool(g["/nodes"][privilege])
	}
	_, inPool := g[place][privilege]
	return inPool
}

// lacking are those of the privileges that do not hold at the place, sorted; nil when all do.
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

// beyond are all privileges held anywhere that are not among the allowed, sorted.
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

// pools are the pool paths at which the token has any right, sorted.
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
