package draft

import (
	"time"

	"github.com/hostler/hostler/core/host"
)

// ChangedScope is one scope of a draft, as the API shows it.
type ChangedScope struct {
	Kind   string   `json:"kind" enum:"cluster,node,vm,app,group"`
	ID     *int64   `json:"id" example:"12" doc:"ID of the VM or the app; null for other scopes"`
	Name   string   `json:"name" example:"web1" doc:"Name of the VM, the app, the node, the group or the cluster"`
	Digest *string  `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Digest of the rules before; null if the hypervisor has none"`
	Before []string `json:"before" doc:"The scope when the draft was created, one line per entry" example:"[\"option enable 1\", \"0: in ACCEPT proto tcp dport 22\"]"`
	After  []string `json:"after" doc:"The scope after the changes"`
	Diff   []string `json:"diff" doc:"Removed lines with a minus, added lines with a plus" example:"[\"+ in DROP proto tcp dport 23\"]"`
}

// Draft is a draft as the API shows it.
type Draft struct {
	ID          int64          `json:"id" example:"3"`
	Name        string         `json:"name" example:"close telnet"`
	HostID      int64          `json:"host_id" example:"1"`
	ClusterID   int64          `json:"cluster_id" example:"1"`
	Status      string         `json:"status" enum:"open,committing,waiting,undoing,applied,undone,unknown" doc:"open and undone: can be changed and committed; waiting: the changes are active and are rolled back at the deadline unless confirmed; applied: the changes are permanent; unknown: another user made changes in the meantime; outcome describes the state"`
	Version     int64          `json:"version" minimum:"1" example:"1" doc:"Send it with a change; 409 digest_conflict if it is out of date"`
	Role        string         `json:"role" enum:"operator,admin" doc:"Role required to change, commit and confirm the draft: the highest role that any of its scopes requires"`
	Changes     []Change       `json:"changes"`
	Scopes      []ChangedScope `json:"scopes"`
	JobID       *int64         `json:"job_id" example:"12" doc:"Last job that applied or reverted the draft"`
	Window      *int           `json:"window_seconds" example:"60" doc:"Seconds that the draft waits for confirmation; null before it was committed"`
	Deadline    *time.Time     `json:"deadline" doc:"When the changes are rolled back; null if the draft is not waiting for confirmation"`
	ConfirmedBy *string        `json:"confirmed_by" example:"ann@example.com"`
	Outcome     *string        `json:"outcome" doc:"Result of its last job"`
	CreatedBy   string         `json:"created_by" example:"ann@example.com"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
}

// text returns nil for an empty text.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// show returns the draft for the API.
func (r *record) show() Draft {
	d := Draft{ID: r.ID, Name: r.Name, HostID: r.HostID, ClusterID: r.ClusterID, Status: r.Status, Version: r.Version, Role: r.Role,
		Changes: r.Changes, Scopes: []ChangedScope{}, JobID: r.JobID, Window: r.Window, Deadline: r.Deadline, ConfirmedBy: text(r.ConfirmedBy),
		Outcome: text(r.Outcome), CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
	if r.Deadline != nil {
		d.Deadline = new(r.Deadline.UTC())
	}
	if d.Changes == nil {
		d.Changes = []Change{}
	}
	for i := range r.Scopes {
		s := &r.Scopes[i]
		shown := ChangedScope{Kind: s.Kind, Name: s.Name, Digest: text(host.Clean(s.Before.Digests.Rules)), Before: Text(s.Before),
			After: Text(s.After), Diff: differences(s.Before, s.After)}
		if shown.Diff == nil {
			shown.Diff = []string{}
		}
		if s.ID != 0 {
			shown.ID = &s.ID
		}
		d.Scopes = append(d.Scopes, shown)
	}
	return d
}
