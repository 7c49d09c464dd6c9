package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// meter counts the bytes of a transfer and draws its progress. It is a writer
// for io.TeeReader.
type meter struct {
	screen *output.Screen
	// total is the expected size in bytes, or a negative number if it is
	// unknown. done is the number of bytes so far.
	total, done int64
	// what is the path of the local file; its base name is shown. begun and
	// last are the times of the first write and of the last draw.
	what        string
	begun, last time.Time
}

// Write counts the bytes and draws the bar at most five times a second. The
// rate is the average since the beginning. Write never returns an error, so
// that a problem of the screen cannot break a transfer.
func (m *meter) Write(p []byte) (int, error) {
	now := time.Now()
	if m.begun.IsZero() {
		m.begun = now
	}
	m.done += int64(len(p))
	if now.Sub(m.last) >= 200*time.Millisecond || m.done == m.total {
		m.last = now
		part := -1.0
		if m.total > 0 {
			part = float64(m.done) / float64(m.total)
		}
		rate := float64(m.done) / max(now.Sub(m.begun).Seconds(), 0.2)
		m.screen.Bar(part, fmt.Sprintf("%s  %s  %s/s", filepath.Base(m.what), output.Bytes(float64(m.done)), output.Bytes(rate)))
	}
	return len(p), nil
}

// upload contains the flags of hostler storage upload.
type upload struct {
	content, node, sha256, id string
	overwrite, wait           bool
	timeout                   time.Duration
}

// uploadCommands returns the command that uploads a file to a storage. It is
// written by hand, because its body is multipart/form-data and not JSON.
func uploadCommands(s *session) []*cobra.Command {
	var u upload
	c := &cobra.Command{
		Use: "upload STORAGE FILE", Short: "Upload a file to a storage", Args: cobra.ExactArgs(2),
		Long: "Upload a file to a storage. The service receives the whole file; then a job sends it to the storage: --wait follows the " +
			"job.\n\n" +
			"If the connection breaks after the whole file was sent, the command finds the upload by its ID and follows its job.",
		Example: "  hostler storage upload lab/local rescue.iso --content iso --wait",
		RunE:    func(cmd *cobra.Command, words []string) error { return s.upload(cmd.Context(), words[0], words[1], u) },
	}
	names := s.completeArguments(parseArguments("name:storage"))
	c.ValidArgsFunction = func(c *cobra.Command, words []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(words) == 1 {
			return nil, cobra.ShellCompDirectiveDefault // a file
		}
		return names(c, words, word)
	}
	flags := c.Flags()
	flags.StringVar(&u.content, "content", "", "content type, such as iso; if absent, derived from the extension of the file name")
	flags.StringVar(&u.node, "node", "", "node that has the storage; any online node if absent")
	flags.StringVar(&u.sha256, "sha256", "", "expected checksum of the file")
	flags.StringVar(&u.id, "upload-id", "", "ID of the upload, 16 to 64 letters and digits; random if absent")
	flags.BoolVar(&u.overwrite, "overwrite", false, "replace a file with the same name")
	flags.BoolVar(&u.wait, "wait", false, "follow the job until the file is on the storage")
	flags.DurationVar(&u.timeout, "timeout", 0, "with --wait: maximum time to wait after the upload; 0 for no limit")
	return []*cobra.Command{c}
}

// upload sends the file as one multipart request whose length is known in
// advance, so the service can refuse a file that does not fit before it
// receives it. The client chooses the ID of the upload: if the connection
// breaks after the last byte, it finds the job by that ID and does not send the
// file again. If the connection breaks earlier, the upload failed; a repeated
// command sends the whole file again.
func (s *session) upload(ctx context.Context, storage, path string, u upload) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &failure{statusUsage, path + " is not a regular file"}
	}
	on, err := s.resolve(ctx, "storage", storage)
	if err != nil {
		return err
	}
	client, err := s.connection()
	if err != nil {
		return err
	}
	if u.id == "" {
		u.id = rand.Text()
	}
	head, tail, media, err := u.form(filepath.Base(path))
	if err != nil {
		return err
	}
	sent := &meter{screen: s.screen, total: info.Size(), what: path}
	body := io.MultiReader(bytes.NewReader(head), io.TeeReader(file, sent), bytes.NewReader(tail))
	to := api.Find("upload_content").Expand(map[string]string{"host_id": fmt.Sprint(on.host), "name": on.name})
	answer, err := client.Post(ctx, to, url.Values{"upload_id": {u.id}}, media, int64(len(head))+info.Size()+int64(len(tail)), body)
	s.screen.Done()
	var begun struct {
		Job api.JobView `json:"job"`
	}
	var lost *transport.UnreachableError
	switch {
	case errors.As(err, &lost) && sent.done == info.Size() && ctx.Err() == nil:
		s.say("%v; the whole file was sent, looking for upload %s.", err, u.id)
		if begun.Job.Id, err = s.findUpload(ctx, on.host, u.id); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(answer.Body, &begun); err != nil {
			return fmt.Errorf("unexpected response from the service: %w", err)
		}
	}
	if u.wait {
		return s.followToEnd(ctx, begun.Job.Id, u.timeout)
	}
	if s.machine() && answer != nil {
		return s.answer(ctx, answer.Body, s.screen.Fields)
	}
	s.say("Uploaded %s. Job %d sends it to the storage. To follow it: hostler job wait %d", path, begun.Job.Id, begun.Job.Id)
	return nil
}

// form returns the parts of the multipart body before and after the content of
// the file, and the media type with the boundary. The file itself is never in
// memory. The fields come before the file, because the service reads the body
// as a stream and needs them first.
func (u upload) form(name string) (head, tail []byte, media string, err error) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	overwrite := ""
	if u.overwrite {
		overwrite = "true"
	}
	for _, field := range [][2]string{{"content", u.content}, {"node", u.node}, {"sha256", u.sha256}, {"overwrite", overwrite}} {
		if field[1] != "" {
			err = errors.Join(err, form.WriteField(field[0], field[1]))
		}
	}
	_, created := form.CreateFormFile("file", name)
	head = bytes.Clone(out.Bytes())
	out.Reset()
	err = errors.Join(err, created, form.Close())
	return head, bytes.Clone(out.Bytes()), form.FormDataContentType(), err
}

// findUpload waits until the service has created the job of an upload whose
// response was lost, and returns the ID of the job. It asks once a second, and
// gives up after patience attempts with statusUnreachable.
func (s *session) findUpload(ctx context.Context, host int64, id string) (job int64, err error) {
	client, err := s.connection()
	if err != nil {
		return 0, err
	}
	path := api.Find("get_upload").Expand(map[string]string{"host_id": fmt.Sprint(host), "upload_id": id})
	for range patience {
		var known api.Upload
		err = read(ctx, client, transport.Request{Method: http.MethodGet, Path: path, Repeatable: true}, &known)
		switch {
		case err == nil && known.JobId != nil:
			return *known.JobId, nil
		case err == nil && known.Status == api.UploadStatusFailed:
			return 0, &failure{statusFailed, "the upload failed: " + known.Detail}
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return 0, errors.Join(&failure{statusUnreachable, "upload " + id + " not found"}, err)
}

// exportCommands returns the command that exports the audit log. It is written
// by hand, because its response is a file of any length that is not kept in
// memory.
func exportCommands(s *session) []*cobra.Command {
	var path string
	op := api.Find("export_audit")
	var fields *fieldFlags
	c := &cobra.Command{
		Use: "export", Short: "Export the audit log, or the entries that the flags select", Args: cobra.NoArgs,
		Example: "  hostler audit export --format csv --from 2030-01-01 --output audit.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := target{op: op, query: url.Values{}, body: map[string]any{}}
			if err := s.take(cmd.Context(), fields, t); err != nil {
				return err
			}
			r := transport.Request{Method: op.Method, Path: op.Path, Query: t.query, Repeatable: true}
			if path != "" {
				return s.download(cmd.Context(), r, path)
			}
			return s.pipe(cmd.Context(), r)
		},
	}
	c.Flags().StringVar(&path, "output", "", "write to this file, which must not exist")
	fields = s.addFieldFlags(c, op, nil, verb{})
	return []*cobra.Command{c}
}

// pipe writes a response of any length to standard output as it arrives. Text
// for a terminal is cleaned piece by piece; a character that two pieces share
// shows as U+FFFD there, which only affects what a person sees.
func (s *session) pipe(ctx context.Context, r transport.Request) error {
	client, err := s.connection()
	if err != nil {
		return err
	}
	r.Accept = "*/*"
	answer, err := client.Open(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := answer.Body.Read(buffer)
		text := string(buffer[:n])
		if s.screen.Columns > 0 {
			text = output.Clean(text)
		}
		s.screen.Print(text)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &transport.UnreachableError{URL: client.URL().Host, Err: fmt.Errorf("the response was interrupted: %w", err)}
		}
	}
}
