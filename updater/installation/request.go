package installation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"syscall"
	"time"
)

// maxRequest bounds the file by which the service asks, in bytes.
const maxRequest = 4 << 10

// Request is what the service asks for. It comes from a user with fewer rights, and is believed in nothing but this.
type Request struct {
	ID string `json:"id"`
	// Version is what somebody saw and agreed to.
	Version string `json:"version"`
}

var (
	requestID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	versionName = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// ValidVersion reports whether the text can name a release: a semantic version without v and build, of up to 64 bytes.
func ValidVersion(text string) bool { return len(text) <= 64 && versionName.MatchString(text) }

func (r *Request) check() error {
	if !requestID.MatchString(r.ID) || !ValidVersion(r.Version) {
		return errors.New("the request has no valid ID and version")
	}
	return nil
}

// PutRequest writes the request file, which starts the updater. One that is there already is replaced: nobody has taken
// it yet.
func PutRequest(path string, r Request) error {
	if err := r.check(); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	if err := WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	return nil
}

// PendingRequest is a request that no updater has taken yet, and since when it waits; nil when there is none.
func PendingRequest(path string) (*Request, time.Time, error) {
	r, info, err := readRequest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	return r, info.ModTime(), nil
}

// TakeRequest reads the request file and removes it, so that one request starts one run. Without one it is nil.
func TakeRequest(path string) (*Request, error) {
	r, _, err := readRequest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if removed := os.Remove(path); removed != nil {
		// A request that stays would start the update again and again.
		return nil, errors.Join(err, fmt.Errorf("removing the request: %w", removed))
	}
	return r, err
}

// readRequest reads a file that another user made: no link is followed, and nothing but a small regular file is read.
func readRequest(path string) (*Request, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the request: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("checking the request: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("the request is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRequest+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the request: %w", err)
	}
	if len(text) > maxRequest {
		return nil, nil, fmt.Errorf("the request is larger than %d bytes", maxRequest)
	}
	var r Request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, nil, errors.New("the request has an invalid form")
	}
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	return &r, info, nil
}

// WithdrawRequest removes the request file when it holds this request. An updater may have taken it already, and then
// there is nothing to remove.
func WithdrawRequest(path string, r Request) error {
	pending, _, err := PendingRequest(path)
	if err != nil || pending == nil || *pending != r {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the request: %w", err)
	}
	return nil
}
