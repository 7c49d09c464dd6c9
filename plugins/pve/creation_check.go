package pve

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These are the privileges that the creation of a guest needs.
const (
	allocateGuest = "VM.Allocate"
	allocateSpace = "Datastore.AllocateSpace"
	useNetwork    = "SDN.Use"
)

var _ hypervisor.CreationChecker = (*Host)(nil)

// CheckVM implements hypervisor.CreationChecker. It asks for all rights of the
// token at once and for those at each path.
func (h *Host) CheckVM(ctx context.Context, spec hypervisor.VMSpec) error {
	form, err := vmForm(spec)
	if err != nil {
		return err
	}
	have, err := h.grants(ctx)
	if err != nil {
		return err
	}
	at := have.placeFor(spec.ID)
	needs := []need{{allocateGuest, at}}
	for _, key := range slices.Sorted(maps.Keys(form)) {
		if p := creationPrivileges[strings.TrimRight(key, "0123456789")]; p != "" {
			needs = append(needs, need{p, at})
		}
	}
	needs = append(needs, need{allocateSpace, "/storage/" + spec.Storage})
	return h.mustHold(ctx, "create the VM", have, needs, spec.Bridge)
}

// creationPrivileges maps the parameters of CreateVM, without their numbers, to
// the privileges that they need (PVE::API2::Qemu, check_vm_modify_config_perm).
// It has only the parameters that this driver sends.
var creationPrivileges = map[string]string{
	"name": "VM.Config.Options", "ostype": "VM.Config.Options", "bios": "VM.Config.Options", "cores": "VM.Config.CPU",
	"memory": "VM.Config.Memory", "virtio": "VM.Config.Disk", "boot": "VM.Config.Disk", "efidisk": "VM.Config.Disk",
	"tpmstate": "VM.Config.Disk", "net": "VM.Config.Network", "ide": "VM.Config.CDROM", "machine": "VM.Config.HWType",
}

// CheckClone implements hypervisor.CreationChecker. Storages and bridges of the
// guest are checked if the token may read its configuration.
func (h *Host) CheckClone(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.CloneSpec) error {
	have, err := h.grants(ctx)
	if err != nil {
		return err
	}
	needs := []need{{"VM.Clone", "/vms/" + string(ref.ID)}, {allocateGuest, have.placeFor(spec.ID)}}
	var config hypervisor.Config
	held, known := have.effective("/vms/" + string(ref.ID))
	if _, reads := held["VM.Audit"]; reads || !known {
		if config, err = h.Config(ctx, ref); err != nil {
			h.log.Debug("the guest to be copied cannot be read", "guest", ref.ID, "error", err)
		}
	}
	return h.mustHold(ctx, "clone the guest", have, append(needs, storageNeeds(config, spec.Storage)...), bridgesOf(config)...)
}

// CheckRestore implements hypervisor.CreationChecker. Storages and bridges of
// the backup are checked if the token may read its configuration.
func (h *Host) CheckRestore(ctx context.Context, spec hypervisor.RestoreSpec) error {
	have, err := h.grants(ctx)
	if err != nil {
		return err
	}
	needs := []need{{allocateGuest, have.placeFor(spec.ID)}}
	if spec.Over {
		// A token that may back up a guest may also restore over it.
		needs[0] = need{"VM.Backup|" + allocateGuest, "/vms/" + string(spec.ID)}
	}
	config, err := h.backedUp(ctx, spec.Node, spec.Backup)
	if err != nil {
		h.log.Debug("the backup to be restored cannot be read", "backup", spec.Backup.ID, "error", err)
	}
	return h.mustHold(ctx, "restore the backup", have, append(needs, storageNeeds(config, spec.Storage)...), bridgesOf(config)...)
}

// storageNeeds returns the needs for the requested storage, or for those of the
// configuration.
func storageNeeds(config hypervisor.Config, storage string) (needs []need) {
	if storage != "" {
		return []need{{allocateSpace, "/storage/" + storage}}
	}
	for _, d := range config.Disks {
		if d.Storage != "" && !d.Removable && !d.Unused {
			needs = append(needs, need{allocateSpace, "/storage/" + d.Storage})
		}
	}
	return needs
}

// bridgesOf returns the bridges of a guest's NICs.
func bridgesOf(config hypervisor.Config) (names []string) {
	for _, nic := range config.NICs {
		names = append(names, nic.Bridge)
	}
	return names
}

// grants asks for all rights of the token.
func (h *Host) grants(ctx context.Context) (have grants, err error) {
	_, err = h.api.Get(ctx, "/access/permissions", nil, &have)
	return have, err
}

// rights asks for the rights of the token at one path.
func (h *Host) rights(ctx context.Context, path string) (map[string]pveapi.Flag, error) {
	var have grants
	if _, err := h.api.Get(ctx, "/access/permissions", url.Values{"path": {path}}, &have); err != nil {
		return nil, err
	}
	return have[path], nil
}

// mustHold returns Denied with everything that the token lacks at the first
// path at which it lacks something. A bridge needs SDN.Use since 8.0. Only
// Proxmox VE knows the zone of a bridge; so the privilege is reported missing
// only if the token has it nowhere below /sdn.
func (h *Host) mustHold(ctx context.Context, what string, have grants, needs []need, bridges ...string) error {
	var paths []string
	wanted := map[string][]string{}
	for _, n := range needs {
		if !slices.Contains(paths, n.path) {
			paths = append(paths, n.path)
		}
		if !slices.Contains(wanted[n.path], n.privilege) {
			wanted[n.path] = append(wanted[n.path], n.privilege)
		}
	}
	for _, path := range paths {
		held, known := have.effective(path)
		if !known {
			var err error
			if held, err = h.rights(ctx, path); err != nil {
				return err
			}
		}
		missing := slices.DeleteFunc(wanted[path], func(alternatives string) bool {
			return slices.ContainsFunc(strings.Split(alternatives, "|"), func(p string) bool { _, is := held[p]; return is })
		})
		if len(missing) > 0 {
			return h.lacking(ctx, what, missing, path)
		}
	}
	bridges = slices.DeleteFunc(bridges, func(name string) bool { return name == "" })
	if len(bridges) == 0 || have.belowSDN() {
		return nil
	}
	version, err := h.Version(ctx)
	if err != nil || len(known([]string{useNetwork}, parseRelease(version.Release))) == 0 {
		return err
	}
	return h.lacking(ctx, what, []string{useNetwork}, "/sdn/zones/localnetwork/"+bridges[0])
}

// lacking returns the Denied error for missing privileges, with the command
// that grants them.
func (h *Host) lacking(ctx context.Context, what string, missing []string, path string) error {
	e := plugin.Errorf(plugin.Denied, "cannot %s: the token lacks %s at %s", what, strings.Join(missing, ", "), path)
	e.Missing, e.Path = missing, path
	e.Remedy = h.api.RemedyOf(ctx, missing, path)
	return e
}

// effective returns the rights at a path: those listed for it, or those that
// propagate from the nearest path above. known is false if not all of them
// propagate, so that only Proxmox VE can tell.
func (g grants) effective(path string) (held map[string]pveapi.Flag, known bool) {
	for above := path; above != ""; above = above[:strings.LastIndexByte(above, '/')] {
		if held, known = g[above]; known {
			return held, above == path || propagate(held)
		}
	}
	return g["/"], propagate(g["/"])
}

// propagate reports whether all privileges also apply below their path.
func propagate(privileges map[string]pveapi.Flag) bool {
	for _, on := range privileges {
		if !on {
			return false
		}
	}
	return len(privileges) > 0
}

// belowSDN reports whether the token has SDN.Use anywhere.
func (g grants) belowSDN() bool {
	for path, privileges := range g {
		if _, held := privileges[useNetwork]; held && (path == "/" || path == "/sdn" || strings.HasPrefix(path, "/sdn/")) {
			return true
		}
	}
	return false
}

// poolFor returns the pool parameter for a new guest; empty if the token may
// create it without one, or nowhere. Of several pools it returns the first by
// name.
func (g grants) poolFor(id hypervisor.GuestID) string {
	_, own := g["/vms/"+string(id)][allocateGuest]
	if own || g.holds(allocateGuest, "/") {
		return ""
	}
	for _, path := range g.pools() {
		if _, held := g[path][allocateGuest]; held {
			return strings.TrimPrefix(path, "/pool/")
		}
	}
	return ""
}

// placeFor returns the path at which the rights for a new guest are checked.
func (g grants) placeFor(id hypervisor.GuestID) string {
	if pool := g.poolFor(id); pool != "" {
		return "/pool/" + pool
	}
	return "/vms/" + cmp.Or(string(id), "0")
}

// postGuest sends a request that creates a guest. If it is refused for lack of
// VM.Allocate, so that it had no effect, it is sent once more with the pool in
// which the token may create guests.
func (h *Host) postGuest(ctx context.Context, path string, form url.Values, id hypervisor.GuestID) (task string, err error) {
	var answer pveapi.Text
	_, err = h.api.Post(ctx, path, form, &answer)
	if e, ok := asError(err); ok && e.Kind == plugin.Denied && form.Get("force") == "" &&
		(len(e.Missing) == 0 || slices.Equal(e.Missing, []string{allocateGuest})) {
		have, unread := h.grants(ctx)
		if pool := have.poolFor(id); unread == nil && pool != "" {
			form.Set("pool", pool)
			_, err = h.api.Post(ctx, path, form, &answer)
		}
	}
	return string(answer), err
}
