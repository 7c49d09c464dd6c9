package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// suite is the release of Debian on which the package is tested.
const suite = "bookworm"

// packageName is the name in an entry of Depends.
var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*`)

// makeRoot unpacks a Debian that has the package's dependencies and has never
// seen the package. The first run creates it and keeps it as a tarball, whose
// name depends on the dependencies.
func (c *check) makeRoot(ctx context.Context) (string, error) {
	control, err := os.ReadFile(filepath.Join(c.top, "updater", "packaging", "debian", "control"))
	if err != nil {
		return "", err
	}
	_, depends, _ := strings.Cut(string(control), "\nDepends:")
	depends, _, _ = strings.Cut(depends, "\n")
	include := []string{"systemd-sysv", "dbus"}
	for _, entry := range strings.Split(depends, ",") {
		include = append(include, packageName.FindString(strings.TrimSpace(entry)))
	}
	list := strings.Join(include, ",")
	sum := sha256.Sum256([]byte(suite + list))
	cached := filepath.Join(c.bin, "boot-check", fmt.Sprintf("%s-%x.tar", suite, sum[:6]))
	said := "from " + cached
	if _, err := os.Stat(cached); errors.Is(err, fs.ErrNotExist) {
		said = "made with debootstrap, and kept for the next run"
		if err := c.bootstrap(ctx, list, cached); err != nil {
			return "", err
		}
	}
	if err := os.Mkdir(c.root(), 0o755); err != nil {
		return "", err
	}
	_, err = c.program(ctx, "tar", "--numeric-owner", "-xpf", cached, "-C", c.root())
	return said, err
}

// root returns the folder of the machine's root.
func (c *check) root() string { return filepath.Join(c.dir, "root") }

// bootstrap creates a root with debootstrap and packs it. It runs in its own
// mount and PID namespaces, so nothing stays mounted or running however it
// ends.
func (c *check) bootstrap(ctx context.Context, include, cached string) error {
	made := filepath.Join(c.dir, "bootstrap")
	// In name spaces of its own: what it mounts and starts is gone with it, however it ends.
	if _, err := c.program(ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child", "env", "--unset=TMPDIR", "debootstrap",
		"--variant=minbase", "--include="+include, suite, made, c.mirror); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(cached), 0o755); err != nil {
		return err
	}
	if _, err := c.program(ctx, "tar", "--numeric-owner", "--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*",
		"--exclude=./dev/*", "-cpf", cached+".new", "-C", made, "."); err != nil {
		return errors.Join(err, os.Remove(cached+".new"))
	}
	return errors.Join(os.Rename(cached+".new", cached), os.RemoveAll(made))
}

// program runs something on this machine; its last words are in the error.
func (c *check) program(ctx context.Context, name string, args ...string) (string, error) {
	return output(c.command(ctx, name, args...))
}

// command returns a command in the repository's folder. Canceling ctx kills its
// whole process group.
func (c *check) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = c.top
	cmd.Env = append(os.Environ(), "TMPDIR="+c.dir)
	// An interrupt ends all that it has started, and what these could not tidy up goes with the folder.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// output runs a command and returns its trimmed standard output. The error
// contains the end of everything that it printed.
func output(cmd *exec.Cmd) (string, error) {
	var out, words strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(out.String() + words.String())
		if len(said) > 3000 {
			said = "…" + said[len(said)-3000:]
		}
		return out.String(), fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	return strings.TrimSpace(out.String()), nil
}
