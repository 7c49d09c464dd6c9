package pvesim

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// resizeEndpoints serves the growth of disks.
func resizeEndpoints() []*endpoint {
	return []*endpoint{
		serve("PUT", "/nodes/{node}/qemu/{vmid}/resize", guarded(resizeVM)),
		serve("PUT", "/nodes/{node}/lxc/{vmid}/resize", resizeCT),
	}
}

// resizeVM answers with a task whatever is asked for.
func resizeVM(r *request) (result, *apiError) {
	return r.resizeTask(func(g *guest) (grown, error) {
		value, there := g.config()[r.values.text("disk")].(string)
		id, _, _ := strings.Cut(value, ",")
		storageID, _, found := strings.Cut(id, ":")
		switch digest := r.values.text("digest"); {
		case digest != "" && digest != g.digest():
			return grown{}, errors.New(staleDigest(QEMU))
		case !there:
			return grown{}, fmt.Errorf("disk '%s' does not exist", r.values.text("disk"))
		case strings.Contains(value, "media=cdrom"):
			return grown{}, errors.New("you can't resize a cdrom")
		case !found:
			return grown{}, fmt.Errorf("disk '%s' has no associated volume", r.values.text("disk"))
		}
		if err := r.c.check(r.who, "/storage/"+storageID, "Datastore.AllocateSpace"); err != nil {
			return grown{}, errors.New(err.text)
		}
		to := r.growth(value)
		if to.size < to.before {
			return grown{}, errors.New("shrinking disks is not supported")
		}
		return to, nil
	})
}

// resizeCT looks at everything before it makes a task.
func resizeCT(r *request) (result, *apiError) {
	if err := r.c.check(r.who, r.fill("/vms/{vmid}"), "VM.Config.Options"); err != nil {
		return fail(err)
	}
	g, err := r.guestOf()
	if err != nil {
		return fail(err)
	}
	if lockErr := g.checkLock(); lockErr != nil {
		return fail(failure("%v", lockErr))
	}
	if digest := r.values.text("digest"); digest != "" && digest != g.digest() {
		return fail(failure("%s", staleDigest(LXC)))
	}
	key := r.values.text("disk")
	value, there := g.config()[key].(string)
	if !there {
		missing := map[string]string{"volume": textMissing}
		if key != "rootfs" {
			missing["mp"] = textMissing
		}
		return fail(&apiError{status: 500, text: "format error", errors: missing})
	}
	storageID, _, _ := strings.Cut(value, ":")
	if err := r.c.check(r.who, "/storage/"+storageID, "Datastore.AllocateSpace"); err != nil {
		return fail(err)
	}
	to := r.growth(value)
	switch {
	case to.size < to.before:
		return fail(failure("unable to shrink disk size"))
	case to.size == to.before:
		return fail(failure("disk is already at specified size"))
	}
	return r.resizeTask(func(*guest) (grown, error) { return to, nil })
}

// grown is a disk's value with its sizes in bytes.
type grown struct {
	value        string
	before, size int64
}

// growth reads the wanted size, "+1G" for so much more. A size without a unit is of bytes.
func (r *request) growth(value string) grown {
	to := grown{value: value, before: gibibyte}
	for part := range strings.SplitSeq(value, ",") {
		if text, found := strings.CutPrefix(part, "size="); found {
			to.before = parseSize(text)
		}
	}
	text, more := strings.CutPrefix(r.values.text("size"), "+")
	to.size = parseSize(text)
	if strings.Trim(text, "0123456789.") == "" {
		to.size /= gibibyte
	}
	if more {
		to.size += to.before
	}
	return to
}

// resizeTask takes the room and then writes the size.
func (r *request) resizeTask(look func(*guest) (grown, error)) (result, *apiError) {
	key, to := r.values.text("disk"), grown{}
	t := r.newGuestTask(guestWork{
		action: "resize",
		ready: func(t *task, g *guest) (_ time.Duration, err error) {
			if to, err = look(g); err != nil || to.size == to.before {
				return 0, err
			}
			id, _, _ := strings.Cut(to.value, ",")
			storageID, _, _ := strings.Cut(id, ":")
			s := r.c.storageByID(storageID)
			if s == nil {
				return 0, fmt.Errorf("storage '%s' does not exist", storageID)
			}
			if err := s.allocate(id, to.size-to.before, t.began); err != nil {
				return 0, errors.New(trimNoRoom(err))
			}
			return 0, nil
		},
		apply: func(_ *task, g *guest, _ time.Time) {
			if strings.HasPrefix(to.value, g.volume) {
				g.Disk = to.size
			}
			parts := strings.Split(to.value, ",")
			for i, part := range parts {
				if strings.HasPrefix(part, "size=") {
					parts[i] = "size=" + sizeText(to.size)
				}
			}
			if to.size > to.before {
				g.set(key, strings.Join(parts, ","))
			}
		},
	})
	return ok(r.c.startTask(r.node, r.who, "resize", fmt.Sprint(r.vmid()), t))
}
