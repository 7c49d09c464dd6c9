package private

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
)

// largest is the size in bytes at which the log file is emptied. Its lines were
// forwarded before.
const largest = 4 << 20

// logFile is the file to which PostgreSQL writes its messages. It is a file and
// not a pipe, because an orphaned PostgreSQL must be able to go on writing, and
// the service that takes it over must be able to read.
type logFile struct {
	path   string
	logger hclog.Logger

	mu     sync.Mutex
	file   *os.File // appended to by PostgreSQL, which inherits it
	offset int64    // forwarded so far
	last   []string // the last lines, for errors
}

// open opens the file at the first call and skips what earlier runs wrote.
func (l *logFile) open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return explain("opening the log of PostgreSQL", "", err)
	}
	if l.offset, err = f.Seek(0, io.SeekEnd); err != nil {
		return errors.Join(fmt.Errorf("opening the log of PostgreSQL: %w", err), f.Close())
	}
	l.file = f
	return nil
}

// forward logs complete new lines, and empties a file that has become too
// large.
func (l *logFile) forward() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	block := make([]byte, 64<<10)
	for {
		n, err := l.file.ReadAt(block, l.offset)
		end := bytes.LastIndexByte(block[:n], '\n') + 1
		if end == 0 && n == len(block) {
			end = n // a line longer than the block is cut
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(block[:end]), "\n"), "\n") {
			l.emit(line)
		}
		l.offset += int64(end)
		if err != nil || end == 0 {
			break
		}
	}
	if l.offset > largest && l.file.Truncate(0) == nil {
		l.offset = 0
	}
}

// emit logs one line at the level of its severity.
func (l *logFile) emit(line string) {
	if line == "" {
		return
	}
	if l.last = append(l.last, line); len(l.last) > 8 {
		l.last = l.last[1:]
	}
	level := hclog.Debug
	switch {
	case strings.Contains(line, " PANIC:  "):
		level = hclog.Error
	case strings.Contains(line, " FATAL:  "):
		level = hclog.Info // mostly a client that came too early or may not come
	}
	l.logger.Log(level, line)
}

// recent returns the last forwarded lines, for errors.
func (l *logFile) recent() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.last...)
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
