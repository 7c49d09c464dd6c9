package pve

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// preconditions is the answer of GET migrate. For containers its members have
// dashes in their names, and there are no disks.
type preconditions struct {
	Allowed   *[]pveapi.Text        `json:"allowed_nodes"`
	Forbidden map[string]forbidding `json:"not_allowed_nodes"`
	Disks     []localDisk           `json:"local_disks"`
	Resources []pveapi.Text         `json:"local_resources"`
	Running   pveapi.Flag           `json:"running"`
	Dependent []pveapi.Text         `json:"dependent-ha-resources"`

	// Mapped are those of the resources that other nodes may have too, by key;
	// releases before 8 have none.
	Mapped map[string]mappedResource `json:"mapped-resource-info"`
	// MappedKeys are their keys, which is all that 8.0 to 8.3 tell.
	MappedKeys []pveapi.Text `json:"mapped-resources"`

	AllowedCT   *[]pveapi.Text        `json:"allowed-nodes"`
	ForbiddenCT map[string]forbidding `json:"not-allowed-nodes"`
}

// forbidding is the reason why a node is no destination.
type forbidding struct {
	Storages  []pveapi.Text `json:"unavailable_storages"`
	Resources []pveapi.Text `json:"unavailable-resources"`
	Blocking  []struct {
		SID   pveapi.Text `json:"sid"`
		Cause pveapi.Text `json:"cause"`
	} `json:"blocking-ha-resources"`
}

// mappedResource is a device or a directory that a VM uses by a name, which
// each node can map to one of its own.
type mappedResource struct {
	Name pveapi.Text `json:"name"`
	Live pveapi.Flag `json:"live-migration"`
}

// localDisk is a row of local_disks in the answer of the migration check.
type localDisk struct {
	Volume    pveapi.Text `json:"volid"`
	Key       pveapi.Text `json:"drivename"`
	Size      pveapi.Int  `json:"size"`
	CDROM     pveapi.Flag `json:"cdrom"`
	CloudInit pveapi.Flag `json:"is_cloudinit"`
}

// CheckMigration implements hypervisor.Migrator. Proxmox VE checks the
// preconditions for VMs in all releases, and for containers since 9; the
// configuration tells the rest.
func (h *Host) CheckMigration(ctx context.Context, ref hypervisor.GuestRef, query hypervisor.MigrationQuery) (
	hypervisor.MigrationCheck, error) {
	check := hypervisor.MigrationCheck{Live: ref.Kind == hypervisor.VM}
	path, err := guestPath(ref, "migrate")
	if err != nil {
		return check, err
	}
	nodes, err := h.nodes(ctx)
	if err != nil {
		return check, err
	}
	i := slices.IndexFunc(nodes, func(n nodeRow) bool { return string(n.Node) == query.Node })
	switch {
	case i < 0:
		return check, invalid("node", "node %.80q does not exist", query.Node)
	case query.Node == ref.Node:
		block(&check, hypervisor.MigrationSameNode, "The guest is already on %s.", query.Node)
	case nodes[i].Status == hypervisor.NodeOffline:
		block(&check, hypervisor.MigrationNodeOffline, "The node %s is offline.", query.Node)
	}
	var p preconditions
	_, err = h.api.Get(ctx, path, nil, &p)
	if ref.Kind == hypervisor.Container && plugin.KindOf(err) == plugin.Unsupported {
		return check, nil
	}
	if e, ok := asError(err); ok && e.Kind == plugin.Refused && strings.Contains(e.Message, "no quorum") { // it tells nothing else then
		block(&check, hypervisor.MigrationQuorum, "The cluster has no quorum: nothing of it can be changed.")
		return check, nil
	}
	if err != nil {
		return check, h.explain(ctx, ref.Node, absence(err))
	}
	p.tell(&check, query)
	return check, nil
}

// tell adds the preconditions that Proxmox VE reports for a target node to the
// check: nodes that are allowed, missing storages, rules of high availability,
// local disks and images, and devices that are passed through. VMs and
// containers have different names for the same fields. Disks of Cloud-Init do
// not count as local, because they are generated again.
func (p preconditions) tell(check *hypervisor.MigrationCheck, query hypervisor.MigrationQuery) {
	if allowed := cmp.Or(p.Allowed, p.AllowedCT); allowed != nil {
		check.Nodes = namesOf(*allowed)
		slices.Sort(check.Nodes)
	}
	forbidden := p.Forbidden[query.Node]
	if p.Forbidden == nil {
		forbidden = p.ForbiddenCT[query.Node]
	}
	if len(forbidden.Storages) > 0 && query.Storage == "" {
		block(check, hypervisor.MigrationStorage, "The node %s lacks the storages of the guest's disks: %s.", query.Node,
			strings.Join(namesOf(forbidden.Storages), ", "))
	}
	for _, b := range forbidden.Blocking {
		block(check, hypervisor.MigrationNodeForbidden, "A high availability rule (%s, %s) keeps the guest off %s.", b.Cause, b.SID,
			query.Node)
	}
	if len(p.Dependent) > 0 {
		check.Warnings = append(check.Warnings, hypervisor.MigrationFinding{Code: hypervisor.MigrationHA,
			Message: fmt.Sprintf("A high availability rule migrates other guests with it: %s.", strings.Join(namesOf(p.Dependent), ", "))})
	}
	for _, disk := range p.Disks {
		storage, _, _ := strings.Cut(string(disk.Volume), ":")
		switch {
		case bool(disk.CDROM) && !bool(disk.CloudInit):
			block(check, hypervisor.MigrationLocalImage, "The image %s in a drive exists only on the guest's node; eject it first.", disk.Volume)
		case !bool(disk.CloudInit):
			moved := hypervisor.MigrationDisk{Key: string(disk.Key), Storage: storage, Volume: string(disk.Volume)}
			if disk.Size.Set {
				moved.SizeBytes = &disk.Size.N
			}
			check.Disks = append(check.Disks, moved)
		}
	}
	if len(forbidden.Resources) > 0 {
		block(check, hypervisor.MigrationPassthrough, "The node %s has no mapping for devices of the guest: %s.", query.Node,
			strings.Join(namesOf(forbidden.Resources), ", "))
	}
	p.tellResources(check)
}

// tellResources adds the blockers for resources of the node. A guest with
// mapped resources can move while it is off.
func (p preconditions) tellResources(check *hypervisor.MigrationCheck) {
	check.Resources = namesOf(p.Resources)
	own := slices.DeleteFunc(slices.Clone(check.Resources), func(key string) bool {
		_, mapped := p.Mapped[key]
		return mapped || slices.Contains(p.MappedKeys, pveapi.Text(key))
	})
	if len(own) > 0 {
		block(check, hypervisor.MigrationPassthrough, "The guest uses devices of its node: %s.", strings.Join(own, ", "))
	}
	var busy []string
	for _, key := range p.MappedKeys {
		if _, told := p.Mapped[string(key)]; !told && bool(p.Running) {
			busy = append(busy, string(key))
		}
	}
	for key, device := range p.Mapped {
		if bool(p.Running) && !bool(device.Live) {
			busy = append(busy, fmt.Sprintf("%s (%s)", key, device.Name))
		}
	}
	if slices.Sort(busy); len(busy) > 0 {
		block(check, hypervisor.MigrationPassthrough, "The guest is running and uses mapped devices that cannot be migrated live: %s. "+
			"Stop it first.", strings.Join(busy, ", "))
	}
}

// namesOf converts a list of texts.
func namesOf(list []pveapi.Text) []string {
	all := make([]string, 0, len(list))
	for _, text := range list {
		all = append(all, string(text))
	}
	return all
}

// block adds a blocker.
func block(check *hypervisor.MigrationCheck, code, format string, args ...any) {
	check.Blockers = append(check.Blockers, hypervisor.MigrationFinding{Code: code, Message: fmt.Sprintf(format, args...)})
}

// Migrate sends one POST. Local disks are moved too; without a storage they go
// to the storages with the same names. Containers cannot migrate live; Proxmox
// VE shuts them down, moves them and starts them again ("restart").
func (h *Host) Migrate(ctx context.Context, ref hypervisor.GuestRef, spec hypervisor.MigrationSpec) (string, error) {
	path, err := guestPath(ref, "migrate")
	switch {
	case err != nil:
		return "", err
	case !nodeName.MatchString(spec.Node):
		return "", invalid("node", "%.80q is not a valid node name", spec.Node)
	case spec.Storage != "" && !storageName.MatchString(spec.Storage):
		return "", invalid("storage", "%.80q is not a valid storage name", spec.Storage)
	}
	form := url.Values{"target": {spec.Node}}
	storage := "target-storage"
	if ref.Kind == hypervisor.VM {
		storage = "targetstorage"
		form.Set("with-local-disks", "1")
	}
	if spec.Online {
		form.Set("online", "1")
	}
	if spec.Restart && ref.Kind == hypervisor.Container {
		form.Set("restart", "1")
	}
	if spec.Storage != "" {
		form.Set(storage, spec.Storage)
	}
	var answer pveapi.Text
	if _, err := h.api.Post(ctx, path, form, &answer); err != nil {
		return "", h.explain(ctx, ref.Node, migrateError(absence(err), spec))
	}
	h.log.Debug("migration started", "node", ref.Node, "guest", ref.ID, "target", spec.Node, "task", string(answer))
	return taskIn(string(answer)), nil
}

// migrateError turns an error about a migration into one of the SDK.
func migrateError(err error, spec hypervisor.MigrationSpec) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case e.Kind == plugin.Invalid && e.Field == "target", strings.HasPrefix(text, "no such cluster node"):
		wrongParameter(e, "node")
	case e.Kind == plugin.Invalid && strings.HasPrefix(e.Field, "target"), strings.HasPrefix(text, "storage '") && spec.Storage != "":
		wrongParameter(e, "storage")
	case strings.HasPrefix(text, "can't migrate running"), strings.HasPrefix(text, "storage '"):
		e.Kind = plugin.Conflict
	}
	return e
}
