package updater

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/hostler/hostler/updater/installation"
)

// journal is the file into which every step is written and synced before the
// step begins.
type journal struct {
	path    string
	ballast string
	file    *os.File
}

// ballastSize is reserved for the journal: a full disk must not prevent that a
// rollback is recorded.
const ballastSize = 256 << 10

// openJournal opens the journal for writing. An incomplete line at its end,
// after a power cut, is removed.
func openJournal(path string) (*journal, error) {
	j := &journal{path: path, ballast: path + ".reserve"}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j.file = f
	if err := j.mend(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// mend removes an incomplete last line, so that the next line is not appended
// to it.
func (j *journal) mend() error {
	text, err := os.ReadFile(j.path)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole == len(text) {
		return nil
	}
	if err := errors.Join(j.file.Truncate(int64(whole)), j.file.Sync()); err != nil {
		return fmt.Errorf("repairing the journal: %w", err)
	}
	return nil
}

// reserve writes the ballast if it is missing. Without space for it no update
// should begin.
func (j *journal) reserve() error {
	if info, err := os.Stat(j.ballast); err == nil && info.Size() == ballastSize {
		return nil
	}
	ballast := make([]byte, ballastSize)
	_, _ = rand.Read(ballast) // it never fails; zeros take no room where the file system compresses
	if err := installation.WriteFile(j.ballast, ballast, 0o600); err != nil {
		return fmt.Errorf("reserving room for the journal: %w", err)
	}
	return nil
}

// add writes one line and syncs it. On a full disk it deletes the ballast
// first.
func (j *journal) add(line installation.Line) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encoding a line of the journal: %w", err)
	}
	text = append(text, '\n')
	err = j.append(text)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		_ = os.Remove(j.ballast) // the second try tells
		err = j.append(text)
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

// append writes a line and syncs it: a line that is read after a crash was
// written in full before the step began.
func (j *journal) append(text []byte) error {
	if _, err := j.file.Write(text); err != nil {
		return errors.Join(err, j.mend())
	}
	return j.file.Sync()
}

// close closes the file.
func (j *journal) close() error { return j.file.Close() }
