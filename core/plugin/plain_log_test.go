package plugin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/internal/waittest"
)

// What a program prints, in whichever form, stays one line of its own in the service's log.
func TestPluginsCannotForgeTheLog(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *plugin.Config) {
		cfg.MinBackoff, cfg.MaxBackoff = time.Hour, time.Hour
	})
	const file = "hostler-plugin-forger"
	b.script(t, file, `printf '{"@level":"info","@message":"one\\n2026-01-01T00:00:00.000Z [INFO]  hostlerd: forged",'\
'"@timestamp":"2026-01-01T00:00:00.000000Z"}\n' >&2
printf 'two \033[31m red \033]0;title\007\r2026 [INFO]  forged\n' >&2
sleep 0.2; exit 1`)
	if _, err := b.Pin(t.Context(), file, "test"); err == nil {
		t.Fatal("it could be pinned")
	}
	waittest.Until(t, "both lines are in the log", func() bool {
		return strings.Contains(b.log.String(), "two ") && strings.Contains(b.log.String(), "one")
	})
	for line := range strings.Lines(b.log.String()) {
		if strings.ContainsAny(line, "\x1b\x07\r") {
			t.Errorf("a line has control characters: %q", line)
		}
		if strings.Contains(line, "forged") && !strings.Contains(line, "one") && !strings.Contains(line, "two") {
			t.Errorf("a line is forged: %q", line)
		}
	}
}
