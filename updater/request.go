package updater

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"syscall"
)

// maxRequest bounds the file by which the service asks.
const maxRequest = 4 << 10

// Request is what the service asks for. It comes from a user with fewer rights, and is believed in nothing but this.
type Request struct {
	ID string `json:"id"`
	// Version is what somebody saw and agreed to.
	Version string `json:"version"`
}

// TakeRequest reads the request file and removes it, so that one request starts one run. Without one it is nil.
func (l Layout) TakeRequest() (*Request, error) {
	info, err := os.Lstat(l.Request)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at the request: %w", err)
	}
	text, err := readRequest(l.Request, info)
	if removed := os.Remove(l.Request); removed != nil {
		// A request that stays would start the update again and again.
		return nil, errors.Join(err, fmt.Errorf("removing the request: %w", removed))
	}
	if err != nil {
		return nil, err
	}
	var r Request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, errors.New("the request is not in the form of one")
	}
	if !requestID.MatchString(r.ID) || !versionName.MatchString(r.Version) || len(r.Version) > 64 {
		return nil, errors.New("the request has no valid id and version")
	}
	return &r, nil
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readRequest reads a file that another user made: no link is followed, and nothing but a small regular file is read.
func readRequest(path string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("the request is no regular file")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the request: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRequest+1))
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	if len(text) > maxRequest {
		return nil, fmt.Errorf("the request is larger than %d bytes", maxRequest)
	}
	return text, nil
}
