package private

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// InitDB runs initdb for a new cluster with peer authentication, the superuser
// Superuser, UTF-8 and data checksums. The locale is C.UTF-8: PostgreSQL's own
// from version 17 on, before that the system's, or plain C if the system lacks
// it. dir must exist, be empty and belong to the account. args are further
// arguments of initdb. If the calling process dies, initdb dies, too.
func InitDB(ctx context.Context, b Binaries, a Account, dir string, args ...string) error {
	locale := []string{"--locale=C.UTF-8"}
	if b.Major >= 17 {
		locale = []string{"--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"}
	}
	out, err := runInitDB(ctx, b, a, dir, append(locale, args...))
	if err != nil && strings.Contains(out, "invalid locale name") {
		out, err = runInitDB(ctx, b, a, dir, append([]string{"--locale=C"}, args...))
	}
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return explain("creating the private cluster with initdb", out, err)
	}
	return nil
}

func runInitDB(ctx context.Context, b Binaries, a Account, dir string, args []string) (string, error) {
	d, err := openData(ctx, b, a, dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	args = append([]string{"-D", d.arg, "-U", Superuser, "--auth=peer", "--data-checksums", "--encoding=UTF8"}, args...)
	cmd := exec.CommandContext(ctx, b.Path("initdb"), args...)
	d.apply(cmd)
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// The kernel ties the death signal to the thread that started the child, so the thread must live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	return out.String(), err
}

// environment is the environment of PostgreSQL's programs. It contains nothing
// of the service's own one, which may have PG* variables and secrets.
func environment() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/"}
}

// dataArg is how a PostgreSQL program gets the data directory.
type dataArg struct {
	account Account
	arg     string
	// file is the open directory that the program inherits if PostgreSQL's user
	// cannot enter the folders above it; otherwise nil.
	file *os.File
}

// openData finds out, by trying, whether PostgreSQL's user can reach dir by its
// path. If not, for example below a 0700 folder such as /root, the program
// inherits the open directory as descriptor 3 and gets the path
// /proc/self/fd/3.
func openData(ctx context.Context, b Binaries, a Account, dir string) (*dataArg, error) {
	d := &dataArg{account: a, arg: dir}
	if !a.drop {
		return d, nil
	}
	check := exec.CommandContext(ctx, b.Path("postgres"), "--version")
	d.apply(check)
	check.Dir = dir
	if check.Run() == nil {
		return d, nil
	}
	file, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, explain("opening "+filepath.Base(dir), "", err)
	}
	d.file, d.arg = file, "/proc/self/fd/3"
	check = exec.CommandContext(ctx, b.Path("postgres"), "--version")
	d.apply(check)
	if out, err := check.CombinedOutput(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%w: system user %q cannot run %s: %v: %s", ErrAccess, a.User, b.Path("postgres"), err, lastLines(string(out), 2))
	}
	return d, nil
}

// apply sets the user, environment, working directory and inherited files of a
// command.
func (d *dataArg) apply(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: d.account.Credential()}
	if d.file != nil {
		cmd.ExtraFiles = []*os.File{d.file}
	}
}

func (d *dataArg) Close() {
	if d.file != nil {
		d.file.Close()
	}
}
