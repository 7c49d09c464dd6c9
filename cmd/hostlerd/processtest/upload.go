package processtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/hostler/hostler/internal/waittest"
)

// uploadPath is where the simulator takes files.
const uploadPath = "/nodes/{node}/storage/{storage}/upload"

// zeros is a file without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// upload sends a file to the storage "local" of a host.
func (c *client) upload(ctx context.Context, host int64, name, query string, file io.Reader, size int64) (answer, error) {
	head := "--edge\r\nContent-Disposition: form-data; name=\"overwrite\"\r\n\r\ntrue\r\n" +
		"--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n"
	const tail = "\r\n--edge--\r\n"
	url := fmt.Sprintf("%s/api/v1/storage/%d/local/content%s", c.service.Base, host, query)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url,
		io.MultiReader(bytes.NewReader([]byte(head)), file, bytes.NewReader([]byte(tail))))
	if err != nil {
		return answer{}, err
	}
	req.ContentLength = int64(len(head)) + size + int64(len(tail))
	req.Header.Set("Content-Type", "multipart/form-data; boundary=edge")
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return answer{Status: resp.StatusCode, Body: text, Header: resp.Header}, err
}

// uploaded sends a file of zeros, which must be taken, and gives its job.
func (c *client) uploaded(t testing.TB, host int64, name string, size int64) int64 {
	t.Helper()
	a, err := c.upload(t.Context(), host, name, "", io.LimitReader(zeros{}, size), size)
	if err != nil || a.Status != http.StatusAccepted {
		t.Fatalf("uploading %s: %v %d %s", name, err, a.Status, a.Body)
	}
	var started struct{ Job jobView }
	a.into(t, &started)
	return started.Job.ID
}

// spooled are the files in a folder of uploads.
func spooled(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// nothingSpooled waits until a folder of uploads has no file.
func nothingSpooled(t testing.TB, dir string) {
	t.Helper()
	waittest.Succeeds(t, "no file is left in "+dir, func() error {
		if files := spooled(t, dir); len(files) > 0 {
			return fmt.Errorf("there is %v", files)
		}
		return nil
	})
}

// untrusting takes the simulator's own certificate.
var untrusting = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // on loopback
}}

// images are the sizes of the installation images on the simulator's storage "local", by name, as root sees them.
func (s *sim) images(t testing.TB) map[string]int64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api2/json/nodes/pve1/storage/local/content?content=iso", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "PVEAPIToken="+s.AdminToken.ID+"="+s.AdminToken.Secret)
	resp, err := untrusting.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Data []struct {
			ID   string `json:"volid"`
			Size int64  `json:"size"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, row := range list.Data {
		sizes[filepath.Base(row.ID)] = row.Size
	}
	return sizes
}

// holdsUpload waits until a fault has struck, so that an upload is on its way and does not get on.
func holdsUpload(t testing.TB, s *sim) {
	t.Helper()
	waittest.Succeeds(t, "the upload is under way", func() error {
		if struck(t, s) == 0 {
			return errors.New("the simulator was not asked")
		}
		return nil
	})
}

// half is a file that stops in its middle until the test goes on: then the rest of it comes, or where there is none it breaks.
type half struct {
	left, rest int64
	reached    chan struct{}
	resume     chan struct{}
}

func newHalf(size int64) *half {
	return &half{left: size, reached: make(chan struct{}), resume: make(chan struct{})}
}

func (h *half) Read(p []byte) (int, error) {
	if h.left <= 0 {
		select {
		case <-h.reached:
		default:
			close(h.reached)
		}
		<-h.resume
		if h.rest <= 0 {
			return 0, os.ErrClosed
		}
		h.left, h.rest = h.rest, 0
	}
	n := min(int64(len(p)), h.left)
	clear(p[:n])
	h.left -= n
	return int(n), nil
}
