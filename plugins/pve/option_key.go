package pve

import (
	"context"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// option is a key of a guest's configuration that users may set, with the
// privilege that this needs.
type option struct {
	hypervisor.OptionKey
	privilege string
	// since is the release that brought the key; later are the values that came
	// after the key, with their releases.
	since release
	later map[string]release
}

// The tables hold the keys that users set. They do not contain: disks, NICs and
// devices of the node (these have operations of their own), keys that only
// root@pam may change (args, affinity, hugepages, rng0 and others),
// irreversible ones (template), secrets, the mark, and keys that name a file or
// a storage of the node (hookscript, vmstatestorage).
var (
	vmOptions = []option{
		booleanOption("acpi", "VM.Config.HWType"),
		stringOption("agent", "VM.Config.Options"),
		booleanOption("allow-ksm", "VM.Config.Memory").from(9, 1),
		enumOption("bios", "VM.Config.Options", "seabios", "ovmf"),
		stringOption("boot", "VM.Config.Disk"),
		stringOption("bootdisk", "VM.Config.Disk"),
		enumOption("citype", "VM.Config.Network", "configdrive2", "nocloud", "opennebula").with("opennebula", 7, 0),
		stringOption("ciuser", "VM.Config.Network"),
		booleanOption("ciupgrade", "VM.Config.Network").from(8, 0),
		numberOption("cpulimit", "VM.Config.CPU", bound(0), bound(128)),
		integerOption("cpuunits", "VM.Config.CPU", bound(1), bound(262144)),
		booleanOption("freeze", "VM.PowerMgmt"),
		stringOption("hotplug", "VM.Config.HWType"),
		enumOption("keyboard", "VM.Config.Options", "de", "de-ch", "da", "en-gb", "en-us", "es", "fi", "fr", "fr-be", "fr-ca", "fr-ch",
			"hu", "is", "it", "ja", "lt", "mk", "nl", "no", "pl", "pt", "pt-br", "sv", "sl", "tr"),
		booleanOption("kvm", "VM.Config.HWType"),
		booleanOption("localtime", "VM.Config.Options"),
		stringOption("machine", "VM.Config.HWType"),
		numberOption("migrate_downtime", "VM.Config.Options", bound(0), nil),
		integerOption("migrate_speed", "VM.Config.Options", bound(0), nil),
		stringOption("nameserver", "VM.Config.Network"),
		booleanOption("numa", "VM.Config.CPU"),
		startOption(),
		enumOption("ostype", "VM.Config.Options", "other", "wxp", "w2k", "w2k3", "w2k8", "wvista", "win7", "win8", "win10", "win11", "l24",
			"l26", "solaris").with("win11", 7, 1),
		booleanOption("protection", "VM.Config.Options"),
		booleanOption("reboot", "VM.Config.Options"),
		enumOption("scsihw", "VM.Config.HWType", "lsi", "lsi53c810", "virtio-scsi-pci", "virtio-scsi-single", "megasas", "pvscsi"),
		stringOption("searchdomain", "VM.Config.Network"),
		integerOption("shares", "VM.Config.Memory", bound(0), bound(50000)),
		stringOption("startdate", "VM.Config.Options"),
		stringOption("startup", "VM.Config.Options"),
		booleanOption("tablet", "VM.Config.HWType"),
		booleanOption("tdf", "VM.Config.Options"),
		integerOption("vcpus", "VM.Config.CPU", bound(1), nil),
		stringOption("vga", "VM.Config.HWType"),
		stringOption("watchdog", "VM.Config.HWType"),
	}
	containerOptions = []option{
		enumOption("cmode", "VM.Config.Options", "shell", "console", "tty"),
		booleanOption("console", "VM.Config.Options"),
		numberOption("cpulimit", "VM.Config.CPU", bound(0), bound(8192)),
		integerOption("cpuunits", "VM.Config.CPU", bound(0), bound(500000)),
		booleanOption("debug", "VM.Config.Options").from(7, 0),
		stringOption("features", "VM.Config.Options"), // all of it but nesting is root@pam's
		stringOption("nameserver", "VM.Config.Network"),
		startOption(),
		booleanOption("protection", "VM.Config.Options"),
		stringOption("searchdomain", "VM.Config.Network"),
		stringOption("startup", "VM.Config.Options"),
		stringOption("timezone", "VM.Config.Options").from(6, 3),
		integerOption("tty", "VM.Config.Options", bound(0), bound(6)),
	}
)

// stringOption declares an option with any text.
func stringOption(name, privilege string) option {
	return option{OptionKey: hypervisor.OptionKey{Name: name, Type: "string"}, privilege: privilege}
}

// booleanOption declares an option that is on or off.
func booleanOption(name, privilege string) option {
	return option{OptionKey: hypervisor.OptionKey{Name: name, Type: "boolean"}, privilege: privilege}
}

// enumOption declares an option with a list of values.
func enumOption(name, privilege string, values ...string) option {
	return option{OptionKey: hypervisor.OptionKey{Name: name, Type: "string", Values: values}, privilege: privilege}
}

// integerOption declares an option with a whole number.
func integerOption(name, privilege string, low, high *float64) option {
	return option{OptionKey: hypervisor.OptionKey{Name: name, Type: "integer", Min: low, Max: high}, privilege: privilege}
}

// numberOption declares an option with a number.
func numberOption(name, privilege string, low, high *float64) option {
	return option{OptionKey: hypervisor.OptionKey{Name: name, Type: "number", Min: low, Max: high}, privilege: privilege}
}

// startOption declares the option that starts a guest together with its node.
func startOption() option {
	o := booleanOption("onboot", "VM.Config.Options")
	o.Autostart = true
	return o
}

// bound returns a pointer to a bound.
func bound(n float64) *float64 { return &n }

// from limits an option to releases from major.minor on.
func (o option) from(major, minor int) option {
	o.since = release{major, minor}
	return o
}

// with adds a value that exists since a release.
func (o option) with(value string, major, minor int) option {
	o.later = map[string]release{value: {major, minor}}
	return o
}

// optionsOf returns the table of a kind of guests.
func optionsOf(kind hypervisor.GuestKind) []option {
	if kind == hypervisor.Container {
		return containerOptions
	}
	return vmOptions
}

// optionOf finds an option of any release; nil for an unknown key.
func optionOf(kind hypervisor.GuestKind, name string) *option {
	table := optionsOf(kind)
	if i := slices.IndexFunc(table, func(o option) bool { return o.Name == name }); i >= 0 {
		return &table[i]
	}
	return nil
}

// OptionKeys asks the host only for its release; the keys of each release are
// known.
func (h *Host) OptionKeys(ctx context.Context, kind hypervisor.GuestKind) ([]hypervisor.OptionKey, error) {
	if kind != hypervisor.VM && kind != hypervisor.Container {
		return nil, invalid("kind", "%.40q is not a kind of guest", kind)
	}
	version, err := h.Version(ctx)
	if err != nil {
		return nil, err
	}
	return optionKeys(kind, parseRelease(version.Release)), nil
}

// optionKeys returns the options of a release, sorted by name.
func optionKeys(kind hypervisor.GuestKind, at release) []hypervisor.OptionKey {
	var keys []hypervisor.OptionKey
	for _, o := range optionsOf(kind) {
		if at.before(o.since) {
			continue
		}
		key := o.OptionKey
		key.Values = slices.DeleteFunc(slices.Clone(key.Values), func(v string) bool { return at.before(o.later[v]) })
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b hypervisor.OptionKey) int { return strings.Compare(a.Name, b.Name) })
	return keys
}
