package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// backupEndpoints serves backups and what is in them.
func backupEndpoints() []*endpoint {
	return []*endpoint{
		serve("POST", "/nodes/{node}/vzdump", startBackup),
		serve("GET", "/nodes/{node}/vzdump/extractconfig", readBackupConfig),
	}
}

// startBackup backs one guest up. What is wrong with storage, guest or
// privilege shows in the task, but for the privilege on the storage.
func startBackup(r *request) (result, *apiError) {
	storageID := r.values.text("storage")
	if storageID == "" {
		storageID = "local"
	}
	for _, key := range []string{"dumpdir", "job-id", "script", "tmpdir"} {
		if r.values.has(key) && r.who.id() != rootUser {
			return fail(badParameter(key, "Only root may set this option."))
		}
	}
	for _, key := range []string{"bwlimit", "ionice", "performance"} {
		if err := r.c.check(r.who, "/", "Sys.Modify"); r.values.has(key) && err != nil {
			return fail(err)
		}
	}
	if err := r.c.check(r.who, "/storage/"+storageID, "Datastore.AllocateSpace"); err != nil {
		return fail(err)
	}
	if err := r.c.check(r.who, "/storage/"+storageID, "Datastore.Allocate"); r.values.has("prune-backups") && err != nil {
		return fail(err)
	}
	list := r.values.listOf("vmid")
	switch {
	case r.values.has("all") || r.values.has("pool") || r.values.has("exclude") || len(list) > 1:
		return fail(failure("a backup of several guests is not simulated"))
	case len(list) == 0:
		return fail(badParameter("vmid", "property is missing"))
	}
	if text := checkNotes(r.values.text("notes-template")); text != "" {
		return fail(badParameter("notes-template", text+"\n"))
	}
	vmid, _ := strconv.Atoi(list[0]) // it has been checked
	if g := r.c.guests[vmid]; g != nil && g.node != r.node.name {
		return ok("OK") // what runs elsewhere is passed over without a word
	}
	return ok(r.c.startTask(r.node, r.who, "vzdump", list[0], r.backupTask(vmid, storageID)))
}

var (
	notesEscape   = regexp.MustCompile(`\\(.?)`)
	notesVariable = regexp.MustCompile(`\{\{([^\s{}]+)\}\}`)
	notesWords    = []string{"cluster", "guestname", "node", "vmid"}
)

// checkNotes says what is wrong with a template of notes.
func checkNotes(template string) string {
	if strings.Contains(template, "\n") {
		return "contains a line feed"
	}
	var unknown []string
	for _, at := range notesEscape.FindAllStringSubmatchIndex(template, -1) {
		if char := template[at[2]:at[3]]; char != "n" && char != `\` {
			unknown = append(unknown, fmt.Sprintf("escape sequence '\\%s' at char %d", char, at[0]))
		}
	}
	for _, at := range notesVariable.FindAllStringSubmatchIndex(template, -1) {
		if word := template[at[2]:at[3]]; !slices.Contains(notesWords, word) {
			unknown = append(unknown, fmt.Sprintf("variable '%s' at char %d", word, at[2]))
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	return "found unknown: " + strings.Join(unknown, ", ")
}

// notesOf fills a template in.
func (r *request) notesOf(template string, g *guest) string {
	text := notesEscape.ReplaceAllStringFunc(template, func(s string) string {
		return map[string]string{`\n`: "\n", `\\`: `\`}[s]
	})
	cluster := r.c.opts.ClusterName
	if len(r.c.nodes) == 1 {
		cluster = "standalone node"
	}
	return strings.NewReplacer("{{cluster}}", cluster, "{{guestname}}", g.Name, "{{node}}", g.node,
		"{{vmid}}", strconv.Itoa(g.VMID)).Replace(text)
}

// backupStorage finds the storage of a backup; the errors end the task before it writes a line.
func (r *request) backupStorage(id string) (*storage, error) {
	s, err := r.storage(id)
	switch {
	case err != nil && s == nil && r.c.storageByID(id) == nil:
		return nil, fmt.Errorf("could not activate storage '%[1]s': storage '%[1]s' does not exist could not get storage information "+
			"for '%[1]s': storage '%[1]s' does not exist", id)
	case err != nil:
		return nil, fmt.Errorf("could not activate storage '%s': %s", id, err.text)
	case !s.holdsAny([]string{"backup"}):
		return nil, fmt.Errorf("could not get storage information for '%[1]s': can't use storage '%[1]s' for backups - "+
			"wrong content type", id)
	}
	return s, nil
}

// backupTask returns the task of a backup. It holds the guest's lock only for a
// moment; then the lock "backup" in the configuration keeps others out. All
// failures look alike in the status ("job errors"), and the cause is only in
// the log, as with vzdump.
func (r *request) backupTask(vmid int, storageID string) *task {
	c := r.c
	var s *storage
	var b *backup
	t := &task{vmid: vmid}
	failed := func(t *task, at time.Time, why string) error {
		t.say(at, "ERROR: Backup of VM %d failed - %s", vmid, why)
		t.say(at, "INFO: Failed at %s", at.UTC().Format(time.DateTime))
		t.say(at, "INFO: Backup job finished with errors")
		return errors.New("job errors")
	}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		var err error
		if s, err = r.backupStorage(storageID); err != nil {
			return 0, err
		}
		t.say(now, "INFO: starting new backup job: %s", r.backupCommand(vmid))
		if err := c.check(r.who, "/vms/"+strconv.Itoa(vmid), "VM.Backup"); err != nil {
			return 0, err
		}
		g := c.guests[vmid]
		if g == nil || g.node != r.node.name {
			return 0, failed(t, now, fmt.Sprintf("unable to find VM '%d'", vmid))
		}
		took := c.taskDuration()
		b = c.backupOf(g, s, r.values.text("compress"))
		b.taken = now.Truncate(time.Second)
		s.backups.name(b, s.plugin)
		b.notes = r.notesOf(r.values.text("notes-template"), g)
		b.protected = r.values.boolean("protected", false)
		r.logBackup(t, g, s, b, took)
		if err := g.checkLock(); err != nil {
			t.cutLog(now)
			return 0, failed(t, now, err.Error())
		}
		g.Lock, t.released = "backup", true
		t.addSteps("vzdump", g.TaskLines, now, took)
		return took, nil
	}
	t.finish = func(t *task, now time.Time) error {
		g := c.guests[vmid]
		if g == nil {
			return failed(t, now, fmt.Sprintf("unable to find VM '%d'", vmid))
		}
		g.unlock("backup")
		if s.usedAt(now)+b.size > s.size {
			t.say(now, "INFO: zstd: error 70 : Write error : cannot write block : No space left on device")
			if g.Type == LXC {
				return failed(t, now, "command 'set -o pipefail && lxc-usernsexec -m u:0:100000:65536 -m g:0:100000:65536 -- tar cpf - --totals "+
					"--one-file-system -p --sparse --numeric-owner --acls --xattrs --directory=/mnt/vzsnap0 ./ | zstd --rsyncable "+
					"'--threads=1' >"+s.file("dump/vzdump.tar.dat")+"' failed: exit code 70")
			}
			return failed(t, now, "vma_queue_write: write error - Broken pipe")
		}
		if g.BackupError != "" {
			return failed(t, now, g.BackupError)
		}
		s.backups.add(b)
		t.say(now, "INFO: archive file size: %dMB", b.size/mebibyte)
		if b.notes != "" {
			t.say(now, "INFO: adding notes to backup")
		}
		if b.protected {
			t.say(now, "INFO: marking backup as protected")
		}
		t.say(now, "INFO: Finished Backup of VM %d (%s)", vmid, time.Time{}.Add(now.Sub(t.began)).Format(time.TimeOnly))
		t.say(now, "INFO: Backup finished at %s", now.UTC().Format(time.DateTime))
		t.say(now, "INFO: Backup job finished successfully")
		return t.warn(g.Warnings, now)
	}
	t.interrupted = func(_ *task, now time.Time) {
		if g := c.guests[vmid]; g != nil && t.released {
			g.unlock("backup")
		}
		_ = failed(t, now, "interrupted by signal")
	}
	return t
}

// say adds a line to the log.
func (t *task) say(at time.Time, format string, args ...any) {
	t.log = append(t.log, logLine{at, fmt.Sprintf(format, args...)})
}

// backupCommand is how the log names the job.
func (r *request) backupCommand(vmid int) string {
	command := "vzdump " + strconv.Itoa(vmid)
	for _, key := range []string{"node", "storage", "compress", "mode", "notes-template", "protected", "remove"} {
		switch {
		case key == "notes-template" && r.values.has(key):
			command += " --notes-template '" + strings.ReplaceAll(r.values.text(key), "'", `'\''`) + "'"
		case r.values.has(key):
			command += " --" + key + " " + r.values.text(key)
		}
	}
	return command
}

// logBackup writes what the job says of a guest, with how much is done.
func (r *request) logBackup(t *task, g *guest, s *storage, b *backup, took time.Duration) {
	now, mode := t.began, r.values.text("mode")
	if mode == "" {
		mode = "snapshot"
	}
	state := StatusRunning
	if !g.running() {
		mode, state = "stop", StatusStopped
	}
	t.say(now, "INFO: Starting Backup of VM %d (%s)", g.VMID, g.Type)
	t.say(now, "INFO: Backup started at %s", now.UTC().Format(time.DateTime))
	t.say(now, "INFO: status = %s", state)
	t.say(now, "INFO: backup mode: %s", mode)
	t.say(now, "INFO: ionice priority: 7")
	t.say(now, "INFO: %s Name: %s", word(g.Type), g.Name)
	r.logVolumes(t, g)
	if s.plugin == "pbs" {
		t.say(now, "INFO: creating Proxmox Backup Server archive '%s'", strings.TrimPrefix(b.name, "backup/"))
	} else {
		t.say(now, "INFO: creating vzdump archive '%s'", s.file(b.name))
	}
	if g.Type != QEMU {
		t.say(now.Add(took), "INFO: Total bytes written: %d (%dMiB, 97MiB/s)", b.size*3, b.size*3/mebibyte)
		return
	}
	total := float64(max(g.Disk, gibibyte)) / float64(gibibyte)
	for part := range 5 {
		at := now.Add(took * time.Duration(part) / 5)
		t.say(at, "INFO: %3d%% (%.1f GiB of %.1f GiB) in %ds, read: 357.6 MiB/s, write: 120.0 MiB/s",
			part*25, total*float64(part)/4, total, int(at.Sub(now).Seconds()))
	}
}

// logVolumes writes which volumes of a guest the backup has and which it leaves out.
func (r *request) logVolumes(t *task, g *guest) {
	cfg := g.config()
	if g.Type == QEMU {
		for _, v := range g.volumes() {
			if why := leftOut(g.Type, cfg, v); why != "" {
				t.say(t.began, "INFO: exclude disk '%s' '%s' (%s)", v.key, v.id, why)
			} else {
				t.say(t.began, "INFO: include disk '%s' '%s' %s", v.key, v.id, sizeText(diskSize(v.value)))
			}
		}
		return
	}
	t.say(t.began, "INFO: including mount point rootfs ('/') in backup")
	for _, v := range mountPointsIn(cfg) {
		path, _ := propertyOf(v.value, "mp")
		if why := leftOut(g.Type, cfg, v); why != "" {
			t.say(t.began, "INFO: excluding %s mount point %s ('%s') from backup (%s)", v.mountType(), v.key, path, why)
		} else {
			t.say(t.began, "INFO: including mount point %s ('%s') in backup", v.key, path)
		}
	}
}

// leftOut says in the words of the log why a backup leaves a volume of a guest
// out; empty where the backup has the volume.
func leftOut(kind string, cfg map[string]any, v volume) string {
	backup, given := propertyOf(v.value, "backup")
	switch {
	case kind == LXC && v.key == "rootfs":
	case kind == LXC && v.mountType() != "volume":
		return "not a volume"
	case kind == LXC && !isSet(backup):
		return "disabled"
	case kind == QEMU && v.key == "efidisk0" && cfg["bios"] != "ovmf":
		return "efidisk but no OVMF BIOS"
	case kind == QEMU && given && !isSet(backup):
		return "backup=no"
	}
	return ""
}

// mountType is what is mounted at a mount point of a container.
func (v volume) mountType() string {
	switch {
	case strings.HasPrefix(v.id, "/dev/"):
		return "device"
	case strings.HasPrefix(v.id, "/"):
		return "bind"
	}
	return "volume"
}

// mountPointsIn lists what the configuration of a container mounts beside its
// root: volumes, directories and devices.
func mountPointsIn(cfg map[string]any) (all []volume) {
	for _, key := range slices.Sorted(maps.Keys(cfg)) {
		if value, isText := cfg[key].(string); isText && key != "rootfs" && volumeKeys[LXC].MatchString(key) {
			v := volume{key: key, value: value}
			v.id, _, _ = strings.Cut(value, ",")
			all = append(all, v)
		}
	}
	return all
}

// propertyOf finds a value in a property string.
func propertyOf(text, key string) (value string, given bool) {
	for part := range strings.SplitSeq(text, ",") {
		if value, given = strings.CutPrefix(part, key+"="); given {
			return value, true
		}
	}
	return "", false
}

// compressions maps the words of a request to the ends of file names.
var compressions = map[string]string{"1": ".lzo", "lzo": ".lzo", "gzip": ".gz", "zstd": ".zst"}

// backupOf is a backup of a guest as it is now, a quarter as large as its disks.
func (c *Cluster) backupOf(g *guest, s *storage, compress string) *backup {
	b := &backup{node: g.node, kind: g.Type, vmid: g.VMID, guest: g.GuestSpec, config: g.config()}
	b.format = map[string]string{QEMU: "vma", LXC: "tar"}[g.Type] + compressions[compress]
	if s.plugin == "pbs" {
		b.format = map[string]string{QEMU: "pbs-vm", LXC: "pbs-ct"}[g.Type]
	}
	for _, v := range g.volumes() {
		if leftOut(g.Type, b.config, v) == "" {
			b.size += diskSize(v.value) / 4
		}
	}
	b.size = max(b.size, mebibyte)
	for _, key := range []string{"lock", "parent", "digest"} {
		delete(b.config, key)
	}
	return b
}

// sizeIn finds the size in the value of a disk.
var sizeIn = regexp.MustCompile(`,size=([0-9.]+[KMGT]?)`)

// diskSize is the size in a disk's property string, in bytes.
func diskSize(value string) int64 {
	if m := sizeIn.FindStringSubmatch(value); m != nil {
		return parseSize(m[1])
	}
	return gibibyte
}

// readBackupConfig shows the configuration in a backup. A description is comments at its beginning.
func readBackupConfig(r *request) (result, *apiError) {
	b, err := r.archive(r.values.text("volume"), 0)
	switch {
	case err != nil:
		return fail(err)
	case b == nil:
		return fail(failure("volume '%s' does not exist", r.values.text("volume")))
	}
	var text strings.Builder
	if description, has := b.config["description"].(string); has {
		for line := range strings.SplitSeq(strings.TrimSuffix(description, "\n"), "\n") {
			text.WriteString("#" + strings.ReplaceAll(url.PathEscape(line), ":", "%3A") + "\n")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.config)) {
		if key == "description" {
			continue
		}
		fmt.Fprintf(&text, "%s: %s\n", key, strings.TrimSuffix(fmt.Sprint(b.config[key]), "\n"))
	}
	return ok(text.String())
}

// archive finds a backup by its volume id, for making the guest of it; nil when
// there is none of that name. The guest's own backups are everybody's who may
// restore the guest.
func (r *request) archive(volume string, vmid int) (*backup, *apiError) {
	id, name, found := strings.Cut(volume, ":")
	if !found || checkStorageID(id) != "" || name == "" {
		return nil, failure("unable to parse volume ID '%s'", volume)
	}
	s, err := r.storage(id)
	if err != nil {
		return nil, err
	}
	v := foundVolume{storage: s, name: name, backup: s.backupOn(r.node.name, name)}
	if owner := v.owner(); owner != vmid || owner == 0 {
		if err := r.mayUseBackup(s, owner); err != nil {
			return nil, err
		}
	}
	return v.backup, nil
}
