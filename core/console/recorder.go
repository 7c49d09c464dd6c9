package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/sdk/hypervisor"
)

const (
	// chunkTime is how often output is stored: a killed service loses that much
	// of a recording. chunkSize is how many bytes are collected at most; when
	// it is reached, the console waits until they are stored.
	chunkTime = time.Second
	chunkSize = 256 << 10
	// chunkLimit bounds storing one chunk, with attempts every chunkRetry. If a
	// chunk cannot be stored in that time, the console ends: nobody may use a
	// recorded console without the recording.
	chunkLimit = 20 * time.Second
	chunkRetry = 500 * time.Millisecond
	// roomStep is how many bytes a recording may grow before it checks the
	// total limit of all recordings again.
	roomStep = 1 << 20
	// aliveTime is how often a silent recording updates its row, and lostTime
	// how old the last update of a running recording may be. An older one is
	// lost: its process was killed.
	aliveTime = 20 * time.Second
	lostTime  = "2 minutes"
	// foreignKeyViolation is the SQLSTATE of a chunk whose recording was
	// deleted.
	foreignKeyViolation = "23503"
)

// SealedTable is the column with the data keys of recordings, for the rotation
// of the key. Only the data keys are re-encrypted; the chunks stay as they are.
var SealedTable = secret.Table{Name: "console_recordings", Column: "data_key", Key: []string{"id"}}

// dataKeyPlace ties an encrypted data key to its row.
func dataKeyPlace(id int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(id)}
}

// recorded reports whether the output of a console is recorded. Graphical
// consoles never are: their protocol carries changes of a screen and no text.
func (s *Store) recorded(ctx context.Context, t Target, kind hypervisor.ConsoleKind) (bool, error) {
	if kind != hypervisor.ConsoleTerminal {
		return false, nil
	}
	key := setting.ConsoleRecordShells
	switch t.Kind {
	case "app":
		key = setting.ConsoleRecordApps
	case "vm":
		key = setting.ConsoleRecordVMs
	}
	return setting.Get(ctx, s.DB, key)
}

// recorder writes the output of a terminal as lines of asciicast v2
// (https://docs.asciinema.org/manual/asciicast/v2/): a header, and an event for
// each output and each new size. Input is not recorded, because it may contain
// passwords. The lines are compressed and encrypted in separate chunks, so that
// stored chunks can be read whatever happens to the rest.
type recorder struct {
	store *Store
	id    int64
	seal  cipher.AEAD
	began time.Time
	limit int64

	// mu protects the fields down to failed. The goroutine of run alone uses
	// number, stored and looked.
	mu    sync.Mutex
	room  *sync.Cond // for more lines, or for the news that none are taken
	lines bytes.Buffer
	// part is the beginning of a UTF-8 sequence whose rest has not arrived. A
	// Read can split a character, but a line of JSON must not.
	part      []byte
	shown     int64 // bytes of output in lines
	truncated bool
	failed    error

	full    chan struct{} // holds a value while lines are to be stored at once
	closing chan struct{}
	done    chan struct{}

	number int
	stored int64
	// looked is the value of stored at the last check of the total limit.
	looked int64
}

// record begins the recording of a session, and notifies the user.
func (x *Session) record(ctx context.Context, socket Socket) error {
	r, err := x.store.newRecorder(ctx, x.target, x.order)
	if err != nil {
		return err
	}
	x.recorder = r
	audit.Describe(ctx, func(e *audit.Entry) { e.Detail("recording", r.id) })
	notice, err := json.Marshal(Notice{Recorded: true, Notice: "This console is recorded, and administrators can read the recording."})
	if err != nil {
		return fmt.Errorf("writing the notice of a recording: %w", err)
	}
	if err := socket.Write(true, notice); err != nil {
		_ = r.close()
		return err
	}
	return nil
}

// newRecorder creates a recording with its own random key and stores its
// header. It fails with insufficient_storage if running recordings alone use up
// the total limit.
func (s *Store) newRecorder(ctx context.Context, t Target, o Request) (*recorder, error) {
	mib, err := setting.Get(ctx, s.DB, setting.ConsoleLimit)
	if err != nil {
		return nil, err
	}
	switch _, full, err := s.makeRoom(ctx); {
	case err != nil:
		return nil, err
	case full:
		return nil, problem.New(problem.CodeNoRoom, "cannot record this console: other recordings use all the space that the setting %s allows",
			setting.ConsoleTotal.Name())
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	r := &recorder{store: s, began: time.Now(), limit: int64(mib) << 20, full: make(chan struct{}, 1), closing: make(chan struct{}),
		done: make(chan struct{})}
	r.room = sync.NewCond(&r.mu)
	if r.seal, err = newSeal(key); err != nil {
		return nil, err
	}
	node, userID, email, address := t.Node, int64(0), "", ""
	if t.Guest != nil {
		node = t.Guest.Node
	}
	if caller := identity.FromContext(ctx); caller != nil {
		userID, email = caller.UserID, caller.Email
	}
	if attempt := audit.FromContext(ctx); attempt != nil {
		address = attempt.Entry().Address
	}
	err = s.DB.Tx(ctx, func(tx *db.Tx) error {
		if err := tx.Pgx.QueryRow(ctx, `INSERT INTO console_recordings (team_id, host_id, target_kind, target_id, target_name, node, user_id,
				user_email, address) VALUES ($1, $2, $3, $4, $5, $6, NULLIF($7, 0), $8, $9) RETURNING id`,
			t.TeamID, t.HostID, t.Kind, t.ID, t.Name, node, userID, email, address).Scan(&r.id); err != nil {
			return fmt.Errorf("starting a recording: %w", err)
		}
		sealed, err := s.Keys.Seal(secret.New(base64.RawStdEncoding.EncodeToString(key)), dataKeyPlace(r.id))
		if err != nil {
			return fmt.Errorf("encrypting the key of a recording: %w", err)
		}
		if _, err := tx.Pgx.Exec(ctx, "UPDATE console_recordings SET data_key = $2 WHERE id = $1", r.id, sealed); err != nil {
			return fmt.Errorf("starting a recording: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	columns, rows := o.Columns, o.Rows
	if columns == 0 || rows == 0 {
		columns, rows = 80, 24
	}
	// The recording is stored once before the user is told that there is one.
	r.line(map[string]any{"version": 2, "width": columns, "height": rows, "timestamp": r.began.Unix(), "title": t.Kind + " " + t.Name})
	header, _ := r.take(false)
	if err := r.storeChunk(ctx, header, 0, false); err != nil {
		return nil, db.Problem(fmt.Errorf("starting a recording: %w", err))
	}
	go r.run(context.WithoutCancel(ctx))
	return r, nil
}

// newSeal returns AES-256-GCM with a data key.
func newSeal(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("the key of a recording: %w", err)
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("the key of a recording: %w", err)
	}
	return seal, nil
}

// nonce returns the nonce of a chunk. It may be the chunk's number, because
// every recording has its own key.
func nonce(number int) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4, 12), uint64(number))
}

// place is the additional data of a chunk. It ties the chunk to its recording
// and its position, so that chunks cannot be swapped.
func place(id int64, number int) []byte {
	return fmt.Appendf(nil, "console recording %d/%d", id, number)
}

// line adds a line of JSON. The caller holds the lock, or is the only user.
func (r *recorder) line(v any) {
	encoder := json.NewEncoder(&r.lines)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // numbers and texts
}

// event adds an event, and waits while there is no space. An error means that
// the recording can no longer be stored.
func (r *recorder) event(kind string, data string) error {
	for r.lines.Len() >= chunkSize && r.failed == nil {
		r.room.Wait()
	}
	if r.failed != nil {
		return r.failed
	}
	if data == "" || r.truncated {
		return nil
	}
	r.line([]any{float64(time.Since(r.began).Microseconds()) / 1e6, kind, data})
	if r.lines.Len() >= chunkSize {
		select {
		case r.full <- struct{}{}:
		default:
		}
	}
	return nil
}

// output records output of the terminal.
func (r *recorder) output(p []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown += int64(len(p))
	p = append(r.part, p...)
	whole := len(p) - unfinished(p)
	text := strings.ToValidUTF8(string(p[:whole]), "\uFFFD")
	r.part = append([]byte(nil), p[whole:]...)
	return r.event("o", text)
}

// unfinished returns how many bytes at the end of a text are the beginning of a
// character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// resize records the new size of the terminal.
func (r *recorder) resize(columns, rows int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.event("r", fmt.Sprintf("%dx%d", columns, rows))
}

// close stores the remaining output and the end of the recording, and waits for
// that. Call it once.
func (r *recorder) close() error {
	close(r.closing)
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// run stores chunks until the end.
func (r *recorder) run(ctx context.Context) {
	defer close(r.done)
	ticker := time.NewTicker(chunkTime)
	defer ticker.Stop()
	told := time.Now()
	for ended := false; !ended; {
		select {
		case <-ticker.C:
		case <-r.full:
		case <-r.closing:
			ended = true
		}
		content, shown := r.take(ended)
		if len(content) == 0 && !ended && time.Since(told) < aliveTime {
			continue
		}
		told = time.Now()
		if err := r.storeChunk(ctx, content, shown, ended); err != nil {
			r.mu.Lock()
			r.failed = db.Problem(fmt.Errorf("storing a recording: %w", err))
			r.room.Broadcast()
			r.mu.Unlock()
			return
		}
	}
}

// take returns the lines to store next, and how many bytes of output they
// contain.
func (r *recorder) take(last bool) (lines []byte, shown int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last && len(r.part) > 0 && !r.truncated && r.failed == nil {
		r.line([]any{float64(time.Since(r.began).Microseconds()) / 1e6, "o", "\uFFFD"})
	}
	lines, shown = bytes.Clone(r.lines.Bytes()), r.shown
	r.lines.Reset()
	r.shown = 0
	r.room.Broadcast()
	return lines, shown
}

// storeChunk compresses, encrypts and stores one chunk, or with empty lines
// only updates the row. It retries while the database does not answer, for
// chunkLimit. shown is the number of bytes of output in the chunk. When the
// size limit of the recording or of all recordings is reached, later output is
// dropped and the recording is marked as truncated; the console goes on.
func (r *recorder) storeChunk(ctx context.Context, lines []byte, shown int64, ended bool) error {
	var content []byte
	if len(lines) > 0 {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, err := writer.Write(lines)
		if err == nil {
			err = writer.Close()
		}
		if err != nil {
			return fmt.Errorf("compressing: %w", err)
		}
		content = r.seal.Seal(nil, nonce(r.number), packed.Bytes(), place(r.id, r.number))
		r.stored += int64(len(content))
	}
	limited, cancel := context.WithTimeout(ctx, chunkLimit)
	defer cancel()
	cut := r.stored >= r.limit
	if r.stored-r.looked >= roomStep {
		// Where the database is away the storing says so.
		if _, full, err := r.store.makeRoom(limited); err == nil {
			cut, r.looked = cut || full, r.stored
		}
	}
	for {
		// A chunk whose storing was not answered may be stored already.
		tag, err := r.store.DB.Pool.Exec(limited, `WITH chunk AS (
				INSERT INTO console_recording_chunks (recording_id, number, content) SELECT $1, $2, $3 WHERE $3::bytea IS NOT NULL
				ON CONFLICT DO NOTHING)
			UPDATE console_recordings SET seen_at = now(), stored_bytes = $4, output_bytes = output_bytes + $5, truncated = truncated OR $6,
				ended_at = CASE WHEN $7 THEN now() END WHERE id = $1`,
			r.id, r.number, content, r.stored, shown, cut, ended)
		var refused *pgconn.PgError
		if err == nil && tag.RowsAffected() == 0 || errors.As(err, &refused) && refused.Code == foreignKeyViolation {
			return problem.New(problem.CodeNotFound, "the recording was deleted while it was running")
		}
		if err == nil {
			break
		}
		select {
		case <-limited.Done():
			return err
		case <-time.After(chunkRetry):
		}
	}
	if content != nil {
		r.number++
	}
	if cut {
		r.mu.Lock()
		r.truncated = true
		r.mu.Unlock()
	}
	return nil
}
