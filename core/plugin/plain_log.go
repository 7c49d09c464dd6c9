package plugin

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/go-hclog"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// plainLog keeps what a plugin says from looking like something else: hclog escapes values and not messages, so that a
// line break in a message would be a line of the service's own, and an escape sequence an order to somebody's terminal. What looks
// like a secret is hidden, in values too.
type plainLog struct{ hclog.Logger }

var _ hclog.Logger = plainLog{}

// Log writes a line of a given level.
func (l plainLog) Log(level hclog.Level, msg string, args ...any) {
	l.Logger.Log(level, plain(msg), hide(args)...)
}
func (l plainLog) Trace(msg string, args ...any)  { l.Logger.Trace(plain(msg), hide(args)...) }
func (l plainLog) Debug(msg string, args ...any)  { l.Logger.Debug(plain(msg), hide(args)...) }
func (l plainLog) Info(msg string, args ...any)   { l.Logger.Info(plain(msg), hide(args)...) }
func (l plainLog) Warn(msg string, args ...any)   { l.Logger.Warn(plain(msg), hide(args)...) }
func (l plainLog) Error(msg string, args ...any)  { l.Logger.Error(plain(msg), hide(args)...) }
func (l plainLog) With(args ...any) hclog.Logger  { return plainLog{l.Logger.With(hide(args)...)} }
func (l plainLog) Named(name string) hclog.Logger { return plainLog{l.Logger.Named(plain(name))} }
func (l plainLog) ResetNamed(name string) hclog.Logger {
	return plainLog{l.Logger.ResetNamed(plain(name))}
}

// hide replaces what looks like a secret among the values of a line.
func hide(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			arg = sdk.HideSecrets(text)
		}
		out[i] = arg
	}
	return out
}

// plain writes what cannot be printed as Go does, and hides what looks like a secret.
func plain(s string) string {
	s = sdk.HideSecrets(s)
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }

// lines logs what a program prints, at debug.
func lines(logger hclog.Logger) io.Writer { return printed{logger} }

type printed struct{ logger hclog.Logger }

// Write logs each line of p; a line that comes in two pieces is two.
func (w printed) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			w.logger.Debug(line)
		}
	}
	return len(p), nil
}
