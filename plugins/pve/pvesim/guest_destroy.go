package pvesim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// destroyEndpoints serves the destruction of guests.
func destroyEndpoints() []*endpoint {
	return []*endpoint{
		serve("DELETE", "/nodes/{node}/qemu/{vmid}", guarded(destroyGuest)),
		serve("DELETE", "/nodes/{node}/lxc/{vmid}", guarded(destroyGuest)),
	}
}

// destroyGuest refuses what runs, is protected or is under high availability at
// once; a lock shows in the task.
func destroyGuest(r *request) (result, *apiError) {
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	force, purge := r.kind == LXC && r.values.boolean("force", false), r.values.boolean("purge", false)
	word := map[string]string{QEMU: "VM", LXC: "CT"}[r.kind]
	switch {
	case isSet(g.config()["protection"]):
		return fail(failure("can't remove %s %d - protection mode enabled", word, g.VMID))
	case g.HAManaged && !purge:
		return fail(failure("unable to remove %s %d - used in HA resources and purge parameter not set.", word, g.VMID))
	case g.running() && r.kind == QEMU:
		return fail(failure("VM %d is running - destroy failed", g.VMID))
	case g.running() && !force:
		return fail(failure("unable to destroy CT %d - container is running", g.VMID))
	}
	return r.guestTask(guestWork{
		action: "destroy",
		ready: func(t *task, g *guest) (time.Duration, error) {
			if g.running() && !force {
				return 0, fmt.Errorf("%s is running - destroy failed", label(r.kind, g.VMID))
			}
			if base := r.c.linkedCloneOf(g); base != "" {
				return 0, fmt.Errorf("base volume '%s' is still in use by linked cloned", base)
			}
			if g.running() {
				t.log = append(t.log, logLine{t.began, fmt.Sprintf("forced to stop CT %d before destroying!", g.VMID)})
			}
			if purge {
				t.log = append(t.log, logLine{t.began, fmt.Sprintf("purging %s from related configurations..", label(r.kind, g.VMID))})
			}
			return 0, nil
		},
		apply: func(t *task, g *guest, now time.Time) {
			for _, v := range g.kept() {
				if r.kind == LXC && v.owner() != g.VMID {
					t.say(now, "ignore deletion of '%s', CT %d isn't the owner!", v.id, g.VMID)
				}
			}
			r.c.forget(g)
		},
	})
}

// isSet reports whether a value of a configuration says yes.
func isSet(v any) bool {
	yes, known := parseBool(fmt.Sprint(v))
	return known && yes
}

// linkedCloneOf is a volume of a template on which another guest's disk is built; empty for none.
func (c *Cluster) linkedCloneOf(g *guest) string {
	for _, other := range c.guests {
		if other.base == g.VMID {
			return g.volume
		}
	}
	return ""
}

// forget takes a guest away, with what its own disks take of their storages. Those of others stay.
func (c *Cluster) forget(g *guest) {
	delete(c.guests, g.VMID)
	for _, v := range g.kept() {
		c.dispose(g, v)
	}
	delete(c.firewalls, FirewallGuest(g.VMID))
	c.vmids = nil
	c.generation++
	c.accessChanged()
}

// dispose destroys a volume that a guest's configuration no longer names. One
// that is not the guest's own stays, and is listed on its storage as long as
// its name says whose it is.
func (c *Cluster) dispose(g *guest, v volume) {
	s := c.storageByID(v.storage)
	switch {
	case s == nil:
	case v.owner() == g.VMID:
		s.free(v.id)
	case v.owner() != 0 && !c.named(v.id):
		s.loosen(v, g)
	}
}

// named reports whether the configuration of a guest names a volume.
func (c *Cluster) named(id string) bool {
	for _, g := range c.guests {
		if slices.ContainsFunc(g.kept(), func(v volume) bool { return v.id == id }) {
			return true
		}
	}
	return false
}

// loosen makes a disk that no configuration names of a guest's volume.
func (s *storage) loosen(v volume, g *guest) {
	_, name, _ := strings.Cut(v.id, ":")
	format := v.format
	if format == "" {
		format = "raw"
	}
	s.loose = append(s.loose, looseDisk{node: g.node, name: name, format: format, vmid: v.owner(), size: diskSize(v.value),
		ctime: g.born.Unix()})
}

// errNoRoom is the error of a full storage.
var errNoRoom = errors.New("no space left")

// allocate takes room of a storage for a volume, as far as there is some. Only
// volumes that are not thin are refused for want of it.
func (s *storage) allocate(id string, bytes int64, now time.Time) error {
	if left := s.size - s.usedAt(now); bytes > left {
		switch s.plugin {
		case "lvm":
			return fmt.Errorf("lvcreate '%s' error:   Volume group \"pve\" has insufficient free space: %w", s.id+"/"+id, errNoRoom)
		case "zfspool":
			return fmt.Errorf("zfs error: cannot create '%s': out of space: %w", s.id+"/"+id, errNoRoom)
		}
		bytes = max(left, 0)
	}
	s.allocated = append(s.allocated, id)
	s.sizes = append(s.sizes, bytes)
	return nil
}

// free gives the room of a volume back.
func (s *storage) free(id string) {
	for i := slices.Index(s.allocated, id); i >= 0; i = slices.Index(s.allocated, id) { // one that has grown stands there again
		s.allocated, s.sizes = slices.Delete(s.allocated, i, i+1), slices.Delete(s.sizes, i, i+1)
	}
}

// taken is what volumes take that were made since the storage is there.
func (s *storage) taken() (bytes int64) {
	for _, n := range s.sizes {
		bytes += n
	}
	return bytes
}

// parseSize is the number of bytes in a text such as 32G; a bare number is of GiB.
func parseSize(text string) int64 {
	units := map[byte]int64{'K': 1 << 10, 'M': mebibyte, 'G': gibibyte, 'T': 1 << 40}
	unit := int64(gibibyte)
	if n := len(text); n > 0 && units[text[n-1]] != 0 {
		unit, text = units[text[n-1]], text[:n-1]
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return int64(n * float64(unit))
}
