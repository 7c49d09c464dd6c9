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

// On says what an operation acts on, and thereby where the caller must have the
// role.
type On int

const (
	// Instance means that the caller must have the role in the default team.
	Instance On = iota
	// Anywhere means that the highest role in any team suffices. The handler
	// filters by Caller.Visible.
	Anywhere
	// Host, VM, App, Job, Backup, Draft, Channel, Alert, Recording and Entry
	// (of the audit log) mean that the caller must have the role on the thing
	// that the path names with the parameter host_id, vm_id, app_id, job_id,
	// backup_id, draft_id, channel_id, alert_id, recording_id or entry_id. The
	// handler gets the thing from ResourceOf; its input needs no field for the
	// parameter.
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
	// Node means that the caller must have the role on the host of host_id.
	// ResourceOf also has the name of the node in the parameter node. The handler
	// finds out whether the node exists.
	Node
	// Group is like Node, for a security group of the host's cluster in the
	// parameter group.
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

// String returns the name of o in the OpenAPI document.
func (o On) String() string { return onNames[o] }

// param returns the path parameter with the ID of the object; "" if the
// operation is on none.
func (o On) param() string {
	switch {
	case o < Host:
		return ""
	case o == Node || o == Group:
		return Host.param()
	}
	return onNames[o] + "_id"
}

// params returns all path parameters from which ResourceOf takes the object.
func (o On) params() []string {
	if o == Node || o == Group {
		return []string{o.param(), o.String()}
	}
	return []string{o.param()}
}

// resolved returns the kind of object that the Resolver is asked for.
func (o On) resolved() On {
	if o == Node || o == Group {
		return Host
	}
	return o
}

// Audit says how an operation appears in the audit log.
type Audit struct {
	// Action is the action, such as "vm.start". A path parameter in braces is
	// replaced by its value, as in "vm.{action}".
	Action string
	// Target is the path parameter that names the target, if the object that
	// the operation is On does not, or not alone; "" for none.
	Target string
	// End is the action of a second entry at the end of a socket, with the
	// details that its handler has added until then; "" for none.
	End string
}

// Spec is the declaration of an operation, except its path and its types.
type Spec struct {
	// ID is unique and stable, because clients are generated from it.
	ID, Summary, Description, Tag string
	// Aliases are further paths of the same operation.
	Aliases []Alias
	// Public operations need no caller: log-in and setup, for example.
	Public bool
	// Role is the lowest role that may call the operation. NoRole admits every
	// caller who is logged in; only operations on the caller's own account have
	// it.
	Role identity.Role
	On   On
	// Job is the kind of the jobs that the operation creates, by which Retry
	// finds it. "" means the action of its audit entry, or none.
	Job string
	// Status is the status of a success; 0 means 200, or 204 if the output has
	// no body.
	Status int
	Audit  Audit
	// Entitlement is the feature that must be enabled; "" for none.
	Entitlement string
	// Needs is the capability for which the host of the object must have a
	// token; "" for none. Without the token the request is refused before the
	// handler, with 409 capability_missing, or 501 unsupported if the host's
	// driver does not have the capability.
	Needs endpoint.Capability
	// Confirm says whether the caller must confirm the operation. It is only
	// for the OpenAPI document; the handler checks the confirmation.
	Confirm Confirm
	// Plan says that the query parameter plan=true answers 200 with what would
	// happen. The input must embed PlanParams.
	Plan bool
	// Scope is the resource of an API key's scope; by default the first segment
	// after /api/v1. GET needs "read" or "<scope>:write", every other method
	// "<scope>:write".
	Scope string
	// Personal marks a GET of data about a person instead of what the service
	// manages. An API key needs "<scope>:write" for it, because "read" is given
	// to monitoring programs.
	Personal bool
	// ReadOnly marks a method other than GET that changes nothing, such as a
	// test. Its key scope is "read", unless Calls is set: a key that may only
	// read must not make the service connect to addresses.
	ReadOnly bool
	// Calls marks an operation that contacts the hypervisor before it answers
	// and fails with it. 501, 502, 503 and 504 are among its responses.
	Calls bool
	// Never504 marks one of these that reports a timeout of the hypervisor as
	// 502.
	Never504 bool
	// Unsupported marks an operation that does not contact the hypervisor and
	// is 501 if the driver lacks an ability.
	Unsupported bool
	// Faults returns further faults of a body, which are reported together with
	// those of the schema. The body is well-formed JSON, but need not match the
	// schema. nil for operations whose schema is sufficient.
	Faults func(body []byte) []problem.Fault
	// MaxBody is the maximum size of the body in bytes; 0 means 1 MiB. For an
	// upload it limits the file, for a socket a message.
	MaxBody int64
	// Timeout is how long the handler may take. 0 means 60 s, and an hour for a
	// download or an upload. Streams and sockets have no limit, and neither has
	// an upload with Unlimited.
	Timeout time.Duration
	// Idle is how long an upload or a socket may transfer nothing.
	Idle time.Duration
	// Rate is the minimum speed of an upload in bytes per second, measured over
	// each Idle; 0 for no minimum.
	Rate int64
	// Form describes the parts of an upload whose media type is multipart/form-data.
	Form []FormPart
	// Messages is how many messages a socket accepts from its client at once;
	// after that it accepts a tenth of it per second. 0 means 10,000.
	Messages int
	// Replay builds the body of a success again from the stored result of the
	// change, for a request with an Idempotency-Key whose response was lost. An
	// operation that creates a job or an object must have it, and thereby
	// accepts such keys; see serveIdempotent.
	Replay func(ctx context.Context, made idempotency.Result) (any, error)
	// Secret says that the body of the response contains a secret. Such a
	// response is never compressed.
	Secret bool
	// Content are the media types of a download or an upload.
	Content []string
}

// Unlimited is the Timeout of an upload that may take any time as long as data
// arrives.
const Unlimited time.Duration = -1

// FormPart is a part of a form. The part with the Type "file" is the file.
type FormPart struct {
	Name string
	// Type is "string", "boolean" or "file".
	Type     string
	Required bool
	Doc      string
	Example  any
}

// Confirm says when the caller must confirm an operation, and by which phrase.
// Exactly one of Field and Phrase is set.
type Confirm struct {
	When Confirmation
	// Field is the field of the object whose value is the phrase, such as name.
	// Phrase is a constant phrase.
	Field, Phrase string
}

// Confirmation says when an operation must be confirmed.
type Confirmation string

// The zero value means never.
const (
	// ConfirmAlways means that every caller must confirm, otherwise 409
	// confirm_required.
	ConfirmAlways Confirmation = "always"
	// ConfirmSelf means that the caller must confirm only what would take away
	// the guest in which the service runs, otherwise 409 self_target.
	ConfirmSelf Confirmation = "self"
)

// Alias is another path of an operation. It has its own ID, because the IDs in
// an OpenAPI document must be unique.
type Alias struct{ Path, ID string }

// Body is the usual output: a JSON body.
type Body[T any] struct{ Body T }

// List is the output of a list; a nil slice is written as [].
type List[T any] struct {
	Total int `header:"X-Total-Count" doc:"Total number of entries on all pages"`
	Body  []T
}

// fill makes the body of an empty list [] instead of null.
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

// Offset returns the number of entries before the page, at most 500 million.
func (p Page) Offset() int { return (p.Page - 1) * p.PerPage }

// Limit returns the number of entries on the page.
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
