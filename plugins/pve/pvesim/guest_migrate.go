package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// migrateEndpoints serves migrations and their checks.
func migrateEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/nodes/{node}/qemu/{vmid}/migrate", readVMMigration),
		serve("GET", "/nodes/{node}/lxc/{vmid}/migrate", readCTMigration),
		serve("POST", "/nodes/{node}/qemu/{vmid}/migrate", migrateGuest),
		serve("POST", "/nodes/{node}/lxc/{vmid}/migrate", migrateGuest),
	}
}

// migrationTargets says where the guest could go: the storages of its disks
// have to be there under the same names. Releases before 9 told it of VMs that
// are off only.
func (r *request) migrationTargets(g *guest) (allowed []string, denied map[string]any) {
	allowed, denied = []string{}, map[string]any{}
	_, mapped := g.localResources()
	for _, n := range r.c.nodes {
		if n == r.node {
			continue
		}
		if missing := r.c.unmapped(mapped, n.name); missing != nil {
			denied[n.name] = map[string]any{"unavailable-resources": missing}
			continue
		}
		var missing []string
		for _, v := range g.volumes() {
			if s := r.c.storageByID(v.storage); (s == nil || s.disabled || !s.on(n.name)) && !slices.Contains(missing, v.storage) {
				missing = append(missing, v.storage)
			}
		}
		if missing == nil {
			allowed = append(allowed, n.name)
		} else {
			denied[n.name] = map[string]any{"unavailable_storages": missing}
		}
	}
	return allowed, denied
}

// readVMMigration returns what a migration of a VM would meet.
func readVMMigration(r *request) (result, *apiError) {
	g, err := r.migrated()
	if err != nil {
		return fail(err)
	}
	resources, mapped := g.localResources()
	info := map[string]any{}
	for key, name := range mapped {
		info[key] = map[string]any{"name": name}
	}
	answer := map[string]any{
		"running": oneOrZero(g.running()), "local_disks": r.localDisks(g), "local_resources": resources,
		"mapped-resources": append([]string{}, slices.Sorted(maps.Keys(mapped))...), "mapped-resource-info": info,
		"has-dbus-vmstate": 1,
	}
	if r.c.release.major >= 9 || !g.running() {
		answer["allowed_nodes"], answer["not_allowed_nodes"] = r.migrationTargets(g)
	}
	return ok(answer)
}

// readCTMigration tells nothing of disks and mount points.
func readCTMigration(r *request) (result, *apiError) {
	g, err := r.migrated()
	if err != nil {
		return fail(err)
	}
	allowed := []string{}
	for _, n := range r.c.nodes {
		if n != r.node {
			allowed = append(allowed, n.name)
		}
	}
	return ok(map[string]any{"running": oneOrZero(g.running()), "allowed-nodes": allowed, "not-allowed-nodes": map[string]any{}})
}

// migrated is the guest of the path, when the target that may be given is a node.
func (r *request) migrated() (*guest, *apiError) {
	if !r.c.quorate() {
		return nil, noQuorum()
	}
	if target := r.values.text("target"); target != "" && r.c.nodeByName(target) == nil {
		return nil, failure("no such cluster node '%s'", target)
	}
	return r.guestOf()
}

// localDisks are the volumes and images of a guest that lie on storages of its node alone.
func (r *request) localDisks(g *guest) []map[string]any {
	disks := []map[string]any{}
	for _, v := range g.volumes() {
		s := r.c.storageByID(v.storage)
		if s == nil || s.shared || strings.Contains(v.value, "shared=1") {
			continue
		}
		disks = append(disks, map[string]any{
			"volid": v.id, "drivename": v.key, "size": max(g.Disk, gibibyte), "cdrom": 0, "is_attached": 1, "is_cloudinit": 0,
			"is_tpmstate": 0, "is_unused": 0, "is_vmstate": 0, "replicate": 1, "shared": 0,
		})
	}
	images := g.localImages(r.c)
	for _, key := range slices.Sorted(maps.Keys(images)) {
		disks = append(disks, map[string]any{"volid": images[key], "drivename": key, "cdrom": 1, "is_attached": 1, "is_cloudinit": 0,
			"is_tpmstate": 0, "is_unused": 0, "is_vmstate": 0, "replicate": 1, "shared": 0})
	}
	return disks
}

// localImages are images in drives that only the guest's node has.
func (g *guest) localImages(c *Cluster) map[string]string {
	found := map[string]string{}
	for key, value := range g.config() {
		text, isText := value.(string)
		if !isText || !volumeKeys[QEMU].MatchString(key) || !strings.Contains(text, "media=cdrom") {
			continue
		}
		id, _, _ := strings.Cut(text, ",")
		storageID, _, isVolume := strings.Cut(id, ":")
		if s := c.storageByID(storageID); isVolume && s != nil && !s.shared && !strings.Contains(id, "cloudinit") {
			found[key] = id
		}
	}
	return found
}

// localResources are the keys of what a VM uses of its node, and by key the
// names of what it uses by a mapping. A mapped device is among both, but a PCI
// device of a VM that is off is not.
func (g *guest) localResources() (found []string, mapped map[string]string) {
	found, mapped = []string{}, map[string]string{}
	for key, value := range g.config() {
		text := fmt.Sprint(value)
		passed := strings.HasPrefix(key, "hostpci") || strings.HasPrefix(key, "parallel") || key == "ivshmem" ||
			strings.HasPrefix(key, "virtiofs") || strings.HasPrefix(key, "usb") && !strings.HasPrefix(text, "spice") ||
			strings.HasPrefix(key, "serial") && text != "socket"
		if name := mappingIn.FindStringSubmatch(text); passed && name != nil {
			mapped[key] = name[2]
			passed = g.running() || !strings.HasPrefix(key, "hostpci")
		}
		if passed {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found, mapped
}

// mappingIn finds the name of a mapping in what a VM uses of its node.
var mappingIn = regexp.MustCompile(`(^|,)(?:mapping|dirid)=([^,]+)`)

// MapDevice has some nodes map a device or directory of their own to a name that VMs use.
func (c *Cluster) MapDevice(name string, nodes ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mappings == nil {
		c.mappings = map[string][]string{}
	}
	c.mappings[name] = nodes
}

// unmapped are the keys of what a VM uses and a node does not map, in their order.
func (c *Cluster) unmapped(mapped map[string]string, node string) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(mapped)) {
		if !slices.Contains(c.mappings[mapped[key]], node) {
			keys = append(keys, key)
		}
	}
	return keys
}

// migration is a move as it was asked for.
type migration struct {
	target          string
	online, restart bool
	withLocalDisks  bool
	storage         string
}

// migrateGuest refuses what parameters and the guest's state tell; what its
// disks and devices tell shows in the task. What is under high availability is
// left to its manager: the task of the request ends once that knows.
func migrateGuest(r *request) (result, *apiError) {
	m := migration{
		target: r.values.text("target"), online: r.values.boolean("online", false), restart: r.values.boolean("restart", false),
		withLocalDisks: r.values.boolean("with-local-disks", false) || r.kind == LXC,
		storage:        r.values.text("targetstorage") + r.values.text("target-storage"),
	}
	for _, name := range []string{"force", "migration_type", "migration_network"} {
		if r.values.has(name) && r.who.id() != rootUser {
			return fail(badParameter(name, "Only root may use this option."))
		}
	}
	switch {
	case m.target == r.node.name:
		return fail(badParameter("target", "target is local node."))
	case !r.c.quorate():
		return fail(noQuorum())
	case r.c.nodeByName(m.target) == nil:
		return fail(failure("no such cluster node '%s'", m.target))
	}
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	if g.running() && !m.online && !m.restart {
		if r.kind == LXC {
			return fail(failure("can't migrate running container without --online or --restart"))
		}
		return fail(failure("can't migrate running VM without --online"))
	}
	if err := r.targetStorage(g, m); err != nil {
		return fail(err)
	}
	kind := map[string]string{QEMU: "qmigrate", LXC: "vzmigrate"}[r.kind] // a VM's has one m
	node, id, moved := r.node, strconv.Itoa(g.VMID), r.newGuestTask(r.migrationWork(m))
	if !g.HAManaged {
		return ok(r.c.startTask(node, r.who, kind, id, moved))
	}
	return ok(r.c.startTask(node, r.who, "hamigrate", id, &task{
		begin: func(t *task, now time.Time) (time.Duration, error) {
			t.log = append(t.log, logLine{now, fmt.Sprintf("Requesting HA migration for %s %s to node %s", word(r.kind), id, m.target)})
			return 0, nil
		},
		finish: func(_ *task, now time.Time) error {
			r.c.addTask(node, identity{user: rootUser}, kind, id, moved, now)
			return nil
		},
	}))
}

// targetStorage refuses storages that the target lacks, and those that the caller may not use.
func (r *request) targetStorage(g *guest, m migration) *apiError {
	if m.storage != "" && m.storage != "1" {
		if r.c.storageByID(m.storage) == nil {
			return failure("storage '%s' does not exist", m.storage)
		}
		if err := r.c.check(r.who, "/storage/"+m.storage, "Datastore.AllocateSpace"); err != nil {
			return err
		}
		if !r.c.storageByID(m.storage).on(m.target) {
			return failure("storage '%s' is not available on node '%s'", m.storage, m.target)
		}
		return nil
	}
	for _, v := range g.volumes() {
		if s := r.c.storageByID(v.storage); s == nil || !s.on(m.target) {
			return failure("storage '%s' is not available on node '%s'", v.storage, m.target)
		}
	}
	return nil
}

// migrationWork is the task that moves the guest. Whatever stops it leaves the guest where it was.
func (r *request) migrationWork(m migration) guestWork {
	c := r.c
	return guestWork{
		action: "migrate", lock: "migrate",
		ready: func(t *task, g *guest) (time.Duration, error) {
			say := func(format string, args ...any) {
				t.log = append(t.log, logLine{t.began, fmt.Sprintf(format, args...)})
			}
			n := c.nodeByName(m.target)
			say("starting migration of %s to node '%s' (%s)", label(g.Type, g.VMID), n.name, n.ip)
			if err := r.immovable(g, m, say); err != nil {
				say("ERROR: migration aborted (duration 00:00:00): %s", err)
				return 0, errors.New("migration aborted")
			}
			for _, disk := range r.localDisks(g) {
				say("found local disk '%s' (attached)", disk["volid"])
			}
			if g.running() && m.restart {
				say("shutdown CT %d", g.VMID)
			}
			return 0, nil
		},
		apply: func(t *task, g *guest, now time.Time) {
			g.node = m.target
			if g.running() && g.Type == LXC {
				g.halt(now)
				g.boot(c, now)
			} else if g.running() {
				g.pid = c.nodeByName(g.node).takePID()
			}
			if m.storage != "" && m.storage != "1" {
				g.Storage = m.storage
				g.volume = c.volumeOf(g)
			}
			t.log = append(t.log, logLine{now, "migration finished successfully (duration 00:00:01)"})
			c.generation++
		},
		undo: func(*task, *guest, time.Time) {},
	}
}

// keptByDevices says which devices keep a VM where it is.
func (r *request) keptByDevices(g *guest, target string) error {
	list, mapped := g.localResources()
	list = slices.DeleteFunc(list, func(key string) bool { return mapped[key] != "" })
	switch missing := r.c.unmapped(mapped, target); {
	case len(list) > 0:
		return errors.New("can't migrate VM which uses local devices: " + strings.Join(list, ", "))
	case g.running() && len(mapped) > 0:
		var busy []string
		for _, key := range slices.Sorted(maps.Keys(mapped)) {
			busy = append(busy, key+":"+mapped[key])
		}
		return errors.New("can't migrate running VM which uses following mapped devices: " + strings.Join(busy, ", "))
	case len(missing) > 0:
		return fmt.Errorf("can't migrate to '%s': missing mapped devices %s", target, strings.Join(missing, ", "))
	}
	return nil
}

// immovable says what keeps the guest where it is.
func (r *request) immovable(g *guest, m migration, say func(string, ...any)) error {
	if !r.c.nodeByName(m.target).online.Load() {
		return fmt.Errorf("%s", "Can't connect to destination address using public key")
	}
	if r.kind == LXC {
		if g.running() && !m.restart {
			return errors.New("lxc live migration is currently not implemented")
		}
		for key, value := range g.config() {
			text := fmt.Sprint(value)
			if strings.HasPrefix(key, "mp") && strings.HasPrefix(text, "/") && !strings.Contains(text, "shared=1") {
				return fmt.Errorf("cannot migrate local bind mount point '%s'", key)
			}
		}
	} else if err := r.keptByDevices(g, m.target); err != nil {
		return err
	}
	abort := false
	refuse := func(volume, why string) {
		say("can't migrate '%s': %s", volume, why)
		abort = true
	}
	for _, id := range g.localImages(r.c) {
		refuse(id, "local cdrom image")
	}
	for _, disk := range r.localDisks(g) {
		volume := fmt.Sprint(disk["volid"])
		switch {
		case disk["cdrom"] == 1:
		case g.running() && r.kind == QEMU && !m.withLocalDisks:
			refuse(volume, "can't live migrate attached local disks without with-local-disks option")
		case g.running() && r.kind == QEMU && len(g.snapshots) > 0:
			refuse(volume, "online storage migration not possible if non-replicated snapshot exists")
		case len(g.snapshots) > 0:
			refuse(volume, "non-migratable snapshot exists")
		}
	}
	if abort {
		return fmt.Errorf("%s", "Problem found while scanning volumes - can't migrate VM - check log")
	}
	return nil
}
