package private_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/private"
)

func TestAttach(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"short": newDir(t),
		"long": filepath.Join(t.TempDir(), strings.Repeat("long/", 40), "postgresql")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := private.Attach(dir); !errors.Is(err, private.ErrAccess) {
				t.Errorf("no cluster: %v", err)
			}
			s := run(t, private.Config{Dir: dir}, -1)
			fill(t, s.first)
			url, err := private.Attach(dir)
			if err != nil {
				t.Fatal(err)
			}
			if url != s.first {
				t.Errorf("the URL is %s and not %s", url, s.first)
			}
			if got := query(t, url, "SELECT word FROM kept"); got != "kept" {
				t.Errorf("got %q", got)
			}
			s.end()
			if _, err := private.Attach(dir); !errors.Is(err, private.ErrAccess) || !strings.Contains(err.Error(), "try again") {
				t.Errorf("a stopped cluster: %v", err)
			}
		})
	}
}
