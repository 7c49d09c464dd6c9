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

// restoreGuest makes a guest of a backup, or with force sets one back that is there.
func restoreGuest(r *request, archive string) (result, *apiError) {
	vmid, to := r.vmid(), r.values.text("storage")
	old := r.c.guests[vmid]
	over := r.values.boolean("force", false) && old != nil && old.Type == r.kind && old.node == r.node.name
	if err := r.mayRestore(vmid, over); err != nil {
		return fail(err)
	}
	if r.kind == LXC && to == "" {
		to = "local" // wherever the disks were
	}
	if to != "" {
		if err := r.c.check(r.who, "/storage/"+to, "Datastore.AllocateSpace"); err != nil {
			return fail(err)
		}
	}
	b, err := r.archive(archive, vmid)
	if err == nil {
		err = r.mayName(vmid)
	}
	if err != nil {
		return fail(err)
	}
	if b == nil && r.kind == QEMU {
		return fail(failure("volume '%s' does not exist", archive))
	}
	if to != "" && r.kind == LXC {
		s, err := r.storage(to)
		switch {
		case err != nil:
			return fail(err)
		case !s.holdsAny([]string{"rootdir"}):
			return fail(badParameter("storage", "storage '"+to+"' does not support container directories"))
		}
	}
	unable := "unable to restore " + label(r.kind, vmid) + " - "
	switch {
	case old != nil && !over:
		return fail(failure("%s%s already exists on node '%s'", unable, label(old.Type, vmid), old.node))
	case over && old.Lock != "":
		return fail(failure("%s%s", unable, old.checkLock()))
	}
	return ok(r.c.startTask(r.node, r.who, taskPrefix(r.kind)+"restore", strconv.Itoa(vmid), r.restoreTask(b, archive, to, over)))
}

// mayRestore lets those make a guest who may do so anyhow, and those set one
// back who may back it up. The refusal names nothing.
func (r *request) mayRestore(vmid int, over bool) *apiError {
	err := r.mayCreate(vmid)
	if err != nil && over && r.c.allowed(r.who, "/vms/"+strconv.Itoa(vmid), "VM.Backup") {
		return nil
	}
	return err
}

// mayName checks the privilege to give the restored guest a name.
func (r *request) mayName(vmid int) *apiError {
	given := map[string]string{}
	for _, key := range []string{"name", "hostname"} {
		if r.values.has(key) {
			given[key] = r.values.text(key)
		}
	}
	if r.kind == LXC {
		return r.mayConfigureCT(given)
	}
	return r.mayConfigure(vmid, given)
}

// restoreTask makes the disks at its beginning and the configuration at its
// end; meanwhile the guest is locked.
func (r *request) restoreTask(b *backup, archive, to string, over bool) *task {
	c, vmid, unique := r.c, r.vmid(), r.values.boolean("unique", false)
	unable := "unable to restore " + label(r.kind, vmid) + " - "
	var disks []restoredDisk
	t := &task{vmid: vmid}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		old := c.guests[vmid]
		switch {
		case old != nil && !over:
			return 0, fmt.Errorf("%s%s already exists on node '%s'", unable, label(old.Type, vmid), old.node)
		case old == nil && over:
			return 0, errors.New(noConfig(r.node.name, r.kind, vmid))
		case over && old.running() && r.kind == LXC:
			return 0, errors.New(unable + "can't overwrite running container")
		case over && old.running():
			return 0, errors.New(unable + "vm is running")
		case over && isSet(old.config()["protection"]):
			return 0, errors.New(unable + "protection mode enabled")
		case b == nil:
			return 0, fmt.Errorf("%svolume '%s' does not exist", unable, archive)
		case b.kind != r.kind:
			return 0, fmt.Errorf("%s'%s' is not a backup of a %s", unable, archive, word(r.kind))
		}
		if err := r.mayUseBridges(b.config); err != nil {
			return 0, err
		}
		if err := r.mayMount(b); err != nil {
			return 0, errors.New(unable + err.Error())
		}
		var err error
		if disks, err = r.restoreDisks(b, old, to, now); err != nil {
			return 0, errors.New(unable + trimNoRoom(err))
		}
		if old == nil {
			spec := GuestSpec{VMID: vmid, Type: r.kind, Node: r.node.name, Pool: r.values.text("pool"), Disk: -1, NoNIC: true}
			if r.kind == LXC {
				spec.Config = map[string]any{"rootfs": nil}
			}
			if _, err := c.addGuest(spec); err != nil {
				c.freeDisks(disks)
				return 0, errors.New(unable + err.Error())
			}
			old = c.guests[vmid]
		}
		old.Lock = "create"
		took := c.taskDuration()
		r.logRestore(t, b, archive, disks, took)
		return took, nil
	}
	t.finish = func(_ *task, now time.Time) error {
		g := c.guests[vmid]
		if g == nil {
			return errors.New(noConfig(r.node.name, r.kind, vmid))
		}
		c.become(g, b, disks, unique)
		for _, key := range []string{"name", "hostname"} {
			if r.values.has(key) {
				g.set(key, r.values.text(key))
			}
		}
		if r.values.boolean("start", false) {
			c.addTask(r.node, r.who, taskPrefix(r.kind)+"start", strconv.Itoa(vmid), r.newGuestTask(r.startWork()), now)
		}
		return nil
	}
	t.interrupted = func(*task, time.Time) {
		c.freeDisks(disks)
		if g := c.guests[vmid]; g != nil && g.Lock == "create" {
			if g.Lock = ""; !over {
				c.forget(g)
			}
		}
	}
	return t
}

// mayMount refuses the directories and devices that a container in a backup
// mounts, which nobody but root may mount.
func (r *request) mayMount(b *backup) error {
	if b.kind == QEMU || r.who.id() == rootUser {
		return nil
	}
	for _, v := range mountPointsIn(b.config) {
		if kind := v.mountType(); kind != "volume" {
			return fmt.Errorf("restoring '%s' to %s mount is only possible for root", v.key, kind)
		}
	}
	return nil
}

// restoredDisk is a disk that a restore makes.
type restoredDisk struct {
	volume  // as the backup has it
	storage string
	id      string
	size    int64
}

// restoreDisks takes room for the disks of a backup, where they were or on one
// storage. A container gets an empty volume for one that the backup leaves out,
// a VM nothing.
func (r *request) restoreDisks(b *backup, old *guest, to string, now time.Time) (disks []restoredDisk, err error) {
	taken := map[string]bool{}
	if old != nil {
		for _, v := range old.kept() {
			taken[v.id] = true
		}
	}
	defer func() {
		if err != nil {
			r.c.freeDisks(disks)
			disks = nil
		}
	}()
	for _, v := range volumesIn(b.kind, b.config) {
		if b.kind == QEMU && leftOut(b.kind, b.config, v) != "" {
			continue
		}
		d := restoredDisk{volume: v, storage: v.storage, size: diskSize(fmt.Sprint(b.config[v.key]))}
		if to != "" {
			d.storage = to
		}
		s, refusal := r.storage(d.storage)
		if refusal == nil {
			refusal = r.c.check(r.who, "/storage/"+d.storage, "Datastore.AllocateSpace")
		}
		switch {
		case refusal != nil && refusal.status == 403:
			return disks, refusal
		case refusal != nil:
			return disks, errors.New(refusal.text)
		case !s.holdsAny([]string{diskContent[b.kind]}):
			return disks, errors.New("Content type '" + diskContent[b.kind] + "' is not available on storage '" + s.id + "'")
		}
		of := &guest{GuestSpec: GuestSpec{VMID: r.vmid(), Type: b.kind}}
		for n := 0; d.id == "" || taken[d.id] || slices.Contains(s.allocated, d.id); n++ {
			d.id = r.c.newVolume(of, s.id, n)
		}
		taken[d.id] = true
		if err := s.allocate(d.id, d.size, now); err != nil {
			return disks, err
		}
		disks = append(disks, d)
	}
	return disks, nil
}

// freeDisks gives the space of disks back after a restore that failed.
func (c *Cluster) freeDisks(disks []restoredDisk) {
	for _, d := range disks {
		if s := c.storageByID(d.storage); s != nil {
			s.free(d.id)
		}
	}
}

// macIn finds a MAC address.
var macIn = regexp.MustCompile(`[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}`)

// become makes a guest what a backup says. Its id, node and pool stay; a unique
// one gets addresses and a UUID of its own. The disks that a container had are
// destroyed. A VM keeps those that the backup lacks, unused.
func (c *Cluster) become(g *guest, b *backup, disks []restoredDisk, unique bool) {
	spec, pool, had := b.guest, g.pool, g.kept()
	spec.VMID, spec.Type, spec.Node, spec.Status, spec.Lock, spec.HAManaged = g.VMID, g.Type, g.node, StatusStopped, "", false
	spec.Pool, spec.Pending = pool, nil
	wanted := maps.Clone(b.config)
	delete(wanted, "vmgenid") // always a new one
	for _, v := range slices.Concat(volumesIn(b.kind, wanted), volumesUnder(wanted, unusedKey)) {
		if backup, given := propertyOf(v.value, "backup"); unusedKey.MatchString(v.key) || b.kind == QEMU && given && !isSet(backup) {
			delete(wanted, v.key)
		}
	}
	for i, d := range disks {
		wanted[d.key] = strings.Replace(fmt.Sprint(wanted[d.key]), d.volume.id, d.id, 1)
		if i == 0 {
			spec.Storage, g.volume = d.storage, d.id
		}
	}
	if unique {
		delete(wanted, "smbios1")
		c.renewAddresses(wanted)
	}
	spec.Config = nil
	if c.storageByID(spec.Storage) == nil {
		spec.Storage = defaultStorage
	}
	for _, v := range had {
		replaced := slices.ContainsFunc(disks, func(d restoredDisk) bool { return d.key == v.key })
		if b.kind == QEMU && !replaced && v.owner() == g.VMID && !strings.Contains(fmt.Sprint(wanted), v.id) {
			wanted[freeUnused(wanted)] = v.id
		}
	}
	g.GuestSpec, g.snapshots, g.parent, g.base, g.uuid = spec, map[string]*snapshot{}, "", 0, c.newUUID()
	g.setConfig(wanted)
	for _, v := range had {
		if !c.named(v.id) {
			c.dispose(g, v)
		}
	}
	c.generation++
}

// renewAddresses gives the network cards of a configuration new addresses.
func (c *Cluster) renewAddresses(config map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if networkCard.MatchString(key) {
			mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", c.rand.IntN(256), c.rand.IntN(256), c.rand.IntN(256))
			config[key] = macIn.ReplaceAllString(fmt.Sprint(config[key]), mac)
		}
	}
}

// setConfig makes a configuration the guest's, whatever its description
// implies. A UUID of its own stays where wanted has none.
func (g *guest) setConfig(wanted map[string]any) {
	g.Config = map[string]any{}
	present := g.config()
	for key, value := range wanted {
		if fmt.Sprint(present[key]) != fmt.Sprint(value) {
			g.Config[key] = value
		}
	}
	for key := range present {
		if _, keep := wanted[key]; !keep && key != "vmgenid" && key != "smbios1" {
			g.Config[key] = nil
		}
	}
}

// logRestore writes what a restore says, with how much is done.
func (r *request) logRestore(t *task, b *backup, archive string, disks []restoredDisk, took time.Duration) {
	now := t.began
	storageID, name, _ := strings.Cut(archive, ":")
	file := name
	if s := r.c.storageByID(storageID); s != nil {
		file = s.file(name)
	}
	if r.kind == LXC {
		t.say(now, "recovering backed-up configuration from '%s'", archive)
		for _, d := range disks {
			s := r.c.storageByID(d.storage)
			_, volume, _ := strings.Cut(d.id, ":")
			t.say(now, "Formatting '%s', fmt=raw size=%d preallocation=off", s.file(volume), d.size)
		}
		t.say(now, "restoring '%s' now..", archive)
		t.say(now, "extracting archive '%s'", file)
		t.say(now.Add(took), "Total bytes read: %d (%dMiB, 386MiB/s)", b.size*3, b.size*3/mebibyte)
		t.say(now.Add(took), "merging backed-up and given configuration..")
		return
	}
	t.say(now, "restore vma archive: zstd -q -d -c %s | vma extract -v -r /var/tmp/vzdumptmp.fifo - /var/tmp/vzdumptmp", file)
	for _, d := range disks {
		t.say(now, "new volume ID is '%s'", d.id)
		t.say(now, "map 'drive-%s' to '%s' (write zeros = 0)", d.key, d.id)
	}
	for part := range 4 {
		at := now.Add(took * time.Duration(part+1) / 5)
		t.say(at, "progress %d%% (read %d bytes, duration %d sec)", (part+1)*25, b.size*int64(part+1)/4, int(at.Sub(now).Seconds()))
	}
	t.say(now.Add(took), "rescan volumes...")
}
