package job

import (
	"context"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// riverLog writes River's messages to the service's log, one level lower:
// River's info level describes its internal work.
type riverLog struct{ log hclog.Logger }

var _ slog.Handler = (*riverLog)(nil)

// level maps the levels of slog.
func (h *riverLog) level(level slog.Level) hclog.Level {
	switch {
	case level >= slog.LevelError:
		return hclog.Error
	case level >= slog.LevelWarn:
		return hclog.Warn
	default:
		return hclog.Trace
	}
}

func (h *riverLog) Enabled(_ context.Context, level slog.Level) bool {
	return h.level(level) >= h.log.GetLevel()
}

func (h *riverLog) Handle(_ context.Context, record slog.Record) error {
	var args []any
	record.Attrs(func(a slog.Attr) bool {
		args = append(args, a.Key, a.Value.String())
		return true
	})
	h.log.Log(h.level(record.Level), record.Message, args...)
	return nil
}

func (h *riverLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	var args []any
	for _, a := range attrs {
		args = append(args, a.Key, a.Value.String())
	}
	return &riverLog{log: h.log.With(args...)}
}

func (h *riverLog) WithGroup(name string) slog.Handler { return &riverLog{log: h.log.Named(name)} }
