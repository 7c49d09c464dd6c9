package upload

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/hostler/hostler/core/problem"
)

// Spool is the folder in which files wait for their jobs. Several instances may have the same one.
type Spool struct {
	dir string
	id  string
	// free is what is free on the file system, in bytes.
	free func() (int64, error)

	mu sync.Mutex
	// awaited is what is still to come of the files that are being received here, in bytes, where that is known.
	awaited int64
}

// idFile holds the id of a folder, guard is locked while files come and go, and ending that of a spooled file.
const (
	idFile = "place"
	guard  = "lock"
	ending = ".spool"
)

// ID is the pattern of an upload's id.
var ID = regexp.MustCompile(`^[A-Za-z0-9_-]{16,64}$`)

// place is the pattern of a folder's id.
var place = regexp.MustCompile(`^[a-z0-9]{16,40}$`)

// OpenSpool opens a folder, and makes it where it is not there. What an earlier process left in it stays until Sweep.
func OpenSpool(dir string) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the upload folder: %w", err)
	}
	s := &Spool{dir: dir, free: func() (int64, error) { return freeOn(dir) }}
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	raw, err := os.ReadFile(filepath.Join(dir, idFile))
	if s.id = strings.TrimSpace(string(raw)); err == nil && place.MatchString(s.id) {
		return s, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the ID of the upload folder: %w", err)
	}
	s.id = strings.ToLower(rand.Text())
	if err := os.WriteFile(filepath.Join(dir, idFile), []byte(s.id+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("writing the ID of the upload folder: %w", err)
	}
	return s, nil
}

// ID is the same for all instances that have the folder, and for the next process of each.
func (s *Spool) ID() string { return s.id }

// lock keeps the other instances with the folder from making and removing files for a moment.
func (s *Spool) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, guard), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the upload folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking the upload folder: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

func (s *Spool) path(id string) string { return filepath.Join(s.dir, id+ending) }

// Room is how many more bytes the folder takes when keep bytes are to stay free on its file system.
func (s *Spool) Room(keep int64) (int64, error) {
	free, err := s.free()
	if err != nil {
		return 0, err
	}
	return free - keep - s.promised(), nil
}

// promised is what is still to come of all files.
func (s *Spool) promised() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awaited
}

func freeOn(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("reading the free space: %w", err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// noRoom is the refusal of a file for which the folder has no room.
func noRoom() error {
	return problem.New(problem.CodeNoRoom, "the service's upload folder does not have enough free space for the file; nothing was sent "+
		"to the storage")
}

// IncomingFile is a file while it is received. It is locked, so that no Sweep of any instance takes it away.
type IncomingFile struct {
	spool *Spool
	id    string
	file  *os.File
	hash  hash.Hash
	keep  int64
	// most is the limit of its size; awaited is what was said to come and has not.
	most, awaited int64
	// Size is what has arrived, in bytes.
	Size int64
}

// Create makes the file of an upload. about is its size in bytes as far as that is known, and most what it may be. Its problems are
// insufficient_storage, where about bytes would leave less than keep bytes free, and conflict where there is such an upload.
func (s *Spool) Create(id string, about, most, keep int64) (*IncomingFile, error) {
	if room, err := s.Room(keep); err != nil {
		return nil, err
	} else if room < max(about, 1) {
		return nil, noRoom()
	}
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	file, err := os.OpenFile(s.path(id), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, spoolError(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("locking the file of an upload: %w", err)
	}
	s.mu.Lock()
	s.awaited += about
	s.mu.Unlock()
	return &IncomingFile{spool: s, id: id, file: file, hash: sha256.New(), most: most, keep: keep, awaited: about}, nil
}

// spoolError says what is wrong with the disk.
func spoolError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return problem.From(noRoom()).WithCause(err)
	case errors.Is(err, fs.ErrExist):
		return problem.New(problem.CodeConflict, "an upload with this ID already exists")
	}
	return fmt.Errorf("writing the file of an upload: %w", err)
}

// Write takes the next bytes. Its problems are too_large and insufficient_storage.
func (r *IncomingFile) Write(p []byte) (int, error) {
	if err := r.store(p); err != nil {
		return 0, err
	}
	return r.hash.Write(p)
}

// store writes the next bytes to the file.
func (r *IncomingFile) store(p []byte) error {
	if r.Size+int64(len(p)) > r.most {
		return problem.New(problem.CodeTooLarge, "the file is larger than %s", problem.Size(r.most))
	}
	more := max(int64(len(p))-r.awaited, 0) // than was announced
	r.expect(-int64(len(p)))
	// What was announced has its room, unless others have written there since; all else takes nothing of what others were promised.
	free, err := r.spool.free()
	if err != nil {
		return err
	}
	if free-r.keep < int64(len(p)) || more > 0 && free-r.keep-r.spool.promised() < more {
		return noRoom()
	}
	n, err := r.file.Write(p)
	if r.Size += int64(n); err != nil {
		return spoolError(err)
	}
	return nil
}

// Take takes a body to its end, in pieces of 1 MiB: while one is written and goes into the checksum the next one arrives. tell hears of
// each how many bytes there are. Its problems are those of Write and of the body.
func (r *IncomingFile) Take(body io.Reader, tell func(size int64)) error {
	var working sync.WaitGroup
	var stored error
	size := r.Size
	for buffer, other := make([]byte, chunk), make([]byte, chunk); ; buffer, other = other, buffer {
		n, err := io.ReadFull(body, buffer)
		if working.Wait(); stored != nil {
			return stored
		}
		ended := err == io.EOF || err == io.ErrUnexpectedEOF // of ReadFull itself, not in an error of the body
		if err != nil && !ended {
			return err
		}
		piece := buffer[:n]
		working.Go(func() { stored = r.store(piece) })
		working.Go(func() { _, _ = r.hash.Write(piece) })
		size += int64(n)
		tell(size)
		if ended {
			working.Wait()
			return stored
		}
	}
}

// expect changes what is still to come.
func (r *IncomingFile) expect(change int64) {
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	change = max(change, -r.awaited)
	r.awaited += change
	r.spool.awaited += change
}

// SHA256 is the checksum of what has arrived, in small hexadecimal digits.
func (r *IncomingFile) SHA256() string { return hex.EncodeToString(r.hash.Sum(nil)) }

// Keep ends the reception: the file is the job's from now on.
func (r *IncomingFile) Keep() {
	r.expect(-r.awaited)
	_ = r.file.Close() // what was not written shows when the file is sent: its length is checked
}

// Discard takes the file away again.
func (r *IncomingFile) Discard() {
	r.expect(-r.awaited)
	r.spool.Remove(r.id)
	_ = r.file.Close()
}

// Open opens the file of an upload for its job; it is fs.ErrNotExist where it is gone, or in another folder.
func (s *Spool) Open(id string) (*os.File, error) { return os.Open(s.path(id)) }

// Remove takes the file of an upload away. One that is gone already is none.
func (s *Spool) Remove(id string) {
	_ = os.Remove(s.path(id)) // Sweep finds what could not be removed
}

// Sweep removes what nobody needs: files that no process receives and that needed does not name. It gives the ids of those that some
// process receives.
func (s *Spool) Sweep(ctx context.Context, needed func(ctx context.Context, ids []string) (map[string]bool, error)) (received []string,
	err error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("reading the upload folder: %w", err)
	}
	var idle []string
	for _, e := range entries {
		id, spooled := strings.CutSuffix(e.Name(), ending)
		if !spooled {
			continue
		}
		if s.busy(id) {
			received = append(received, id)
		} else {
			idle = append(idle, id)
		}
	}
	keep, err := needed(ctx, idle)
	if err != nil {
		return nil, err
	}
	for _, id := range idle {
		if !keep[id] {
			s.Remove(id)
		}
	}
	return received, nil
}

// busy reports whether some process receives the file.
func (s *Spool) busy(id string) bool {
	f, err := s.Open(id)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
