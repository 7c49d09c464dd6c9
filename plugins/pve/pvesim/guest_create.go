package pvesim

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// createEndpoints serves the creation of VMs.
func createEndpoints() []*endpoint { return []*endpoint{serve("POST", "/nodes/{node}/qemu", createVM)} }

// createParameters are those that do not stand in the new configuration.
var createParameters = []string{
	"node", "vmid", "storage", "pool", "start", "unique", "force", "bwlimit", "archive", "live-restore", "import-working-storage",
	"ha-managed",
}

// createVM makes a VM that is off, of nothing or of a backup.
func createVM(r *request) (result, *apiError) {
	vmid := r.vmid()
	if !r.c.quorate() {
		return fail(noQuorum())
	}
	if archive := r.values.text("archive"); archive != "" {
		return restoreGuest(r, archive)
	}
	if err := r.mayCreate(vmid); err != nil {
		return fail(err)
	}
	options := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if !slices.Contains(createParameters, key) {
			options[key] = r.values.text(key)
		}
	}
	if err := r.mayConfigure(vmid, options); err != nil {
		return fail(err)
	}
	if taken := r.c.guests[vmid]; taken != nil {
		return fail(failure("unable to create VM %d - %s already exists on node '%s'", vmid, label(taken.Type, vmid), taken.node))
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if !volumeKeys[QEMU].MatchString(key) {
			continue
		}
		storageID, _, found := strings.Cut(options[key], ":")
		if found && r.c.storageByID(storageID) == nil {
			return fail(failure("storage '%s' does not exist", storageID))
		}
	}
	if err := r.mayUseBridges(asAny(options)); err != nil {
		return fail(err)
	}
	return ok(r.c.startTask(r.node, r.who, "qmcreate", strconv.Itoa(vmid), r.createTask(vmid, options)))
}

// asAny returns options as values of JSON.
func asAny(options map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range options {
		out[key] = value
	}
	return out
}

// mayCreate is about the guest or the pool that it shall be in. The refusal names nothing.
func (r *request) mayCreate(vmid int) *apiError {
	if r.c.allowed(r.who, "/vms/"+strconv.Itoa(vmid), "VM.Allocate") {
		return nil
	}
	if pool := r.values.text("pool"); pool != "" && r.c.allowed(r.who, "/pool/"+pool, "VM.Allocate") {
		return nil
	}
	return forbidden("")
}

// checkVM is about a guest, or the pool that a new one shall be in; several
// privileges are alternatives.
func (r *request) checkVM(vmid int, anyOf ...string) *apiError {
	if pool := r.values.text("pool"); pool != "" && r.c.allowed(r.who, "/pool/"+pool, anyOf...) {
		return nil
	}
	return r.c.check(r.who, "/vms/"+strconv.Itoa(vmid), anyOf...)
}

// optionPrivileges are what changing a key of a VM's configuration needs.
var optionPrivileges = []struct {
	keys      *regexp.Regexp
	privilege string
}{
	{regexp.MustCompile(`^(affinity|cores|cpu|cpulimit|cpuunits|numa|smp|sockets|vcpus)$`), "VM.Config.CPU"},
	{regexp.MustCompile(`^(balloon|memory|shares|allow-ksm)$`), "VM.Config.Memory"},
	{regexp.MustCompile(`^(acpi|audio0|hotplug|kvm|machine|scsihw|smbios1|tablet|vga|watchdog|serial\d|rng0)$`), "VM.Config.HWType"},
	{regexp.MustCompile(`^(boot|bootdisk|efidisk0|tpmstate0|vmstatestorage|unused\d+)$`), "VM.Config.Disk"},
	{regexp.MustCompile(`^net\d+$`), "VM.Config.Network"},
	{regexp.MustCompile(`^(cicustom|cipassword|citype|ciuser|ciupgrade|nameserver|searchdomain|sshkeys|ipconfig\d+)$`),
		"VM.Config.Cloudinit|VM.Config.Network"},
	{regexp.MustCompile(`^freeze$`), "VM.PowerMgmt"},
	{regexp.MustCompile(`^(args|lock|hookscript|hostpci\d+|parallel\d+|usb\d+|ivshmem)$`), ""},
}

// drives are keys of disks and of drives of images.
var drives = regexp.MustCompile(`^(ide|sata|scsi|virtio)\d+$`)

// optionPrivilege is the privilege for one key, "A|B" for alternatives; empty
// for what only root@pam may set.
func optionPrivilege(key, value string) string {
	if drives.MatchString(key) || key == "cdrom" {
		switch {
		case strings.Contains(value, "media=cdrom") && !strings.Contains(value, "cloudinit"), key == "cdrom":
			return "VM.Config.CDROM"
		case strings.Contains(value, ":cloudinit"):
			return "VM.Config.Cloudinit"
		}
		return "VM.Config.Disk"
	}
	for _, p := range optionPrivileges {
		if p.keys.MatchString(key) {
			return p.privilege
		}
	}
	return "VM.Config.Options"
}

// mayConfigure checks the privileges that the keys of a configuration need, and
// the storages of new disks. Each key has its own privilege, and keys without
// one may only be set by root@pam.
func (r *request) mayConfigure(vmid int, options map[string]string) *apiError {
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if !drives.MatchString(key) && key != "efidisk0" && key != "tpmstate0" {
			continue
		}
		storageID, what, found := strings.Cut(options[key], ":")
		if !found || strings.HasPrefix(what, "iso/") {
			continue
		}
		if err := r.c.check(r.who, "/storage/"+storageID, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		privilege := optionPrivilege(key, options[key])
		if privilege == "" {
			if r.who.id() != rootUser {
				return failure("only root can set '%s' config", key)
			}
			continue
		}
		if err := r.checkVM(vmid, strings.Split(privilege, "|")...); err != nil {
			return err
		}
		if key == "startup" { // it changes what the node does
			if err := r.c.check(r.who, "/", "Sys.Modify"); err != nil {
				return err
			}
		}
	}
	return nil
}

// bridgeIn finds the bridge in the value of a NIC.
var bridgeIn = regexp.MustCompile(`(?:^|,)bridge=([^,]+)`)

// mayUseBridges wants SDN.Use on each bridge of a configuration.
func (r *request) mayUseBridges(config map[string]any) *apiError {
	if r.c.release.major < 8 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		m := bridgeIn.FindStringSubmatch(fmt.Sprint(config[key]))
		if !strings.HasPrefix(key, "net") || m == nil {
			continue
		}
		if err := r.c.check(r.who, "/sdn/zones/localnetwork/"+m[1], "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// createTask makes the disks and writes the configuration, which is there from
// its beginning on, locked.
func (r *request) createTask(vmid int, options map[string]string) *task {
	c, node := r.c, r.node.name
	t := &task{vmid: vmid}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		if taken := c.guests[vmid]; taken != nil {
			return 0, fmt.Errorf("unable to create VM %d - %s already exists on node '%s'", vmid, label(taken.Type, vmid), taken.node)
		}
		spec, disks := specOf(vmid, node, options)
		for _, image := range cdroms(options) {
			if storageID, _, _ := strings.Cut(image, ":"); !c.hasImage(storageID, image) {
				return 0, fmt.Errorf("unable to create VM %d - volume '%s' does not exist", vmid, image)
			}
		}
		spec.Pool, spec.Lock = r.values.text("pool"), "create"
		if _, err := c.addGuest(spec); err != nil {
			return 0, fmt.Errorf("unable to create VM %d - %w", vmid, err)
		}
		g := c.guests[vmid]
		for _, d := range disks {
			text, err := c.newDisk(g, g.Config, c.storageByID(d.storage), d.rest, d.size, now)
			if err != nil {
				c.forget(g)
				return 0, fmt.Errorf("unable to create VM %d - %s", vmid, trimNoRoom(err))
			}
			g.Config[d.key] = text
			t.log = append(t.log, logLine{now, fmt.Sprintf("%s: successfully created disk '%s'", d.key, g.Config[d.key])})
		}
		return c.taskDuration(), nil
	}
	t.finish = func(*task, time.Time) error {
		if g := c.guestOn(node, QEMU, vmid); g != nil {
			g.Lock = ""
		}
		return nil
	}
	t.interrupted = func(*task, time.Time) {
		if g := c.guestOn(node, QEMU, vmid); g != nil && g.Lock == "create" {
			c.forget(g)
		}
	}
	return t
}

// trimNoRoom returns the text of an error without the cause.
func trimNoRoom(err error) string { return strings.TrimSuffix(err.Error(), ": "+errNoRoom.Error()) }

// sizeText formats a size as the original does in configurations.
func sizeText(bytes int64) string {
	if bytes%gibibyte != 0 {
		return strconv.FormatInt(bytes/mebibyte, 10) + "M"
	}
	return strconv.FormatInt(bytes/gibibyte, 10) + "G"
}

// newDisk is a disk to make: "STORAGE:SIZE,rest".
type newDisk struct {
	key, storage, rest string
	size               int64
}

// newDiskValue is the form of a disk to create: storage, size in GiB and
// options.
var newDiskValue = regexp.MustCompile(`^([^:,]+):([0-9.]+)(?:,(.*))?$`)

// specOf reads a guest and its disks out of the parameters.
func specOf(vmid int, node string, options map[string]string) (GuestSpec, []newDisk) {
	spec := GuestSpec{VMID: vmid, Type: QEMU, Node: node, Name: options["name"], Tags: options["tags"], Disk: -1, NoNIC: true,
		Config: map[string]any{}}
	if spec.Name == "" {
		spec.Name = fmt.Sprintf("VM%d", vmid)
	}
	memory, _, _ := strings.Cut(strings.TrimPrefix(options["memory"], "current="), ",")
	if n, err := strconv.ParseInt(memory, 10, 64); err == nil {
		spec.Memory = n * mebibyte
	}
	spec.Cores = 1
	for _, key := range []string{"cores", "sockets"} {
		if n, err := strconv.Atoi(options[key]); err == nil && n > 0 {
			spec.Cores *= n
		}
	}
	spec.Agent = strings.HasPrefix(options["agent"], "1") || strings.Contains(options["agent"], "enabled=1")
	var disks []newDisk
	for _, key := range slices.Sorted(maps.Keys(options)) {
		value := options[key]
		if m := newDiskValue.FindStringSubmatch(value); m != nil && volumeKeys[QEMU].MatchString(key) {
			d := newDisk{key: key, storage: m[1], rest: m[3], size: parseSize(m[2])}
			if key == "efidisk0" || key == "tpmstate0" {
				d.size = 4 * mebibyte // whatever was asked for
			}
			if spec.Storage == "" {
				spec.Storage = d.storage
			}
			if drives.MatchString(key) && spec.Disk < d.size {
				spec.Disk = d.size
			}
			disks = append(disks, d)
			continue
		}
		switch key {
		case "name", "tags", "memory", "agent":
			continue
		case "description":
			value += "\n"
		case "cipassword":
			value = "**********"
		}
		spec.Config[key] = withMAC(key, value, vmid)
	}
	if !slices.ContainsFunc(disks, func(d newDisk) bool { return d.key == "scsi0" }) {
		spec.Config["scsi0"] = nil // the one that a guest has unless it says otherwise
	}
	if memory == "" {
		spec.Config["memory"] = nil
	}
	if options["cores"] != "" {
		spec.Config["cores"], _ = strconv.Atoi(options["cores"])
	}
	if options["smbios1"] == "" {
		delete(spec.Config, "smbios1")
	}
	return spec, disks
}

// networkCard matches the keys of NICs.
var networkCard = regexp.MustCompile(`^net\d+$`)

// withMAC gives a network card that has no address one: "virtio,bridge=…"
// becomes "virtio=BC:…,bridge=…".
func withMAC(key, value string, vmid int) string {
	model, rest, _ := strings.Cut(value, ",")
	if !networkCard.MatchString(key) || strings.Contains(model, "=") && !strings.HasPrefix(model, "model=") ||
		strings.Contains(rest, "macaddr=") {
		return value
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(key, "net"))
	value = fmt.Sprintf("%s=BC:24:11:%02X:%02X:%02X", strings.TrimPrefix(model, "model="), byte(vmid>>8), byte(vmid), byte(n))
	if rest != "" {
		value += "," + rest
	}
	return value
}

// cdroms are the images in the drives.
func cdroms(options map[string]string) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(options)) {
		image, rest, _ := strings.Cut(options[key], ",")
		if drives.MatchString(key) && strings.Contains(rest, "media=cdrom") && image != "none" && strings.Contains(image, ":iso/") {
			all = append(all, image)
		}
	}
	return all
}

// newVolume names the n-th disk of a guest on a storage.
func (c *Cluster) newVolume(g *guest, storageID string, n int) string {
	of := &guest{GuestSpec: g.GuestSpec}
	of.Storage = storageID
	return strings.Replace(c.volumeOf(of), "disk-0", "disk-"+strconv.Itoa(n), 1)
}

// newDisk makes a disk of a guest, under the first number that no volume of the
// guest has on the storage, and gives what the configuration has of it. config
// is the guest's.
func (c *Cluster) newDisk(g *guest, config map[string]any, s *storage, properties string, size int64, now time.Time) (string, error) {
	numbered := func(id string) string { return strings.TrimSuffix(id, path.Ext(id)) }
	taken := map[string]bool{}
	for _, id := range s.allocated {
		taken[numbered(id)] = true
	}
	for _, v := range slices.Concat(volumesIn(g.Type, config), volumesUnder(config, unusedKey)) {
		taken[numbered(v.id)] = true
	}
	n := 0
	for taken[numbered(c.newVolume(g, s.id, n))] {
		n++
	}
	id, kept := inFormat(c.newVolume(g, s.id, n), properties)
	return fmt.Sprintf("%s%s,size=%s", id, kept, sizeText(size)), s.allocate(id, size, now)
}

// inFormat gives the image of a VM in a file the ending of the format that its
// other properties ask for, raw without one, and gives what the configuration
// keeps of these.
func inFormat(volume, properties string) (id, kept string) {
	format, _ := propertyOf(properties, "format")
	for part := range strings.SplitSeq(properties, ",") {
		if part != "" && !strings.HasPrefix(part, "format=") {
			kept += "," + part
		}
	}
	if file, is := strings.CutSuffix(volume, ".qcow2"); is {
		volume = file + "." + cmp.Or(format, "raw")
	}
	return volume, kept
}

// hasImage reports whether a storage has an installation image.
func (c *Cluster) hasImage(storageID, image string) bool {
	s := c.storageByID(storageID)
	return s != nil && slices.ContainsFunc(s.images, func(i storageImage) bool {
		return i.content == "iso" && s.id+":iso/"+i.name == image
	})
}
