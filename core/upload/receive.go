package upload

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

const (
	// chunk is how many bytes of a file are read at once.
	chunk = 1 << 20
	// around is how many bytes the form may add to the file, fieldLimit the
	// length of a field in bytes, and maxParts the number of parts.
	around     = 64 << 10
	fieldLimit = 1 << 10
	maxParts   = 20
	// askLimit is how long the hypervisor may take to answer whether it accepts
	// a file. The sender waits that long.
	askLimit = 30 * time.Second
	// mib is the unit of the settings.
	mib = 1 << 20
)

// Request says what is received, and where it goes.
type Request struct {
	// ID is chosen by the client, so that it can query the progress of its
	// upload. If it is empty, Receive generates one.
	ID      string
	HostID  int64
	TeamID  int64
	Storage string
	// Size is the length of the request body in bytes; -1 if the client does
	// not announce it.
	Size int64
}

// Part is a part of the multipart form. Body is valid until the next part is
// read.
type Part struct {
	// Field is the name of the part. File is true for a file, and FileName is
	// then the name that the client sent.
	Field    string
	File     bool
	FileName string
	Body     io.Reader
}

// reception is one upload while it is received. One goroutine uses it.
type reception struct {
	*Store
	Request
	next func() (Part, error)
	// nodes are the nodes that have the storage, the preferred one first.
	nodes []string
	// seen has the names of the parts that were read.
	seen map[string]bool
	spec hypervisor.UploadSpec
	// overwrite allows replacing a file of the same name. wanted is the SHA-256
	// that the file must have in lower-case hexadecimal digits; empty for any.
	// most is the limit of the file size in bytes, and keep how many bytes must
	// stay free in the spool.
	overwrite bool
	wanted    string
	most      int64
	keep      int64
	file      *IncomingFile
}

// Receive reads the form that next returns part by part, until io.EOF, and
// enqueues the job that sends the file to the storage.
//
// Fields may come before or after the file. Fields before it are checked before
// the file is read, so that a client learns of a refusal without sending the
// whole file. If Receive fails, it removes the file, and the row of the upload
// has the reason.
//
// Problems: invalid, too_large, insufficient_storage, file_exists, guest_busy
// while another job writes or deletes the file, conflict for an ID that was
// used before, not_found, unsupported, those of host.Call, and the errors of
// next and of reading a part.
func (s *Store) Receive(ctx context.Context, in Request, next func() (Part, error)) (UploadResult, error) {
	r := &reception{Store: s, Request: in, next: next, seen: map[string]bool{}}
	if r.ID == "" {
		r.ID = rand.Text()
	}
	if err := r.begin(ctx); err != nil {
		return UploadResult{}, err
	}
	made, err := r.receive(ctx)
	if err != nil {
		if r.file != nil {
			r.file.Discard()
		}
		r.fail(ctx, err)
		return UploadResult{}, err
	}
	u, err := s.Get(ctx, r.HostID, r.ID)
	return UploadResult{Job: made.View(), Upload: u}, err
}

// begin makes all checks that do not need the body, and inserts the row of the
// upload.
func (r *reception) begin(ctx context.Context) error {
	if r.Spool == nil {
		return problem.New(problem.CodeUnsupported, "this instance has no upload folder")
	}
	limit, err := setting.Get(ctx, r.DB, setting.UploadLimit)
	if err != nil {
		return err
	}
	free, err := setting.Get(ctx, r.DB, setting.UploadFree)
	if err != nil {
		return err
	}
	r.most, r.keep = int64(limit)*mib, int64(free)*mib
	if r.Size > r.most+around {
		return problem.New(problem.CodeTooLarge, "the file is larger than %s, the limit in the setting upload.limit_mib",
			problem.Size(r.most))
	}
	if room, err := r.Spool.Room(r.keep); err != nil {
		return err
	} else if room < max(r.Size-around, 1) {
		return noRoom()
	}
	if err := r.Actor.Hosts.Require(ctx, r.HostID, endpoint.Lifecycle, able); err != nil {
		return err
	}
	if err := r.findNodes(ctx); err != nil {
		return err
	}
	var user *int64
	if caller := identity.FromContext(ctx); caller != nil {
		user = &caller.UserID
	}
	var size *int64
	if r.Size >= 0 {
		size = &r.Size
	}
	made, err := r.DB.Pool.Exec(ctx, `INSERT INTO uploads (id, host_id, storage, place, user_id, size)
		VALUES ($1, $2, $3, $4, (SELECT id FROM users WHERE id = $5), $6) ON CONFLICT DO NOTHING`,
		r.ID, r.HostID, r.Storage, r.Spool.ID(), user, size)
	if err != nil {
		return db.Problem(fmt.Errorf("recording an upload: %w", err))
	}
	if made.RowsAffected() == 0 {
		return problem.New(problem.CodeConflict, "an upload with this ID was already started; use a new ID for each upload")
	}
	return nil
}

// able fails if the driver of a host does not support uploads.
func able(at hypervisor.Host) error {
	_, err := host.AsAbility[hypervisor.Uploader](at)
	return err
}

// findNodes reads from the inventory which nodes have the storage. Online nodes
// come first, then the node of the host.
func (r *reception) findNodes(ctx context.Context) error {
	rows, err := r.DB.Pool.Query(ctx, `SELECT s.node FROM storages s JOIN hosts h ON h.cluster_id = s.cluster_id
		LEFT JOIN nodes n ON n.cluster_id = s.cluster_id AND n.name = s.node
		WHERE h.id = $1 AND s.name = $2 ORDER BY n.status IS DISTINCT FROM 'online', n.name IS DISTINCT FROM h.entry_node, s.node`,
		r.HostID, r.Storage)
	if err != nil {
		return db.Problem(fmt.Errorf("reading a storage: %w", err))
	}
	if r.nodes, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return db.Problem(fmt.Errorf("reading a storage: %w", err))
	}
	if len(r.nodes) == 0 {
		return problem.New(problem.CodeNotFound, "storage not found")
	}
	r.spec.Node, r.spec.Storage = r.nodes[0], r.Storage
	return nil
}

// fail records why the upload failed. It ignores the cancellation of ctx,
// because a client that disconnects is a common reason.
func (r *reception) fail(ctx context.Context, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	p := problem.From(cause)
	detail := p.Detail
	for _, f := range p.Faults {
		detail += "; " + f.Msg
	}
	if _, err := r.DB.Pool.Exec(ctx, `UPDATE uploads SET status = 'failed', error_code = $2, error = $3, changed_at = now()
		WHERE id = $1 AND status = 'receiving'`, r.ID, string(p.Code), strings.TrimPrefix(detail, "; ")); err != nil {
		r.log().Warn("could not record the end of an upload", "upload", r.ID, "error", err)
	}
}

// receive reads the form to its end and enqueues the job.
func (r *reception) receive(ctx context.Context) (*job.Job, error) {
	for n := 0; ; n++ {
		part, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case n == maxParts:
			return nil, fault("", fmt.Sprintf("the form must not have more than %d parts", maxParts))
		case r.seen[part.Field]:
			return nil, fault("", "a part appears twice")
		case part.File != (part.Field == "file"):
			return nil, fault("file", "the part file, and only this part, must be a file")
		case part.File:
			err = r.take(ctx, part)
		default:
			err = r.field(part)
		}
		if err != nil {
			return nil, err
		}
		r.seen[part.Field] = true
	}
	if r.file == nil {
		return nil, problem.InvalidField("the form contains no file", "missing", "body", "file")
	}
	r.spec.Size, r.spec.SHA256 = r.file.Size, r.file.SHA256()
	if r.wanted != "" && r.wanted != r.spec.SHA256 {
		return nil, fault("sha256", "the received file has another checksum: "+r.spec.SHA256)
	}
	if err := r.check(ctx, true); err != nil {
		return nil, err
	}
	made, err := r.enqueue(ctx)
	if err != nil {
		return nil, err
	}
	// Only now, since a sweep takes what nobody receives and no job needs.
	r.file.Keep()
	return made, nil
}

// fault returns the problem invalid for a field of the form, or for the whole
// form if field is empty.
func fault(field, msg string) error {
	loc := []any{"body"}
	if field != "" {
		loc = append(loc, field)
	}
	return problem.InvalidField(msg, "invalid", loc...)
}

// field reads and checks one field.
func (r *reception) field(part Part) error {
	raw, err := io.ReadAll(io.LimitReader(part.Body, fieldLimit+1))
	if err != nil {
		return err
	}
	value := string(raw)
	if len(raw) > fieldLimit || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return fault("", "a field must be a short text")
	}
	switch part.Field {
	case "content":
		r.spec.Content = value
	case "node":
		if value != "" && !slices.Contains(r.nodes, value) {
			return fault("node", "no node of this name has the storage")
		}
		if value != "" {
			r.spec.Node = value
		}
	case "overwrite":
		if value != "true" && value != "false" {
			return fault("overwrite", "must be true or false")
		}
		r.overwrite = value == "true"
	case "sha256":
		if sum, err := hex.DecodeString(value); value != "" && (err != nil || len(sum) != sha256.Size) {
			return fault("sha256", "must be a SHA-256 in hexadecimal digits")
		}
		r.wanted = strings.ToLower(value)
	default:
		return problem.InvalidField("unknown field", "extra_forbidden", "body")
	}
	return nil
}

// take receives the file into the spool. It updates the progress in the
// database about once a second.
func (r *reception) take(ctx context.Context, part Part) error {
	name := part.FileName
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, `/\`) ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.Trim(name, ".") == "" {
		return fault("file", "the file needs a name of 1 to 255 bytes, without a path")
	}
	r.spec.Name, r.spec.Size = name, max(r.Size-around, 0)
	if err := r.check(ctx, false); err != nil {
		return err
	}
	if _, err := r.DB.Pool.Exec(ctx, "UPDATE uploads SET name = $2, changed_at = now() WHERE id = $1", r.ID, r.spec.Name); err != nil {
		return db.Problem(fmt.Errorf("recording the name of an upload: %w", err))
	}
	file, err := r.Spool.Create(r.ID, max(r.Size-around, 0), r.most, r.keep)
	if err != nil {
		return err
	}
	r.file = file
	told := time.Now()
	return file.Take(part.Body, func(size int64) {
		if time.Since(told) < time.Second {
			return
		}
		told = time.Now()
		// How far it has come is only told: a database that is away for a moment ends no upload.
		if _, err := r.DB.Pool.Exec(ctx, "UPDATE uploads SET received = $2, changed_at = now() WHERE id = $1", r.ID, size); err != nil {
			r.log().Debug("could not record the progress of an upload", "upload", r.ID, "error", err)
		}
	})
}

// check asks the hypervisor whether it accepts the file. It runs before the
// file is read, with whole false, and again at the end. Before the file it
// ignores refusals that a later field could fix, such as another node or
// content. A client that sends any field before the file must send all of them
// before it.
func (r *reception) check(ctx context.Context, whole bool) error {
	told := whole || len(r.seen) > 0
	check, err := host.CallWithTimeout(ctx, r.Actor.Hosts, askLimit, r.HostID, endpoint.Lifecycle,
		func(ctx context.Context, at hypervisor.Uploader) (hypervisor.UploadCheck, error) {
			check, err := at.CheckUpload(ctx, r.spec)
			return check, renamed(err)
		})
	err = plugin.Problem(err)
	var p *problem.Error
	switch {
	case err != nil && !told && errors.As(err, &p) && p.Code == problem.CodeNotFound:
		return nil // on another node it may be there
	case err != nil && !told && errors.As(err, &p) && p.Code == problem.CodeInvalid && !isOf(p, "file"):
		return nil // with another content or node it may be right
	case err != nil:
		return err
	case check.Present && !r.overwrite && told:
		return exists(check)
	case whole:
		r.spec.Content, r.spec.Name = check.Content, check.Name
	}
	return nil
}

// isOf reports whether a problem concerns a field of the form.
func isOf(p *problem.Error, field string) bool {
	return slices.ContainsFunc(p.Faults, func(f problem.Fault) bool { return slices.Equal(f.Loc, []any{"body", field}) })
}

func exists(check hypervisor.UploadCheck) error {
	return problem.New(problem.CodeFileExists, "the storage already has a file %s; to replace it, send the field overwrite with true "+
		"before the file",
		check.Name).With("volume", check.Volume)
}

// renamed changes the field of a driver's error from name to file, as the form
// calls it.
func renamed(err error) error {
	var e *sdk.Error
	if errors.As(err, &e) && e.Kind == sdk.Invalid && e.Field == "name" {
		told := *e
		told.Field = "file"
		return &told
	}
	return err
}

// enqueue makes the job, marks the upload as received, and writes the audit
// log, in one transaction.
func (r *reception) enqueue(ctx context.Context) (made *job.Job, err error) {
	volume := host.Volume{Node: r.spec.Node, Storage: r.spec.Storage, Name: r.spec.Name}
	exclusive, err := volume.Exclusive(ctx, r.DB, r.HostID)
	if err != nil {
		return nil, err
	}
	err = r.DB.Tx(ctx, func(tx *db.Tx) (err error) {
		made, err = r.Actor.Queue.Enqueue(ctx, tx, job.Spec{
			Kind: Kind, Target: job.Target{Kind: "storage", ID: r.HostID, Name: r.Storage}, TeamID: r.TeamID, HostID: r.HostID,
			Place: r.Spool.ID(), Params: params{Upload: r.ID, HostID: r.HostID, File: r.spec, Overwrite: r.overwrite},
			Exclusive: exclusive,
			PublicParams: map[string]any{"name": r.spec.Name, "content": r.spec.Content, "node": r.spec.Node, "overwrite": r.overwrite,
				"size_bytes": r.spec.Size, "sha256": r.spec.SHA256},
		})
		if err != nil {
			return err
		}
		if _, err := tx.Pgx.Exec(ctx, `UPDATE uploads SET status = 'received', received = $2, sha256 = $3, name = $4, job_id = $5,
			changed_at = now() WHERE id = $1`, r.ID, r.spec.Size, r.spec.SHA256, r.spec.Name, made.ID); err != nil {
			return fmt.Errorf("recording that an upload has arrived: %w", err)
		}
		return audit.Write(ctx, tx)
	})
	return made, err
}
