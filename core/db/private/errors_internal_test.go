package private

import (
	"errors"
	"testing"
)

// A disk that is full is told as such, whether the system says so or PostgreSQL finds a block cut off.
func TestFullDiskIsRecognised(t *testing.T) {
	t.Parallel()
	for _, output := range []string{
		`FATAL:  could not write to file "pg_wal/xlogtemp.42": No space left on device`,
		`FATAL:  could not extend file "base/1/1255": wrote only 4096 of 8192 bytes at block 44 | HINT:  Check free disk space.`,
	} {
		if err := explain("making it", output, errors.New("exit status 1")); !errors.Is(err, ErrNoSpace) {
			t.Errorf("%s: %v", output, err)
		}
	}
	if err := explain("making it", "FATAL:  the database system is starting up", errors.New("exit status 1")); errors.Is(err, ErrNoSpace) {
		t.Error(err)
	}
}
