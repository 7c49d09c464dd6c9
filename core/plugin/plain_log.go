package plugin

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/go-hclog"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// plainLog keeps the messages of a plugin from imitating other output. hclog
// escapes values but not messages: a line break in a message would look like a
// line of the service itself, and an escape sequence would control somebody's
// terminal. Texts that look like secrets are hidden, also in values.
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

// hide replaces texts that look like secrets among the values of a line.
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

// plain escapes unprintable characters like Go does, and hides texts that look
// like secrets.
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

// lines returns a writer that logs the output of a program at the level debug.
func lines(logger hclog.Logger) io.Writer { return printed{logger} }

type printed struct{ logger hclog.Logger }

// Write logs each line of p. A line that arrives in two parts becomes two
// lines.
func (w printed) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			w.logger.Debug(line)
		}
	}
	return len(p), nil
}
