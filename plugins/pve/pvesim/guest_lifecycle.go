package pvesim

import (
	"errors"
	"fmt"
	"time"
)

// lifecycleEndpoints serves power actions.
func lifecycleEndpoints() []*endpoint {
	const vm, ct = "/nodes/{node}/qemu/{vmid}/status/", "/nodes/{node}/lxc/{vmid}/status/"
	return []*endpoint{
		serve("POST", vm+"start", guarded(startGuest)),
		serve("POST", vm+"stop", guarded(stopGuest)).paramFrom("overrule-shutdown", "8.2"),
		serve("POST", vm+"shutdown", guarded(shutdownGuest)),
		serve("POST", vm+"reboot", guarded(rebootGuest)),
		serve("POST", vm+"reset", guarded(onRunning("reset", func(*request, *guest, time.Time) {}))),
		serve("POST", vm+"suspend", guarded(suspendVM)),
		serve("POST", vm+"resume", guarded(resumeVM)),
		serve("POST", ct+"start", guarded(startGuest)),
		serve("POST", ct+"stop", guarded(stopGuest)).paramFrom("overrule-shutdown", "8.2"),
		serve("POST", ct+"shutdown", guarded(shutdownGuest)),
		serve("POST", ct+"reboot", guarded(rebootGuest)),
		serve("POST", ct+"suspend", guarded(checkpointCT("suspend", "lxc-checkpoint -n %d -s -D /var/lib/vz/dump"))),
		serve("POST", ct+"resume", guarded(checkpointCT("resume", "lxc-checkpoint -n %d -r --foreground -D /var/lib/vz/dump"))),
	}
}

// guarded refuses skiplock and migratedfrom to everybody but root@pam; a token
// of root is not root@pam.
func guarded(run handlerFunc) handlerFunc {
	return func(r *request) (result, *apiError) {
		for _, name := range []string{"skiplock", "migratedfrom", "stateuri", "keepActive"} {
			if r.values.has(name) && r.values.text(name) != "" && !isZero(r.values.text(name)) && r.who.id() != rootUser {
				return fail(badParameter(name, "Only root may use this option."))
			}
		}
		return run(r)
	}
}

// isZero reports whether a value is a truth value that says no.
func isZero(v string) bool {
	b, isBool := parseBool(v)
	return isBool && !b
}

// startGuest: a container that runs is refused; a virtual machine gets a task that fails.
func startGuest(r *request) (result, *apiError) {
	vmid := r.vmid()
	if r.kind == LXC && r.isRunning() {
		return fail(failure("%s already running", label(LXC, vmid)))
	}
	if !r.c.quorate() {
		return fail(noQuorum())
	}
	return r.guestTask(r.startWork())
}

// startWork is the task of a start.
func (r *request) startWork() guestWork {
	vmid := r.vmid()
	ready := func(_ *task, g *guest) (time.Duration, error) {
		word := map[string]string{QEMU: "vm", LXC: "CT"}[r.kind]
		switch {
		case g.Template:
			return 0, fmt.Errorf("you can't start a %s if it's a template", word)
		case g.running():
			return 0, fmt.Errorf("%s already running", label(r.kind, vmid))
		case g.BridgeMissing != "":
			return 0, fmt.Errorf("bridge '%s' does not exist", g.BridgeMissing)
		}
		return 0, nil
	}
	return guestWork{action: "start", ready: ready, apply: func(_ *task, g *guest, now time.Time) { g.boot(r.c, now) }}
}

// haltGuest is the effect of a stop.
func haltGuest(_ *task, g *guest, now time.Time) { g.halt(now) }

// stopGuest: a container that does not run, or does not exist, is refused; for
// a virtual machine stopping again is fine.
func stopGuest(r *request) (result, *apiError) {
	if r.kind == LXC && !r.isRunning() {
		return fail(notRunning(LXC, r.vmid()))
	}
	if r.values.boolean("overrule-shutdown", false) {
		for _, t := range append([]*task(nil), r.c.tasks.active...) {
			if t.vmid == r.vmid() && t.upid.kind == taskPrefix(r.kind)+"shutdown" &&
				(ownsTask(t.upid.user, r.who) || r.c.allowed(r.who, "/nodes/"+r.node.name, "Sys.Modify")) {
				r.c.tasks.abort(r.c, t, r.now)
			}
		}
	}
	return r.guestTask(guestWork{action: "stop", apply: haltGuest})
}

// defaultShutdownTimeout is how long a shutdown waits when the request does not say.
const defaultShutdownTimeout = 60

// shutdownGuest asks the guest. A deaf one runs into the time limit: then the
// task fails, or with forceStop the guest is stopped.
func shutdownGuest(r *request) (result, *apiError) {
	if r.kind == LXC && !r.isRunning() {
		return fail(notRunning(LXC, r.vmid()))
	}
	return r.guestTask(guestWork{action: "shutdown", ready: r.shutdownReady(), apply: haltGuest})
}

// shutdownReady waits for a guest that shuts down, up to the timeout of the
// request.
func (r *request) shutdownReady() func(*task, *guest) (time.Duration, error) {
	vmid, force := r.vmid(), r.values.boolean("forceStop", false)
	limit := r.values.integer("timeout", defaultShutdownTimeout)
	return func(t *task, g *guest) (time.Duration, error) {
		if r.kind == QEMU && g.Status == StatusPaused && !force {
			return 0, errors.New("VM is paused - cannot shutdown")
		}
		if !g.running() || !g.IgnoreShutdown {
			return 0, nil
		}
		if !force {
			t.failure = errors.New("VM quit/powerdown failed - got timeout")
			if r.kind == LXC {
				t.failure = fmt.Errorf("command 'lxc-stop -n %d --nokill --timeout %d' failed: exit code 1", vmid, limit)
			}
		}
		return max(time.Duration(limit)*time.Second, time.Millisecond), nil
	}
}

// rebootGuest is a shutdown and a start in one task. Of a container, too, it
// says that the VM is not running.
func rebootGuest(r *request) (result, *apiError) {
	if !r.isRunning() {
		return fail(notRunning(QEMU, r.vmid()))
	}
	return r.guestTask(guestWork{action: "reboot", ready: r.shutdownReady(), apply: func(_ *task, g *guest, now time.Time) {
		g.halt(now)
		g.boot(r.c, now)
	}})
}

// onRunning is an action that wants a running guest before it makes a task.
func onRunning(action string, apply func(*request, *guest, time.Time)) handlerFunc {
	return func(r *request) (result, *apiError) {
		if !r.isRunning() {
			return fail(notRunning(r.kind, r.vmid()))
		}
		ready := func(_ *task, g *guest) (time.Duration, error) {
			if !g.running() {
				return 0, fmt.Errorf("%s not running", label(r.kind, g.VMID))
			}
			return 0, nil
		}
		return r.guestTask(guestWork{action: action, ready: ready, apply: func(_ *task, g *guest, now time.Time) { apply(r, g, now) }})
	}
}

// suspendVM pauses a machine, or with todisk writes it to a storage and ends it.
func suspendVM(r *request) (result, *apiError) {
	if !r.values.boolean("todisk", false) {
		return onRunning("pause", func(_ *request, g *guest, _ time.Time) { g.Status = StatusPaused })(r)
	}
	if err := r.c.check(r.who, r.fill("/vms/{vmid}"), "VM.Config.Disk"); err != nil {
		return fail(err)
	}
	return onRunning("suspend", func(_ *request, g *guest, now time.Time) {
		g.halt(now)
		g.Lock = "suspended"
	})(r)
}

// resumeVM lets a paused machine run on, or starts one that was suspended to disk.
func resumeVM(r *request) (result, *apiError) {
	g := r.c.guestOn(r.node.name, QEMU, r.vmid())
	if g == nil || !g.running() && g.Lock != "suspended" {
		return fail(notRunning(QEMU, r.vmid()))
	}
	return r.guestTask(guestWork{action: "resume", apply: func(_ *task, g *guest, now time.Time) {
		if g.Lock == "suspended" {
			g.boot(r.c, now)
		}
		g.Status = StatusRunning
	}})
}

// checkpointCT is suspend and resume of a container: experimental, and without CRIU its task fails.
func checkpointCT(action, command string) handlerFunc {
	return func(r *request) (result, *apiError) {
		vmid := r.vmid()
		if !r.isRunning() {
			return fail(notRunning(LXC, vmid))
		}
		ready := func(*task, *guest) (time.Duration, error) {
			return 0, fmt.Errorf("command '"+command+"' failed: exit code 1", vmid)
		}
		return r.guestTask(guestWork{action: action, ready: ready})
	}
}
