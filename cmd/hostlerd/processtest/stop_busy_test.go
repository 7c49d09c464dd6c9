package processtest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
)

// The service is asked to end while readers have streams and an export open and its housekeeping is at work: it ends in
// time, no half file looks whole, and the next start goes on with the housekeeping.
func TestStopWhileBusy(t *testing.T) {
	t.Parallel()
	s := startService(t, options{})
	owner := setUp(t, s)
	d := dbtest.Open(t, s.DB)
	longTrail(t, d)
	release := holdJobs(t, d)
	var started struct{ Job jobView }
	owner.must(t, http.StatusAccepted, http.MethodPost, fmt.Sprintf("/api/v1/schedules/%d/run", seed(t, d, "jobs.prune")), nil, &started)
	held(t, d, 1)
	var streams [8]*http.Response
	for i := range streams {
		streams[i] = owner.begin(t, fmt.Sprintf("/api/v1/jobs/%d/events/stream", started.Job.ID), "")
		if line, err := bufio.NewReaderSize(streams[i].Body, 16).ReadString('\n'); err != nil {
			t.Fatalf("%q %v", line, err)
		}
	}
	export := owner.beginExport(t, "")
	begun := time.Now()
	s.stop(t) // fails beyond its time
	t.Logf("it ended after %v", time.Since(begun))
	for _, stream := range streams {
		if rest, err := io.ReadAll(stream.Body); err != nil || strings.Contains(string(rest), "event: end") {
			t.Errorf("a stream ended with %v: %s", err, rest)
		}
	}
	brokenOff(t, export)
	release()
	s.start(t)
	end := ended(t, owner, started.Job.ID)
	text := transcript(t, owner, started.Job.ID)
	if end.Status != "succeeded" {
		t.Errorf("the job ended %s: %s\n%s", end.Status, end.Error, text)
	}
	if runs := number(t, d, "SELECT runs FROM jobs WHERE id = $1", started.Job.ID); runs != 2 {
		t.Errorf("the job ran %d times\n%s", runs, text)
	}
	if left := number(t, d, "SELECT count(*) FROM jobs WHERE kind = 'test.old'"); left != 0 {
		t.Errorf("%d old jobs are left\n%s", left, text)
	}
	if told := number(t, d, "SELECT sum((details->>'jobs')::int) FROM audit WHERE action = 'jobs.prune'"); told != oldJobs {
		t.Errorf("the audit log says that %d jobs were deleted, want %d", told, oldJobs)
	}
	s.sealed(t)
}
