package pvessh

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// gate lets through what stands behind the line with the word and the script's process. What stands before it is the login's.
type gate struct {
	word string
	to   io.Writer

	mu     sync.Mutex
	before []byte
	// leader is the process that leads the group of the program, once the line was seen.
	leader string
	shut   bool
}

// maxNoise is how much of what stands before the word is kept to be looked at, in bytes.
const maxNoise = 64 << 10

// newGate makes one in front of a writer, which may be nil.
func newGate(word string, to io.Writer) *gate { return &gate{word: word + " ", to: to} }

// writeError is a failure of the writer behind a gate.
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

// look gives what stands behind the line, if that is there by now.
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

// open reports whether the program has begun.
func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leader != ""
}

// process is the one that leads the program's group; empty where that is not known.
func (g *gate) process() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader == "0" || g.leader == "1" {
		return ""
	}
	return g.leader
}

// noise is what stands before the word, as far as that came.
func (g *gate) noise() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(g.before)
}

// close drops what comes from now on: the call that it is for returns.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}
