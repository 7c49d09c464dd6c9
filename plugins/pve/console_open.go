package pve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These limit the opening of a console.
const (
	// consoleOpening bounds the opening where the caller does not, beside the
	// waits of its requests.
	consoleOpening = time.Minute
	// consoleFarewell is how long the end of a console may come after the text
	// that says why, or nothing at all.
	consoleFarewell = 500 * time.Millisecond
	// consoleHead is how much of what comes first is judged, in bytes.
	consoleHead = 512
	// consoleEnding is how long the end of a console's task is looked for when
	// its connection has ended.
	consoleEnding = 3 * time.Second
	// consoleLost is how long a node has to answer once the connection of a console has ended.
	consoleLost = time.Second
)

// errNoSerial reports that a VM has no terminal.
var errNoSerial = errors.New("the VM has no serial port")

// OpenConsole implements hypervisor.ConsoleOpener. Only the program behind a
// terminal finds out whether there is anything to show, after somebody has
// connected. Its first words decide, unless the token may read the VM's
// configuration.
func (h *Host) OpenConsole(ctx context.Context, spec hypervisor.ConsoleSpec) (hypervisor.Console, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, consoleOpening)
	defer stop()
	o := &consoleOpener{Host: h, spec: spec, node: spec.Node}
	var err error
	if spec.Guest == nil {
		if o.path, err = nodePath(spec.Node); err != nil {
			return nil, err
		}
		return opened(o.terminal(ctx))
	}
	o.node = spec.Guest.Node
	if o.path, err = guestPath(*spec.Guest); err != nil {
		return nil, err
	}
	switch {
	case spec.Guest.Kind == hypervisor.Container && spec.Kind == hypervisor.ConsoleGraphical:
		return nil, invalid("kind", "a container has only a text console; request a terminal")
	case spec.Guest.Kind == hypervisor.Container:
		return opened(o.terminal(ctx))
	case spec.Kind == hypervisor.ConsoleGraphical:
		return opened(o.screen(ctx))
	}
	serial, known := o.serial(ctx)
	c, err := (*console)(nil), errNoSerial
	if serial || !known {
		c, err = o.terminal(ctx)
	}
	switch {
	case spec.Kind == "" && (errors.Is(err, errNoSerial) || plugin.KindOf(err) == plugin.Unsupported && err != nil):
		return opened(o.screen(ctx)) // which every release gives
	case errors.Is(err, errNoSerial):
		return nil, invalid("kind", "the VM has no serial port, so it has no text console; use its graphical console")
	}
	return opened(c, err)
}

// opened returns an interface that is nil for a nil console.
func opened(c *console, err error) (hypervisor.Console, error) {
	if err != nil {
		return nil, err
	}
	c.whole.Store(true)
	return c, nil
}

// consoleOpener opens one console.
type consoleOpener struct {
	*Host
	spec hypervisor.ConsoleSpec
	node string
	path string // of the guest or the node
}

// serial reports whether the VM has a serial port, if the token may see that.
func (o *consoleOpener) serial(ctx context.Context) (has, known bool) {
	var config map[string]pveapi.Text
	asking := *o.api
	asking.Remedy = nil // a refusal is no fault that wants a remedy
	if _, err := asking.Get(plugin.Once(ctx), o.path+"/config", nil, &config); err != nil {
		return false, false
	}
	for _, key := range []string{"serial0", "serial1", "serial2", "serial3"} {
		has = has || config[key] != ""
	}
	return has, true
}

// port asks Proxmox VE to open a port for a console. The port accepts one
// connection, within ten seconds.
func (o *consoleOpener) port(ctx context.Context, program string, form url.Values) (consolePort, error) {
	var made consolePort
	_, err := o.api.Post(ctx, o.path+"/"+program, form, &made)
	if err != nil {
		return made, o.explainAway(ctx, o.node, o.refused(ctx, absence(err)))
	}
	if made.Ticket == "" || made.Port == "" || made.User == "" || strings.ContainsAny(string(made.User+made.Ticket), "\n\x00") {
		return made, plugin.Errorf(plugin.Protocol, "the hypervisor's answer has no console ticket")
	}
	return made, nil
}

// refused turns an error about a port into one of the SDK.
func (o *consoleOpener) refused(ctx context.Context, err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	text := strings.ToLower(e.Message)
	switch {
	case strings.Contains(text, "unable to find free port"):
		return plugin.Errorf(plugin.Busy, "all 100 console ports of the hypervisor are in use; close some consoles and retry")
	case strings.Contains(text, "does not look like a valid user name"):
		version, _ := o.managerVersion(ctx) // the limit is told without it, too
		return plugin.Errorf(plugin.Unsupported, "%s", limitOf(nodeTerminal, version).Reason)
	}
	return err
}

// connect opens the WebSocket of a port.
func (o *consoleOpener) connect(ctx context.Context, made consolePort, kind hypervisor.ConsoleKind) (*console, error) {
	socket, err := o.api.Socket(ctx, o.path+"/vncwebsocket",
		url.Values{"port": {string(made.Port)}, "vncticket": {string(made.Ticket)}})
	if err != nil {
		if plugin.KindOf(err) == plugin.Unreachable && ctx.Err() == nil {
			if exit := o.exit(ctx, made); exit != "" {
				return nil, o.over(ctx, exit, false)
			}
		}
		return nil, err
	}
	return newConsole(socket, kind, o.lost), nil
}

// lost reports that the node of a console does not answer any more. It asks for
// the release, which every token may read.
func (o *consoleOpener) lost() error {
	path, err := nodePath(o.node, "version")
	if err != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), consoleLost)
	defer stop()
	_, err = o.api.Get(plugin.Once(ctx), path, nil, nil)
	if kind := plugin.KindOf(err); ctx.Err() != nil || kind == plugin.Unreachable || kind == plugin.Timeout {
		return plugin.Errorf(plugin.Unreachable, "node %s no longer answers", o.node)
	}
	return nil
}

// terminal opens a terminal. After the login line the proxy sends OK, and then
// the content of the terminal.
func (o *consoleOpener) terminal(ctx context.Context) (*console, error) {
	made, err := o.port(ctx, "termproxy", nil)
	if err != nil {
		return nil, err
	}
	c, err := o.connect(ctx, made, hypervisor.ConsoleTerminal)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, c.release)()
	if err := o.login(ctx, c, made); err != nil {
		_ = c.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	go c.keepAlive(o.pace.ConsoleAlive)
	return c, nil
}

// login sends the ticket to the terminal's proxy and waits for its "OK". The
// proxy closes the connection without a reason if the ticket is wrong.
func (o *consoleOpener) login(ctx context.Context, c *console, made consolePort) error {
	if err := c.send([]byte(string(made.User) + ":" + string(made.Ticket) + "\n")); err != nil {
		return err
	}
	var first []byte
	for len(first) < len("OK") {
		got, came := c.await(ctx, consoleOpening)
		switch {
		case !came:
			return plugin.Errorf(plugin.Timeout, "the hypervisor's terminal did not answer the login in time")
		case errors.Is(got.err, io.EOF):
			return o.over(ctx, o.exit(ctx, made), true)
		case got.err != nil:
			return got.err
		}
		first = append(first, got.data...)
	}
	rest, isOK := bytes.CutPrefix(first, []byte("OK"))
	if !isOK {
		return plugin.Errorf(plugin.Protocol, "the hypervisor's terminal sent an unexpected answer to the login")
	}
	if o.spec.Columns > 0 {
		if err := c.Resize(ctx, o.spec.Columns, o.spec.Rows); err != nil {
			return err
		}
	}
	return o.firstWords(ctx, c, made, rest)
}

var (
	// noTerminal is the line that the programs behind a terminal print if the
	// VM has no serial port, the guest does not run, or another node cannot be
	// reached. The connection may stay open after it.
	noTerminal = regexp.MustCompile(`(?i)^[^\r\n]*(?:unable to find a serial interface|\b(\d+) (?:is )?not running|` +
		`ssh: connect to host \S+ port \d+: no route to host)[^\r\n]*$`)
	// failedStart is another line that they print before they end, if there is
	// nothing to show.
	failedStart = regexp.MustCompile(`(?i)^[^\r\n]*(?:not running|no route to host|does not exist)[^\r\n]*$`)
)

// attaching is the output of the program around a terminal: it clears the
// screen at the beginning, and announces its end.
var attaching = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\[EOF - dtach terminating\]`)

// missing reports whether the first text says that this guest has no terminal.
func (o *consoleOpener) missing(text string) bool {
	m := noTerminal.FindStringSubmatch(text)
	return m != nil && o.spec.Guest != nil && (m[1] == "" || m[1] == string(o.spec.Guest.ID))
}

// firstWords waits for the first output of a terminal and keeps it, unless it
// says that there is nothing to show.
func (o *consoleOpener) firstWords(ctx context.Context, c *console, made consolePort, rest []byte) error {
	wait := o.pace.ConsoleFirst
	for c.head = rest; ; {
		text := strings.TrimSpace(attaching.ReplaceAllString(string(c.head[:min(len(c.head), consoleHead)]), ""))
		if text != "" && !o.missing(text) && !failedStart.MatchString(text) || len(c.head) >= consoleHead {
			return nil
		}
		if text != "" {
			wait = consoleFarewell // a terminal that shows these words by chance goes on
		}
		got, came := c.await(ctx, wait)
		c.head = append(c.head, got.data...)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !came && o.missing(text):
			return o.over(ctx, text, false)
		case !came:
			return nil
		case errors.Is(got.err, io.EOF):
			if text == "" {
				text = o.exit(ctx, made)
			}
			return o.over(ctx, text, false)
		case got.err != nil:
			return got.err
		}
	}
}

// screen opens a graphical console. In RFB the server speaks first (RFC 6143
// section 7.1.1), so the first bytes prove that the VM's screen is reachable.
// They are kept for the first Read. Without them the console is closed, and the
// error says whether nothing came in time or the program behind the port ended.
// Releases without a separate password use the beginning of the ticket, of
// which VNC authentication uses eight bytes.
func (o *consoleOpener) screen(ctx context.Context) (*console, error) {
	made, err := o.port(ctx, "vncproxy", url.Values{"websocket": {"1"}})
	if err != nil {
		return nil, err
	}
	c, err := o.connect(ctx, made, hypervisor.ConsoleGraphical)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, c.release)()
	if c.password = string(made.Password); c.password == "" {
		// Releases without a separate password use the ticket as password. The
		// protocol uses only eight bytes of it.
		c.password = string(made.Ticket[:min(len(made.Ticket), 8)])
	}
	got, came := c.await(ctx, consoleOpening)
	c.head = got.data
	if came && got.err == nil {
		return c, nil
	}
	_ = c.Close()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !came:
		return nil, plugin.Errorf(plugin.Timeout, "the VM's graphical console did not answer in time")
	case errors.Is(got.err, io.EOF):
		return nil, o.over(ctx, o.exit(ctx, made), false)
	}
	return nil, got.err
}

// exit returns how the task of a console ended, with the reason from its log;
// empty if that is unknown after a moment. A token may see its own tasks.
func (o *consoleOpener) exit(ctx context.Context, made consolePort) string {
	u, err := parseUPID(string(made.Task))
	if err != nil {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, consoleEnding)
	defer stop()
	for {
		running, exit, err := o.taskStatus(plugin.Once(ctx), u)
		if err != nil || !running && exit == "OK" {
			return exit
		}
		if !running && exit != "" {
			return o.taskCause(plugin.Once(ctx), u, exit)
		}
		select {
		case <-ctx.Done():
			return ""
		case <-time.After(o.pace.PollFirst):
		}
	}
}

// over returns the error of a console that ended before it showed anything.
// text is its output or the end of its task. atLogin reports that it ended at
// the login line, as a terminal does that does not accept tokens.
func (o *consoleOpener) over(ctx context.Context, text string, atLogin bool) error {
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "unable to find a serial interface"):
		return errNoSerial
	case strings.Contains(lower, "not running"):
		return plugin.Errorf(plugin.Conflict, "the guest is not running: %s", saidOf(text))
	case strings.Contains(lower, "does not exist"):
		return plugin.Errorf(plugin.NotFound, "the guest does not exist: %s", saidOf(text))
	case strings.Contains(lower, "no route to host"):
		return plugin.Errorf(plugin.Unreachable, "the called node cannot reach node %s: %s", o.node, saidOf(text))
	case atLogin && (lower == "" || strings.Contains(lower, "exit code 1")):
		of := nodeTerminal
		if o.spec.Guest != nil {
			of = guestTerminal[o.spec.Guest.Kind]
		}
		version, err := o.managerVersion(ctx)
		if kind := plugin.KindOf(err); err != nil && (kind == plugin.Unreachable || kind == plugin.Timeout || kind == plugin.NotFound) {
			return err // the node has gone away meanwhile
		}
		return plugin.Errorf(plugin.Unsupported, "%s", limitOf(of, version).Reason)
	case text == "" || lower == "ok":
		return plugin.Errorf(plugin.Refused, "the hypervisor closed the console before it sent any output")
	}
	return plugin.Errorf(plugin.Refused, "the hypervisor closed the console before it sent any output: %s", saidOf(text))
}

// saidOf returns a text of a console in a form for messages.
func saidOf(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSpace(text[:min(len(text), 300)])
}
