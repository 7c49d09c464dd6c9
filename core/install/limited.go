package install

import (
	"bytes"
	"strconv"
)

// limited is a writer that keeps the first left bytes and drops the rest. It
// never fails, so the sender does not notice.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}

// wholeOf parses a whole number.
func wholeOf(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
