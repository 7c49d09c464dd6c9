package pvesim

import (
	"slices"
	"strings"
)

// privileges are all privileges of Proxmox VE 9.2, sorted. VM.Monitor went away with release 9.
var privileges = strings.Fields(`Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit
Group.Allocate Mapping.Audit Mapping.Modify Mapping.Use Permissions.Modify Pool.Allocate Pool.Audit Realm.Allocate
Realm.AllocateUser SDN.Allocate SDN.Audit SDN.Use Sys.AccessNetwork Sys.Audit Sys.Console Sys.Incoming Sys.Modify
Sys.PowerMgmt Sys.Syslog User.Modify VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU
VM.Config.Cloudinit VM.Config.Disk VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console
VM.GuestAgent.Audit VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite
VM.GuestAgent.Unrestricted VM.Migrate VM.PowerMgmt VM.Replicate VM.Snapshot VM.Snapshot.Rollback`)

// privilegesBut returns all privileges except those named and those that start with a name ending in ".".
func privilegesBut(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(privileges), func(p string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			return p == n || strings.HasSuffix(n, ".") && strings.HasPrefix(p, n)
		})
	})
}

// privilegesOf returns the privileges that start with one of the prefixes.
func privilegesOf(prefixes ...string) []string {
	return slices.DeleteFunc(slices.Clone(privileges), func(p string) bool {
		return !slices.ContainsFunc(prefixes, func(n string) bool { return strings.HasPrefix(p, n) })
	})
}
