// Package uploads is the HTTP resource of files that clients upload to a
// storage. The service first receives the whole file and computes its checksum;
// then a job sends it to the storage. A second operation returns the progress.
package uploads

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/upload"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Deps has what the operations of this package need.
type Deps struct{ Uploads *upload.Store }

type handlers struct{ uploads *upload.Store }

const (
	tag  = "Storage"
	form = "multipart/form-data"
	// most is beyond what the setting upload.limit_mib can be, in bytes.
	most = 1 << 45
	// idle is how long a sender may send nothing, and rate the least that it sends in that time, in bytes a second.
	idle = 30 * time.Second
	rate = 1 << 10
)

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Uploads}
	op.Upload(a, "/api/v1/storage/:host_id/:name/content", h.upload, op.Spec{
		ID: "upload_content", Summary: "Upload a file to a storage", Tag: tag, Role: identity.Admin, On: op.Host, Calls: true,
		Needs: endpoint.Lifecycle, Status: http.StatusAccepted, Audit: op.Audit{Action: "storage.upload", Target: "name"},
		Content: []string{form}, MaxBody: most, Timeout: op.Unlimited, Idle: idle, Rate: rate,
		Form: []op.FormPart{
			{Name: "file", Type: "file", Required: true, Doc: "The file with its name, which the hypervisor may change; " +
				"see name in the response"},
			{Name: "content", Type: "string", Example: "iso",
				Doc: "Content type, such as iso; if absent, derived from the extension of the file name"},
			{Name: "node", Type: "string", Example: "node1", Doc: "Node that has the storage; if absent or empty, any " +
				"online node"},
			{Name: "overwrite", Type: "boolean", Doc: "Replace a file with the same name; false if absent"},
			{Name: "sha256", Type: "string", Example: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
				Doc: "Expected checksum of the file, in hexadecimal; a different one is 422, and the file is deleted"},
		},
		Description: "The service receives the whole file, computes its SHA-256, and then sends the file to the " +
			"storage in the job that it returns. Fields can come before or after the file. Fields before the file " +
			"are checked before the file is read: a name that is taken (409 `file_exists`, unless `overwrite` is " +
			"true), a wrong file extension, a storage that does not accept such files or is unavailable. If you " +
			"send any field before the file, send all of them there: this check uses the default of each absent " +
			"field. A file larger than the setting `upload.limit_mib` is 413 `too_large`. A file that would leave " +
			"less than `upload.keep_free_mib` free in the folder of the service is 507 `insufficient_storage`. " +
			"Uploads have no time limit, but a sender that pauses for 30 s, or sends less than 1 KiB a second, gets " +
			"408. An aborted upload leaves nothing behind. With `upload_id`, the client chooses the ID for GET " +
			"/hosts/{host_id}/uploads/{upload_id}, which returns the progress on every instance.",
	})
	op.Get(a, "/api/v1/hosts/:host_id/uploads/:upload_id", h.get, op.Spec{
		ID: "get_upload", Summary: "Get the progress of an upload", Tag: tag, Role: identity.Viewer, On: op.Host,
		Description: "Returns the upload. While the file is being received, `received_bytes` is at most one second " +
			"old; the `progress` of the job shows how much of it the job has sent to the storage. An upload is kept " +
			"for a week after its last change.",
	})
}

type uploadInput struct {
	Name     string `path:"name" minLength:"1" maxLength:"100" example:"local" doc:"Name of the storage"`
	UploadID string `query:"upload_id" pattern:"^[A-Za-z0-9_-]{16,64}$" example:"f4c1b7a0-5d0e-4a57-9d0b-2f6f5c0f8a11" doc:"ID chosen by the client that was never used before, such as a random UUID"`
}

func (h handlers) upload(ctx context.Context, in *uploadInput, f *op.UploadBody) (*op.Body[upload.UploadResult], error) {
	parts, err := f.Form()
	if err != nil {
		return nil, err
	}
	on := op.ResourceOf(ctx)
	started, err := h.uploads.Receive(ctx, upload.Request{ID: in.UploadID, HostID: on.ID, TeamID: on.TeamID, Storage: in.Name, Size: f.Size},
		func() (upload.Part, error) { return next(f, parts) })
	return &op.Body[upload.UploadResult]{Body: started}, err
}

// next returns the next part of the form in the body f.
func next(f *op.UploadBody, parts *multipart.Reader) (upload.Part, error) {
	part, err := parts.NextRawPart()
	if broken := f.Err(); broken != nil {
		return upload.Part{}, broken // a header that breaks off is taken for a malformed one
	}
	if err != nil {
		return upload.Part{}, formError(err)
	}
	// FileName of the part would hide a path.
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return upload.Part{}, formError(err)
	}
	name, file := params["filename"]
	return upload.Part{Field: params["name"], File: file, FileName: name, Body: partBody{part}}, nil
}

// partBody is the body of a part of the form. Its errors are problems.
type partBody struct{ io.Reader }

func (b partBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		err = formError(err)
	}
	return n, err
}

// formError returns the problem of a form that cannot be read. It returns
// io.EOF unchanged.
func formError(err error) error {
	var known *problem.Error
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return problem.New(problem.CodeCanceled, "the client closed the connection").WithCause(err)
	}
	return problem.New(problem.CodeMalformed, "the body is not a well-formed form").WithCause(err)
}

type getInput struct {
	UploadID string `path:"upload_id" minLength:"1" maxLength:"64" example:"f4c1b7a0-5d0e-4a57-9d0b-2f6f5c0f8a11"`
}

func (h handlers) get(ctx context.Context, in *getInput) (*op.Body[upload.Upload], error) {
	u, err := h.uploads.Get(ctx, op.ResourceOf(ctx).ID, in.UploadID)
	return &op.Body[upload.Upload]{Body: u}, err
}
