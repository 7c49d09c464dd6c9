//go:build linux

package lxdtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const (
	busybox = "/bin/busybox"
	// base is the folder of all servers: that of the machine's own LXD, out of whose sight it is. The root of a container, which
	// is no root here, must get through all that is above.
	base  = "/var/lib/lxd"
	lxcfs = "/var/lib/lxcfs"
)

// missing says what the machine lacks; empty when it has all.
func missing() string {
	if os.Geteuid() != 0 {
		return "root is needed"
	}
	// Tests of ordinary users' shells often lack these folders.
	_ = os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin")
	for _, program := range []string{"lxd", "lxcfs", "dnsmasq", "nft", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed; .ci/deps does it"
		}
	}
	for _, path := range []string{busybox, base, lxcfs} {
		if _, err := os.Stat(path); err != nil {
			return path + " is missing; .ci/deps installs the packages"
		}
	}
	for _, file := range []string{"/etc/subuid", "/etc/subgid"} {
		if ids, _ := os.ReadFile(file); !bytes.HasPrefix(ids, []byte("root:")) && !bytes.Contains(ids, []byte("\nroot:")) {
			return "root has no line in " + file
		}
	}
	return ""
}

// prepare furnishes the namespaces: a proc and a sysfs of their own, in which LXD finds its processes and bridges, the cgroups,
// a file system for servers and one for lxcfs, the loopback interface. It starts lxcfs.
func prepare() error {
	const cgroups = base + "/cgroup"
	steps := []func() error{
		func() error { return syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") },
		func() error { return syscall.Mount("tmpfs", base, "tmpfs", 0, "mode=0711") },
		func() error { return os.Mkdir(cgroups, 0o755) },
		func() error { return syscall.Mount("proc", "/proc", "proc", 0, "") },
		func() error { return syscall.Mount("/sys/fs/cgroup", cgroups, "", syscall.MS_BIND|syscall.MS_REC, "") },
		func() error { return syscall.Mount("sysfs", "/sys", "sysfs", 0, "") },
		func() error { return syscall.Mount(cgroups, "/sys/fs/cgroup", "", syscall.MS_BIND|syscall.MS_REC, "") },
		func() error { return syscall.Unmount(cgroups, syscall.MNT_DETACH) },
		func() error { return syscall.Mount("tmpfs", lxcfs, "tmpfs", 0, "") },
		func() error { return run("ip", "link", "set", "lo", "up") },
		func() error { return withoutModules(base + "/bin") },
		func() error { _, err := startDaemon(base+"/lxcfs.log", nil, "lxcfs", lxcfs); return err },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("preparing, step %d: %w", i+1, err)
		}
	}
	return nil
}

// withoutModules keeps LXD from loading modules into the machine's kernel.
func withoutModules(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.Setenv("PATH", dir+":"+os.Getenv("PATH")); err != nil {
		return err
	}
	return os.WriteFile(dir+"/modprobe", []byte("#!/bin/sh\nexit 1\n"), 0o755)
}

// run runs a program. Its output is part of the error.
func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// daemon is a process that is waited for; its end closes ended.
type daemon struct {
	process *os.Process
	ended   chan struct{}
}

// startDaemon starts a program whose output goes to a file.
func startDaemon(log string, env []string, name string, args ...string) (*daemon, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &daemon{process: cmd.Process, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(d.ended)
	}()
	return d, nil
}

// kill ends the program at once and waits for its end.
func (d *daemon) kill() error {
	if err := d.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-d.ended
	return nil
}
