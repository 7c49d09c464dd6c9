package pvesim

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// containerPrivileges are what changing a key of a container's configuration needs besides the schema's; all others need
// VM.Config.Options.
var containerPrivileges = []struct {
	keys      *regexp.Regexp
	privilege string
}{
	{regexp.MustCompile(`^(cores|cpulimit|cpuunits)$`), "VM.Config.CPU"},
	{regexp.MustCompile(`^(memory|swap)$`), "VM.Config.Memory"},
	{regexp.MustCompile(`^(net\d+|hostname|nameserver|searchdomain)$`), "VM.Config.Network"},
	{regexp.MustCompile(`^(rootfs|mp\d+|unused\d+)$`), "VM.Config.Disk"},
}

// mayConfigureCT checks what the schema has in prose. An empty text removes the key.
func (r *request) mayConfigureCT(texts map[string]string) *apiError {
	root := r.who.id() == rootUser
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		text, privilege := texts[key], "VM.Config.Options"
		for _, p := range containerPrivileges {
			if p.keys.MatchString(key) {
				privilege = p.privilege
			}
		}
		switch {
		case key == "features":
			if err := r.mayChangeFeatures(text); err != nil && !root {
				return err
			}
			continue
		case (key == "hookscript" || strings.HasPrefix(key, "dev")) && !root:
			return forbidden("changing " + strings.TrimRight(key, "0123456789") + " is only allowed for root@pam")
		case volumeKeys[LXC].MatchString(key) && strings.HasPrefix(text, "/") && !root:
			return forbidden("mount point type bind is only allowed for root@pam")
		}
		if err := r.c.check(r.who, r.fill("/vms/{vmid}"), privilege); err != nil {
			return err
		}
		if storageID, _, found := strings.Cut(text, ":"); found && volumeKeys[LXC].MatchString(key) {
			if err := r.c.check(r.who, "/storage/"+storageID, "Datastore.AllocateSpace"); err != nil {
				return err
			}
		}
		if key == "startup" { // it changes what the node does
			if err := r.c.check(r.who, "/", "Sys.Modify"); err != nil {
				return err
			}
		}
	}
	return r.mayUseBridges(asAny(texts))
}

// mayChangeFeatures allows "nesting" of unprivileged containers to everybody.
func (r *request) mayChangeFeatures(text string) *apiError {
	g := r.c.guestOn(r.node.name, LXC, r.vmid())
	if g == nil {
		return nil
	}
	now, _ := g.config()["features"].(string)
	if !isSet(g.config()["unprivileged"]) {
		return forbidden("changing feature flags for privileged container is only allowed for root@pam")
	}
	others := func(features string) string {
		parts := slices.DeleteFunc(strings.Split(features, ","), func(p string) bool {
			return p == "" || strings.HasPrefix(p, "nesting=")
		})
		slices.Sort(parts)
		return strings.Join(parts, ",")
	}
	if others(now) != others(text) {
		return forbidden("changing feature flags (except nesting) is only allowed for root@pam")
	}
	return nil
}
