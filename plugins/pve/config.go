package pve

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// configRow is one key of a guest's configuration: its value, and the value
// that waits for a restart.
type configRow struct {
	Key     pveapi.Text `json:"key"`
	Value   pveapi.Text `json:"value"`
	Pending pveapi.Text `json:"pending"`
	Delete  pveapi.Int  `json:"delete"`
}

// Config reads the configuration in force and the pending changes with one
// request.
func (h *Host) Config(ctx context.Context, ref hypervisor.GuestRef) (hypervisor.Config, error) {
	rows, err := h.configRows(ctx, ref)
	if err != nil {
		return hypervisor.Config{}, err
	}
	return configOf(ref, rows), nil
}

// configRows reads the configuration of a guest. At least the digest is always
// there; without it the answer is not that of a guest.
func (h *Host) configRows(ctx context.Context, ref hypervisor.GuestRef) ([]configRow, error) {
	path, err := guestPath(ref, "pending")
	if err != nil {
		return nil, err
	}
	var rows []configRow
	if _, err := h.api.Get(ctx, path, nil, &rows); err != nil {
		return nil, h.explain(ctx, ref.Node, h.unseen(ctx, ref, absence(err)))
	}
	if len(rows) == 0 {
		return nil, plugin.Errorf(plugin.Protocol, "the guest's configuration is empty")
	}
	return rows, nil
}

// unshown are keys whose pending changes are not shown: those that Proxmox VE
// writes itself, and secrets.
var unshown = []string{
	"digest", "meta", "vmgenid", "smbios1", "lock", "parent", "template", "snapstate", "snaptime", "vmstate", "runningmachine",
	"runningcpu", "cipassword", "sshkeys", "arch", "unprivileged",
}

var (
	// shortMark is a mark in the form of a disk's serial number; see CreateVM.
	// VMs of earlier versions of this driver have the whole mark as the UUID of
	// their SMBIOS.
	shortMark = regexp.MustCompile(`^[0-9a-f]{20}$`)

	diskKey = regexp.MustCompile(`^((ide|sata|scsi|virtio|mp|unused)\d+|efidisk0|tpmstate0|rootfs)$`)
	nicKey  = regexp.MustCompile(`^net\d+$`)
)

// configOf builds a Config from the rows of /pending. The rows are sorted
// first, because the API returns them in no order. A value that is only pending
// appears in Pending, and a disk that is only pending is listed with the mark
// Pending, because a restart will create it. The raw form of a NIC is the
// pending one if there is one, so that a change starts from it and does not
// undo what waits.
func configOf(ref hypervisor.GuestRef, rows []configRow) hypervisor.Config {
	slices.SortFunc(rows, func(a, b configRow) int { return compareKeys(string(a.Key), string(b.Key)) })
	c, ovmf, serial := hypervisor.Config{Options: map[string]string{}, Pending: map[string]*string{}}, false, ""
	for _, row := range rows {
		key, value := string(row.Key), string(row.Value)
		waits := row.Pending != "" || row.Delete.N > 0
		if waits && !slices.Contains(unshown, key) {
			c.Pending[key] = nil
			if row.Pending != "" {
				c.Pending[key] = new(string)
				*c.Pending[key] = string(row.Pending)
			}
		}
		switch {
		case value == "" && row.Pending != "" && diskKey.MatchString(key):
			if disk := diskOf(key, string(row.Pending)); !unmade.MatchString(disk.Volume) {
				disk.Pending = true
				if disk.Removable {
					disk.Raw = string(row.Pending)
				}
				c.Disks = append(c.Disks, owned(disk, ref.ID))
			}
		case value == "" && row.Pending != "" && nicKey.MatchString(key): // a new one that waits
			nic := nicOf(key, string(row.Pending))
			nic.Pending, nic.Raw = true, string(row.Pending)
			c.NICs = append(c.NICs, nic)
		case value == "":
		case nicKey.MatchString(key):
			nic := nicOf(key, value)
			nic.Pending, nic.Raw = waits, value
			if row.Pending != "" {
				nic.Raw = string(row.Pending) // what waits already must not be lost
			}
			c.NICs = append(c.NICs, nic)
		case diskKey.MatchString(key):
			disk := owned(diskOf(key, value), ref.ID)
			if disk.Removable {
				disk.Raw = cmp.Or(string(row.Pending), value)
			}
			c.Disks = append(c.Disks, disk)
		case key == "hookscript":
			c.Files = appendFile(c.Files, key, value)
		case key == "cicustom":
			for _, part := range slices.Sorted(strings.SplitSeq(value, ",")) {
				name, volume, _ := strings.Cut(part, "=")
				c.Files = appendFile(c.Files, key+"."+name, volume)
			}
		default:
			setConfig(&c, ref.Kind, key, value)
		}
		ovmf = ovmf || key == "bios" && value == "ovmf"
		if text := properties(value)["serial"]; key == "virtio0" && shortMark.MatchString(text) {
			serial = text
		}
	}
	c.Mark = cmp.Or(serial, c.Mark)
	if i := slices.IndexFunc(c.Disks, func(d hypervisor.Disk) bool { return d.Key == "efidisk0" }); i >= 0 && !ovmf {
		// The firmware does not use this disk. A guest restored from a backup
		// still names it, and does not start if the disk is missing.
		c.Disks[i].LeftOut, c.Disks[i].LeftOutReason = true, "the VM does not use OVMF, and backups include an EFI disk only then; remove "+
			"the EFI disk, which other firmware does not use, or switch to OVMF"
	}
	return c
}

// compareKeys orders keys by name, and keys with the same name by number, so
// that net10 follows net9.
func compareKeys(a, b string) int {
	nameA, nameB := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	numberA, _ := strconv.Atoi(a[len(nameA):])
	numberB, _ := strconv.Atoi(b[len(nameB):])
	return cmp.Or(strings.Compare(nameA, nameB), cmp.Compare(numberA, numberB), strings.Compare(a, b))
}

// appendFile adds the volume of a key, and leaves out texts that are no volume.
func appendFile(files []hypervisor.File, key, volume string) []hypervisor.File {
	storage, _, found := strings.Cut(volume, ":")
	if !found {
		return files
	}
	return append(files, hypervisor.File{Key: key, Storage: storage, Volume: volume})
}

// setConfig stores a value that is in force under the field of the SDK that
// stands for it. A value of an option that the driver knows is also kept under
// its own name. Descriptions can end in a line feed, tags are separated by
// semicolons, commas or spaces, and memory can be a property string
// ("current=2048").
func setConfig(c *hypervisor.Config, kind hypervisor.GuestKind, key, value string) {
	if optionOf(kind, key) != nil {
		c.Options[key] = value
	}
	switch key {
	case "name", "hostname":
		c.Name = value
	case "description":
		c.Description = strings.TrimSuffix(value, "\n")
	case "tags":
		c.Tags = strings.FieldsFunc(value, func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
	case "digest":
		c.Digest = value
	case "smbios1":
		c.Mark = strings.ToLower(properties(value)["uuid"])
	case "ostype":
		c.OSType = value
	case "cpu":
		c.CPUType = value
	case "cores":
		c.Cores = number(value)
	case "sockets":
		c.Sockets = number(value)
	case "memory":
		parts := properties(value)
		c.MemoryMB = number(cmp.Or(parts["current"], parts[""]))
	case "balloon":
		c.BalloonMB = number(value)
	case "swap":
		c.SwapMB = number(value)
	case "protection":
		c.Protected = value == "1"
	}
}

// number reads a whole number; nil for every other text.
func number(text string) *int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// properties splits a property string at its commas. A part without a key is
// stored under the empty key.
func properties(value string) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(value, ",") {
		key, text, found := strings.Cut(part, "=")
		if !found {
			key, text = "", part
		}
		if _, again := parts[key]; !again {
			parts[key] = text
		}
	}
	return parts
}

// diskOf reads the value of a disk's key, such as
// "local-lvm:vm-101-disk-0,size=32G". The volume is the part without a key, or
// has the key "file" or "volume".
func diskOf(key, value string) hypervisor.Disk {
	parts := properties(value)
	volume := parts[""]
	for _, name := range []string{"file", "volume"} {
		if volume == "" {
			volume = parts[name]
		}
	}
	d := hypervisor.Disk{Key: key, Path: parts["mp"], Removable: parts["media"] == "cdrom", Unused: strings.HasPrefix(key, "unused")}
	if key == "rootfs" {
		d.Path = "/"
	}
	storage, _, found := strings.Cut(volume, ":")
	switch {
	case strings.HasPrefix(volume, "/") || volume == "cdrom":
		d.Local, d.Shared = true, isOn(parts["shared"])
	case found:
		d.Storage, d.Volume = storage, volume
	}
	if size := parts["size"]; size != "" && !d.Local {
		d.SizeGB = sizeGB(size)
	}
	switch backup, given := parts["backup"]; {
	case d.Removable:
	case d.Unused:
		d.LeftOut = true
	case strings.HasPrefix(key, "mp"): // of a container; its root is always backed up
		d.LeftOut = d.Local || !isOn(backup)
	default:
		d.LeftOut = given && !isOn(backup)
	}
	return d
}

var (
	// unmade is the form of a volume that Proxmox VE creates at the next
	// restart, named by its size.
	unmade = regexp.MustCompile(`^[^:]+:\d+(\.\d+)?$`)
	// ownFolder and ownName find the owner in a volume's name; the folder takes
	// precedence. Names of another form may still belong to a guest that
	// Proxmox VE knows.
	ownFolder = regexp.MustCompile(`[:/](\d+)/[^/]+$`)
	ownName   = regexp.MustCompile(`[:/](?:vm|base|subvol|basevol)-(\d+)-[^/]+$`)
	// unit is the form of a volume of an iSCSI target, which belongs to no
	// guest.
	unit = regexp.MustCompile(`^[^:]+:\d+\.\d+\.\d+\.[^/]+$`)
	// cloudInit is the form of an image that Proxmox VE generates for a guest.
	cloudInit = regexp.MustCompile(`-cloudinit(\.\w+)?$`)
)

// owned decides to which guest a volume belongs. The destruction of a guest
// destroys only the volumes that it owns.
func owned(d hypervisor.Disk, guest hypervisor.GuestID) hypervisor.Disk {
	if d.Removable && !cloudInit.MatchString(d.Volume) {
		return d
	}
	found := ownFolder.FindStringSubmatch(d.Volume)
	if found == nil {
		found = ownName.FindStringSubmatch(d.Volume)
	}
	if found != nil {
		d.Owner = hypervisor.GuestID(found[1])
	}
	d.Kept = found != nil && d.Owner != guest || unit.MatchString(d.Volume)
	return d
}

// sizeGB reads a size such as 32G in GiB, rounded up; nil for every other text.
func sizeGB(text string) *int64 {
	size, known := gibibytes(text)
	if !known {
		return nil
	}
	whole := int64(math.Ceil(size))
	return &whole
}

// gibibytes reads a size such as 4608M; known is false for every other text.
func gibibytes(text string) (size float64, known bool) {
	if text == "" {
		return 0, false
	}
	unit := map[byte]float64{'K': 1.0 / (1 << 20), 'M': 1.0 / (1 << 10), 'G': 1, 'T': 1 << 10}[text[len(text)-1]]
	if unit == 0 {
		unit = 1.0 / (1 << 30)
	} else {
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*unit > 1<<40 {
		return 0, false
	}
	return n * unit, true
}

// nicModels are the models of a VM's network card. Proxmox VE usually
// writes the model as the key of the card's address.
var nicModels = []string{
	"virtio", "e1000", "e1000-82540em", "e1000-82544gc", "e1000-82545em", "e1000e", "i82551", "i82557b", "i82559er", "ne2k_isa", "ne2k_pci",
	"pcnet", "rtl8139", "vmxnet3",
}

// nicOf reads a network card of a VM or an interface of a container. The model
// of a card has no key, the key "model", or is itself the key of the address,
// at any place in the text.
func nicOf(key, value string) hypervisor.NIC {
	parts := properties(value)
	n := hypervisor.NIC{
		Key: key, Name: parts["name"], Model: parts["model"], MAC: parts["macaddr"], Bridge: parts["bridge"], VLAN: number(parts["tag"]),
		MTU: number(parts["mtu"]), Firewall: isOn(parts["firewall"]), LinkDown: isOn(parts["link_down"]),
		IP: parts["ip"], Gateway: parts["gw"], IP6: parts["ip6"], Gateway6: parts["gw6"],
	}
	if rate, err := strconv.ParseFloat(parts["rate"], 64); err == nil {
		n.Rate = &rate
	}
	if mac := parts["hwaddr"]; mac != "" {
		n.MAC = mac
	}
	if n.Model == "" {
		n.Model = parts[""]
	}
	for key, text := range parts {
		if slices.Contains(nicModels, key) || n.Model == "" && macAddress.MatchString(text) && key != "macaddr" && key != "hwaddr" {
			n.Model, n.MAC = key, text
		}
	}
	return n
}

// macAddress is the form of a MAC address in a configuration.
var macAddress = regexp.MustCompile(`^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$`)
