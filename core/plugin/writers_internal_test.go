package plugin

import (
	"io/fs"
	"testing"
	"time"
)

func TestWriters(t *testing.T) {
	t.Parallel()
	const root, us, other = 0, 1000, 1001
	for name, c := range map[string]struct {
		mode        fs.FileMode
		owner, user int
		want        string
	}{
		"root's, closed":                {0o755, root, us, ""},
		"root's, for its group":         {0o775, root, us, writableByUs},
		"root's, for all":               {0o777, root, us, writableByOthers},
		"ours":                          {0o755, us, us, writableByUs},
		"the installer's":               {0o755, other, us, ""},
		"sticky, for all":               {0o777 | fs.ModeDir | fs.ModeSticky, root, us, ""},
		"a sticky file is no folder":    {0o777 | fs.ModeSticky, root, us, writableByOthers},
		"we are root":                   {0o755, root, root, ""},
		"we are root, another's":        {0o755, other, root, writableByOwner},
		"we are root, for all":          {0o757, root, root, writableByOthers},
		"ours and sticky, for all":      {0o777 | fs.ModeDir | fs.ModeSticky, us, us, writableByUs},
		"we are root, for root's group": {0o775, root, root, writableByUs},
	} {
		if got := writers(c.mode, c.owner, c.user); got != c.want {
			t.Errorf("%s: writable by %q, want %q", name, got, c.want)
		}
	}
}

func TestBackoffDelay(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{
		0: 0, 1: 0, 2: time.Second, 3: 2 * time.Second, 4: 4 * time.Second, 7: 32 * time.Second, 8: time.Minute, 1 << 30: time.Minute,
	} {
		if got := backoffDelay(failures, time.Second, time.Minute); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}
