// Command hostler-demo runs Hostler with a simulated Proxmox VE cluster, as
// make run does. It starts pvesim and hostlerd from the folder --bin, creates
// an owner, enrolls the cluster and prints how to log in. Everything is in a
// temporary folder; Ctrl-C stops the programs and removes it.
//
// hostler-demo receive is a receiver for webhooks, to try out notifications.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	// Children are told to end when the thread that started them ends: it must be the one that lives longest.
	runtime.LockOSThread()
	if len(os.Args) > 1 && os.Args[1] == "receive" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := receive(ctx, os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "hostler-demo receive:", err)
			os.Exit(1)
		}
		return
	}
	bin := flag.String("bin", "bin", "folder of the programs")
	listen := flag.String("listen", "127.0.0.1:8480", "address of the service")
	nodes := flag.Int("nodes", 3, "nodes of the simulated cluster")
	guests := flag.Int("guests", 24, "guests of the simulated cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *listen, *nodes, *guests); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "hostler-demo:", err)
		os.Exit(1)
	}
}

// owner is the email address of the owner that the demo creates.
const owner = "owner@example.com"

// checkFree returns an error if another program listens on the address. Without
// this check the demo could set up and use the other program's service by
// mistake. If another program takes the port between the check and the
// start, hostlerd reports that and ends.
func checkFree(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot start the service on %s: %w; stop the program that uses the port, or use another one: "+
			"make run LISTEN=127.0.0.1:9480, or hostler-demo --listen 127.0.0.1:9480", address, err)
	}
	return listener.Close()
}

// run starts everything, prints how to log in, and waits for Ctrl-C or for the
// end of one of the programs. The deferred calls stop the programs in the
// reverse order of their start: the service before the simulator, so that it
// does not log lost hosts while it stops.
func run(ctx context.Context, bin, listen string, nodes, guests int) error {
	if err := checkFree(ctx, listen); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostler-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// The private PostgreSQL runs under its own user when we are root, and must reach its folder in here.
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}

	sim, ready, err := startSimulator(filepath.Join(bin, "pvesim"), nodes, guests)
	if err != nil {
		return err
	}
	defer sim.stop()

	state := filepath.Join(dir, "state")
	service, err := start("hostlerd", filepath.Join(bin, "hostlerd"),
		[]string{"serve", "--listen", listen, "--state-dir", state, "--plugin-dir", filepath.Join(bin, "plugins"), "--allow-loopback-hosts",
			"--log-level", "error"}, os.Stderr)
	if err != nil {
		return err
	}
	defer service.stop()

	api := newClient("http://" + listen)
	if err := api.waitReady(ctx, service); err != nil {
		return err
	}
	password := rand.Text()
	if err := api.setUp(ctx, filepath.Join(state, "setup-token"), owner, password); err != nil {
		return err
	}
	seen, err := api.enrol(ctx, ready)
	if err != nil {
		return err
	}
	link, err := newLoginLink(ctx, listen, owner, password)
	if err != nil {
		return err
	}
	defer link.close()
	once := ""
	if term.IsTerminal(int(os.Stdout.Fd())) { // a log would keep it
		once = "\n  or open    " + link.url + "   (logs one browser in, once)"
	}
	fmt.Printf(`
Hostler is running, with a simulated cluster of %d nodes and %d guests.

  page       http://%s/
  log-in     %s
  password   %s%s

  API        http://%s/api/docs
  simulator  %s   control: %s
  admin token of the simulator: %s=%s

Ctrl-C stops everything.
`, nodes, seen, listen, owner, password, once, listen, ready.URL, ready.Control, ready.AdminToken.ID, ready.AdminToken.Secret)

	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case <-service.done:
		return fmt.Errorf("the service ended unexpectedly: %v", service.err)
	case <-sim.done:
		return fmt.Errorf("the simulator ended unexpectedly: %v", sim.err)
	}
}

// stopTime is how long a child process may take to stop after SIGTERM before it
// is killed. It exceeds the time limit of hostlerd itself, 10 seconds, so that
// the private PostgreSQL is stopped in order.
const stopTime = 12 * time.Second
