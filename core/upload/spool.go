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

// Spool is the folder in which files wait for their jobs. Several instances may
// share one folder. Two kinds of flock coordinate them: the file guard is
// locked while files are created and swept, and each file is locked while it is
// received.
type Spool struct {
	dir string
	id  string
	// free returns the free bytes of the file system. Tests replace it.
	free func() (int64, error)

	mu sync.Mutex
	// awaited is how many announced bytes this process has yet to receive, over
	// all its uploads. Files without an announced size do not count.
	awaited int64
}

// idFile has the ID of the folder, guard is the file to lock, and ending is the
// suffix of a spooled file.
const (
	idFile = "place"
	guard  = "lock"
	ending = ".spool"
)

// ID is the pattern of an upload's ID. The ID is part of a file name, so it
// must not contain dots or slashes.
var ID = regexp.MustCompile(`^[A-Za-z0-9_-]{16,64}$`)

// place is the pattern of a folder's ID.
var place = regexp.MustCompile(`^[a-z0-9]{16,40}$`)

// OpenSpool opens a folder and creates it if it does not exist. It gives a new
// folder a random ID. Files that an earlier process left stay until Sweep. A
// Spool needs no closing.
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

// ID returns the ID of the folder. It is the same for all instances that share
// the folder, and after a restart. Jobs are bound to it.
func (s *Spool) ID() string { return s.id }

// lock keeps other instances from creating and sweeping files. Closing the file
// releases the lock, also when the process dies.
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

// Room returns how many more bytes the folder can take if keep bytes must stay
// free on the file system. It subtracts what running uploads of this process
// have announced. The result may be negative.
func (s *Spool) Room(keep int64) (int64, error) {
	free, err := s.free()
	if err != nil {
		return 0, err
	}
	return free - keep - s.promised(), nil
}

// promised returns how many announced bytes are still to arrive.
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

// IncomingFile is a file while it is received. It holds a flock, so that no
// Sweep of any instance removes it. The caller must end it with Keep or
// Discard.
type IncomingFile struct {
	spool *Spool
	id    string
	file  *os.File
	hash  hash.Hash
	keep  int64
	// most is the limit of the file in bytes; awaited is how many announced
	// bytes are still to arrive.
	most, awaited int64
	// Size is how many bytes have arrived.
	Size int64
}

// Create creates the file of an upload. about is the announced size in bytes, 0
// if unknown, most is the limit, and keep is how many bytes must stay free.
// Problems: insufficient_storage if fewer than keep bytes would stay free, and
// conflict if the file exists.
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

// spoolError turns an error of the file system into a problem.
func spoolError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return problem.From(noRoom()).WithCause(err)
	case errors.Is(err, fs.ErrExist):
		return problem.New(problem.CodeConflict, "an upload with this ID already exists")
	}
	return fmt.Errorf("writing the file of an upload: %w", err)
}

// Write appends bytes to the file and the checksum. Problems: too_large and
// insufficient_storage.
func (r *IncomingFile) Write(p []byte) (int, error) {
	if err := r.store(p); err != nil {
		return 0, err
	}
	return r.hash.Write(p)
}

// store appends bytes to the file. It checks the free space at every call,
// because other programs use the file system, too.
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

// Take reads a body to its end in pieces of 1 MiB. While one piece is written
// and hashed in two goroutines, the next one is read into a second buffer. Take
// calls tell after each piece with the bytes so far. It returns the problems of
// Write and the errors of the body.
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

// expect changes how many bytes are still to arrive, but not below zero.
func (r *IncomingFile) expect(change int64) {
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	change = max(change, -r.awaited)
	r.awaited += change
	r.spool.awaited += change
}

// SHA256 returns the checksum of what has arrived, in lower-case hexadecimal
// digits.
func (r *IncomingFile) SHA256() string { return hex.EncodeToString(r.hash.Sum(nil)) }

// Keep ends the reception and leaves the file to its job. Call it after the job
// is committed: Sweep removes files without a lock and without a job.
func (r *IncomingFile) Keep() {
	r.expect(-r.awaited)
	_ = r.file.Close() // what was not written shows when the file is sent: its length is checked
}

// Discard ends the reception and removes the file.
func (r *IncomingFile) Discard() {
	r.expect(-r.awaited)
	r.spool.Remove(r.id)
	_ = r.file.Close()
}

// Open opens the file of an upload. The error is fs.ErrNotExist if the file was
// removed or is in another folder. The caller closes the file.
func (s *Spool) Open(id string) (*os.File, error) { return os.Open(s.path(id)) }

// Remove deletes the file of an upload. It ignores errors: a missing file is
// fine, and the next Sweep tries others again.
func (s *Spool) Remove(id string) {
	_ = os.Remove(s.path(id)) // Sweep finds what could not be removed
}

// Sweep deletes the files that no process is receiving and that needed does not
// return. It returns the IDs of the files that some process, of any instance,
// is receiving. It holds the lock of the folder, so needed must not create
// files.
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

// busy reports whether a process is receiving the file.
func (s *Spool) busy(id string) bool {
	f, err := s.Open(id)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
