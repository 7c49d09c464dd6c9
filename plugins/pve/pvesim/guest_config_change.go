package pvesim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim/schema"
)

// configEndpoints serves changes of configurations. PUT changes a VM at once,
// POST in a task.
func configEndpoints() []*endpoint {
	return []*endpoint{
		serve("PUT", "/nodes/{node}/qemu/{vmid}/config", guarded(changeGuestConfig)),
		serve("POST", "/nodes/{node}/qemu/{vmid}/config", guarded(changeGuestConfigLater)),
		serve("PUT", "/nodes/{node}/lxc/{vmid}/config", changeGuestConfig),
	}
}

// notOptions are parameters of a change that do not stand in the configuration.
var notOptions = []string{
	"node", "vmid", "digest", "delete", "revert", "skiplock", "force", "background_delay", "import-working-storage",
}

// configChange is what a request wants of a configuration.
type configChange struct {
	set             map[string]any
	removed, revert []string
	digest          string
	skiplock        bool
}

// changeGuestConfig is done when it answers; what cannot be done at once waits for a restart.
func changeGuestConfig(r *request) (result, *apiError) {
	change, err := r.configChange()
	if err != nil {
		return fail(err)
	}
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	if r.c.tasks.held(g.VMID, r.now) {
		return fail(failure("can't lock file '%s' - got timeout", lockFile(r.kind, g.VMID)))
	}
	if err := r.apply(g, change); err != nil {
		return fail(err)
	}
	return ok(nil)
}

// changeGuestConfigLater does the same in a task.
func changeGuestConfigLater(r *request) (result, *apiError) {
	change, err := r.configChange()
	if err != nil {
		return fail(err)
	}
	return r.guestTask(guestWork{action: "config", ready: func(t *task, g *guest) (time.Duration, error) {
		t.log = append(t.log, logLine{t.began, fmt.Sprintf("update VM %d:%s", g.VMID, change.arguments())})
		if err := r.apply(g, change); err != nil {
			return 0, errors.New(err.text)
		}
		return 0, nil
	}})
}

// arguments are what is set and removed, as the task's log has them.
func (change configChange) arguments() (text string) {
	if len(change.removed) > 0 {
		text = " -delete " + strings.Join(change.removed, ",")
	}
	for _, key := range slices.Sorted(maps.Keys(change.set)) {
		value := change.set[key]
		if key == "cipassword" {
			value = "<hidden>"
		}
		text += fmt.Sprintf(" -%s %v", key, value)
	}
	return text
}

// configChange reads the parameters and checks what they say by themselves, and the privileges.
func (r *request) configChange() (configChange, *apiError) {
	known := schema.Find("PUT", "/nodes/{node}/"+r.kind+"/{vmid}/config")
	change := configChange{
		set: map[string]any{}, removed: r.values.listOf("delete"), revert: r.values.listOf("revert"), digest: r.values.text("digest"),
		skiplock: r.values.boolean("skiplock", false),
	}
	texts := map[string]string{}
	for key := range r.values {
		if slices.Contains(notOptions, key) {
			continue
		}
		text := r.values.text(key)
		texts[key], change.set[key] = text, text
		switch p := known.Parameter(key); p.Type {
		case schema.Boolean:
			change.set[key] = oneOrZero(!isZero(text))
		case schema.Integer:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				change.set[key] = n
			}
		}
	}
	if len(change.set)+len(change.removed)+len(change.revert) == 0 {
		return change, failure("no options specified")
	}
	for _, key := range change.removed {
		switch _, both := change.set[key]; {
		case both:
			return change, badParameter("delete", "you can't use '-"+key+"' and -delete "+key+"' at the same time")
		case known.Parameter(key) == nil || slices.Contains(notOptions, key):
			return change, badParameter("delete", "unknown option '"+key+"'")
		}
	}
	for _, key := range slices.Concat(change.removed, change.revert) {
		texts[key] = ""
	}
	if r.kind == LXC {
		return change, r.mayConfigureCT(texts)
	}
	if err := r.mayConfigure(r.vmid(), texts); err != nil {
		return change, err
	}
	return change, r.mayUseBridges(change.set)
}

// apply changes the configuration file: everything becomes pending, and of that
// what can be done at once is done. For a guest that does not run, everything
// is applied at once. For one that runs, hotplug decides per key.
func (r *request) apply(g *guest, change configChange) *apiError {
	if change.digest != "" && change.digest != g.digest() {
		return failure("%s", staleDigest(r.kind))
	}
	if err := g.checkLock(); err != nil && !change.skiplock {
		return failure("%v", err)
	}
	for _, key := range change.removed {
		if r.kind == LXC && (key == "rootfs" || key == "memory" || key == "hostname") {
			return failure("unable to delete required option '%s'", key)
		}
	}
	if err := g.consistent(change.set); err != nil {
		return err
	}
	if err := g.refuses(change); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(change.set)) {
		value, err := r.newValue(g, key, change.set[key])
		if err != nil {
			return err
		}
		g.pend(key, value)
	}
	for _, key := range change.removed {
		g.pend(key, nil)
	}
	g.Pending = maps.Clone(g.Pending)
	for _, key := range change.revert {
		delete(g.Pending, key)
	}
	r.c.generation++
	if !g.running() {
		g.enforce()
		return nil
	}
	return g.hotplug()
}

// staleDigest has two wordings.
func staleDigest(kind string) string {
	if kind == LXC {
		return "detected modified configuration - file changed by other user? Try again."
	}
	return "checksum mismatch (file change by other user?)"
}

// consistent refuses what does not fit the rest of a VM's configuration.
func (g *guest) consistent(set map[string]any) *apiError {
	if g.Type == LXC {
		return nil
	}
	after := g.withPending(g.config())
	maps.Copy(after, set)
	if order, given := set["boot"].(string); given {
		for device := range strings.SplitSeq(strings.TrimPrefix(order, "order="), ";") {
			if strings.HasPrefix(order, "order=") && after[device] == nil {
				return failure("invalid bootorder: device '%s' does not exist'", device)
			}
		}
	}
	balloon, _ := strconv.ParseInt(fmt.Sprint(after["balloon"]), 10, 64)
	memory, _ := strconv.ParseInt(strings.TrimPrefix(fmt.Sprint(after["memory"]), "current="), 10, 64)
	if (set["balloon"] != nil || set["memory"] != nil) && balloon > memory {
		return failure("balloon value too large (must be smaller than assigned memory)")
	}
	return nil
}

// newValue is what is written: a disk that is asked for is made, a NIC without an address gets one, and an image in a drive its size.
func (r *request) newValue(g *guest, key string, value any) (any, *apiError) {
	text := fmt.Sprint(value)
	if networkCard.MatchString(key) {
		if g.Type == QEMU {
			return withMAC(key, text, g.VMID), nil
		}
		return withHardwareAddress(key, text, g.VMID), nil
	}
	if images := cdroms(map[string]string{key: text}); len(images) > 0 {
		return r.c.withImageSize(text, images[0])
	}
	m := newDiskValue.FindStringSubmatch(text)
	if m == nil || !volumeKeys[g.Type].MatchString(key) {
		return value, nil
	}
	s := r.c.storageByID(m[1])
	if s == nil {
		return nil, failure("storage '%s' does not exist", m[1])
	}
	text, failed := r.c.newDisk(g, g.config(), s, m[3], parseSize(m[2]), r.now)
	if failed != nil {
		return nil, failure("%s", trimNoRoom(failed))
	}
	return text, nil
}

// withImageSize completes the drive of a VM that gets an image.
func (c *Cluster) withImageSize(value, image string) (any, *apiError) {
	storageID, name, _ := strings.Cut(image, ":iso/")
	s := c.storageByID(storageID)
	if s == nil {
		return nil, failure("storage '%s' does not exist", storageID)
	}
	i := slices.IndexFunc(s.images, func(i storageImage) bool { return i.content == "iso" && i.name == name })
	if i < 0 {
		return nil, failure("volume '%s' does not exist", image)
	}
	return value + ",size=" + sizeText(s.images[i].size), nil
}

// withHardwareAddress completes the interface of a container.
func withHardwareAddress(key, value string, vmid int) string {
	if !strings.Contains(value, "hwaddr=") {
		n, _ := strconv.Atoi(strings.TrimPrefix(key, "net"))
		value += fmt.Sprintf(",hwaddr=BC:24:11:%02X:%02X:%02X", byte(vmid>>8), byte(vmid), byte(n))
	}
	if !strings.Contains(value, "type=") {
		value += ",type=veth"
	}
	return value
}

// pend lets a value wait; nil removes the key. What is so already does not wait.
func (g *guest) pend(key string, value any) {
	g.Pending = maps.Clone(g.Pending) // snapshots have the same map
	if g.Pending == nil {
		g.Pending = map[string]any{}
	}
	now, there := g.config()[key]
	if value == nil && !there || value != nil && there && fmt.Sprint(now) == fmt.Sprint(value) {
		delete(g.Pending, key)
		return
	}
	g.Pending[key] = value
}
