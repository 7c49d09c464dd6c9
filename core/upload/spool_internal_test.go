package upload

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/problem"
)

// What is to stay free stays free while a file arrives, whoever else writes there, and whether its length was announced or not.
func TestFreeSpaceIsKeptWhileAFileArrives(t *testing.T) {
	t.Parallel()
	const keep = 1000
	for name, about := range map[string]int64{"announced": 3 * chunk, "not announced": 0} {
		s, err := OpenSpool(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		free := int64(keep + 4*chunk)
		s.free = func() (int64, error) { return free, nil }
		r, err := s.Create("upload-number-one-1", about, 1<<30, keep)
		if err != nil {
			t.Fatal(err)
		}
		piece := strings.Repeat("x", chunk)
		if _, err := io.WriteString(r, piece); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		free = keep + chunk - 1
		if _, err := io.WriteString(r, piece); problem.CodeOf(err) != problem.CodeNoRoom {
			t.Errorf("%s: the reserve was used: %v", name, err)
		}
		free = keep + chunk
		if _, err := io.WriteString(r, piece); err != nil && about > 0 {
			t.Errorf("%s: there is room again: %v", name, err)
		}
		// The folder that cannot be asked takes nothing.
		s.free = func() (int64, error) { return 0, errors.New("no such folder") }
		if _, err := io.WriteString(r, piece); err == nil {
			t.Errorf("%s: the free space is not known", name)
		}
		r.Discard()
	}
}
