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

// containerEndpoints serves the creation of containers.
func containerEndpoints() []*endpoint {
	return []*endpoint{serve("POST", "/nodes/{node}/lxc", createContainer)}
}

// containerParameters are those that do not stand in the new configuration.
var containerParameters = []string{
	"node", "vmid", "ostemplate", "storage", "pool", "start", "unique", "force", "restore", "bwlimit", "password", "ssh-public-keys",
	"ignore-unpack-errors", "ha-managed", "rootfs", "hostname", "memory", "swap", "cores", "tags", "unprivileged",
}

// publicKey is the form of an SSH key that is accepted.
var publicKey = regexp.MustCompile(`^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+`)

// createContainer makes a container that is off, of a template or, to restore, of a backup.
func createContainer(r *request) (result, *apiError) {
	vmid, template := r.vmid(), r.values.text("ostemplate")
	if !r.c.quorate() {
		return fail(noQuorum())
	}
	if r.values.boolean("restore", false) {
		return restoreGuest(r, template)
	}
	if err := r.mayCreate(vmid); err != nil {
		return fail(err)
	}
	root := r.values.text("rootfs")
	if root == "" {
		to := r.values.text("storage")
		if to == "" {
			to = "local"
		}
		root = to + ":4"
	}
	disk := newDiskValue.FindStringSubmatch(strings.TrimPrefix(root, "volume="))
	if disk == nil {
		return fail(failure("unable to create CT %d - rootfs '%s' is not simulated", vmid, root))
	}
	templateStorage, _, _ := strings.Cut(template, ":")
	for _, id := range []string{disk[1], templateStorage} {
		if err := r.c.check(r.who, "/storage/"+id, "Datastore.AllocateSpace"); err != nil {
			return fail(err)
		}
		if _, err := r.storage(id); err != nil {
			return fail(err)
		}
	}
	for line := range strings.Lines(r.values.text("ssh-public-keys")) {
		if line = strings.TrimSpace(line); line != "" && !publicKey.MatchString(line) {
			return fail(failure("SSH public key validation error"))
		}
	}
	if taken := r.c.guests[vmid]; taken != nil {
		return fail(failure("%s already exists on node '%s'", label(taken.Type, vmid), taken.node))
	}
	if err := r.mayUseBridges(asAny(r.containerOptions())); err != nil {
		return fail(err)
	}
	return ok(r.c.startTask(r.node, r.who, "vzcreate", strconv.Itoa(vmid), r.containerTask(vmid, disk[1], parseSize(disk[2]))))
}

// containerOptions are the parameters that go into the configuration as they are.
func (r *request) containerOptions() map[string]string {
	options := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if !slices.Contains(containerParameters, key) {
			options[key] = r.values.text(key)
		}
	}
	return options
}

// containerTask makes the disk, and the container locked from its beginning on.
func (r *request) containerTask(vmid int, storageID string, size int64) *task {
	c, unable := r.c, fmt.Sprintf("unable to create CT %d - ", vmid)
	t := &task{vmid: vmid}
	t.begin = func(_ *task, now time.Time) (time.Duration, error) {
		template := r.values.text("ostemplate")
		templateStorage, name, _ := strings.Cut(template, ":")
		s := c.storageByID(templateStorage)
		switch {
		case c.guests[vmid] != nil:
			return 0, fmt.Errorf("%s%s already exists on node '%s'", unable, label(c.guests[vmid].Type, vmid), c.guests[vmid].node)
		case !slices.ContainsFunc(s.images, func(i storageImage) bool { return i.content+"/"+i.name == name }):
			return 0, errors.New(unable + "volume '" + template + "' does not exist")
		}
		cores, swap := int(r.values.integer("cores", 1)), r.values.integer("swap", 512)
		spec := GuestSpec{VMID: vmid, Type: LXC, Node: r.node.name, Name: r.values.text("hostname"), Tags: r.values.text("tags"),
			Pool: r.values.text("pool"), Lock: "create", Storage: storageID, Disk: size, NoNIC: true, Cores: cores,
			Memory: r.values.integer("memory", 512) * mebibyte, Swap: swap * mebibyte,
			Config: map[string]any{"features": nil, "unprivileged": nil}}
		if r.values.boolean("unprivileged", false) {
			delete(spec.Config, "unprivileged")
		}
		for key, value := range r.containerOptions() {
			spec.Config[key] = value
		}
		if _, err := c.addGuest(spec); err != nil {
			return 0, errors.New(unable + err.Error())
		}
		g := c.guests[vmid]
		if err := c.storageByID(storageID).allocate(g.volume, size, now); err != nil {
			c.forget(g)
			return 0, errors.New(unable + trimNoRoom(err))
		}
		for n := range 256 {
			key := fmt.Sprintf("mp%d", n)
			m := newDiskValue.FindStringSubmatch(fmt.Sprint(g.Config[key]))
			if m == nil {
				continue
			}
			on, err := c.storageByID(m[1]), error(nil)
			if on == nil {
				err = fmt.Errorf("storage '%s' does not exist", m[1])
			} else {
				g.Config[key], err = c.newDisk(g, g.config(), on, m[3], parseSize(m[2]), now)
			}
			if err != nil {
				c.forget(g)
				return 0, errors.New(unable + trimNoRoom(err))
			}
		}
		return c.taskDuration(), nil
	}
	t.finish = func(_ *task, now time.Time) error {
		g := c.guestOn(r.node.name, LXC, vmid)
		if g == nil {
			return nil
		}
		if g.Lock = ""; r.values.boolean("start", false) {
			c.addTask(r.node, r.who, "vzstart", strconv.Itoa(vmid), r.newGuestTask(r.startWork()), now)
		}
		return nil
	}
	t.interrupted = func(*task, time.Time) {
		if g := c.guestOn(r.node.name, LXC, vmid); g != nil && g.Lock == "create" {
			c.forget(g)
		}
	}
	return t
}
