package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/terminal"
	"github.com/hostler/hostler/client/transport"
)

// maxMessage is the maximum size of one message of a console, in bytes. The
// library closes the connection when a message is larger.
const maxMessage = 1 << 20

// consoleOf returns the function that makes the console command of a kind: vm,
// app or node. For a node the command is called shell, with console as an
// alias, because a node shell needs other permissions.
func consoleOf(kind string) func(s *session) []*cobra.Command {
	operation := map[string]string{
		"vm": "create_vm_console_ticket", "app": "create_app_console_ticket", "node": "create_node_shell_ticket",
	}[kind]
	return func(s *session) []*cobra.Command {
		var silence time.Duration
		c := &cobra.Command{
			Use: "console " + strings.ToUpper(kind), Short: "Open a console in this terminal", Args: cobra.ExactArgs(1),
			Long: "Open a console in this terminal. To leave it, type ~. at the start of a line; to send a tilde there, type it twice.\n\n" +
				"Piped input is sent to the console, which closes when it has printed nothing for --silence after the end of the input. " +
				"For a graphical console use hostler-console, which opens a VNC viewer.",
			ValidArgsFunction: s.completeArguments(parseArguments("id:" + kind)),
			RunE: func(cmd *cobra.Command, words []string) error {
				return s.console(cmd.Context(), operation, kind, words[0], silence)
			},
		}
		if kind == "node" {
			c.Use, c.Short, c.Aliases = "shell NODE", "Open a node shell in this terminal", []string{"console"}
		}
		c.Flags().DurationVar(&silence, "silence", 2*time.Second, "with piped input: time to wait for output after the end of the input")
		return []*cobra.Command{c}
	}
}

// console connects the user's terminal to the console of a guest or a node. The
// size of the terminal goes into the request for the ticket, so that the first
// screen already fits. Input and output must be files: terminal.Terminal
// switches a real terminal to raw mode and restores it however the console
// ends; for a pipe it sends the input and waits for silence. Node shells are
// addressed by host and node name, consoles by the ID of the guest.
func (s *session) console(ctx context.Context, operation, kind, word string, silence time.Duration) error {
	in, read := s.in.(*os.File)
	out, write := s.screen.Out.(*os.File)
	if !read || !write {
		return errors.New("a console requires files as standard input and output")
	}
	found, err := s.resolve(ctx, kind, word)
	if err != nil {
		return err
	}
	client, err := s.connection()
	if err != nil {
		return err
	}
	here := terminal.New(in, out, &terminal.Tilde{})
	query := url.Values{"kind": {"terminal"}}
	id := fmt.Sprint(found.id)
	path := api.Find(operation).Expand(map[string]string{"vm_id": id, "app_id": id, "host_id": fmt.Sprint(found.host)})
	if kind == "node" {
		query = url.Values{"node": {found.name}}
	}
	if columns, rows, ok := here.Size(); ok {
		query.Set("columns", strconv.Itoa(columns))
		query.Set("rows", strconv.Itoa(rows))
	}
	var ticket api.ConsoleTicket
	if err := readTicket(ctx, client, path, query, &ticket); err != nil {
		return err
	}
	conn, err := connectConsole(ctx, client, ticket)
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	return here.Show(ctx, conn, silence)
}

// readTicket requests a console ticket. A ticket works once and only for a
// short time, so it is requested immediately before the connection. The request
// is not repeated after a broken connection: a second ticket could leave an
// unused console behind.
func readTicket(ctx context.Context, client *transport.Client, path string, query url.Values, out *api.ConsoleTicket) error {
	return read(ctx, client, transport.Request{Method: http.MethodPost, Path: path, Query: query}, out)
}

// connectConsole opens the websocket of a ticket. It always connects to the
// service of the context: the ticket only contributes a path, and a URL in it
// is an error, because the API key is sent in the header. Its errors never show
// the ticket, which is a secret as long as it is unused.
func connectConsole(ctx context.Context, client *transport.Client, ticket api.ConsoleTicket) (*websocket.Conn, error) {
	base := client.URL()
	path, err := url.Parse(ticket.Path)
	if err != nil || path.Host != "" || path.Scheme != "" || !strings.HasPrefix(path.Path, "/") {
		return nil, errors.New("the service returned an invalid console ticket")
	}
	at := *base
	at.Path = strings.TrimSuffix(base.Path, "/") + path.Path
	if base.Path != "" && strings.HasPrefix(path.Path, strings.TrimSuffix(base.Path, "/")+"/") { // it knows below which path it is found
		at.Path = path.Path
	}
	at.RawPath, at.RawQuery = "", url.Values{"ticket": {ticket.Ticket}}.Encode()
	conn, answer, err := websocket.Dial(ctx, at.String(), &websocket.DialOptions{HTTPClient: client.HTTP(), HTTPHeader: client.Header()})
	if err != nil && answer != nil {
		if refused := client.CheckResponse(answer); refused != nil {
			return nil, refused
		}
	}
	if err != nil {
		return nil, &transport.UnreachableError{URL: base.Host, Err: errors.New("cannot open the console")}
	}
	conn.SetReadLimit(maxMessage)
	return conn, nil
}
