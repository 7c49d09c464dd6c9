package pve

import (
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// role is the set of privileges for the token of one capability.
type role struct {
	name       string
	privileges []string
	// optional are privileges that the role may have and need not.
	optional []string
	// recommended are privileges that today's releases want in addition.
	recommended []string
}

// nodeShell is what opening a node's shell needs in addition.
const nodeShell = "Sys.Console"

// roles lists the privileges of each capability. The role script grants them,
// and Permissions compares with them; both must change together.
var roles = map[endpoint.Capability]role{
	endpoint.Monitoring: {
		name:       "ServiceAudit",
		privileges: []string{"VM.Audit", "Datastore.Audit", "Sys.Audit", "Pool.Audit", "SDN.Audit"},
		// The last is for the firewall's log of nodes. That of guests is read
		// with the token for consoles, and with this one where there is none
		// and somebody gave it the optional privilege.
		recommended: []string{"VM.GuestAgent.Audit", "Sys.Syslog"},
		optional:    []string{"VM.Console"},
	},
	endpoint.Lifecycle: {
		name: "ServiceLifecycle",
		privileges: []string{
			"VM.PowerMgmt", "VM.Config.Disk", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options",
			"VM.Allocate", "VM.Clone", "VM.Snapshot", "VM.Snapshot.Rollback", "VM.Migrate", "Sys.Modify",
			"Datastore.Allocate", "Datastore.AllocateSpace",
		},
		// Sys.AccessNetwork is for downloads, which a node makes out of its own
		// network. The last two are for changes of a firewall that keep a part
		// of what is there, and to tell where a new rule stands.
		recommended: []string{
			"SDN.Use", "VM.Config.HWType", "VM.Config.CDROM", "Datastore.AllocateTemplate", "Sys.AccessNetwork",
			"VM.Audit", "Sys.Audit",
		},
	},
	endpoint.Console: {
		name:       "ServiceConsole",
		privileges: []string{"VM.Console"},
		// With the second the driver sees what consoles a VM has; without it tries.
		optional: []string{nodeShell, "VM.Audit"},
	},
	endpoint.Backup: {
		name:       "ServiceBackup",
		privileges: []string{"VM.Backup", "Datastore.AllocateSpace", "Datastore.Audit"},
		// For a restore: a new guest, one whose NICs are on bridges, and a name
		// for a VM and for a container.
		recommended: []string{"SDN.Use", "VM.Allocate", "VM.Config.Options", "VM.Config.Network"},
	},
	endpoint.NodePower: {
		name:       "ServiceNodePower",
		privileges: []string{"Sys.PowerMgmt"},
	},
}

// since maps a privilege to the release that introduced it. Privileges that are
// not listed exist in every release with API tokens. An older release refuses a
// role with a privilege that it does not know, so that the privilege is not
// missing there.
var since = map[string]release{
	"Pool.Audit":          {7, 0},
	"SDN.Use":             {8, 0},
	"Sys.AccessNetwork":   {8, 0},
	"VM.GuestAgent.Audit": {9, 0},
}

// known removes the privileges that a release does not have.
func known(privileges []string, r release) []string {
	return slices.DeleteFunc(slices.Clone(privileges), func(p string) bool { return r.before(since[p]) })
}

// roleOf returns the role of a capability.
func roleOf(c endpoint.Capability) (role, error) {
	r, ok := roles[c]
	if !ok {
		e := plugin.Errorf(plugin.Invalid, "unknown capability %q", c)
		e.Field = "capability"
		return role{}, e
	}
	return r, nil
}

// Privileges returns the privileges of the role of a capability, nil for an
// unknown one.
func Privileges(c endpoint.Capability) []string { return slices.Clone(roles[c].privileges) }
