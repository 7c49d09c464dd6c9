package cluster

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/activity"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// Activity is one entry of the feed.
type Activity struct {
	Kind     string    `json:"kind" enum:"job,alert,audit" example:"job"`
	At       time.Time `json:"at" example:"2026-01-31T12:00:00Z"`
	ID       int64     `json:"id" example:"57" doc:"Of the job, the alert or the entry of the audit trail"`
	Title    string    `json:"title" example:"vm.start web-1" doc:"The job's kind, the alert's rule or the action in the trail, and the target's name"`
	Text     string    `json:"text" example:"" doc:"Why the job or the attempt failed, or what the alert is about; empty when there is no more to say"`
	Status   *string   `json:"status" enum:"queued,running,succeeded,failed,canceled,unknown" example:"succeeded" doc:"Of a job; else null"`
	Severity *string   `json:"severity" enum:"info,warning,critical" doc:"Of an alert; else null"`
	Result   *string   `json:"result" enum:"ok,refused,failed" doc:"Of an entry of the audit trail; else null"`
	Target   *Target   `json:"target" doc:"What it is about; its kind is \"instance\" for the service itself. Null where nothing is named"`
	HostID   *int64    `json:"host_id" example:"1"`
	Actor    *string   `json:"actor" example:"anna@example.com" doc:"The e-mail address of who asked for it; null for the service itself"`
}

// Target is what an entry is about.
type Target struct {
	Kind string  `json:"kind" example:"vm"`
	ID   *string `json:"id" example:"11"`
	Name *string `json:"name" example:"web-1"`
}

type activityInput struct {
	Limit int `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"How many entries at most"`
}

func (h handlers) activity(ctx context.Context, in *activityInput) (*op.Body[[]Activity], error) {
	found, err := activity.List(ctx, h.db, activity.SightOf(identity.FromContext(ctx)), in.Limit)
	if err != nil {
		return nil, err
	}
	feed := make([]Activity, len(found))
	for i := range found {
		feed[i] = entryOf(&found[i])
	}
	return &op.Body[[]Activity]{Body: feed}, nil
}

func entryOf(e *activity.Entry) Activity {
	a := Activity{
		Kind: string(e.Kind), At: e.At.UTC(), ID: e.ID, Title: e.Name, Text: e.Text, HostID: e.HostID, Actor: orNull(e.Actor),
	}
	if e.TargetName != "" {
		a.Title += " " + e.TargetName
	}
	switch e.Kind {
	case activity.Job:
		a.Status = &e.State
	case activity.Alert:
		a.Severity = &e.State
	case activity.Audit:
		a.Result = &e.State
	}
	if e.TargetKind != "" || e.TargetName != "" {
		a.Target = &Target{Kind: e.TargetKind, ID: orNull(e.TargetID), Name: orNull(e.TargetName)}
	}
	return a
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
