package scripts

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

// NewQuick is New for tests: it does not wait long, but for an answer.
func NewQuick(answer time.Duration) *Source {
	s := New(hclog.NewNullLogger())
	s.pace = pace{tries: 4, first: time.Millisecond, longest: 3 * time.Second, answer: answer}
	return s
}

// RetryAfter is what a test of times needs.
var RetryAfter = retryAfter

// ParseHeader, Prompts and Web are what a script tells.
var (
	ParseHeader = parseHeader
	Prompts     = prompts
)
