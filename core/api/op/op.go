package op

import (
	"context"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// On says what an operation acts on, and so where its role must be held.
type On int

const (
	// Instance: the role must be held in the default team.
	Instance On = iota
	// Anywhere: the highest role in any team suffices; the handler filters by Caller.Visible.
	Anywhere
	// Host, VM, App, Job, Backup, Draft, Channel, Alert, Recording and Entry
	// (of the audit trail): the role must be held on the thing named by the
	// path parameter host_id, vm_id, app_id, job_id, backup_id, draft_id,
	// channel_id, alert_id, recording_id, entry_id. The handler asks ResourceOf for
	// it; its input needs no field for the parameter.
	Host
	VM
	App
	Job
	Backup
	Draft
	Channel
	Alert
	Recording
	Entry
	// Node: the role must be held on the host of host_id, and ResourceOf has the
	// name of the node of the parameter node. Whether there is such a node is
	// the handler's to find out.
	Node
	// Group is Node for a security group of the host's cluster, of the parameter group.
	Group
)

// nodeParam and groupParam are the path parameters that name a node and a security group.
const (
	nodeParam  = "node"
	groupParam = "group"
)

// onNames are the names of On in the OpenAPI document and in path parameters.
var onNames = [...]string{Instance: "instance", Anywhere: "anywhere", Host: "host", VM: "vm", App: "app", Job: "job", Backup: "backup",
	Draft: "draft", Channel: "channel", Alert: "alert", Recording: "recording", Entry: "entry",
	Node: "node", Group: "group"}

// String returns the name.
func (o On) String() string { return onNames[o] }

// param is the path parameter that names the thing; "" when the operation is on none.
func (o On) param() string {
	switch {
	case o < Host:
		return ""
	case o == Node || o == Group:
		return Host.param()
	}
	return onNames[o] + "_id"
}

// params are all path parameters of which ResourceOf holds the thing.
func (o On) params() []string {
	if o == Node || o == Group {
		return []string{o.param(), o.String()}
	}
	return []string{o.param()}
}

// resolved is what the Resolver is asked for.
func (o On) resolved() On {
	if o == Node || o == Group {
		return Host
	}
	return o
}

// Audit says how an operation enters the trail.
type Audit struct {
	// Action such as "vm.start"; a path parameter in braces is replaced by its
	// value: "vm.{action}".
	Action string
	// Target is the path parameter that names the target, where the thing that
	// the operation is On does not, or not alone; "" for none.
	Target string
	// End is the action of a second row that tells of the end of a socket, with
	// what its handler has described until then; "" for none.
	End string
}

// Spec is what is declared of an operation besides its path and its types.
type Spec struct {
	// ID is unique and stable: clients are generated from it.
	ID, Summary, Description, Tag string
	// Aliases are further paths at which the same operation answers in the same way.
	Aliases []Alias
	// Public operations need no caller: log-in and setup.
	Public bool
	// Role is the least role. NoRole admits everyone who is logged in; only
	// operations on one's own account have that.
	Role identity.Role
	On   On
	// Job is the kind of the jobs that it makes, by which it is asked again; ""
	// for the action of its audit row, or for none.
	Job string
	// Status of success; 200, or 204 when the output has no body.
	Status int
	Audit  Audit
	// Entitlement is the feature flag that must be on; "" for none.
	Entitlement string
	// Needs is the capability that the host of what the operation is On must
	// have a token for; "" for none. Without the token the request is 409
	// capability_missing, before the handler, or 501 unsupported where the
	// host's driver has no such capability.
	Needs endpoint.Capability
	// Confirm says whether the caller confirms the operation, for the document: the handler asks.
	Confirm Confirm
	// Plan says that the query parameter plan=true answers 200 with what would
	// happen. The input embeds PlanParams.
	Plan bool
	// Scope is the resource of an API key's scope; by default the first segment
	// after /api/v1. GET needs "read" or "<scope>:write", every other method
	// "<scope>:write".
	Scope string
	// Personal marks a GET of what concerns a person and not what the service
	// manages. An API key needs "<scope>:write" for it: "read" is given to
	// programs that watch.
	Personal bool
	// ReadOnly marks a method other than GET that changes nothing (probe, token
	// script). Its key scope is "read", unless it Calls: a key that may only
	// read must not make the service dial addresses.
	ReadOnly bool
	// Calls marks an operation that calls the hypervisor before it answers and
	// fails with it: 501, 502, 503 and 504 are among its answers.
	Calls bool
	// Never504 marks one of these that tells of what does not come in time by 502.
	Never504 bool
	// Unsupported marks an operation that does not call the hypervisor and is
	// 501 where the driver lacks an ability.
	Unsupported bool
	// Faults names what else is wrong with a body, so that it is told together
	// with what the schema finds. It is given a body of well-formed JSON that
	// need not fit the schema. Nil for operations whose schema says all.
	Faults func(body []byte) []problem.Fault
	// MaxBody in bytes; 1 MiB when zero. Of an upload it is the file's, of a socket a message's.
	MaxBody int64
	// Timeout is how long the handler may take; 60 s when zero, and an hour for
	// a download or an upload. Streams and sockets have none, and neither has
	// an upload whose Timeout is Unlimited.
	Timeout time.Duration
	// Idle is how long an upload or a socket may stand still.
	Idle time.Duration
	// Rate is the least of an upload that must arrive, in bytes a second,
	// measured over each Idle; zero for no such limit.
	Rate int64
	// Form describes the parts of an upload whose media type is multipart/form-data.
	Form []FormPart
	// Messages is how many messages a socket takes from its client at once, and
	// a tenth of it how many more in each second thereafter; 10,000 when zero.
	Messages int
	// Replay makes the body of a success again from what is known of the
	// change, for a request with an Idempotency-Key whose answer was lost. An
	// operation that makes a job or a thing has it, and with it takes such
	// keys; see serveIdempotent.
	Replay func(ctx context.Context, made idempotency.Result) (any, error)
	// Secret says that the answer's body holds a secret: it is never compressed.
	Secret bool
	// Content are the media types of a download or an upload.
	Content []string
}

// Unlimited is the Timeout of an upload that may take as long as it moves.
const Unlimited time.Duration = -1

// FormPart is a part of a form. The one whose Type is "file" is the file.
type FormPart struct {
	Name string
	// Type is "string", "boolean" or "file".
	Type     string
	Required bool
	Doc      string
	Example  any
}

// Confirm says when the caller confirms an operation, and by which phrase.
type Confirm struct {
	When Confirmation
	// Field is the field of the thing whose value is the phrase, such as name.
	// Phrase is one that is always the same.
	Field, Phrase string
}

// Confirmation says when an operation asks to be confirmed.
type Confirmation string

// The zero value means never.
const (
	// ConfirmAlways: every caller confirms, else 409 confirm_required.
	ConfirmAlways Confirmation = "always"
	// ConfirmSelf: only what takes away the guest that the service itself runs
	// in is confirmed, else 409 self_target.
	ConfirmSelf Confirmation = "self"
)

// Alias is another path of an operation, with an ID of its own because no two
// operations of the document may share one.
type Alias struct{ Path, ID string }

// Body is the usual output: a JSON body.
type Body[T any] struct{ Body T }

// List is the output of a list; a nil slice is written as [].
type List[T any] struct {
	Total int `header:"X-Total-Count" doc:"Total number of entries on all pages"`
	Body  []T
}

// fill makes the list of an empty answer [] and not null.
func (l *List[T]) fill() {
	if l.Body == nil {
		l.Body = []T{}
	}
}

// Empty is the output of an operation that answers 204.
type Empty struct{}

// Page is embedded into the input of lists that can grow without bound.
type Page struct {
	Page    int `query:"page" default:"1" minimum:"1" maximum:"1000000" doc:"Page number, from 1"`
	PerPage int `query:"per_page" default:"50" minimum:"1" maximum:"500" doc:"Entries per page"`
}

// Offset is the number of entries before the page; at most 500 million.
func (p Page) Offset() int { return (p.Page - 1) * p.PerPage }

// Limit is the number of entries on the page.
func (p Page) Limit() int { return p.PerPage }

// Get declares an operation that reads.
func Get[I, O any](a *API, path string, handler func(context.Context, *I) (*O, error), spec Spec) {
	register(a, http.MethodGet, path, handler, spec)
}

// Post declares an operation that creates or acts.
func Post[I, O any](a *API, path string, handler func(context.Context, *I) (*O, error), spec Spec) {
	register(a, http.MethodPost, path, handler, spec)
}

// Put declares an operation that replaces.
func Put[I, O any](a *API, path string, handler func(context.Context, *I) (*O, error), spec Spec) {
	register(a, http.MethodPut, path, handler, spec)
}

// Patch declares an operation that changes some fields; its body's fields are Optional.
func Patch[I, O any](a *API, path string, handler func(context.Context, *I) (*O, error), spec Spec) {
	register(a, http.MethodPatch, path, handler, spec)
}

// Delete declares an operation that removes.
func Delete[I, O any](a *API, path string, handler func(context.Context, *I) (*O, error), spec Spec) {
	register(a, http.MethodDelete, path, handler, spec)
}
