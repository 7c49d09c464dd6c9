package consoles

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/console"
	"github.com/hostler/hostler/core/identity"
)

type recordings struct{ consoles *console.Store }

// castMedia is the media type of an asciicast v2.
const castMedia = "application/x-asciicast"

func registerRecordings(a *op.API, consoles *console.Store) {
	h := recordings{consoles}
	const tag, path = "Consoles", "/api/v1/console-recordings"
	op.Get(a, path, h.list, op.Spec{
		ID: "list_console_recordings", Summary: "List console recordings", Tag: tag, Role: identity.Admin, On: op.Anywhere,
		Description: "Lists terminal recordings that were made because of the settings `console.record_apps`, " +
			"`console.record_vms` and `console.record_shells`, newest first. Input is not recorded. An admin of the " +
			"team `default` sees all recordings; an admin of other teams sees those of consoles on hosts that belonged " +
			"to these teams at that time. Recordings are deleted after `console.recording_days`, and the oldest ones " +
			"when all together exceed `console.recordings_total_mib`.",
	})
	op.Get(a, path+"/:recording_id", h.get, op.Spec{
		ID: "get_console_recording", Summary: "Get a console recording", Tag: tag, Role: identity.Admin, On: op.Recording,
		Description: "Returns the metadata of a recording, without its content. A recording in progress has its " +
			"current size.",
	})
	op.Download(a, path+"/:recording_id/cast", h.cast, op.Spec{
		ID: "get_console_recording_cast", Summary: "Download a console recording", Tag: tag, Role: identity.Admin, On: op.Recording,
		Content: []string{castMedia}, Audit: op.Audit{Action: "console_recording.read"},
		Description: "Returns the recording as asciicast v2, the format of asciinema. A recording in progress contains " +
			"the output until about a second ago. Every download is recorded in the audit log.",
	})
	op.Delete(a, path+"/:recording_id", h.delete, op.Spec{
		ID: "delete_console_recording", Summary: "Delete a console recording", Tag: tag, Role: identity.Admin, On: op.Recording,
		Status: http.StatusNoContent, Audit: op.Audit{Action: "console_recording.delete"},
		Description: "Deletes the recording. A console that is still being recorded closes.",
	})
}

type listInput struct {
	op.Page
	TargetKind string `query:"target_kind" enum:"vm,app,host" example:"vm" doc:"Only recordings of targets of this kind"`
	TargetID   int64  `query:"target_id" minimum:"1" example:"3" doc:"Only recordings of targets with this ID"`
	User       int64  `query:"user" minimum:"1" example:"2" doc:"Only recordings of this user's consoles"`
}

func (h recordings) list(ctx context.Context, in *listInput) (*op.List[console.Recording], error) {
	all, total, err := h.consoles.Recordings(ctx, console.Filter{
		TargetKind: in.TargetKind, TargetID: in.TargetID, UserID: in.User, Offset: in.Offset(), Limit: in.Limit(),
	}, identity.FromContext(ctx).VisibleAs(identity.Admin))
	return &op.List[console.Recording]{Total: total, Body: all}, err
}

func (h recordings) get(ctx context.Context, _ *struct{}) (*op.Body[console.Recording], error) {
	r, err := h.consoles.Recording(ctx, op.ResourceOf(ctx).ID)
	return &op.Body[console.Recording]{Body: r}, err
}

func (h recordings) cast(ctx context.Context, _ *struct{}, f *op.File) error {
	id := op.ResourceOf(ctx).ID
	if err := f.Open(castMedia, fmt.Sprintf("console-%d.cast", id)); err != nil {
		return err
	}
	return h.consoles.Cast(ctx, id, f)
}

func (h recordings) delete(ctx context.Context, _ *struct{}) (*op.Empty, error) {
	return nil, h.consoles.DeleteRecording(ctx, op.ResourceOf(ctx).ID)
}
