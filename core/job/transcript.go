package job

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// Bounds of the transcript.
const (
	flushEvery = 250 * time.Millisecond
	flushLines = 200
	// lineLimit is in bytes; what is longer is cut.
	lineLimit = 4096
	// lastLine is how many characters of the last line a job shows by itself.
	lastLine = 256
)

// transcript collects a run's lines and writes them in batches.
type transcript struct {
	run *Run

	writing sync.Mutex // one batch at a time, so that lines keep their order

	mu sync.Mutex
	at []time.Time
	// kinds and texts are beside at.
	kinds, texts []string
	// taskLines counts the lines of the present task's log that were added, in earlier runs too.
	taskLines int
	// room is how many more lines of logs the transcript takes.
	room int
	// share is what a line of the present task's log told last of how much is done, 0 while none has; told is set when that is not
	// written yet.
	share float64
	told  bool
	// hidden is kept out of all lines.
	hidden []string
}

// hide keeps a text out of all lines that follow.
func (t *transcript) hide(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text != "" {
		t.hidden = append(t.hidden, text)
	}
}

// without is a text without what is hidden.
func (t *transcript) without(text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.withoutHidden(text)
}

// withoutHidden is without for who has the lock.
func (t *transcript) withoutHidden(text string) string {
	for _, secret := range t.hidden {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
}

func newTranscript(run *Run, events, room int) *transcript {
	return &transcript{run: run, taskLines: run.job.taskLines, room: max(room-events, 0)}
}

// add takes a line. When a batch is full it writes it, so that a fast log waits for the database.
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
		t.append(EventNote, "the transcript is full; further lines of the task's log are left out")
		t.room--
		t.taskLines++
	default:
		t.taskLines++
	}
	full := len(t.texts) >= flushLines
	t.mu.Unlock()
	if full {
		// The error has ended the run.
		_ = t.flush(t.run.untilLost)
	}
}

// addLine takes a line of the present task's log.
func (t *transcript) addLine(line hypervisor.LogLine) {
	if line.Share > 0 && line.Share <= 1 { // plugins may say anything; NaN is neither
		t.mu.Lock()
		t.share, t.told = line.Share, true
		t.mu.Unlock()
	}
	t.add(EventLog, line.Text)
}

func (t *transcript) append(kind, text string) {
	t.at = append(t.at, time.Now().UTC())
	t.kinds = append(t.kinds, kind)
	t.texts = append(t.texts, clean(t.withoutHidden(text), lineLimit))
}

// restart begins to count the log of another task.
func (t *transcript) restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taskLines, t.share, t.told = 0, 0, false
}

// logged is how many lines of the present task's log the transcript has.
func (t *transcript) logged() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taskLines
}

// loop writes now and then until ctx ends.
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

// flush writes what was added. An error has ended the run; what was not written is read again from the task's log by
// the next one.
func (t *transcript) flush(ctx context.Context) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	at, kinds, texts, taskLines, share, told := t.at, t.kinds, t.texts, t.taskLines, t.share, t.told
	t.at, t.kinds, t.texts, t.told = nil, nil, nil, false
	t.mu.Unlock()
	if len(texts) == 0 && !told {
		return nil
	}
	if len(texts) == 0 { // told of a share only: lists that are empty, and not null
		at, kinds, texts = []time.Time{}, []string{}, []string{}
	}
	// The worker's own context may end in the middle; the lines shall be kept all the same.
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
		return t.run.lose(fmt.Errorf("writing the transcript: another run has the job"))
	}
	return nil
}
