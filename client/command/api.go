package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// call contains the flags of hostler api. input is the path of a file with the
// whole body, or - for standard input. output is the path of the file for the
// response. fields are the name=value pairs of --field. input and fields
// exclude each other.
type call struct {
	input, output string
	fields        []string
}

// apiCommand makes the command `api`, the way to operations for which there is
// no command yet. Its flags are those of curl where there is one.
func (s *session) apiCommand() *cobra.Command {
	var a call
	c := &cobra.Command{
		Use: "api METHOD PATH", Short: "Send a request to the API and print the response", Args: cobra.ExactArgs(2),
		Long: "Send a request to the API and print the response. The path can contain a query and can omit /api/v1.\n\n" +
			"Requests that accept an Idempotency-Key get one, so that they are repeated safely if the connection breaks.",
		Example: "  hostler api GET '/api/v1/jobs?status=running' --jq '.[].id'\n" +
			"  hostler api PATCH /api/v1/settings --field poll.interval_s=60\n" +
			"  hostler api POST /api/v1/schedules --input schedule.json\n" +
			"  hostler api GET /api/v1/console-recordings/3/cast --output recording.cast",
		ValidArgsFunction: completeAPI,
		RunE:              func(cmd *cobra.Command, words []string) error { return s.api(cmd.Context(), words[0], words[1], a) },
	}
	c.Flags().StringVar(&a.input, "input", "", "file with the body, - for standard input")
	c.Flags().StringArrayVar(&a.fields, "field", nil, "field of the body as name=value; the value is JSON if possible, otherwise text. "+
		"A field that can contain secrets requires name=@FILE, or name=- for standard input")
	c.Flags().StringVar(&a.output, "output", "", "write the response to this file, which must not exist")
	c.MarkFlagsMutuallyExclusive("input", "field")
	return c
}

// base is the prefix of the paths of all operations.
const base = "/api/v1"

// api sends one request with the method and the path as the user typed them. It
// adds /api/v1 if only then the path is the path of an operation. It refuses a
// URL with a host, because the API key would be sent to that host. A GET, and
// an operation that takes an Idempotency-Key, is repeated when the connection
// breaks; other requests are not, because they could take effect twice.
//
// The output depends on the response: nothing for an empty body, the raw text
// for a body that is not JSON, and JSON otherwise. A path of the user interface
// returns HTML with status 200 for every path, so HTML is reported as a wrong
// path instead of being printed.
func (s *session) api(ctx context.Context, method, path string, a call) error {
	method = strings.ToUpper(method)
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) {
		return &failure{statusUsage, "invalid method " + method + ": use GET, POST, PUT, PATCH or DELETE"}
	}
	at, err := url.Parse(path)
	if err != nil || at.IsAbs() || at.Host != "" || !strings.HasPrefix(path, "/") {
		return &failure{statusUsage, "invalid path: it must start with /, as in /api/v1/vms, and must not contain a host"}
	}
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return &failure{statusUsage, "invalid query in the path"}
	}
	r := transport.Request{Method: method, Path: at.EscapedPath(), Query: query, Repeatable: method == http.MethodGet}
	op := api.Match(method, at.Path)
	if short := api.Match(method, base+at.Path); op == nil && short != nil {
		op, r.Path = short, base+r.Path
	}
	if op != nil && op.Key {
		r.Repeatable = true
	}
	if r.Body, err = s.callBody(a); err != nil {
		return err
	}
	client, err := s.connection()
	if err != nil {
		return err
	}
	if a.output != "" {
		return s.download(ctx, r, a.output)
	}
	if op != nil && strings.HasSuffix(op.Path, "/stream") {
		return s.copyStream(ctx, r)
	}
	answer, err := client.Call(ctx, r)
	if err != nil {
		return err
	}
	if len(answer.Body) == 0 {
		s.say("Done.")
		return nil
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		return &failure{statusUsage, output.Clean(at.Path) + " is a web page: paths of the API start with " + base}
	}
	if !strings.Contains(answer.Header.Get("Content-Type"), "json") || strings.Contains(answer.Header.Get("Content-Type"), "ndjson") {
		return s.raw(answer.Body)
	}
	if !s.machine() {
		text, err := output.JSON(answer.Body, s.screen.Columns > 0)
		s.screen.Print(string(text))
		return err
	}
	return s.answer(ctx, answer.Body, s.screen.Fields)
}

// raw writes a body that is not JSON. A file or a program gets it unchanged. A
// terminal gets cleaned text, and binary content is an error, because it would
// disturb the terminal.
func (s *session) raw(body []byte) error {
	text := string(body)
	if s.screen.Columns > 0 {
		if strings.ContainsRune(text, 0) {
			return errors.New("the response is not text: write it to a file with --output")
		}
		text = output.Clean(text)
	}
	s.screen.Print(text)
	return nil
}

// copyStream prints each event of a stream as it arrives, one event per line:
// its name, a space and its data. It returns nil when the service ends the
// stream, and does not reconnect.
func (s *session) copyStream(ctx context.Context, r transport.Request) error {
	_, err := s.events(ctx, r.Path, r.Query, "", func(e event) bool {
		s.screen.Print(output.CleanLine(e.name) + " " + output.Clean(e.data) + "\n")
		return true
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// callBody returns the body of a request: the content of a file, or an object
// of the fields. It returns nil without either, which sends no body. It checks
// that a file is JSON, so that a mistake is reported without a request.
func (s *session) callBody(a call) ([]byte, error) {
	if a.input != "" {
		text, err := s.readInput(a.input)
		if err == nil && !json.Valid(text) {
			err = &failure{statusUsage, "cannot read " + a.input + ": not valid JSON"}
		}
		return text, err
	}
	if len(a.fields) == 0 {
		return nil, nil
	}
	body := map[string]any{}
	for _, field := range a.fields {
		name, value, found := strings.Cut(field, "=")
		if !found || name == "" {
			return nil, &failure{statusUsage, fmt.Sprintf("invalid --field %q: expected name=value", field)}
		}
		var err error
		if body[name], err = s.fieldValue(name, value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(body)
}

// fieldValue returns the value of a --field. A field that can contain secrets
// must come from a file or from standard input, because other users of the
// machine can read a command line, and shells keep it in their history. null is
// allowed on the command line, because it clears the field. The value of a
// field that is always a secret stays text, even if it looks like JSON: a
// password of digits is not a number. Line ends after the secret are removed.
func (s *session) fieldValue(name, value string) (any, error) {
	secret := slices.Contains(secretFields, name)
	if value != "null" && (secret || slices.Contains(mixedFields, name)) {
		content, referenced, err := s.readReference(value)
		if err != nil {
			return nil, err
		}
		if !referenced {
			return nil, exposed("--field "+name, "--field "+name+"=")
		}
		if value = strings.TrimRight(string(content), "\r\n"); secret {
			return value, nil
		}
	}
	if json.Valid([]byte(value)) {
		return json.RawMessage(value), nil
	}
	return value, nil
}

// download writes a response to a new file as it arrives. It never overwrites a
// file, and it removes a file that is incomplete. The file is readable only by
// the user, because exports and recordings can contain private data.
func (s *session) download(ctx context.Context, r transport.Request, path string) (err error) {
	client, err := s.connection()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing the response: %w", err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(path)
		}
	}()
	r.Accept = "*/*"
	answer, err := client.Open(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	come := &meter{screen: s.screen, total: answer.ContentLength, what: path}
	if _, err := io.Copy(file, io.TeeReader(answer.Body, come)); err != nil {
		return &transport.UnreachableError{URL: client.URL().Host, Err: fmt.Errorf("the response was interrupted: %w", err)}
	}
	s.say("Wrote %s to %s.", output.Bytes(float64(come.done)), path)
	return nil
}

// completeAPI offers methods, and the paths that have the method.
func completeAPI(_ *cobra.Command, words []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(words) {
	case 0:
		return []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, cobra.ShellCompDirectiveNoFileComp
	case 1:
		var paths []string
		for i := range api.Operations {
			if op := &api.Operations[i]; op.Method == strings.ToUpper(words[0]) {
				path, _, parameter := strings.Cut(op.Path, "{")
				if !parameter || !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
		return paths, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
