// Package jobs is the HTTP resource of jobs. Its operations list and get jobs,
// read or stream the transcript of a job, cancel a job and retry it. Jobs are
// created by the operations of the other resources; package job runs them.
package jobs

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Deps has what the operations of this package need.
type Deps struct {
	Queue *job.Queue
	Hosts host.Opener
}

type handlers struct {
	queue *job.Queue
	hosts host.Opener
}

const tag = "Jobs"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps.Queue, deps.Hosts}
	op.Get(a, "/api/v1/jobs", h.list, op.Spec{
		ID: "list_jobs", Summary: "List jobs", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Lists the jobs on hosts that the caller can see, newest first. Filters are combined with AND.",
	})
	op.Get(a, "/api/v1/jobs/:job_id", h.get, op.Spec{
		ID: "get_job", Summary: "Get a job", Tag: tag, Role: identity.Viewer, On: op.Job,
		Description: "Returns the current state of the job; its transcript is at `events`.",
	})
	op.Get(a, "/api/v1/jobs/:job_id/events", h.events, op.Spec{
		ID: "list_job_events", Summary: "Get the transcript of a job", Tag: tag, Role: identity.Viewer, On: op.Job,
		Description: "Returns the lines of the hypervisor's task log, messages of the service and changes of the job's " +
			"status, in order. Events are numbered from 1 without gaps: to continue, set `after` to the last number " +
			"that you received.",
	})
	op.Stream(a, "/api/v1/jobs/:job_id/events/stream", h.stream, op.Spec{
		ID: "stream_job_events", Summary: "Stream the transcript of a job", Tag: tag, Role: identity.Viewer, On: op.Job,
		Description: "Sends existing events and then each new one as Server-Sent Events. The ID of an event is its " +
			"number, its name is its kind (`log`, `note`, `status`), and its data is the event as in the list. When " +
			"the job has ended, an event `end` contains the job, and the stream ends. A client that reconnects with " +
			"`Last-Event-ID` misses nothing and gets nothing twice. A stream ends after 30 minutes; without an event " +
			"`end` the job is still running, and the client should reconnect.",
	})
	op.Retry[retryInput, retryResult](a, "/api/v1/jobs/:job_id/retry", h.retry, op.Spec{
		ID: "retry_job", Summary: "Retry a job", Tag: tag, Role: identity.Operator, On: op.Job, Calls: true,
		Status: http.StatusAccepted, Confirm: op.Confirm{When: op.ConfirmSelf, Field: "target.name"},
		Description: "Repeats the request that created the job, as you, with your rights and all checks, and " +
			"returns its response. A request that requires confirmation needs `confirm` again. 409 `invalid_state` " +
			"for a job that has not ended, a job that cannot be requested, and the job of an upload, because its " +
			"file is not kept. The same applies to a job with an unknown result whose task is still running on the " +
			"hypervisor: wait until the task ends, then check its result.",
	})
	op.Post(a, "/api/v1/jobs/:job_id/cancel", h.cancel, op.Spec{
		ID: "cancel_job", Summary: "Cancel a job", Tag: tag, Role: identity.Operator, On: op.Job, Status: http.StatusAccepted,
		Audit: op.Audit{Action: "job.cancel"}, Replay: h.wasCanceled,
		Description: "Cancels a queued job at once. For a running job, the task on the hypervisor is stopped, too. The " +
			"job ends as `canceled` when the task has stopped, or as `succeeded` if the task finished before it could " +
			"be stopped. A job that has ended is 409 `job_finished`.",
	})
}

type listInput struct {
	op.Page
	Status string  `query:"status" enum:"queued,running,succeeded,failed,canceled,unknown" doc:"Only jobs with this status"`
	Kind   string  `query:"kind" maxLength:"64" example:"vm.start" doc:"Only jobs of this kind"`
	Target string  `query:"target" maxLength:"64" pattern:"^[a-z_]{1,32}:[0-9]{1,18}$" patternDescription:"a kind and an id such as vm:3" example:"vm:3" doc:"Only jobs on this object; a job that restores a backup over a guest counts for both"`
	Host   int64   `query:"host" minimum:"1" doc:"Only jobs that use this host"`
	IDs    []int64 `query:"ids" maxItems:"500" example:"[57,58]" doc:"Only jobs with these IDs, separated by commas, such as those of one request"`
}

func (h handlers) list(ctx context.Context, in *listInput) (*op.List[job.View], error) {
	filter := job.Filter{Status: job.Status(in.Status), Kind: in.Kind, HostID: in.Host, IDs: in.IDs, Page: in.Page.Page, PerPage: in.PerPage}
	if kind, id, ok := strings.Cut(in.Target, ":"); ok {
		filter.TargetKind = kind
		filter.TargetID, _ = strconv.ParseInt(id, 10, 64) // the pattern lets nothing else through
	}
	found, total, err := h.queue.List(ctx, filter, identity.FromContext(ctx).Visible())
	if err != nil {
		return nil, err
	}
	views := make([]job.View, 0, len(found))
	for _, j := range found {
		views = append(views, j.View())
	}
	return &op.List[job.View]{Total: int(total), Body: views}, nil
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[job.View], error) {
	j, err := h.queue.Get(ctx, op.ResourceOf(ctx).ID, identity.FromContext(ctx).Visible())
	if err != nil {
		return nil, err
	}
	return &op.Body[job.View]{Body: j.View()}, nil
}

type retryInput struct {
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the target, if a confirmation is required"`
	}
}

// retryResult has the fields that the answers of all operations which create
// jobs have in common.
type retryResult struct {
	Job  *job.View  `json:"job,omitempty" doc:"The new job; absent if the operation returns several"`
	Jobs []job.View `json:"jobs,omitempty" doc:"The new jobs of an operation that returns several"`
	_    struct{}   `additionalProperties:"true"`
}

func (h handlers) retry(ctx context.Context, in *retryInput) (op.RetryRequest, error) {
	j, err := h.queue.Get(ctx, op.ResourceOf(ctx).ID, identity.FromContext(ctx).Visible())
	if err != nil {
		return op.RetryRequest{}, err
	}
	if !j.Status.Finished() {
		return op.RetryRequest{}, problem.New(problem.CodeInvalidState, "the job has not ended yet")
	}
	if h.runsOn(ctx, j) {
		return op.RetryRequest{}, problem.New(problem.CodeInvalidState, "cannot retry job %d: its task %s is still running on the hypervisor; "+
			"wait until it ends, then check its result", j.ID, host.Clean(j.TaskID))
	}
	params := j.View().Params
	if in.Body != nil && in.Body.Confirm != nil {
		params["confirm"] = *in.Body.Confirm
	}
	return op.RetryRequest{Job: j.Kind, Target: j.Target.ID, Params: params}, nil
}

// askLimit is how long a host is asked whether a task runs, and askedTasks how many of its tasks are looked at.
const (
	askLimit   = 15 * time.Second
	askedTasks = 500
)

// runsOn reports whether the task of a job with an unknown result is still
// running on the hypervisor. If the host does not answer, the result is false:
// the repeated request meets the same host and fails there.
func (h handlers) runsOn(ctx context.Context, j *job.Job) bool {
	if j.Status != job.Unknown || j.TaskID == "" || j.HostID == nil || j.StartedAt == nil {
		return false
	}
	query := hypervisor.TaskQuery{Limit: askedTasks, Since: j.StartedAt.Add(-time.Hour)} // clocks differ
	found, err := host.CallWithTimeout(ctx, h.hosts, askLimit, *j.HostID, endpoint.Monitoring,
		func(ctx context.Context, at hypervisor.Host) (hypervisor.TaskList, error) {
			return at.Tasks(ctx, query)
		})
	return err == nil && slices.ContainsFunc(found.Tasks, func(t hypervisor.Task) bool {
		return t.ID == j.TaskID && t.Status == hypervisor.TaskRunning
	})
}

type cancelResult struct {
	Job job.View `json:"job"`
}

func (h handlers) cancel(ctx context.Context, _ *struct{}) (*op.Body[cancelResult], error) {
	j, err := h.queue.RequestCancel(ctx, op.ResourceOf(ctx).ID, identity.FromContext(ctx).Visible())
	if err != nil {
		return nil, err
	}
	return &op.Body[cancelResult]{Body: cancelResult{j.View()}}, nil
}

// wasCanceled rebuilds the answer of cancel for a repeated Idempotency-Key,
// with the current state of the job.
func (h handlers) wasCanceled(ctx context.Context, _ idempotency.Result) (any, error) {
	j, err := h.queue.Get(ctx, op.ResourceOf(ctx).ID, identity.FromContext(ctx).Visible())
	if err != nil {
		return nil, err
	}
	return cancelResult{j.View()}, nil
}
