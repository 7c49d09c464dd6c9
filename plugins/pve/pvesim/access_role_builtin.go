package pvesim

import (
	"maps"
	"slices"
	"strings"
)

// role is a named set of privileges. Special roles come with the installation
// and cannot be changed.
type role struct {
	privs   map[string]bool
	special bool
}

// privSet returns names as a set.
func privSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// builtinRoles are the roles that every installation has.
func builtinRoles(rel release) map[string]*role {
	vmUser := strings.Fields(`VM.Audit VM.Backup VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.GuestAgent.Audit
		VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.PowerMgmt`)
	lists := map[string][]string{
		"Administrator": rel.privileges(),
		"NoAccess":      nil,
		"PVEAdmin": privilegesBut("Permissions.Modify", "Sys.Modify", "Sys.PowerMgmt", "Sys.Incoming", "Sys.AccessNetwork",
			"Realm.Allocate", "Mapping.Modify"),
		"PVEAuditor":        {"Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "VM.Audit", "VM.GuestAgent.Audit"},
		"PVEDatastoreAdmin": privilegesOf("Datastore."),
		"PVEDatastoreUser":  {"Datastore.AllocateSpace", "Datastore.Audit"},
		"PVEMappingAdmin":   privilegesOf("Mapping."),
		"PVEMappingUser":    {"Mapping.Audit", "Mapping.Use"},
		"PVEPoolAdmin":      privilegesOf("Pool."),
		"PVEPoolUser":       {"Pool.Audit"},
		"PVESDNAdmin":       privilegesOf("SDN."),
		"PVESDNUser":        {"SDN.Audit", "SDN.Use"},
		"PVESysAdmin":       {"Sys.Audit", "Sys.Console", "Sys.Syslog"},
		"PVETemplateUser":   {"VM.Audit", "VM.Clone"},
		"PVEUserAdmin":      {"Group.Allocate", "Realm.AllocateUser", "User.Modify"},
		"PVEVMAdmin":        privilegesOf("VM."),
		"PVEVMUser":         vmUser,
	}
	roles := make(map[string]*role, len(lists))
	for id, names := range lists {
		names = slices.DeleteFunc(slices.Clone(names), func(p string) bool { return !slices.Contains(rel.privileges(), p) })
		roles[id] = &role{privs: privSet(names), special: true}
	}
	return roles
}

// names returns the role's privileges, sorted.
func (r *role) names() []string { return slices.Sorted(maps.Keys(r.privs)) }

// SetRole creates or replaces a role of the operator's own. Unknown privilege names are kept out.
func (c *Cluster) SetRole(id string, privs ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setRole(id, privs)
}

// setRole defines a role with those of the privileges that the simulated
// release knows.
func (c *Cluster) setRole(id string, privs []string) {
	known := slices.DeleteFunc(slices.Clone(privs), func(p string) bool { return !slices.Contains(c.release.privileges(), p) })
	c.roles[id] = &role{privs: privSet(known)}
	c.accessChanged()
}

// Role returns a role's privileges, sorted; none for a role that is not there.
func (c *Cluster) Role(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.roles[id]; r != nil {
		return r.names()
	}
	return nil
}
