package pvesim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// cloneEndpoints serves copies of guests.
func cloneEndpoints() []*endpoint {
	return []*endpoint{
		serve("POST", "/nodes/{node}/qemu/{vmid}/clone", cloneGuest),
		serve("POST", "/nodes/{node}/lxc/{vmid}/clone", cloneGuest),
		serve("POST", "/nodes/{node}/qemu/{vmid}/template", makeTemplate),
		serve("POST", "/nodes/{node}/lxc/{vmid}/template", makeTemplate),
	}
}

// cloneGuest copies a guest. Without full a template gives a linked copy, and
// anything else a full one.
func cloneGuest(r *request) (result, *apiError) {
	newID, target := int(r.values.integer("newid", 0)), r.node.name
	if name := r.values.text("target"); name != "" {
		if r.c.nodeByName(name) == nil {
			return fail(failure("no such cluster node '%s'", name))
		}
		target = name
	}
	g := r.c.guestOn(r.node.name, r.kind, r.vmid())
	if g == nil {
		return fail(failure("unable to find configuration file for %s on node '%s'", label(r.kind, r.vmid()), r.node.name))
	}
	if name := r.values.text("snapname"); name != "" && g.snapshots[name] == nil {
		return fail(failure("%s", noSnapshot(name)))
	}
	full := r.values.boolean("full", !g.Template)
	if err := r.mayClone(g, full); err != nil {
		return fail(err)
	}
	if taken := r.c.guests[newID]; taken != nil && taken.Type == r.kind { // a container's id shows to a VM in the task only
		if r.kind == LXC {
			return fail(failure("CT %d already exists on node '%s'", newID, taken.node))
		}
		return fail(failure("unable to create VM %d: config file already exists", newID))
	}
	if err := r.clonable(g, full, target); err != nil {
		return fail(err)
	}
	if !r.c.quorate() {
		return fail(noQuorum())
	}
	return r.startClone(g, newID, target, full)
}

// mayClone checks what the schema has in prose: the storages and bridges that the copy uses.
func (r *request) mayClone(g *guest, full bool) *apiError {
	if to := r.values.text("storage"); to != "" {
		if r.c.storageByID(to) == nil {
			return failure("storage '%s' does not exist", to)
		}
		if err := r.c.check(r.who, "/storage/"+to, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	} else if full || r.kind == QEMU {
		for _, v := range g.volumes() {
			if err := r.c.check(r.who, "/storage/"+v.storage, "Datastore.AllocateSpace"); err != nil {
				return err
			}
		}
	}
	return r.mayUseBridges(g.config())
}

// clonable says what keeps the guest from being copied.
func (r *request) clonable(g *guest, full bool, target string) *apiError {
	to := r.values.text("storage")
	if !full && to != "" {
		return badParameter("storage", "parameter 'storage' not allowed for linked clones")
	}
	for key, value := range g.config() {
		switch path, _, _ := strings.Cut(fmt.Sprint(value), ","); {
		case !volumeKeys[r.kind].MatchString(key) || !strings.HasPrefix(path, "/"):
		case r.kind == LXC:
			return failure("unable to clone mountpoint '%s' (type bind)", key)
		case full:
			return failure("Full clone feature is not supported for '%s' (%s)", path, key)
		default:
			return failure("Linked clone feature is not supported for '%s' (%s)", path, key)
		}
	}
	for _, v := range g.volumes() {
		s := r.c.storageByID(v.storage)
		switch {
		case !full && !g.Template:
			return failure("Linked clone feature is not supported for '%s' (%s)", v.id, v.key)
		case !full && r.kind == LXC && s != nil && s.plugin == "dir":
			return failure("Linked clone feature for '%s' is not available", v.id)
		case target != r.node.name && to == "" && (s == nil || !s.shared):
			return failure("can't clone %s to node '%s' (VM uses local storage)", word(r.kind), target)
		}
	}
	if r.kind == LXC && g.running() && full && r.values.text("snapname") == "" {
		return failure("Full clone of a running container is only possible from a snapshot")
	}
	return nil
}

// word returns the short word for a kind of guest in texts of the original.
func word(kind string) string { return map[string]string{QEMU: "VM", LXC: "CT"}[kind] }

// startClone starts the task. The copy is there from its beginning on, locked
// until its end; the source is locked meanwhile. If the task fails or is
// stopped, the copy is removed again.
func (r *request) startClone(g *guest, newID int, target string, full bool) (result, *apiError) {
	c, name, to := r.c, r.values.text("name")+r.values.text("hostname"), r.values.text("storage")
	made := (*guest)(nil)
	sourceLock := map[string]string{QEMU: "clone", LXC: "disk"}[r.kind]
	return r.guestTask(guestWork{
		action: "clone", lock: sourceLock,
		ready: func(t *task, g *guest) (time.Duration, error) {
			from, spec := g.config(), g.GuestSpec
			if s := g.snapshots[r.values.text("snapname")]; s != nil {
				from, spec = g.snapshotConfig(s), s.spec
			}
			spec.VMID, spec.Node, spec.Status, spec.Template, spec.Lock, spec.HAManaged = newID, target, StatusStopped, false, "clone", false
			spec.Name, spec.Pool = name, r.values.text("pool")
			if name == "" {
				spec.Name = fmt.Sprintf("Copy-of-%s-%s", word(r.kind), g.Name)
			}
			if to != "" {
				spec.Storage = to
			}
			spec.Config, spec.Pending = nil, nil
			if _, err := c.addGuest(spec); err != nil {
				return 0, fmt.Errorf("clone failed: unable to create %s %d: config file already exists", word(r.kind), newID)
			}
			made = c.guests[newID]
			made.copyConfig(c, from, to, r.values.text("description"))
			c.cloneFirewall(g.VMID, newID)
			if !full {
				made.base = g.VMID
			}
			t.log = append(t.log, logLine{t.began, fmt.Sprintf("creating a clone of %s %d with ID %d", longWord(r.kind), g.VMID, newID)})
			return c.logClone(t, g, made, full)
		},
		apply: func(*task, *guest, time.Time) { made.Lock = "" },
		undo: func(*task, *guest, time.Time) {
			if made != nil {
				c.forget(made)
			}
		},
	})
}

// ownKeys are those of a configuration that a copy has not from the guest that it is of.
var ownKeys = []string{
	"name", "hostname", "description", "smbios1", "vmgenid", "lock", "parent", "template", "protection", "snaptime", "snapstate", "vmstate",
	"runningmachine", "runningcpu",
}

// copyConfig gives a copy the configuration of the guest that it is of: with
// addresses and volumes of its own, on the storage to unless that is empty.
// Without a description it has that of the guest.
func (g *guest) copyConfig(c *Cluster, from map[string]any, to, description string) {
	wanted, own := maps.Clone(from), g.config()
	for _, key := range ownKeys {
		delete(wanted, key)
		if own[key] != nil && key != "description" {
			wanted[key] = own[key]
		}
	}
	if description != "" {
		wanted["description"] = description + "\n"
	} else if was := from["description"]; was != nil {
		wanted["description"] = was
	}
	for n, v := range volumesIn(g.Type, wanted) {
		id := c.newVolume(g, cmp.Or(to, v.storage), n)
		wanted[v.key] = strings.Replace(fmt.Sprint(wanted[v.key]), v.id, id, 1)
		if v.key == "scsi0" || v.key == "rootfs" {
			g.volume = id
		}
	}
	c.renewAddresses(wanted)
	g.setConfig(wanted)
}

// longWord returns the long one; the original uses both.
func longWord(kind string) string { return map[string]string{QEMU: "VM", LXC: "container"}[kind] }

// logClone takes room for the copy's disks and tells how much of them is
// copied; what has no room fails the task.
func (c *Cluster) logClone(t *task, g, made *guest, full bool) (time.Duration, error) {
	took := c.taskDuration()
	for i, v := range made.volumes() {
		if !full {
			t.log = append(t.log, logLine{t.began, "create linked clone of drive " + v.key + " (" + g.volume + ")"})
			continue
		}
		kind := map[string]string{QEMU: "drive", LXC: "mountpoint"}[g.Type]
		t.log = append(t.log, logLine{t.began, fmt.Sprintf("create full clone of %s %s (%s)", kind, v.key, g.volume)})
		size := max(diskSize(fmt.Sprint(made.config()[v.key])), gibibyte)
		if err := c.storageByID(v.storage).allocate(v.id, size, t.began); err != nil {
			t.failure = errors.New("clone failed: " + trimNoRoom(err))
			return took, nil
		}
		if i > 0 || g.Type != QEMU {
			continue
		}
		for part := range 4 {
			done := float64(size) / float64(gibibyte) * float64(part+1) / 4
			at := t.began.Add(took * time.Duration(part+1) / 5)
			t.log = append(t.log, logLine{at, fmt.Sprintf("transferred %.1f GiB of %.1f GiB (%.2f%%)", done, float64(size)/float64(gibibyte),
				float64(part+1)*25)})
		}
	}
	return took, nil
}

// makeTemplate makes a template of a guest that is off and has no snapshots: of
// a container at once.
func makeTemplate(r *request) (result, *apiError) {
	g, err := r.guestOf()
	switch {
	case err != nil:
		return fail(err)
	case g.Template:
		return fail(failure("you can't convert a template to a template"))
	case len(g.snapshots) > 0:
		return fail(failure("unable to create template, because %s contains snapshots", word(r.kind)))
	case g.running():
		return fail(failure("you can't convert a %s to template if %s is running", word(r.kind), word(r.kind)))
	}
	if r.kind == LXC {
		g.Template = true
		r.c.generation++
		return ok(nil)
	}
	return ok(r.c.startTask(r.node, r.who, "qmtemplate", strconv.Itoa(g.VMID), r.newGuestTask(guestWork{
		action: "template", apply: func(_ *task, g *guest, _ time.Time) { g.Template = true },
	})))
}
