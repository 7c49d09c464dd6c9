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

// registerInstalls declares what installs.
func (h handlers) registerInstalls(a *op.API, one string) {
	op.Post(a, one+"/install", h.install, op.Spec{
		ID: "install_catalog_entry", Summary: "Install an entry of the catalog", Tag: tag, Role: identity.Admin, On: op.Anywhere, Calls: true,
		Status: http.StatusAccepted, Audit: op.Audit{Action: install.Kind}, Recall: h.installed, Plan: true, Timeout: 5 * time.Minute,
		Description: "Runs the scripts of the entry as root on the machine of a host of which the caller is an admin, and makes an app of the " +
			"container that they make. Nothing runs without consent: `consent` with the `sum` of the bundle that was looked at in the plan of " +
			"the entry. It is kept with the caller's name, and is for these bytes on this host; without `sum` the caller must have agreed to " +
			"the same bundle there before. Else the answer is 409 `consent_required` with `sum` and the text in `consent`.\n\n" +
			"`overrides` are those of the entry, and nothing else can be set; what is secret among them, and `answers`, is sealed and never " +
			"shown. Where `storage`, `template_storage` and `bridge` are absent, the usual ones are taken, or the storage with most room. " +
			"`ctid` is a wish: scripts may take another number.\n\n" +
			"The job ends as succeeded only by evidence: the scripts have ended well, have asked nothing, say that they are done, and exactly " +
			"one running container has the tag that this job alone has. What a failed install has made is kept and tagged as failed, and the " +
			"job's error says how it is destroyed. One job runs scripts on a node at a time; others wait. A job that is canceled stops its " +
			"scripts.\n\n409 `invalid_state` with a `reason` where the entry cannot be installed there, and `ssh_not_enrolled` where the " +
			"service cannot log in to the machine.",
	})
}

// registerLeftovers declares what becomes of installs that have failed.
func (h handlers) registerLeftovers(a *op.API, all string) {
	op.Delete(a, all+"/installs/:job_id", h.discard, op.Spec{
		ID: "discard_install", Summary: "Destroy what a failed install has left", Tag: tag, Role: identity.Admin, On: op.Job,
		Calls: true, Job: guest.Discard.Kind,
		Status: http.StatusAccepted, Confirm: op.Confirm{When: op.ConfirmAlways, Field: "name"}, Plan: true,
		Audit: op.Audit{Action: guest.Discard.Kind},
		Description: "Answers with the job that stops and destroys the container which an install that failed, was canceled or has an unknown " +
			"end has made. It is found by the tag that the install alone has, as the hypervisor tells of it now, and is never an app. " +
			"`confirm` must be the container's name (409 `confirm_required`). Where several were made, each takes a request.\n\n409 " +
			"`invalid_state` for a job that is no install, has not ended, or has made an app, and where nothing is left.",
	})
}

type discardInput struct {
	op.Planned
	Body *struct {
		Confirm *string `json:"confirm,omitempty" nullable:"true" maxLength:"200" doc:"The container's name"`
	}
}

func (h handlers) discard(ctx context.Context, in *discardInput) (*op.Body[guest.Started], error) {
	var confirm *string
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	started, err := h.installs.Discard(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, h.guests, confirm)
	return &op.Body[guest.Started]{Body: started}, err
}

type installInput struct {
	Slugged
	op.Planned
	Body struct {
		HostID          int64      `json:"host_id" minimum:"1" example:"1" doc:"Id of the host on whose machine the scripts run"`
		Name            string     `json:"name" minLength:"1" maxLength:"63" example:"wiki" doc:"The app's and its container's: letters, digits and -, beginning and ending with a letter or digit"`
		Consent         bool       `json:"consent,omitempty" example:"true" doc:"The caller agrees that the bundle of sum runs as root on the host"`
		CTID            *int64     `json:"ctid,omitempty" nullable:"true" minimum:"1" maximum:"999999999" example:"105" doc:"The number that the container should have"`
		Overrides       *op.Object `json:"overrides,omitempty" example:"{\"cpu\":2}" doc:"Texts, whole numbers and booleans by key, as overrides of the entry describes them"`
		Sum             *string    `json:"sum,omitempty" nullable:"true" pattern:"^[0-9a-f]{64}$" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" doc:"Checksum of the bundle that consent is for, as the plan has it"`
		Storage         *string    `json:"storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"local-lvm" doc:"Storage for the container's disks"`
		TemplateStorage *string    `json:"template_storage,omitempty" nullable:"true" minLength:"1" maxLength:"100" example:"local" doc:"Storage for the template that it is made of"`
		Bridge          *string    `json:"bridge,omitempty" nullable:"true" minLength:"1" maxLength:"64" example:"vmbr0"`
		Answers         []string   `json:"answers,omitempty" nullable:"false" maxItems:"100" example:"[\"admin\"]" doc:"To the questions that the scripts ask, in order; what is not answered gets an empty line"`
		Yes             bool       `json:"yes,omitempty" doc:"Agree to what a script asks whether to go on with, where needs_yes of the entry is true"`
	}
}

func (h handlers) install(ctx context.Context, in *installInput) (*op.Body[guest.Started], error) {
	b := &in.Body
	found, err := schedule.Require(ctx, h.installs.DB, scope.Host, b.HostID, identity.Admin)
	if err != nil {
		return nil, err
	}
	order := install.Order{Path: in.Slug, HostID: b.HostID, Name: b.Name, CTID: b.CTID, Consent: b.Consent, Sum: b.Sum, Storage: b.Storage,
		TemplateStorage: b.TemplateStorage, Bridge: b.Bridge, Answers: b.Answers, Yes: b.Yes}
	if b.Overrides != nil {
		if order.Overrides, err = settings(*b.Overrides); err != nil {
			return nil, err
		}
	}
	started, err := h.installs.Ask(ctx, found.TeamID, order)
	return &op.Body[guest.Started]{Body: started}, err
}

// settings are the texts of an object of texts, numbers and booleans. No value is repeated: it may be a secret.
func settings(given op.Object) (map[string]string, error) {
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(given))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, problem.InvalidField("must be an object", "value_error", "body", "overrides")
	}
	if len(values) > 200 {
		return nil, problem.InvalidField("there are more than 200 values", "value_error", "body", "overrides")
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
			return nil, problem.InvalidField("a value is a text, a whole number or a boolean; one that was secret must be given again",
				"value_error", "body", "overrides", key)
		}
	}
	return all, nil
}

// installed makes the answer of a request again, with its job as it is now.
func (h handlers) installed(ctx context.Context, made idempotency.Made) (any, error) {
	return h.installs.Actor.Started(ctx, made.JobID, false)
}
