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

// call is what the command line says of a request.
type call struct {
	input, output string
	fields        []string
}

// apiCommand makes the command `api`, the way to operations for which there is
// no command yet. Its flags are those of curl where there is one.
func (s *session) apiCommand() *cobra.Command {
	var a call
	c := &cobra.Command{
		Use: "api METHOD PATH", Short: "Make any request of the API, and write its answer", Args: cobra.ExactArgs(2),
		Long: "Make any request of the API, and write its answer. The path may have a query, and may leave out /api/v1.\n\n" +
			"What the API does once for an Idempotency-Key has one, so that it is sent again when the connection breaks.",
		Example: "  hostler api GET '/api/v1/jobs?status=running' --jq '.[].id'\n" +
			"  hostler api PATCH /api/v1/settings --field poll.interval_s=60\n" +
			"  hostler api POST /api/v1/schedules --input schedule.json\n" +
			"  hostler api GET /api/v1/console-recordings/3/cast --output recording.cast",
		ValidArgsFunction: completeAPI,
		RunE:              func(cmd *cobra.Command, words []string) error { return s.api(cmd.Context(), words[0], words[1], a) },
	}
	c.Flags().StringVar(&a.input, "input", "", "file with the body, - for what is piped in")
	c.Flags().StringArrayVar(&a.fields, "field", nil, "a field of the body as name=value; the value is JSON where it can be, else a text. "+
		"A field that can hold secrets takes name=@FILE, or name=- for standard input")
	c.Flags().StringVar(&a.output, "output", "", "write the answer to this file, which is not there yet, as it comes")
	c.MarkFlagsMutuallyExclusive("input", "field")
	return c
}

// base begins the paths of operations.
const base = "/api/v1"

// api makes one request with the method and the path as the user typed them. It
// adds /api/v1 if only that makes the path an operation's, and refuses another
// host, because the key would go there. A GET, and an operation that takes an
// Idempotency-Key, may be repeated when the connection breaks.
func (s *session) api(ctx context.Context, method, path string, a call) error {
	method = strings.ToUpper(method)
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) {
		return &failure{statusUsage, method + " is none of GET, POST, PUT, PATCH and DELETE"}
	}
	at, err := url.Parse(path)
	if err != nil || at.IsAbs() || at.Host != "" || !strings.HasPrefix(path, "/") {
		return &failure{statusUsage, "the path begins with /, such as /api/v1/vms, and has no host"}
	}
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return &failure{statusUsage, "the query cannot be read"}
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
		return &failure{statusUsage, "there is a page at " + output.Clean(at.Path) + ": the paths of the API begin with " + base}
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

// raw writes what is no JSON: as it is to a file or a program, and to a
// terminal only a text, which cannot act there.
func (s *session) raw(body []byte) error {
	text := string(body)
	if s.screen.Columns > 0 {
		if strings.ContainsRune(text, 0) {
			return errors.New("this is no text: write it to a file with --output")
		}
		text = output.Clean(text)
	}
	s.screen.Print(text)
	return nil
}

// copyStream writes the events of a stream as they come.
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

// callBody is the body of a request: a file, or fields.
func (s *session) callBody(a call) ([]byte, error) {
	if a.input != "" {
		text, err := s.readInput(a.input)
		if err == nil && !json.Valid(text) {
			err = &failure{statusUsage, a.input + " is no JSON"}
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
			return nil, &failure{statusUsage, fmt.Sprintf("--field %q is not name=value", field)}
		}
		var err error
		if body[name], err = s.fieldValue(name, value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(body)
}

// fieldValue returns the value of --field. One that can hold secrets comes from
// a file or standard input; null, which clears it, may be on the command line.
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

// download writes an answer to a file as it comes. A file that is there stays;
// one that did not come whole goes.
func (s *session) download(ctx context.Context, r transport.Request, path string) (err error) {
	client, err := s.connection()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
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
		return &transport.Unreachable{URL: client.URL().Host, Err: fmt.Errorf("the answer broke off: %w", err)}
	}
	s.say("%s has %s.", path, output.Bytes(float64(come.done)))
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
