package nodetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/sshdtest"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/plugins/pve/pvessh"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	systemd = "/lib/systemd/systemd"
	// Room is the size of a machine's disk in bytes.
	Room = 64 << 20
)

// Machine is a booted machine.
type Machine struct {
	// SSH is its SSH server, which runs on it while it is booted.
	SSH *sshdtest.Server

	t      testing.TB
	dir    string
	group  string // its control group
	holder *process
	first  *process
	// init is process 1, as this machine numbers it.
	init int
}

// process is one that ends with the thread that has started it, which is as long as the test program runs.
type process struct {
	*exec.Cmd
	ended chan struct{}
}

// Start boots one. It ends with the test.
func Start(t testing.TB) *Machine {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a machine: make check runs it")
	}
	group := ready(t)
	m := &Machine{t: t, dir: t.TempDir(), group: filepath.Join(group, "hostler-test-"+rand.Text())}
	m.SSH = sshdtest.Start(t)
	if err := os.Mkdir(m.group, 0o755); err != nil {
		t.Fatal("making a control group:", err)
	}
	t.Cleanup(func() {
		m.PowerOff()
		if m.holder != nil {
			_ = m.holder.Process.Kill()
			<-m.holder.ended
		}
		waittest.Succeeds(t, "the control groups of the machine go", func() error { return removeGroup(m.group) })
	})
	m.hold()
	m.Boot()
	return m
}

// ready skips the test where there can be no machine, and gives where control groups are made.
func ready(t testing.TB) string {
	t.Helper()
	missing := ""
	group := "/sys/fs/cgroup"
	if _, err := os.Stat(group + "/cgroup.procs"); err != nil {
		group += "/unified"
	}
	switch {
	case runtime.GOOS != "linux" || os.Geteuid() != 0:
		missing = "root on Linux"
	case !there(systemd) || !there("/usr/bin/systemd-run"):
		missing = "systemd"
	case !there(group + "/cgroup.procs"):
		missing = "control groups of version 2"
	default:
		// The same that the machine does, and nothing else.
		out, err := exec.Command("unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork", "--kill-child", "sh", "-ec",
			`mount -t tmpfs tmpfs /mnt; mkdir /mnt/up /mnt/work /mnt/root
			mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
			mount -t cgroup2 cgroup2 /mnt/root/mnt`).CombinedOutput()
		if err != nil {
			missing = "name spaces, overlays and control groups of its own: " + strings.TrimSpace(string(out))
		}
	}
	if missing == "" {
		return group
	}
	programtest.Missing(t, "a machine of the test's own needs "+missing)
	return ""
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// removeGroup removes a control group with those below it.
func removeGroup(path string) error {
	below, err := os.ReadDir(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range below {
		if entry.IsDir() {
			err = errors.Join(err, removeGroup(filepath.Join(path, entry.Name())))
		}
	}
	return errors.Join(err, os.Remove(path))
}

// start starts a process that dies with the test program.
func (m *Machine) start(cmd *exec.Cmd) *process {
	m.t.Helper()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	p := &process{cmd, make(chan struct{})}
	started := make(chan error)
	go func() {
		// Pdeathsig is bound to the thread that starts the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended does not matter
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		m.t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	return p
}

// hold makes the machine's disk, in a name space of mounts that is there as long as the test.
func (m *Machine) hold() {
	m.t.Helper()
	// sshd's folder stays where it is in the machine's root, too.
	script := `mount -t tmpfs -o size=` + strconv.Itoa(Room) + ` tmpfs "$1"; mkdir "$1/up" "$1/work" "$1/root"
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"; cd "$1/root"
		rm -rf etc/systemd/system lib/systemd/system/*.wants lib/systemd/system-generators etc/fstab etc/machine-id root/.ssh
		mkdir -p etc/systemd/system root; echo node >etc/hostname; cat /proc/sys/kernel/random/uuid | tr -d - >etc/machine-id
		printf '[Unit]\nDefaultDependencies=no\n' >etc/systemd/system/only.target
		echo held; exec sleep infinity`
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh", m.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal("making the disk of the machine:", err)
	}
	var words strings.Builder
	cmd.Stderr = &words
	m.holder = m.start(cmd)
	if n, err := out.Read(make([]byte, 16)); n == 0 {
		<-m.holder.ended
		m.t.Fatalf("making the disk of the machine: %v %s", err, words.String())
	}
}

// boot is what stands between the machine's first process and systemd. Each boot has an id of its own, as that of a kernel.
const boot = `cd "$1/root"
mount -t proc proc proc; mount -t sysfs sysfs sys; mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run; mount -t tmpfs tmpfs tmp; mount -t tmpfs tmpfs dev
cat /proc/sys/kernel/random/uuid >run/boot-id; mount --bind run/boot-id proc/sys/kernel/random/boot_id
for n in null zero full random urandom tty; do : >dev/$n; mount --bind /dev/$n dev/$n; done
mkdir dev/pts dev/shm run/sshd; mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666
ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
mkdir -p ".$2"; mount --bind "$2" ".$2"
ip link set lo up
pivot_root . mnt; umount -l /mnt
exec env -i container=hostler PATH=/usr/sbin:/usr/bin:/sbin:/bin ` + systemd +
	` --system --unit=only.target --show-status=false --log-target=console`

// Boot switches the machine on and waits until systemd says that it is up.
func (m *Machine) Boot() {
	m.t.Helper()
	console, err := os.OpenFile(m.dir+"-console", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		m.t.Fatal("opening the console:", err)
	}
	defer func() { _ = console.Close() }()
	group, err := os.Open(m.group)
	if err != nil {
		m.t.Fatal("opening the control group:", err)
	}
	defer func() { _ = group.Close() }()
	cmd := exec.Command("nsenter", "-t", strconv.Itoa(m.holder.Process.Pid), "-m", "--", "unshare", "--mount", "--pid", "--uts", "--ipc",
		"--net", "--cgroup", "--fork", "--kill-child", "sh", "-ec", boot, "sh", m.dir, filepath.Dir(m.SSH.AuthorizedKeys()))
	cmd.Stdout, cmd.Stderr = console, console
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
	m.first = m.start(cmd)
	waittest.Succeeds(m.t, "the machine is up", func() error {
		if m.init = child(m.first.Process.Pid); m.init == 0 {
			return errors.New("there is no process 1")
		}
		state, err := m.Try(m.t.Context(), "systemctl is-system-running")
		if state = strings.TrimSpace(state); state != "running" && state != "degraded" {
			said, _ := os.ReadFile(m.dir + "-console")
			return fmt.Errorf("the system is %q: %w\n%s", state, err, said[max(0, len(said)-2000):])
		}
		return nil
	})
	m.SSH.SetCommandPrefix(m.enter()...)
}

// child is a child of a process; 0 for none.
func child(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	first, _, _ := strings.Cut(string(text), " ")
	number, _ := strconv.Atoi(first)
	return number
}

// PowerOff ends all of the machine's processes at once, as a loss of power does. Its disk keeps what it has.
func (m *Machine) PowerOff() {
	if m.first == nil {
		return
	}
	if m.init != 0 {
		_ = syscall.Kill(m.init, syscall.SIGKILL)
	}
	_ = m.first.Process.Kill()
	<-m.first.ended
	m.first, m.init = nil, 0
	m.SSH.SetCommandPrefix("false")
	m.SSH.CloseConnections()
}

// enter are the words before a command that runs on the machine.
func (m *Machine) enter() []string {
	return []string{"nsenter", "-t", strconv.Itoa(m.init), "-a", "--", "env", "-i",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
}

// Try runs a command line on the machine and gives what it prints.
func (m *Machine) Try(ctx context.Context, line string) (string, error) {
	enter := m.enter()
	cmd := exec.CommandContext(ctx, enter[0], append(enter[1:], "sh", "-c", line)...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return string(out), nil
}

// Login logs in to the machine by its SSH server.
func (m *Machine) Login() hypervisor.NodeExecutor {
	m.t.Helper()
	return pvessh.New(m.SSH.Target(), pvessh.Timeouts{Dial: time.Minute, Handshake: time.Minute, Alive: time.Second, Silence: time.Minute,
		Kill: time.Minute})
}

// Run is Try for what must do.
func (m *Machine) Run(line string) string {
	m.t.Helper()
	out, err := m.Try(m.t.Context(), line)
	if err != nil {
		m.t.Fatal("on the machine: ", err)
	}
	return strings.TrimSpace(out)
}
