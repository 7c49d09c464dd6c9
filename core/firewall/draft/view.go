package draft

import (
	"time"

	"github.com/hostler/hostler/core/host"
)

// Changed is one scope of a draft, as the API shows it.
type Changed struct {
	Kind   string   `json:"kind" enum:"cluster,node,vm,app,group"`
	ID     *int64   `json:"id" example:"12" doc:"Id of the VM or the app; null for others"`
	Name   string   `json:"name" example:"web1" doc:"Name of the VM, the app, the node or the group; of the cluster its own"`
	Digest *string  `json:"digest" example:"da39a3ee5e6b4b0d3255bfef95601890afd80709" doc:"Of the rules before; null where the hypervisor has none"`
	Before []string `json:"before" doc:"The scope as it was when the draft was made, a line each" example:"[\"option enable 1\", \"0: in ACCEPT proto tcp dport 22\"]"`
	After  []string `json:"after" doc:"The scope as it will be"`
	Diff   []string `json:"diff" doc:"Lines that go, with a minus, and lines that come, with a plus" example:"[\"+ in DROP proto tcp dport 23\"]"`
}

// Draft is a draft as the API shows it.
type Draft struct {
	ID          int64      `json:"id" example:"3"`
	Name        string     `json:"name" example:"close telnet"`
	HostID      int64      `json:"host_id" example:"1"`
	ClusterID   int64      `json:"cluster_id" example:"1"`
	Status      string     `json:"status" enum:"open,committing,waiting,undoing,applied,undone,unknown" doc:"open and undone: it can be changed and committed; waiting: its changes are made, and put back at the deadline unless they are confirmed; applied: they stay; unknown: somebody else has changed something in between, outcome says what stands"`
	Version     int64      `json:"version" minimum:"1" example:"1" doc:"Send it with a change: 409 digest_conflict once it is another"`
	Role        string     `json:"role" enum:"operator,admin" doc:"The least role of who may change, commit and confirm it: the highest that one of its scopes needs"`
	Changes     []Change   `json:"changes"`
	Scopes      []Changed  `json:"scopes"`
	JobID       *int64     `json:"job_id" example:"12" doc:"The job that carries it out, or did so last"`
	Window      *int       `json:"window_seconds" example:"60" doc:"How long it waits to be confirmed; null before it was committed"`
	Deadline    *time.Time `json:"deadline" doc:"When its changes are put back; null while it does not wait"`
	ConfirmedBy *string    `json:"confirmed_by" example:"ann@example.com"`
	Outcome     *string    `json:"outcome" doc:"How its last job ended"`
	CreatedBy   string     `json:"created_by" example:"ann@example.com"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
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
		Changes: r.Changes, Scopes: []Changed{}, JobID: r.JobID, Window: r.Window, Deadline: r.Deadline, ConfirmedBy: text(r.ConfirmedBy),
		Outcome: text(r.Outcome), CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
	if r.Deadline != nil {
		d.Deadline = new(r.Deadline.UTC())
	}
	if d.Changes == nil {
		d.Changes = []Change{}
	}
	for i := range r.Scopes {
		s := &r.Scopes[i]
		shown := Changed{Kind: s.Kind, Name: s.Name, Digest: text(host.Clean(s.Before.Digests.Rules)), Before: Text(s.Before),
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
