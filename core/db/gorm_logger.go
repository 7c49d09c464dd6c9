package db

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"gorm.io/gorm/logger"
)

// gormLogger sends gorm's own messages to our log. Statements are not logged:
// their values may be secrets, and their errors are returned to whoever asked.
type gormLogger struct{ log hclog.Logger }

var _ logger.Interface = (*gormLogger)(nil)

// LogMode implements gorm's logger. The level is that of the service's log.
func (l *gormLogger) LogMode(logger.LogLevel) logger.Interface { return l }

// Info implements gorm's logger.
func (l *gormLogger) Info(_ context.Context, format string, args ...any) {
	l.write(hclog.Info, format, args)
}

// Warn implements gorm's logger.
func (l *gormLogger) Warn(_ context.Context, format string, args ...any) {
	l.write(hclog.Warn, format, args)
}

// Error implements gorm's logger.
func (l *gormLogger) Error(_ context.Context, format string, args ...any) {
	l.write(hclog.Error, format, args)
}

// Trace drops statements, which contain values.
func (l *gormLogger) Trace(context.Context, time.Time, func() (string, int64), error) {}

// write writes a line of gorm to the log.
func (l *gormLogger) write(level hclog.Level, format string, args []any) {
	if l.log != nil {
		l.log.Log(level, fmt.Sprintf(format, args...))
	}
}
