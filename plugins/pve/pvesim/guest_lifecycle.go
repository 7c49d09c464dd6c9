package pvesim

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var netsMTUPattern = regexp.MustCompile(`^net\d+=\d+(,net\d+=\d+)*$`)

func lifecycleEndpoints() []*endpoint {
	skiplock, timeout, force := boolean("skiplock"), integer("timeout").atLeast(0), boolean("forceStop")
	action := func(kind, name string, run func(*request) (result, *apiError), params ...param) *endpoint {
		return &endpoint{
			method: "POST", path: "/nodes/{node}/" + kind + "/{vmid}/status/" + name, onNode: true, daemon: true,
			check: needs("/vms/{vmid}", "VM.PowerMgmt"), params: params, run: guarded(run),
		}
	}
	return []*endpoint{
		action(QEMU, "start", startGuest(QEMU), skiplock, timeout, text("force-cpu"), text("machine"), text("migratedfrom").formatted(nodeFormat),
			text("migration_network"), text("migration_type").in("secure", "insecure"), text("nets-host-mtu").from("9.0").matching(netsMTUPattern),
			text("stateuri").length(0, 128), text("targetstorage"), boolean("with-conntrack-state").from("9.0")),
		action(QEMU, "stop", stopGuest(QEMU), skiplock, timeout, boolean("keepActive"), text("migratedfrom").formatted(nodeFormat),
			boolean("overrule-shutdown").from("8.2")),
		action(QEMU, "shutdown", shutdownGuest(QEMU), skiplock, timeout, force, boolean("keepActive")),
		action(QEMU, "reboot", rebootGuest(QEMU), timeout),
		action(QEMU, "reset", onRunning(QEMU, "qmreset", func(*request, *guest, time.Time) {}), skiplock),
		action(QEMU, "suspend", suspendVM, skiplock, boolean("todisk"), text("statestorage").formatted(storageFormat).with("todisk")),
		action(QEMU, "resume", resumeVM, skiplock, boolean("nocheck")),
		action(LXC, "start", startGuest(LXC), skiplock, boolean("debug")),
		action(LXC, "stop", stopGuest(LXC), skiplock, boolean("overrule-shutdown").from("8.2")),
		action(LXC, "shutdown", shutdownGuest(LXC), timeout, force),
		action(LXC, "reboot", rebootGuest(LXC), timeout),
		action(LXC, "suspend", checkpointCT("vzsuspend", "lxc-checkpoint -n %d -s -D /var/lib/vz/dump")),
		action(LXC, "resume", checkpointCT("vzresume", "lxc-checkpoint -n %d -r --foreground -D /var/lib/vz/dump")),
	}
}

// guarded refuses skiplock and migratedfrom to everybody but root@pam; a token of root is not root@pam.
func guarded(run func(*request) (result, *apiError)) func(*request) (result, *apiError) {
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

// taskPrefix starts the task types of a guest type: qmstart, vzstart.
func taskPrefix(kind string) string {
	if kind == LXC {
		return "vz"
	}
	return "qm"
}

// label names a guest as messages do: VM 100, CT 101.
func label(kind string, vmid int) string {
	if kind == LXC {
		return "CT " + strconv.Itoa(vmid)
	}
	return "VM " + strconv.Itoa(vmid)
}

// guestTask starts a task on a guest. ready runs when the guest's configuration lock is held: it may refuse, or change
// how long the work takes; apply is the effect at the end.
func (r *request) guestTask(kind, taskType string, ready func(t *task, g *guest) (time.Duration, error), apply func(g *guest, now time.Time)) (result, *apiError) {
	c, vmid, nodeName := r.c, r.vmid(), r.node.name
	skiplock := r.values.boolean("skiplock", false)
	t := &task{vmid: vmid}
	t.begin = func(t *task, now time.Time) (time.Duration, error) {
		g := c.guestOn(nodeName, kind, vmid)
		if g == nil {
			return 0, errors.New(noConfig(nodeName, kind, vmid))
		}
		wakes := g.Lock == "suspended" && (taskType == "qmstart" || taskType == "qmresume")
		if err := g.checkLock(); err != nil && !skiplock && !wakes {
			return 0, err
		}
		took, err := ready(t, g)
		if err != nil {
			return 0, err
		}
		if took == 0 {
			took = c.taskDuration()
		}
		for i := range g.TaskLines {
			at := now.Add(took * time.Duration(i) / time.Duration(g.TaskLines))
			t.log = append(t.log, logLine{at, fmt.Sprintf("%s: step %d of %d", taskType, i+1, g.TaskLines)})
		}
		return took, nil
	}
	t.finish = func(t *task, now time.Time) error {
		g := c.guestOn(nodeName, kind, vmid)
		if g == nil {
			return errors.New(noConfig(nodeName, kind, vmid))
		}
		if t.failure != nil {
			return t.failure
		}
		apply(g, now)
		if g.Warnings > 0 {
			for i := range g.Warnings {
				t.log = append(t.log, logLine{now, fmt.Sprintf("WARN: simulated warning %d", i+1)})
			}
			return taskWarnings(g.Warnings)
		}
		return nil
	}
	return ok(c.startTask(r.node, r.who, taskType, strconv.Itoa(vmid), t))
}

// checkLock is the error of a locked configuration.
func (g *guest) checkLock() error {
	if g.Lock == "" {
		return nil
	}
	if g.Type == LXC {
		return fmt.Errorf("CT is locked (%s)", g.Lock)
	}
	return fmt.Errorf("VM is locked (%s)", g.Lock)
}

func (r *request) isRunning(kind string) bool {
	g := r.c.guestOn(r.node.name, kind, r.vmid())
	return g != nil && g.running()
}

func notRunning(kind string, vmid int) *apiError {
	return failure("%s not running", label(kind, vmid))
}

// startGuest: a container that runs is refused; a virtual machine gets a task that fails.
func startGuest(kind string) func(*request) (result, *apiError) {
	return func(r *request) (result, *apiError) {
		vmid := r.vmid()
		if kind == LXC && r.isRunning(LXC) {
			return fail(failure("%s already running", label(LXC, vmid)))
		}
		ready := func(_ *task, g *guest) (time.Duration, error) {
			word := map[string]string{QEMU: "vm", LXC: "CT"}[kind]
			switch {
			case g.Template:
				return 0, fmt.Errorf("you can't start a %s if it's a template", word)
			case g.running():
				return 0, fmt.Errorf("%s already running", label(kind, vmid))
			case g.BridgeMissing != "":
				return 0, fmt.Errorf("bridge '%s' does not exist", g.BridgeMissing)
			}
			return 0, nil
		}
		return r.guestTask(kind, taskPrefix(kind)+"start", ready, func(g *guest, now time.Time) { g.boot(r.c, now) })
	}
}

// stopGuest: a container that does not run, or does not exist, is refused; for a virtual machine stopping again is fine.
func stopGuest(kind string) func(*request) (result, *apiError) {
	return func(r *request) (result, *apiError) {
		if kind == LXC && !r.isRunning(LXC) {
			return fail(notRunning(LXC, r.vmid()))
		}
		if r.values.boolean("overrule-shutdown", false) {
			for _, t := range append([]*task(nil), r.c.tasks.active...) {
				if t.vmid == r.vmid() && t.upid.kind == taskPrefix(kind)+"shutdown" &&
					(ownsTask(t.upid.user, r.who) || r.c.allowed(r.who, "/nodes/"+r.node.name, "Sys.Modify")) {
					r.c.tasks.abort(r.c, t, r.now)
				}
			}
		}
		ready := func(*task, *guest) (time.Duration, error) { return 0, nil }
		return r.guestTask(kind, taskPrefix(kind)+"stop", ready, func(g *guest, now time.Time) { g.halt(now) })
	}
}

// defaultShutdownTimeout is how long a shutdown waits when the request does not say.
const defaultShutdownTimeout = 60

// shutdownGuest asks the guest. A deaf one runs into the time limit: then the task fails, or with forceStop the guest is stopped.
func shutdownGuest(kind string) func(*request) (result, *apiError) {
	return func(r *request) (result, *apiError) {
		if kind == LXC && !r.isRunning(LXC) {
			return fail(notRunning(LXC, r.vmid()))
		}
		return r.guestTask(kind, taskPrefix(kind)+"shutdown", r.shutdownReady(kind), func(g *guest, now time.Time) { g.halt(now) })
	}
}

func (r *request) shutdownReady(kind string) func(*task, *guest) (time.Duration, error) {
	vmid, force := r.vmid(), r.values.boolean("forceStop", false)
	limit := r.values.integer("timeout", defaultShutdownTimeout)
	return func(t *task, g *guest) (time.Duration, error) {
		if kind == QEMU && g.Status == StatusPaused && !force {
			return 0, errors.New("VM is paused - cannot shutdown")
		}
		if !g.running() || !g.IgnoreShutdown {
			return 0, nil
		}
		if !force {
			t.failure = errors.New("VM quit/powerdown failed - got timeout")
			if kind == LXC {
				t.failure = fmt.Errorf("command 'lxc-stop -n %d --nokill --timeout %d' failed: exit code 1", vmid, limit)
			}
		}
		return max(time.Duration(limit)*time.Second, time.Millisecond), nil
	}
}

// rebootGuest is a shutdown and a start in one task. Of a container, too, it says that the VM is not running.
func rebootGuest(kind string) func(*request) (result, *apiError) {
	return func(r *request) (result, *apiError) {
		if !r.isRunning(kind) {
			return fail(notRunning(QEMU, r.vmid()))
		}
		return r.guestTask(kind, taskPrefix(kind)+"reboot", r.shutdownReady(kind), func(g *guest, now time.Time) {
			g.halt(now)
			g.boot(r.c, now)
		})
	}
}

// onRunning is an action that wants a running guest before it makes a task.
func onRunning(kind, taskType string, apply func(*request, *guest, time.Time)) func(*request) (result, *apiError) {
	return func(r *request) (result, *apiError) {
		if !r.isRunning(kind) {
			return fail(notRunning(kind, r.vmid()))
		}
		ready := func(_ *task, g *guest) (time.Duration, error) {
			if !g.running() {
				return 0, fmt.Errorf("%s not running", label(kind, g.VMID))
			}
			return 0, nil
		}
		return r.guestTask(kind, taskType, ready, func(g *guest, now time.Time) { apply(r, g, now) })
	}
}

// suspendVM pauses a machine, or with todisk writes it to a storage and ends it.
func suspendVM(r *request) (result, *apiError) {
	if !r.values.boolean("todisk", false) {
		return onRunning(QEMU, "qmpause", func(_ *request, g *guest, _ time.Time) { g.Status = StatusPaused })(r)
	}
	if err := r.c.check(r.who, r.fill("/vms/{vmid}"), "VM.Config.Disk"); err != nil {
		return fail(err)
	}
	return onRunning(QEMU, "qmsuspend", func(_ *request, g *guest, now time.Time) {
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
	ready := func(*task, *guest) (time.Duration, error) { return 0, nil }
	return r.guestTask(QEMU, "qmresume", ready, func(g *guest, now time.Time) {
		if g.Lock == "suspended" {
			g.boot(r.c, now)
		}
		g.Status = StatusRunning
	})
}

// checkpointCT is suspend and resume of a container: experimental, and without CRIU its task fails.
func checkpointCT(taskType, command string) func(*request) (result, *apiError) {
	return func(r *request) (result, *apiError) {
		vmid := r.vmid()
		if !r.isRunning(LXC) {
			return fail(notRunning(LXC, vmid))
		}
		ready := func(*task, *guest) (time.Duration, error) {
			return 0, fmt.Errorf("command '"+command+"' failed: exit code 1", vmid)
		}
		return r.guestTask(LXC, taskType, ready, func(*guest, time.Time) {})
	}
}
