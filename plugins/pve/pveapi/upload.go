package pveapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// Upload is a file to send, with the form fields before it.
type Upload struct {
	// Fields are name and value, in the order in which they are sent. They must
	// come before the file: those behind it are not seen.
	Fields [][2]string
	// Name is the file's. It needs no quoting.
	Name string
	// Size in bytes, which File must have exactly.
	Size int64
	File io.Reader
}

// sent returns the fields and the name of the file.
func (u *Upload) sent() url.Values {
	sent := url.Values{"filename": {u.Name}}
	for _, field := range u.Fields {
		sent.Add(field[0], field[1])
	}
	return sent
}

// Upload sends a file once, while it reads it, and reads the small answer.
// Nothing of the file is kept in memory. If the file is shorter or longer than
// announced, or cannot be read to its end, the request is broken off before its
// end, so that Proxmox VE does not keep the file. It is also broken off if the
// connection accepts nothing for the time of a stalled answer.
func (c *Client) Upload(ctx context.Context, path string, upload Upload, into any) (*Meta, error) {
	head, tail, kind, err := upload.frame()
	if err != nil {
		return nil, err
	}
	asking := ctx
	ctx, stop := context.WithCancelCause(ctx)
	body := &uploadBody{file: upload.File, left: upload.Size, stall: c.waits.Stall}
	body.timer = time.AfterFunc(c.waits.Header, func() { stop(errNotTaken) })
	defer body.timer.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path,
		io.NopCloser(io.MultiReader(bytes.NewReader(head), body, bytes.NewReader(tail))))
	if err != nil {
		stop(nil)
		return nil, plugin.Errorf(plugin.Invalid, "%s is not a valid address", c.base)
	}
	req.ContentLength = int64(len(head)) + upload.Size + int64(len(tail)) // a chunked body would be refused
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "hostler")
	if c.token != "" {
		req.Header.Set("Authorization", c.token)
	}
	resp, err := c.retrying(ctx, http.MethodPost).HTTPClient.Do(req)
	if err != nil {
		defer stop(nil)
		if own := body.fault(); own != nil {
			return nil, own
		}
		return nil, netError(ctx, err)
	}
	a := &Response{client: c, resp: resp, body: newLimited(ctx, resp.Body, stop, c.waits.Stall), stop: stop, sent: upload.sent()}
	defer a.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, a.refusal(asking, path)
	}
	return a.decode(into)
}

// errNotTaken is the cause with which an upload ends when the host stops
// reading.
var errNotTaken = errors.New("the hypervisor stopped accepting data of the upload")

// frame returns the parts of the form before and after the file.
func (u Upload) frame() (head, tail []byte, kind string, err error) {
	var text bytes.Buffer
	form := multipart.NewWriter(&text)
	for _, field := range u.Fields {
		err = errors.Join(err, form.WriteField(field[0], field[1]))
	}
	_, fileErr := form.CreateFormFile("filename", u.Name)
	head = bytes.Clone(text.Bytes())
	text.Reset()
	if err = errors.Join(err, fileErr, form.Close()); err != nil {
		return nil, nil, "", fmt.Errorf("cannot write the form: %w", err)
	}
	return head, text.Bytes(), form.FormDataContentType(), nil
}

// uploadBody is the body of an upload. The transport reads it, in a separate
// goroutine.
type uploadBody struct {
	file  io.Reader
	left  int64
	stall time.Duration
	timer *time.Timer
	mu    sync.Mutex
	err   error
}

// fault returns why the file could not be read to its end; nil if that was not
// the reason.
func (b *uploadBody) fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Read gives the next part of the form to the connection. The timer runs only
// while the connection has it: between two calls the host takes its time,
// during one the file does.
func (b *uploadBody) Read(p []byte) (int, error) {
	b.timer.Stop() // waiting for the file is not the hypervisor's fault
	n, err := b.read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	if err == nil {
		b.timer.Reset(b.stall)
	}
	return n, err
}

// read gives the head, the file and the tail in this order, and notices a file
// that is shorter or longer than was announced.
func (b *uploadBody) read(p []byte) (int, error) {
	if b.left == 0 {
		// The end of the form is sent only after the file has ended too.
		switch n, err := io.ReadFull(b.file, make([]byte, 1)); {
		case n > 0:
			return 0, plugin.Errorf(plugin.Refused, "the file is larger than the announced size")
		case !errors.Is(err, io.EOF):
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := b.file.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if b.left > 0 && n == 0 {
			err = plugin.Errorf(plugin.Refused, "the file is %d bytes shorter than the announced size", b.left)
		}
	}
	return n, err
}
