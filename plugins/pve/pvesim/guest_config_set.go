package pvesim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// set puts a value into force; nil removes the key.
func (g *guest) set(key string, value any) {
	config := maps.Clone(g.Config) // snapshots have the same map
	if config == nil {
		config = map[string]any{}
	}
	text := ""
	if value != nil {
		text = fmt.Sprint(value)
	}
	before := g.config()
	config[key] = value
	switch key {
	case "name", "hostname":
		if g.Name = text; text == "" {
			g.Name = strings.ReplaceAll(label(g.Type, g.VMID), " ", "")
		} else {
			delete(config, key)
		}
	case "tags":
		g.Tags = normaliseTags(text)
		delete(config, key)
	case "lock":
		g.Lock = text
		delete(config, key)
	case "template":
		g.Template = isSet(value)
		delete(config, key)
	case "description":
		if text = strings.TrimRight(text, "\n"); text == "" {
			config[key] = nil
		} else if config[key] = text; g.Type == LXC {
			config[key] = text + "\n"
		}
	case "agent":
		g.Agent = agentEnabled(text)
	case "memory", "swap":
		n, err := strconv.ParseInt(strings.TrimPrefix(text, "current="), 10, 64)
		if err != nil {
			n = 512 // what a guest has whose configuration does not say
		} else {
			delete(config, key)
		}
		if key == "swap" {
			g.Swap = n * mebibyte
		} else {
			g.Memory = n * mebibyte
		}
	case "cores", "sockets":
		if key == "sockets" && config["cores"] == nil {
			config["cores"] = before["cores"]
		}
		g.Cores = countOf(config["cores"]) * countOf(config["sockets"])
	case "net0":
		if !strings.Contains(text, "bridge="+g.BridgeMissing) {
			g.BridgeMissing = ""
		}
	}
	if id, isVolume := before[key].(string); value == nil && isVolume && volumeKeys[g.Type].MatchString(key) {
		if id, _, _ = strings.Cut(id, ","); strings.Contains(id, ":") && !strings.Contains(fmt.Sprint(before[key]), "media=cdrom") {
			config[freeUnused(before)] = id
		}
	}
	g.Config = config
}

// countOf is a number of cores or sockets, which is one where nothing stands.
func countOf(value any) int {
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// freeUnused is the key of a disk that a guest has no longer.
func freeUnused(config map[string]any) string {
	for n := 0; ; n++ {
		if key := "unused" + strconv.Itoa(n); config[key] == nil {
			return key
		}
	}
}

// agentEnabled reads the option "agent".
func agentEnabled(value string) bool {
	first, _, _ := strings.Cut(value, ",")
	yes, _ := parseBool(strings.TrimPrefix(first, "enabled="))
	return yes
}

// atOnce are the keys that guests which run take, by the type of guest. NICs and disks of VMs are besides as "hotplug" says.
var atOnce = map[string]*regexp.Regexp{
	QEMU: regexp.MustCompile(`^(balloon|cpulimit|cpuunits|description|hookscript|lock|migrate_downtime|migrate_speed|name|onboot|` +
		`protection|shares|startup|tags|vmstatestorage|unused\d+)$`),
	LXC: regexp.MustCompile(`^(cores|cpulimit|cpuunits|description|hookscript|hostname|lock|memory|onboot|protection|startup|swap|tags|` +
		`net\d+|mp\d+|rootfs|unused\d+)$`),
}

// takesAtOnce reports whether a guest takes the change of a key while it runs.
func (g *guest) takesAtOnce(key string, value any) bool {
	if atOnce[g.Type].MatchString(key) {
		return true
	}
	if g.Type == LXC {
		return false
	}
	features := "network,disk,usb"
	if given, isText := g.config()["hotplug"].(string); isText && given != "1" {
		features = given
	}
	has := func(feature string) bool { return slices.Contains(strings.Split(features, ","), feature) }
	switch {
	case networkCard.MatchString(key):
		return has("network") || !newCard(fmt.Sprint(g.config()[key]), fmt.Sprint(value))
	case drives.MatchString(key):
		if isDrive(g.config()[key]) && isDrive(value) {
			return true
		}
		return has("disk") && !strings.HasPrefix(key, "ide") && !strings.HasPrefix(key, "sata")
	case key == "tablet":
		return has("usb")
	case key == "vcpus":
		return has("cpu")
	case key == "memory":
		return has("memory")
	}
	return false
}

// isDrive reports whether a value is that of a drive of images.
func isDrive(value any) bool {
	text, isText := value.(string)
	return isText && strings.Contains(text, "media=cdrom")
}

// newCard reports whether a change of a NIC takes another card: of its model, its address, its queues or its MTU.
func newCard(before, after string) bool {
	card := func(value string) string {
		parts := []string{}
		for i, part := range strings.Split(value, ",") {
			if i == 0 || strings.HasPrefix(part, "queues=") || strings.HasPrefix(part, "mtu=") {
				parts = append(parts, part)
			}
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	}
	return card(before) != card(after)
}

// refuses says which keys of a change a running container does not take. Nothing of the change is written then.
func (g *guest) refuses(change configChange) *apiError {
	if g.Type != LXC || !g.running() {
		return nil
	}
	errs := map[string]string{}
	for key, text := range g.HotplugErrors {
		if _, set := change.set[key]; set || slices.Contains(change.removed, key) {
			errs[key] = "unable to hotplug " + key + ": " + text
		}
	}
	if len(errs) > 0 {
		return badParameters(errs)
	}
	return nil
}

// hotplug puts into force what the running guest takes. What a VM refuses is told by key, and waits with the rest.
func (g *guest) hotplug() *apiError {
	errs := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(g.Pending)) {
		switch text := g.HotplugErrors[key]; {
		case text != "":
			errs[key] = "hotplug problem - " + text
		case g.takesAtOnce(key, g.Pending[key]):
			g.set(key, g.Pending[key])
			delete(g.Pending, key)
		}
	}
	if len(errs) > 0 {
		return badParameters(errs)
	}
	return nil
}
