package updater

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Event is what a journal's line says of a step.
type Event string

// The events.
const (
	Begun  Event = "begun"
	Ended  Event = "ended"
	Failed Event = "failed"
)

// Line is one line of the journal. It holds no secret: anyone on the machine may read it.
type Line struct {
	At    time.Time `json:"at"`
	Run   string    `json:"run"`
	Step  Step      `json:"step"`
	Event Event     `json:"event"`
	// Text says more, such as why a step failed.
	Text string `json:"text,omitempty"`
	// Plan stands in the first line of a run.
	Plan *Plan `json:"plan,omitempty"`
}

// Plan is what a run is about. To is known once the manifest was read.
type Plan struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Request is the id of the request that asked for the run; empty when it was started by hand.
	Request string `json:"request,omitempty"`
	// DryRun tells that the run ends before anything changes.
	DryRun bool `json:"dry_run,omitempty"`
}

// journal is the file to which every step is written, and on the disk before the step begins.
type journal struct {
	path    string
	ballast string
	file    *os.File
}

// ballastSize is kept free for the journal: a full disk must not keep a roll-back from being recorded.
const ballastSize = 256 << 10

// openJournal opens the journal for writing. Half a line at its end, from a power cut, is cut off.
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
	if err := j.reserve(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

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
		return fmt.Errorf("mending the journal: %w", err)
	}
	return nil
}

// reserve writes the ballast where there is none. When there is no room for it, no update should begin.
func (j *journal) reserve() error {
	if info, err := os.Stat(j.ballast); err == nil && info.Size() == ballastSize {
		return nil
	}
	if err := writeFile(j.ballast, make([]byte, ballastSize), 0o600); err != nil {
		return fmt.Errorf("reserving room for the journal: %w", err)
	}
	return nil
}

// add writes one line to the disk. On a full disk it gives up the ballast first.
func (j *journal) add(line Line) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encoding a line of the journal: %w", err)
	}
	text = append(text, '\n')
	err = j.append(text)
	if errors.Is(err, syscall.ENOSPC) {
		_ = os.Remove(j.ballast) // the second try tells
		err = errors.Join(j.mend(), j.append(text))
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (j *journal) append(text []byte) error {
	if _, err := j.file.Write(text); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *journal) close() error { return j.file.Close() }

// readJournal reads all whole lines. A journal that is not there is empty.
func readJournal(path string) ([]Line, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	var lines []Line
	scanner := bufio.NewScanner(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line Line
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("the journal %s is damaged: %w", path, err)
		}
		lines = append(lines, line)
	}
	return lines, scanner.Err()
}

// writeFile replaces a file in one step and brings it to the disk.
func writeFile(path string, text []byte, mode fs.FileMode) (err error) {
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	return syncDir(filepath.Dir(path))
}
