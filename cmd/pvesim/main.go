// Command pvesim runs the Proxmox VE simulator. When it is ready, it prints one
// line of JSON with addresses, fingerprints and tokens. It then serves until
// SIGTERM or SIGINT, or with --stdin-eof until standard input ends. Package
// pvesim describes what it simulates and how the control interface injects
// faults.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hostler/hostler/plugins/pve/pvesim"
)

// config contains the command line. opts are the options of the simulator; a
// zero value there means the default of package pvesim.
type config struct {
	listen   string
	control  string
	stdinEOF bool
	opts     pvesim.Options
}

// parseConfig parses the command line. The control interface can change and
// break everything without authentication, so its address must be on loopback.
// A duration of zero on the command line means "no delay", which the options of
// the simulator express with a negative value.
func parseConfig(args []string, stderr io.Writer) (config, error) {
	var cfg config
	var authDelay, lag, task time.Duration
	fs := flag.NewFlagSet("pvesim", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&cfg.listen, "listen", "127.0.0.1:0", "address of the entry node; the other nodes get free ports on the same host")
	fs.StringVar(&cfg.control, "control-listen", "127.0.0.1:0", "loopback address of the control interface")
	fs.BoolVar(&cfg.stdinEOF, "stdin-eof", false, "stop when standard input ends")
	fs.StringVar(&cfg.opts.Scenario, "scenario", pvesim.ScenarioCluster, "one, cluster or fleet")
	fs.IntVar(&cfg.opts.Nodes, "nodes", 0, "number of nodes (default 1, 3 or 6 by scenario)")
	fs.BoolVar(&cfg.opts.Loopbacks, "loopbacks", false, "nodes listen on the same port of 127.0.0.1, 127.0.0.2 and so on, and report "+
		"these addresses")
	fs.IntVar(&cfg.opts.Guests, "guests", 0, "number of guests (default 12 per host, negative for none)")
	fs.BoolVar(&cfg.opts.Recommended, "recommended", false, "add the recommended privileges of current releases to the roles")
	fs.DurationVar(&cfg.opts.Latency, "latency", 0, "delay of every answer")
	fs.Uint64Var(&cfg.opts.Seed, "seed", 0, "seed of names, metrics and secrets")
	fs.DurationVar(&authDelay, "auth-delay", 3*time.Second, "delay of failed authentication")
	fs.DurationVar(&lag, "resources-lag", 10*time.Second, "maximum age of /cluster/resources")
	fs.DurationVar(&task, "task-duration", 500*time.Millisecond, "run time of an ordinary task")
	fs.DurationVar(&cfg.opts.RebootTime, "reboot-time", 90*time.Second, "duration of a node's reboot")
	fs.IntVar(&cfg.opts.FleetNodes, "fleet-nodes", 0,
		"nodes of each installation of a fleet (default: alternating clusters of three and standalone hosts)")
	fs.StringVar(&cfg.opts.FleetStorage, "fleet-storage", "", "name of a backup storage that all installations of a fleet have")
	fs.StringVar(&cfg.opts.BackupFolder, "backup-folder", "", "folder in which backups on the storage local are files")
	fs.StringVar(&cfg.opts.NodePrefix, "node-prefix", "", "prefix of the node names (default pve)")
	fs.StringVar(&cfg.opts.Version, "pve-version", "", "release to report and to behave like, for example 8.4.1 (default 9.2.11)")
	if err := fs.Parse(args); err != nil {
		return cfg, err
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	host, _, err := net.SplitHostPort(cfg.control)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return cfg, fmt.Errorf("control address %q is not on loopback", cfg.control)
	}
	none := func(d time.Duration) time.Duration { // zero means "at once" here and "default" in the options
		if d <= 0 {
			return -1
		}
		return d
	}
	cfg.opts.AuthDelay, cfg.opts.ResourcesLag, cfg.opts.TaskDuration = none(authDelay), none(lag), none(task)
	return cfg, nil
}

// ready is the line of JSON that announces the simulator. Its fields at the top
// describe the first host; Control is the URL of the control interface.
type ready struct {
	pvesim.Description
	Control string               `json:"control"`
	Hosts   []pvesim.Description `json:"hosts,omitempty"` // of a fleet; the first is also described above
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "pvesim:", err)
		}
		os.Exit(2)
	}
}

// run starts the simulator, prints the line and waits. It prints the line only
// after all listeners are open, so a reader can connect at once.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	cfg, err := parseConfig(args, stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if cfg.stdinEOF {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			stop()
		}()
	}
	fleet, err := pvesim.NewFleet(cfg.opts)
	if err != nil {
		return err
	}
	if err := fleet.Start(cfg.listen); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", cfg.control)
	if err != nil {
		return errors.Join(fmt.Errorf("opening control listener: %w", err), fleet.Close())
	}
	control := &http.Server{Handler: fleet.ControlHandler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- control.Serve(ln) }()

	line := ready{Description: fleet.Hosts[0].Describe(), Control: "http://" + ln.Addr().String()}
	if cfg.opts.Scenario == pvesim.ScenarioFleet {
		for _, c := range fleet.Hosts {
			line.Hosts = append(line.Hosts, c.Describe())
		}
	}
	err = json.NewEncoder(stdout).Encode(line)
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	return errors.Join(err, control.Close(), fleet.Close())
}
