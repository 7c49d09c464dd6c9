package job

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Limits of the transcript and its writing.
const (
	flushEvery = 250 * time.Millisecond
	flushLines = 200
	// lineLimit is the longest line in bytes; longer ones are cut.
	lineLimit = 4096
	// lastLine is the length in characters of the last line that a list shows.
	lastLine = 256
)

// transcript collects a run's lines and writes them in batches. The mutex mu
// protects the lines; writing is held during a write, so that batches stay in
// order.
type transcript struct {
	run *Run

	writing sync.Mutex // one batch at a time, so that lines keep their order

	mu sync.Mutex
	at []time.Time
	// kinds and texts are parallel to at.
	kinds, texts []string
	// taskLines is the number of lines of the current task's log that were
	// added, including those of earlier runs.
	taskLines int
	// room is the number of lines of logs that the transcript still accepts.
	room int
	// share is the finished part that a line of the current task's log reported
	// last, 0 if none has. told is true if it is not written yet.
	share          float64
	storedProgress bool
	// hidden lists texts that are removed from all lines.
	hidden []string
}

// hide removes a text from all lines that follow.
func (t *transcript) hide(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hidden = append(t.hidden, text)
}

// secrets returns the texts that are removed from lines.
func (t *transcript) secrets() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hidden
}

// newTranscript returns the transcript of a run whose job already has some
// events.
func newTranscript(run *Run, events, room int) *transcript {
	return &transcript{run: run, taskLines: run.job.taskLines, room: max(room-events, 0)}
}

// add adds a line. It writes a full batch at once, so that a fast log waits for
// the database instead of filling the memory.
func (t *transcript) add(kind, text string) {
	t.mu.Lock()
	switch {
	case kind != EventLog:
		t.append(kind, text)
	case t.room > 1:
		t.append(kind, text)
		t.room--
		t.taskLines++
	case t.room == 1:
		t.append(EventNote, "the transcript is full; further lines of the task's log are omitted")
		t.room--
		t.taskLines++
	default:
		t.taskLines++
	}
	full := len(t.texts) >= flushLines
	t.mu.Unlock()
	if full {
		// A failed write has ended the run.
		_ = t.flush(t.run.untilLost)
	}
}

// addLine adds a line of the current task's log. The plugin's share is only
// accepted within its range; NaN fails both comparisons.
func (t *transcript) addLine(line hypervisor.LogLine) {
	if line.Share > 0 && line.Share <= 1 { // plugins may say anything; NaN is neither
		t.mu.Lock()
		t.share, t.storedProgress = line.Share, true
		t.mu.Unlock()
	}
	t.add(EventLog, line.Text)
}

// append adds a cleaned line. The caller holds mu.
func (t *transcript) append(kind, text string) {
	t.at = append(t.at, time.Now().UTC())
	t.kinds = append(t.kinds, kind)
	t.texts = append(t.texts, clean(text, lineLimit, t.hidden...))
}

// restart resets the counters for the log of another task.
func (t *transcript) restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taskLines, t.share, t.storedProgress = 0, 0, false
}

// logged returns how many lines of the current task's log the transcript has.
func (t *transcript) logged() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taskLines
}

// loop writes periodically until ctx ends.
func (t *transcript) loop(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = t.flush(ctx)
		}
	}
}

// flush writes what was added. An error has ended the run; the next run reads
// the missing lines from the task's log again.
func (t *transcript) flush(ctx context.Context) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	at, kinds, texts, taskLines, share, told := t.at, t.kinds, t.texts, t.taskLines, t.share, t.storedProgress
	t.at, t.kinds, t.texts, t.storedProgress = nil, nil, nil, false
	t.mu.Unlock()
	if len(texts) == 0 && !told {
		return nil
	}
	if len(texts) == 0 { // told of a share only: lists that are empty, and not null
		at, kinds, texts = []time.Time{}, []string{}, []string{}
	}
	// The worker's context may end during the write. The lines should be stored
	// all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var written int
	err := t.run.queue.db.Pool.QueryRow(ctx, `
		WITH counted AS (
			UPDATE jobs SET event_count = event_count + cardinality($5::text[]), task_lines = $6,
				last_line = coalesce(left(($5::text[])[cardinality($5::text[])], $7), last_line), share = coalesce(nullif($8::float8, 0), share)
			WHERE id = $1 AND river_id = $2 AND status = 'running'
			RETURNING event_count - cardinality($5::text[]) AS before
		), added AS (
			INSERT INTO job_events (job_id, seq, at, kind, text)
			SELECT $1, before + line.n, line.at, line.kind, line.text
			FROM counted, unnest($3::timestamptz[], $4::text[], $5::text[]) WITH ORDINALITY AS line (at, kind, text, n)
			RETURNING 1
		), told AS (SELECT pg_notify('job_events', $1::bigint::text) FROM counted)
		SELECT (SELECT count(*) FROM added) FROM (SELECT count(*) FROM told) AS once`,
		t.run.job.ID, t.run.riverID, at, kinds, texts, taskLines, lastLine, share).Scan(&written)
	if err != nil {
		return t.run.lose(fmt.Errorf("writing the transcript: %w", err))
	}
	if written != len(texts) {
		return t.run.lose(fmt.Errorf("writing the transcript: another run owns the job"))
	}
	return nil
}
