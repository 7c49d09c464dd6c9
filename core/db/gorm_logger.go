package db

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"gorm.io/gorm/logger"
)

// gormLogger sends gorm's own messages to our log. Statements are not logged: their values may be secrets, and their
// errors are returned to whoever asked.
type gormLogger struct{ log hclog.Logger }

var _ logger.Interface = (*gormLogger)(nil)

func (l *gormLogger) LogMode(logger.LogLevel) logger.Interface { return l }

func (l *gormLogger) Info(_ context.Context, format string, args ...any) {
	l.write(hclog.Info, format, args)
}

func (l *gormLogger) Warn(_ context.Context, format string, args ...any) {
	l.write(hclog.Warn, format, args)
}

func (l *gormLogger) Error(_ context.Context, format string, args ...any) {
	l.write(hclog.Error, format, args)
}

func (l *gormLogger) Trace(context.Context, time.Time, func() (string, int64), error) {}

func (l *gormLogger) write(level hclog.Level, format string, args []any) {
	if l.log != nil {
		l.log.Log(level, fmt.Sprintf(format, args...))
	}
}
