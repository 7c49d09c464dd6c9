package lxd

import (
	"strings"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// defaultProject is the project whose guests are named without it.
const defaultProject = "default"

// guestID returns the ID of a guest: its name in the project default, and
// project/name in any other.
func guestID(project, name string) hypervisor.GuestID {
	if project == "" || project == defaultProject {
		return hypervisor.GuestID(name)
	}
	return hypervisor.GuestID(project + "/" + name)
}

// instanceRef returns the instance with an ID. Each instance has exactly one
// ID, so "default/web" is NotFound although it could mean "web".
func instanceRef(id hypervisor.GuestID) (lxdapi.InstanceRef, error) {
	project, name, found := strings.Cut(string(id), "/")
	if !found {
		project, name = defaultProject, string(id)
	}
	known := id.Valid() && instanceName(name) && (!found || projectName(project) && project != defaultProject)
	if !known {
		return lxdapi.InstanceRef{}, plugin.Errorf(plugin.NotFound, "guest %.80q does not exist: a guest ID is a name, or project/name", id)
	}
	return lxdapi.InstanceRef{Project: project, Name: name}, nil
}

// instanceName reports whether a name is one that the server accepts for an
// instance: up to 63 letters, digits and hyphens, beginning with a letter.
func instanceName(name string) bool {
	if name == "" || len(name) > 63 || !letter(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !letter(c) && c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// letter reports whether a byte is an ASCII letter. Names of instances start
// with one.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// projectName reports whether a name is one that the server accepts for a
// project.
func projectName(name string) bool {
	return name != "" && name != "." && name != ".." && name != "*" && !strings.ContainsAny(name, "/ '\"\\")
}
