package pvesim

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// readGuestConfig shows the present configuration, or that of a snapshot, with the digest of the whole file.
func readGuestConfig(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	cfg := g.config()
	if !r.values.boolean("current", false) {
		cfg = g.withPending(cfg)
	}
	if name := r.values.text("snapshot"); name != "" {
		s := g.snapshots[name]
		if s == nil {
			return fail(failure("%s", noSnapshot(name)))
		}
		cfg = g.snapshotConfig(s)
	}
	if cfg["cipassword"] != nil {
		cfg["cipassword"] = "**********"
	}
	cfg["digest"] = g.digest()
	return ok(cfg)
}

// bootOrder names what there is to boot from; without anything it is a blank.
func (g *guest) bootOrder() string {
	var devices []string
	if g.Disk > 0 {
		devices = append(devices, "scsi0")
	}
	if !g.NoNIC {
		devices = append(devices, "net0")
	}
	if len(devices) == 0 {
		return " "
	}
	return "order=" + strings.Join(devices, ";")
}

// config is the configuration that the guest's description implies.
func (g *guest) config() map[string]any {
	mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", byte(g.seed), byte(g.seed>>8), byte(g.seed>>16))
	bridge := g.BridgeMissing
	if bridge == "" {
		bridge = "vmbr0"
	}
	cfg := map[string]any{}
	size := fmt.Sprintf("%dG", max(g.Disk/gibibyte, 1))
	if g.Type == LXC {
		cfg["hostname"], cfg["arch"], cfg["ostype"], cfg["unprivileged"] = g.Name, "amd64", "debian", 1
		cfg["memory"], cfg["swap"] = g.Memory/mebibyte, g.Swap/mebibyte
		cfg["rootfs"] = g.volume + ",size=" + size
		cfg["features"] = "nesting=1"
		if !g.NoNIC {
			cfg["net0"] = "name=eth0,bridge=" + bridge + ",hwaddr=" + mac + ",ip=dhcp,type=veth"
		}
	} else {
		cfg["name"], cfg["boot"] = g.Name, g.bootOrder()
		cfg["memory"] = strconv.FormatInt(g.Memory/mebibyte, 10) // text since qemu-server 8.0.8
		cfg["smbios1"], cfg["vmgenid"], cfg["meta"] = "uuid="+g.uuid, g.uuid, "creation-qemu=10.1.2,ctime=1795221157"
		if !g.NoNIC {
			cfg["net0"] = "virtio=" + mac + ",bridge=" + bridge
		}
		if g.Disk > 0 {
			cfg["scsi0"] = g.volume + ",size=" + size
		}
		if g.Agent {
			cfg["agent"] = "1"
		}
		if g.Serial {
			cfg["serial0"] = "socket"
		}
	}
	if g.Cores > 1 {
		cfg["cores"] = g.Cores
	}
	if g.Tags != "" {
		cfg["tags"] = g.Tags
	}
	if g.Lock != "" {
		cfg["lock"] = g.Lock
	}
	if g.Template {
		cfg["template"] = 1
	}
	if g.parent != "" {
		cfg["parent"] = g.parent
	}
	for k, v := range g.Config {
		if v == nil {
			delete(cfg, k)
		} else {
			cfg[k] = v
		}
	}
	return cfg
}

// digest changes with everything that the configuration file holds, its snapshots included.
func (g *guest) digest() string {
	h := sha1.New()
	_, _ = fmt.Fprint(h, g.config(), g.Pending) // maps print in the order of their keys
	for _, s := range g.sortedSnapshots() {
		_, _ = fmt.Fprint(h, s.name, s.state, g.snapshotConfig(s))
	}
	return hex.EncodeToString(h.Sum(nil))
}
