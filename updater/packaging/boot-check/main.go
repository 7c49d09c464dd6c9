// Command boot-check tests the Debian package on a Debian system that it
// creates and boots: the whole life of an installation, from the first start
// through updates that succeed, fail or are interrupted, to the purge.
//
// It creates a root with debootstrap in a temporary folder and boots it in a
// systemd-nspawn container that only has a loopback interface. It removes
// everything at the end, also after a failure or an interrupt. It must run as
// root, in the folder of the repository, and takes several minutes.
//
// lifecycle.go lists all steps in order. A second machine (shortLife) runs at
// the same time, for steps that mostly wait.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder for what outlives a run: the cached root")
	flag.StringVar(&o.mirror, "mirror", "http://deb.debian.org/debian", "mirror of Debian")
	flag.BoolVar(&o.keep, "keep", false, "leave the folder with the root behind")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "boot-check:", err)
		os.Exit(1)
	}
}

// options contains the command line.
type options struct {
	bin, mirror string
	keep        bool
}

// run creates the temporary folder, runs all steps, and cleans up. After a
// failure it prints what the machine logged. The folder is below /var/tmp
// because /tmp is often mounted without set-uid programs, which Debian needs.
func run(ctx context.Context, o options) (err error) {
	if err := ready(); err != nil {
		return err
	}
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return err
	}
	top, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(top, "updater", "packaging")); err != nil {
		return fmt.Errorf("start it in the repository's folder: %w", err)
	}
	// A short path of its own, and not below a folder that is mounted without set-uid programs.
	dir, err := os.MkdirTemp("/var/tmp", "hostler-boot-check-")
	if err != nil {
		return err
	}
	meanwhile, stop := context.WithCancel(ctx)
	c := &check{dir: dir, top: top, bin: bin, mirror: o.mirror, began: time.Now(), releases: &releases{meanwhile: meanwhile}}
	c.second = &check{dir: filepath.Join(dir, "second"), top: top, bin: bin, mirror: o.mirror, on: "on a second machine: ",
		releases: c.releases}
	defer func() {
		switch {
		case err == nil:
		case ctx.Err() != nil:
			err = errors.New("interrupted")
		default:
			c.tellWhatHappened()
		}
		stop()
		c.releases.errands.Wait()
		err = errors.Join(err, c.machine.kill(), c.second.machine.kill())
		if o.keep {
			fmt.Println("The root is in", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	return c.lifecycle(ctx)
}

// ready returns one error that names everything that is missing on this
// machine.
func ready() error {
	var missing []string
	if os.Geteuid() != 0 {
		missing = append(missing, "root privileges: the check creates and boots a Debian root file system")
	}
	for program, of := range map[string]string{
		"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container", "nsenter": "util-linux", "unshare": "util-linux", "tar": "tar",
		"dpkg-deb": "dpkg", "make": "make", "go": "Go",
	} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, fmt.Sprintf("%s (package %s)", program, of))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it needs %s", strings.Join(missing, "; "))
	}
	return nil
}
