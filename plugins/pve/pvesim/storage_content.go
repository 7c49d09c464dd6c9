package pvesim

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listContent lists what is on a storage: images to everybody who may see it,
// the disks and backups of guests that the caller may see.
func listContent(r *request) (result, *apiError) {
	s, err := r.storage(r.values.text("storage"))
	if err != nil {
		return fail(err)
	}
	kind, vmid, rows := r.values.text("content"), r.vmid(), []map[string]any{}
	for _, i := range s.images {
		if (kind == "" || kind == i.content) && vmid == 0 {
			rows = append(rows, i.row(s.id))
		}
	}
	for _, b := range s.backupsOn(r.node.name) {
		if (kind == "" || kind == "backup") && (vmid == 0 || vmid == b.vmid) && r.mayUseBackup(s, b.vmid) == nil {
			rows = append(rows, b.row(s.id))
		}
	}
	listed := map[string]bool{}
	for _, id := range r.c.sortedVMIDs() {
		g := r.c.guests[id]
		what := diskContent[g.Type]
		if kind != "" && kind != what || !s.shared && g.node != r.node.name {
			continue
		}
		for _, v := range g.kept() {
			owner := cmp.Or(v.owner(), id)
			if v.storage != s.id || s.destroyed[v.id] || listed[v.id] || vmid != 0 && vmid != owner || !r.maySeeVolumesOf(s, owner) {
				continue
			}
			listed[v.id] = true
			rows = append(rows, r.c.volumeRow(g, v, what))
		}
	}
	for _, d := range s.loose {
		if (kind == "" || kind == "images") && (vmid == 0 || vmid == d.vmid) && (s.shared || d.node == r.node.name) &&
			r.maySeeVolumesOf(s, d.vmid) {
			rows = append(rows, d.row(s.id))
		}
	}
	return ok(rows)
}

// looseDisk is a disk that no guest's configuration names.
type looseDisk struct {
	node, name, format string
	vmid               int
	size, ctime        int64
}

// row returns a disk without guest as lists show it.
func (d looseDisk) row(storageID string) map[string]any {
	return map[string]any{"volid": storageID + ":" + d.name, "content": "images", "format": d.format, "vmid": d.vmid, "size": d.size,
		"used": d.size / 2, "ctime": d.ctime, "parent": nil}
}

// allocateVolume makes a disk that no configuration names.
func allocateVolume(r *request) (result, *apiError) {
	s, err := r.storage(r.values.text("storage"))
	if err != nil {
		return fail(err)
	}
	name, format := r.values.text("filename"), r.values.text("format")
	if format == "" {
		format = "raw"
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			format = name[dot+1:]
		}
	}
	if s.plugin == "dir" || s.plugin == "nfs" || s.plugin == "cifs" {
		name = strconv.Itoa(r.vmid()) + "/" + name
	}
	if slices.ContainsFunc(s.loose, func(d looseDisk) bool { return d.name == name }) {
		return fail(failure("disk image '%s' already exists", s.file(name)))
	}
	text := r.values.text("size")
	size, _ := strconv.ParseInt(strings.TrimRight(text, "MG"), 10, 64) // the schema has checked it
	switch text[len(text)-1] {
	case 'G':
		size *= gibibyte
	case 'M':
		size *= mebibyte
	default:
		size *= 1024
	}
	s.loose = append(s.loose, looseDisk{r.node.name, name, format, r.vmid(), size, r.now.Unix()})
	r.c.generation++
	return ok(s.id + ":" + name)
}

// diskContent is what the disks of a guest are to a storage.
var diskContent = map[string]string{QEMU: "images", LXC: "rootdir"}

// storage finds one that the node can use.
func (r *request) storage(id string) (*storage, *apiError) {
	s := r.c.storageByID(id)
	switch {
	case s == nil:
		return nil, failure("storage '%s' does not exist", id)
	case !s.on(r.node.name):
		return nil, failure("storage '%s' is not available on node '%s'", s.id, r.node.name)
	case s.disabled:
		return nil, failure("storage '%s' is disabled", s.id)
	case s.away:
		return nil, failure("storage '%s' is not online", s.id)
	}
	return s, nil
}

// maySeeVolumesOf is about the disks of a guest: who may allocate on the
// storage sees all, everybody else those that they may change.
func (r *request) maySeeVolumesOf(s *storage, vmid int) bool {
	return r.c.allowed(r.who, "/storage/"+s.id, "Datastore.Allocate") || r.c.allowed(r.who, "/storage/"+s.id, "Datastore.Audit") &&
		r.c.allowed(r.who, "/vms/"+strconv.Itoa(vmid), "VM.Config.Disk")
}

// mayUseBackup is about reading, changing or restoring a backup of a guest.
func (r *request) mayUseBackup(s *storage, vmid int) *apiError {
	if r.c.allowed(r.who, "/storage/"+s.id, "Datastore.Allocate") {
		return nil
	}
	if vmid == 0 {
		return r.c.check(r.who, "/storage/"+s.id, "Datastore.Allocate")
	}
	if err := r.c.check(r.who, "/storage/"+s.id, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	return r.c.check(r.who, "/vms/"+strconv.Itoa(vmid), "VM.Backup")
}

// volumeRow returns a guest's volume as lists show it.
func (c *Cluster) volumeRow(g *guest, v volume, content string) map[string]any {
	format := v.format
	if format == "" {
		format = "raw"
	}
	return map[string]any{"volid": v.id, "content": content, "format": format, "vmid": cmp.Or(v.owner(), g.VMID),
		"size": max(g.Disk, gibibyte), "used": max(g.Disk, gibibyte) / 2, "ctime": g.born.Unix(), "parent": c.parentOf(g, v)}
}

// parentOf is the volume of a template that the disk of a linked clone is built
// on, as storages tell it; nil for a disk that stands alone.
func (c *Cluster) parentOf(g *guest, v volume) any {
	base := c.guests[g.base]
	if base == nil {
		return nil
	}
	for _, of := range base.volumes() {
		if of.key != v.key || of.storage != v.storage {
			continue
		}
		_, name, _ := strings.Cut(of.id, ":")
		if strings.Contains(name, "/") {
			return "../" + name
		}
		return name + "@__base__"
	}
	return nil
}

// foundVolume is what a path names: a backup, an image or a guest's disk. All
// are nil for what is not there.
type foundVolume struct {
	storage *storage
	name    string // what follows "STORAGE:"
	backup  *backup
	image   *storageImage
	guest   *guest
	disk    volume
	loose   *looseDisk
}

// volume finds the volume of the path.
func (r *request) volume() (foundVolume, *apiError) {
	text, storageID := r.values.text("volume"), r.values.text("storage")
	id, name, found := strings.Cut(text, ":")
	switch {
	case !found:
		id, name = storageID, text
	case checkStorageID(id) != "" || name == "":
		return foundVolume{}, badParameter("volume", "unable to parse volume ID '"+text+"'\n")
	case id != storageID:
		return foundVolume{}, badParameter("volume", "storage ID mismatch ("+id+" != "+storageID+")\n")
	}
	s, err := r.storage(id)
	if err != nil {
		return foundVolume{}, err
	}
	v := foundVolume{storage: s, name: name, backup: s.backupOn(r.node.name, name)}
	if i := slices.IndexFunc(s.images, func(i storageImage) bool { return i.content+"/"+i.name == name }); i >= 0 {
		v.image = &s.images[i]
	}
	for _, vmid := range r.c.sortedVMIDs() {
		g := r.c.guests[vmid]
		for _, d := range g.kept() {
			if d.id == s.id+":"+name && (s.shared || g.node == r.node.name) && !s.destroyed[d.id] {
				v.guest, v.disk = g, d
			}
		}
	}
	if i := slices.IndexFunc(s.loose, func(d looseDisk) bool { return d.name == name && (s.shared || d.node == r.node.name) }); i >= 0 {
		v.loose = &s.loose[i]
	}
	kind, _, below := strings.Cut(name, "/")
	if v.backup == nil && v.image == nil && v.guest == nil && v.loose == nil && !diskName.MatchString(name) &&
		!(below && slices.Contains(readableNames, kind)) {
		return v, failure("unable to parse %s volume name '%s'", map[bool]string{true: "PBS", false: "directory"}[s.plugin == "pbs"], name)
	}
	return v, nil
}

// diskName is how disks are called, whether they are there or not.
var diskName = regexp.MustCompile(`^(\d+/)?(vm|base|subvol|basevol)-\d+-[a-z0-9-]+(\.\w+)?$`)

// readableNames are the beginnings of names that say what a volume is, whether it is there or not.
var readableNames = []string{"backup", "iso", "vztmpl", "import", "snippets"}

// owner is the guest that a volume is of; 0 for none. A backup that is not there tells by its name.
func (v *foundVolume) owner() int {
	switch {
	case v.backup != nil:
		return v.backup.vmid
	case v.guest != nil:
		return v.guest.VMID
	case v.loose != nil:
		return v.loose.vmid
	}
	for _, part := range strings.FieldsFunc(v.name, func(r rune) bool { return r == '-' || r == '/' }) {
		if id, err := strconv.Atoi(part); err == nil && checkVMID(part) == "" && v.isBackup() {
			return id
		}
	}
	return 0
}

// isBackup reports whether a volume is a backup.
func (v *foundVolume) isBackup() bool { return strings.HasPrefix(v.name, "backup/") }

// may checks the access that reading and changing a volume needs.
func (v *foundVolume) may(r *request) *apiError {
	switch {
	case v.isBackup():
		return r.mayUseBackup(v.storage, v.owner())
	case v.guest != nil && r.maySeeVolumesOf(v.storage, v.guest.VMID):
		return nil
	case v.guest != nil:
		return r.c.check(r.who, "/storage/"+v.storage.id, "Datastore.Allocate")
	}
	return r.c.check(r.who, "/storage/"+v.storage.id, "Datastore.Audit", "Datastore.AllocateSpace", "Datastore.Allocate")
}

// readVolume returns the attributes of a volume.
func readVolume(r *request) (result, *apiError) {
	v, err := r.volume()
	if err == nil {
		err = v.may(r)
	}
	if err != nil {
		return fail(err)
	}
	switch {
	case v.backup != nil:
		out := map[string]any{"format": "raw", "path": v.storage.file(v.name), "protected": oneOrZero(v.backup.protected),
			"size": v.backup.size, "used": v.backup.size}
		if v.backup.notes != "" {
			out["notes"] = v.backup.notes
		}
		return ok(out)
	case v.image != nil:
		return ok(map[string]any{"format": "raw", "path": v.storage.file(v.name), "size": v.image.size, "used": v.image.size})
	case v.guest != nil:
		row := r.c.volumeRow(v.guest, v.disk, "")
		return ok(map[string]any{"format": row["format"], "path": v.storage.file(v.name), "size": row["size"], "used": row["used"]})
	case v.loose != nil:
		return ok(map[string]any{"format": v.loose.format, "path": v.storage.file(v.name), "size": v.loose.size, "used": v.loose.size / 2})
	}
	return fail(failure("volume_size_info on '%s:%s' failed", v.storage.id, v.name))
}

// protectedBackups is how many backups of a guest those may protect who cannot
// allocate on the storage.
const protectedBackups = 5

// changeVolume sets notes and protection, which only backups have. Of a backup
// that is not there it says nothing.
func changeVolume(r *request) (result, *apiError) {
	v, err := r.volume()
	if err == nil {
		err = v.may(r)
	}
	protect := r.values.boolean("protected", false)
	switch {
	case err != nil:
		return fail(err)
	case r.values.has("notes") && !v.isBackup():
		return fail(failure("only backups can have notes"))
	case r.values.has("protected") && !v.isBackup():
		return fail(failure("only backups can be protected"))
	case v.backup == nil:
		return ok(nil)
	}
	if protect && !v.backup.protected && !r.c.allowed(r.who, "/storage/"+v.storage.id, "Datastore.Allocate") {
		count := 0
		for _, b := range v.storage.backupsOn(r.node.name) {
			if b.protected && b.vmid == v.backup.vmid && b.kind == v.backup.kind {
				count++
			}
		}
		if count >= protectedBackups {
			return fail(failure("The number of protected backups per guest is limited to %d on storage '%s'", protectedBackups,
				v.storage.id))
		}
	}
	v.storage.backups.change(v.backup, func(b *backup) {
		if r.values.has("notes") {
			b.notes = r.values.text("notes")
		}
		if r.values.has("protected") {
			b.protected = protect
		}
	})
	return ok(nil)
}

// deleteVolume deletes in a task. Who gives a delay waits for it, and gets no
// task when it went well meanwhile.
func deleteVolume(r *request) (result, *apiError) {
	v, err := r.volume()
	if err != nil {
		return fail(err)
	}
	id, owner := v.storage.id, v.owner()
	if v.isBackup() && owner != 0 {
		err = r.c.check(r.who, "/storage/"+id, "Datastore.AllocateSpace")
		if err == nil {
			err = r.c.check(r.who, "/vms/"+strconv.Itoa(owner), "VM.Backup")
		}
	} else {
		err = r.c.check(r.who, "/storage/"+id, "Datastore.Allocate")
	}
	if err != nil {
		return fail(err)
	}
	subject := id
	if owner != 0 {
		subject = strconv.Itoa(owner) + "@" + id
	}
	t := r.deletion(v, r.values.has("delay"))
	upid := r.c.startTask(r.node, r.who, "imgdel", subject, t)
	switch {
	case !r.values.has("delay") || !t.ended:
		return ok(upid)
	case t.failed():
		return fail(failure("%s", t.exit))
	}
	return ok(nil)
}

// deletion removes a volume, at once or in the usual time.
func (r *request) deletion(v foundVolume, atOnce bool) *task {
	c, s, name := r.c, v.storage, v.name
	return &task{
		begin: func(*task, time.Time) (time.Duration, error) {
			if atOnce {
				return 0, nil
			}
			return c.taskDuration(), nil
		},
		finish: func(t *task, now time.Time) error {
			b := s.backupOn(r.node.name, name)
			switch {
			case b != nil && b.protected:
				return errors.New("cannot remove protected volume '" + name + "' on '" + s.id + "'")
			case v.guest != nil && strings.Contains(name, "base-") && c.hasCopies(name):
				return errors.New("base volume '" + name + "' is still in use by linked clones")
			case v.guest != nil: // nobody looks whether it is used
				if s.destroyed == nil {
					s.destroyed = map[string]bool{}
				}
				s.destroyed[s.id+":"+name] = true
			case v.loose != nil:
				s.loose = slices.DeleteFunc(s.loose, func(d looseDisk) bool { return d.name == name && d.node == v.loose.node })
			case v.image != nil:
				s.images = slices.DeleteFunc(s.images, func(i storageImage) bool { return i.content+"/"+i.name == name })
			case b == nil:
				t.say(now, "disk image '%s' does not exist", s.file(name))
			default:
				s.backups.remove(b)
			}
			c.generation++
			t.say(now, "Removed volume '%s:%s'", s.id, name)
			return nil
		},
	}
}

// hasCopies reports whether a guest's disk is a linked copy of a base volume.
func (c *Cluster) hasCopies(base string) bool {
	for _, g := range c.guests {
		if slices.ContainsFunc(g.volumes(), func(v volume) bool { return strings.Contains(v.id, ":"+base+"/") }) {
			return true
		}
	}
	return false
}

// VolumeDestroyed reports whether a disk that a guest's configuration names was deleted.
func (c *Cluster) VolumeDestroyed(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	storageID, _, _ := strings.Cut(id, ":")
	s := c.storageByID(storageID)
	return s != nil && s.destroyed[id]
}

// file is the path of a volume on the node.
func (s *storage) file(name string) string {
	dir := "/var/lib/" + s.id
	if s.id == "local" {
		dir = "/var/lib/vz"
	}
	kind, rest, found := strings.Cut(name, "/")
	switch {
	case s.plugin == "pbs" || !found:
		return name
	case kind == "backup":
		return dir + "/dump/" + rest
	case kind == "iso" || kind == "vztmpl":
		return dir + "/template/" + map[string]string{"iso": "iso", "vztmpl": "cache"}[kind] + "/" + rest
	}
	return dir + "/images/" + name
}
