// Command hostler-console opens the console of a VM or an app, or a node shell,
// in the terminal that it runs in. For a graphical console it listens on a
// local port for one VNC viewer.
//
// It works without a log-in: the URL of the service and an API key file are
// flags or variables. hostler console is the same for users of hostler login,
// but cannot show graphical consoles.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/terminal"
)

// version is the version of the release. The linker sets it with -X.
var version = "dev"

// options contains the command line. silence is how long piped input waits for
// more output after its end.
type options struct {
	url, keyFile, ca string
	kind, node, rfb  string
	silence          time.Duration
}

func main() {
	// The signals of a terminal in raw mode are bytes, which go to the console; these are for everything else.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hostler-console:", err)
		os.Exit(1)
	}
}

// command returns the command with its flags. HOSTLER_URL, HOSTLER_KEY_FILE and
// HOSTLER_CA set the defaults of the flags.
func command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "hostler-console [flags] vm|app|host ID",
		Short: "Open a console of a VM or an app, or a node shell",
		Long: "Open a console of a VM or an app, or a node shell, in this terminal.\n\n" +
			"To leave it, press Ctrl-] and type a period; to send Ctrl-], press it twice. A graphical console needs a VNC viewer, which " +
			"connects to the address in --rfb.\n" +
			"Piped input is sent to the console, which closes when it has printed nothing for --silence after the end of the input.",
		Args: cobra.ExactArgs(2), SilenceUsage: true, SilenceErrors: true, Version: version,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := o.path(args[0], args[1])
			if err != nil {
				return err
			}
			s, err := newService(o)
			if err != nil {
				return err
			}
			return run(cmd.Context(), s, path, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.url, "url", fallback("HOSTLER_URL", "http://127.0.0.1:8480"), "URL of the service (HOSTLER_URL)")
	flags.StringVar(&o.keyFile, "key-file", os.Getenv("HOSTLER_KEY_FILE"), "file with an API key (HOSTLER_KEY_FILE)")
	flags.StringVar(&o.ca, "ca", os.Getenv("HOSTLER_CA"),
		"file with the certificate of the service or its CA in PEM format (HOSTLER_CA)")
	flags.StringVar(&o.kind, "kind", "", "terminal or graphical; if absent, terminal if available")
	flags.StringVar(&o.node, "node", "", "for a node shell: name of the node; if absent, the node that responds at the host's address")
	flags.StringVar(&o.rfb, "rfb", "", "for a graphical console: address for one VNC viewer, such as 127.0.0.1:5901")
	flags.DurationVar(&o.silence, "silence", 2*time.Second, "with piped input: time to wait for output after the end of the input")
	return c
}

// fallback returns the value of an environment variable, or value if it is
// empty or not set.
func fallback(name, value string) string {
	if set := os.Getenv(name); set != "" {
		return set
	}
	return value
}

// path returns the path below /api/v1 where tickets for an object are
// requested. The ID must be a positive number; it becomes part of the path
// unchanged.
func (o options) path(kind, id string) (string, error) {
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n < 1 {
		return "", fmt.Errorf("invalid ID %q", id)
	}
	switch kind {
	case "vm", "app":
		return kind + "s/" + id + "/console/tickets", nil
	case "host":
		return "hosts/" + id + "/shell/tickets", nil
	}
	return "", fmt.Errorf("invalid kind %q: use vm, app or host", kind)
}

// run requests a ticket and shows the console: a terminal console in this
// terminal, a graphical one through relay. The service decides which kind it is
// unless --kind was given.
func run(ctx context.Context, s *service, path string, o options) error {
	here := terminal.New(os.Stdin, os.Stdout, &terminal.Bracket{})
	t, err := s.ticket(ctx, path, o, here)
	if err != nil {
		return err
	}
	if t.Kind == "graphical" {
		if o.rfb == "" {
			return errors.New("this is a graphical console: set --rfb to an address for a VNC viewer")
		}
		return s.relay(ctx, t, o.rfb)
	}
	conn, err := s.connect(ctx, t)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	return here.Show(ctx, conn, o.silence)
}
