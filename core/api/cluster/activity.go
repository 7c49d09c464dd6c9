package cluster

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/activity"
	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
)

// Activity is one entry of the recent activity: a job, an alert or an entry of
// the audit log.
type Activity struct {
	Kind     string    `json:"kind" enum:"job,alert,audit" example:"job"`
	At       time.Time `json:"at" example:"2026-01-31T12:00:00Z"`
	ID       int64     `json:"id" example:"57" doc:"ID of the job, the alert or the audit entry"`
	Title    string    `json:"title" example:"vm.start web-1" doc:"Kind of the job, rule of the alert or action of the audit entry, and name of the target"`
	Text     string    `json:"text" example:"" doc:"Why the job or the attempt failed, or what the alert is about; empty if there is nothing to add"`
	Status   *string   `json:"status" enum:"queued,running,succeeded,failed,canceled,unknown" example:"succeeded" doc:"Status of the job; null for other types"`
	Severity *string   `json:"severity" enum:"info,warning,critical" doc:"Severity of the alert; null for other types"`
	Result   *string   `json:"result" enum:"ok,refused,failed" doc:"Result of the audit entry; null for other types"`
	Target   *Target   `json:"target" doc:"Affected object; its kind is \"instance\" for the service itself. Null if there is none"`
	HostID   *int64    `json:"host_id" example:"1"`
	Actor    *string   `json:"actor" example:"anna@example.com" doc:"Email address of the user who requested it; null for the service"`
}

// Target is the object that an entry is about.
type Target struct {
	Kind string  `json:"kind" example:"vm"`
	ID   *string `json:"id" example:"11"`
	Name *string `json:"name" example:"web-1"`
}

type activityInput struct {
	Limit int `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"Maximum number of entries"`
}

func (h handlers) activity(ctx context.Context, in *activityInput) (*op.Body[[]Activity], error) {
	found, err := activity.List(ctx, h.db, activity.VisibilityOf(identity.FromContext(ctx)), in.Limit)
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
