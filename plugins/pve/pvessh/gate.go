package pvessh

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// gate passes on what comes after the line with the word and the process ID.
// What comes before belongs to the login and is kept for error messages. It is
// safe for concurrent use.
type gate struct {
	word string
	to   io.Writer

	mu     sync.Mutex
	before []byte
	// leader is the process ID that leads the program's process group, after
	// the line was seen; "0" if the line had no valid number.
	leader string
	shut   bool
}

// maxNoise is how much of the output before the word is kept, in bytes. Earlier
// output is dropped.
const maxNoise = 64 << 10

// newGate returns a gate in front of a writer. A nil writer drops the output.
func newGate(word string, to io.Writer) *gate { return &gate{word: word + " ", to: to} }

// writeError marks an error of the caller's writer, to tell it apart from an
// error of the connection.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := p
	if g.leader == "" {
		rest = g.look(p)
	}
	if g.shut || g.to == nil || len(rest) == 0 {
		return len(p), nil
	}
	if _, err := g.to.Write(rest); err != nil {
		return 0, writeError{err}
	}
	return len(p), nil
}

// look returns what comes after the line with the word, or nil if the line is
// not complete yet. The caller locks mu.
func (g *gate) look(p []byte) []byte {
	g.before = append(g.before, p...)
	at := bytes.Index(g.before, []byte(g.word))
	if at < 0 {
		if over := len(g.before) - maxNoise; over > 0 {
			g.before = append([]byte(nil), g.before[over:]...)
		}
		return nil
	}
	number, rest, ended := bytes.Cut(g.before[at+len(g.word):], []byte("\n"))
	if !ended {
		return nil
	}
	g.leader, g.before = "0", nil
	if len(number) > 0 && len(number) < 12 && strings.Trim(string(number), "0123456789") == "" {
		g.leader = string(number)
	}
	return rest
}

// open reports whether the program has started.
func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leader != ""
}

// process returns the ID of the process that leads the program's group, or ""
// if it is unknown. 0 and 1 are excluded: "kill -1" would end every process of
// the machine.
func (g *gate) process() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader == "0" || g.leader == "1" {
		return ""
	}
	return g.leader
}

// noise returns the kept output before the word.
func (g *gate) noise() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(g.before)
}

// close drops all further output, because the call that it belongs to returns
// and its writer must not be used any more.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}
