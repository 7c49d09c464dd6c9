package scripts

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

// NewQuick is New for tests: it does not wait long.
func NewQuick() *Source {
	s := New(hclog.NewNullLogger())
	s.pace = pace{tries: 4, first: time.Millisecond, longest: 3 * time.Second, answer: 1500 * time.Millisecond}
	return s
}

// RetryAfter is what a test of times needs.
var RetryAfter = retryAfter

// ParseHeader, Prompts and Web are what a script tells.
var (
	ParseHeader = parseHeader
	Prompts     = prompts
)
