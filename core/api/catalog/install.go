package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/install"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/schedule"
	"github.com/hostler/hostler/core/scope"
)

// registerInstalls declares the operation that installs an entry.
func (h handlers) registerInstalls(a *op.API, one string) {
	op.Post(a, one+"/install", h.install, op.Spec{
		ID: "install_catalog_entry", Summary: "Install a catalog entry", Tag: tag, Role: identity.Admin, On: op.Anywhere, Calls: true,
		Status: http.StatusAccepted, Audit: op.Audit{Action: install.Kind}, Replay: h.installed, Plan: true, Timeout: 5 * time.Minute,
		Description: "Runs the scripts of the entry as root on a host of which the caller is an admin, and creates an " +
			"app from the container that they create. Nothing runs without consent: send `consent` with the `sum` of " +
			"the bundle that you reviewed in the plan of the entry. The consent is stored with your name and applies " +
			"to these bytes on this host; without `sum`, you must have consented to the same bundle there before. " +
			"Otherwise the response is 409 `consent_required` with `sum` and the text in `consent`.\n\n" +
			"`overrides` can set only what the entry lists in `overrides`. Secrets in them, and `answers`, are " +
			"encrypted and never shown. If `storage`, `template_storage` or `bridge` is absent, the usual one is used, " +
			"or the storage with the most free space. `ctid` is a preference: scripts may use another VMID.\n\n" +
			"The job succeeds only with proof: the scripts exited successfully, asked no questions and reported " +
			"completion, and exactly one running container has the tag of this job. The container of a failed " +
			"installation is kept and tagged as failed, and the error of the job says how to destroy it. Only one job " +
			"at a time runs scripts on a node; others wait. Canceling the job stops its scripts.\n\n" +
			"409 `invalid_state` with a `reason` if the entry cannot be installed there, and `ssh_not_enrolled` " +
			"without SSH access to the host.",
	})
}

// registerLeftovers declares the operation that destroys the container of a
// failed installation.
func (h handlers) registerLeftovers(a *op.API, all string) {
	op.Delete(a, all+"/installs/:job_id", h.discard, op.Spec{
		ID: "discard_install", Summary: "Destroy the container of a failed installation", Tag: tag, Role: identity.Admin, On: op.Job,
		Calls: true, Job: guest.Discard.Kind,
		Status: http.StatusAccepted, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Audit: op.Audit{Action: guest.Discard.Kind},
		Description: "Starts a job that stops and destroys the container of an installation that failed, was canceled " +
			"or has an unknown result. The container is found by the tag of that installation in the current data of " +
			"the hypervisor, and is never an app. `confirm` must be the name of the container (409 " +
			"`confirm_required`). If there are several containers, send a request for each.\n\n" +
			"409 `invalid_state` for a job that is not an installation, has not ended, or has created an app, and if " +
			"no container is left.",
	})
}

type discardInput struct {
	op.PlanParams
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"Name of the container"`
	}
}

func (h handlers) discard(ctx context.Context, in *discardInput) (*op.Body[guest.StartResult], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	started, err := h.installs.Discard(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, h.guests, confirm)
	return &op.Body[guest.StartResult]{Body: started}, err
}

type installInput struct {
	EntryPath
	op.PlanParams
	Body struct {
		HostID          int64      `json:"host_id" minimum:"1" example:"1" doc:"ID of the host on which the scripts run"`
		Name            string     `json:"name" minLength:"1" maxLength:"63" example:"wiki" doc:"Name of the app and its container: letters, digits and -, starting and ending with a letter or digit"`
		Consent         bool       `json:"consent,omitempty" example:"true" doc:"Consent to running the bundle in sum as root on the host"`
		CTID            *int64     `json:"ctid,omitempty" nullable:"true" minimum:"1" maximum:"999999999" example:"105" doc:"Preferred VMID of the container"`
		Overrides       *op.Object `json:"overrides,omitempty" example:"{\"cpu\":2}" doc:"Texts, integers and booleans by key, as described in overrides of the entry"`
		Sum             *string    `json:"sum,omitempty" nullable:"true" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"SHA-256 of the bundle to consent to, as in the plan"`
		Storage         *string    `json:"storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"local-lvm" doc:"Storage for the disks of the container"`
		TemplateStorage *string    `json:"template_storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"local" doc:"Storage for the container template"`
		Bridge          *string    `json:"bridge,omitempty" nullable:"true" minLength:"1" maxLength:"64" example:"vmbr0" doc:"Bridge for the NIC of the container"`
		Answers         []string   `json:"answers,omitempty" nullable:"false" maxItems:"100" example:"[\"admin\"]" doc:"Answers to the questions of the scripts, in order; other questions get an empty line"`
		Yes             bool       `json:"yes,omitempty" doc:"Accept the consent question of a script; required if needs_yes of the entry is true"`
	}
}

func (h handlers) install(ctx context.Context, in *installInput) (*op.Body[guest.StartResult], error) {
	b := &in.Body
	found, err := schedule.Require(ctx, h.installs.DB, scope.Host, b.HostID, identity.Admin)
	if err != nil {
		return nil, err
	}
	order := install.Request{Path: in.Slug, HostID: b.HostID, Name: b.Name, CTID: b.CTID, Consent: b.Consent, Sum: b.Sum, Storage: b.Storage,
		TemplateStorage: b.TemplateStorage, Bridge: b.Bridge, Answers: b.Answers, Yes: b.Yes}
	if b.Overrides != nil {
		if order.Overrides, err = settings(*b.Overrides); err != nil {
			return nil, err
		}
	}
	started, err := h.installs.Install(ctx, found.TeamID, order)
	return &op.Body[guest.StartResult]{Body: started}, err
}

// settings returns the settings of an installation as text. Each value is a
// string, number or boolean. A fault does not repeat the value, which may be a
// secret.
func settings(given op.Object) (map[string]string, error) {
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(given))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, problem.InvalidField("must be an object", "value_error", "body", "overrides")
	}
	if len(values) > 200 {
		return nil, problem.InvalidField("must have at most 200 values", "value_error", "body", "overrides")
	}
	all := make(map[string]string, len(values))
	for key, value := range values {
		switch v := value.(type) {
		case string:
			all[key] = v
		case json.Number:
			all[key] = v.String()
		case bool:
			all[key] = "false"
			if v {
				all[key] = "true"
			}
		default:
			return nil, problem.InvalidField("a value must be a string, a whole number or a boolean; secrets must be sent again",
				"value_error", "body", "overrides", key)
		}
	}
	return all, nil
}

// installed rebuilds the answer of an operation that started a job, for a
// repeated Idempotency-Key, with the current state of the job.
func (h handlers) installed(ctx context.Context, made idempotency.Result) (any, error) {
	return h.installs.Actor.StartResult(ctx, made.JobID, false)
}
