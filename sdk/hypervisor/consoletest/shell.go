// Package consoletest has the other sides of consoles, for drivers in memory,
// simulators, and their tests: a small shell, a small server of the RFB
// protocol, and as much of a client of that as shows that a picture comes.
package consoletest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Shell is what a terminal shows. It repeats what is typed and carries out a
// line at its end, which is CR or LF: "cat N" prints N bytes as Output gives
// them, "echo TEXT" prints the text, "size" the size that it was told, "exit"
// ends it. A new size is also printed by itself, as "[80x24]" on a line of its
// own.
type Shell struct {
	conn   io.ReadWriteCloser
	prompt string

	writing sync.Mutex
	mu      sync.Mutex
	size    string
	resized chan struct{}
}

// maxShellLine is how much of a line is kept, in bytes; the rest is repeated and forgotten.
const maxShellLine = 4096

// NewShell makes a shell whose prompt has a name. Its work is done by Serve.
func NewShell(conn io.ReadWriteCloser, name string) *Shell {
	return &Shell{conn: conn, prompt: name + "$ ", size: "none", resized: make(chan struct{}, 1)}
}

// Serve works until "exit", or until the connection ends, and closes it.
func (s *Shell) Serve() {
	ended, reporting := make(chan struct{}), sync.WaitGroup{}
	reporting.Go(func() { s.report(ended) })
	defer reporting.Wait()
	defer func() { _ = s.conn.Close() }()
	defer close(ended)
	if s.print(s.prompt) != nil {
		return
	}
	in, typed, line := bufio.NewReaderSize(s.conn, 32<<10), make([]byte, 32<<10), []byte(nil)
	for {
		n, err := in.Read(typed)
		if err != nil {
			return
		}
		for rest := typed[:n]; len(rest) > 0; {
			end := strings.IndexAny(string(rest), "\r\n")
			part := rest
			if end >= 0 {
				part = rest[:end]
			}
			rest = rest[min(len(part)+1, len(rest)):]
			line = append(line, part[:min(len(part), maxShellLine-len(line))]...)
			if s.print(string(part)) != nil {
				return
			}
			if end < 0 {
				continue
			}
			if s.print("\r\n") != nil || !s.run(string(line)) || s.print(s.prompt) != nil {
				return
			}
			line = line[:0]
		}
	}
}

// Resize tells the shell its size. It does not wait.
func (s *Shell) Resize(columns, rows int) {
	s.mu.Lock()
	s.size = fmt.Sprintf("%dx%d", columns, rows)
	s.mu.Unlock()
	select {
	case s.resized <- struct{}{}:
	default: // the one that is to be reported will be this
	}
}

func (s *Shell) report(ended <-chan struct{}) {
	for {
		select {
		case <-s.resized:
			if s.print("\r\n["+s.told()+"]\r\n") != nil {
				return
			}
		case <-ended:
			return
		}
	}
}

func (s *Shell) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

func (s *Shell) print(text string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := io.WriteString(s.conn, text)
	return err
}

// run carries out a line and reports whether the shell goes on.
func (s *Shell) run(line string) bool {
	command, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch command {
	case "":
		return true
	case "exit":
		return false
	case "echo":
		return s.print(rest+"\r\n") == nil
	case "size":
		return s.print(s.told()+"\r\n") == nil
	case "cat":
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil || n < 0 {
			return s.print("cat: a number of bytes is wanted\r\n") == nil
		}
		s.writing.Lock()
		defer s.writing.Unlock()
		_, err = io.Copy(s.conn, io.LimitReader(&Output{}, n))
		return err == nil
	}
	return s.print(command+": not found\r\n") == nil
}

// Output is what "cat" prints: lines of 64 bytes that are numbered from 0 on. It never ends.
type Output struct{ at int64 }

func (o *Output) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		line := fmt.Sprintf("%015d %s\r\n", o.at/64, strings.Repeat("x", 46))
		took := copy(p[n:], line[o.at%64:])
		n, o.at = n+took, o.at+int64(took)
	}
	return len(p), nil
}
