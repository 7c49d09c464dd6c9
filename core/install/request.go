package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/catalog"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Request is an install as it is asked for; nil takes what is usual.
type Request struct {
	// Path is how people name the entry.
	Path   string
	HostID int64
	// Name is the app's and its container's.
	Name string
	CTID *int64
	// Consent says that the caller agrees that the bundle with the checksum Sum runs on the host. Without a Sum it is the bundle of the
	// catalog's present state, where the same person has agreed to exactly that one there before.
	Consent bool
	Sum     *string
	// Storage is for the container's disks, and TemplateStorage for the template that it is made of.
	Storage, TemplateStorage, Bridge *string
	// Overrides are by key of the entry's, as texts.
	Overrides map[string]string
	// Answers are for the questions of the scripts, in order, and Yes agrees to what a script asks whether to go on with.
	Answers []string
	Yes     bool
}

// uname bounds the question for the architecture of a machine.
const uname = 20 * time.Second

// architectures are those of machines, by the kernel's word.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// request is an order on its way to a job.
type request struct {
	*Store
	Request
	teamID int64
	offer  *catalog.Offer
	place  *guest.ContainerPlace
	launch sdk.Launch
	mark   string
	// template says what the container is made of; empty where nobody can tell.
	template string
}

// Install asks for an install on a host of the team. Problems: not_found; invalid_state for an entry that cannot be installed, and where
// the node of the host is not known; invalid for values that do not fit; those of host.RequireSSH; consent_required with what is to be
// agreed to; catalog_source_error; those of host.Call and host.OnNode; plan_stale.
func (s *Store) Install(ctx context.Context, teamID int64, order Request) (guest.StartResult, error) {
	r := &request{Store: s, Request: order, teamID: teamID, mark: newMark()}
	var err error
	if r.offer, err = s.Catalog.Offer(ctx, order.Path, order.HostID, deref(order.Sum)); err != nil {
		return guest.StartResult{}, plan.Begin(ctx).RefuseAndStop(ctx, err, plan.Confirmation{})
	}
	if err := r.checkOverrides(); err != nil {
		return guest.StartResult{}, err
	}
	draft := plan.Begin(ctx)
	if r.offer.Host.Node == "" {
		unknown := problem.New(problem.CodeInvalidState, "it is not known to which node the host is connected; sync the host first")
		return guest.StartResult{}, draft.RefuseAndStop(ctx, unknown, plan.Confirmation{})
	}
	// What is wrong with the input comes before what is missing.
	if err := r.findPlace(ctx); err != nil {
		return guest.StartResult{}, draft.RefuseAndStop(ctx, err, plan.Confirmation{})
	}
	if err := draft.Refuse(s.Hosts.RequireSSH(ctx, order.HostID)); err != nil {
		return guest.StartResult{}, err
	}
	if err := draft.Refuse(r.consented(ctx)); err != nil {
		return guest.StartResult{}, err
	}
	if err := r.prepare(ctx); err != nil {
		return guest.StartResult{}, draft.RefuseAndStop(ctx, err, plan.Confirmation{})
	}
	if err := draft.Finish(ctx, plan.Confirmation{}, r.tell); err != nil {
		return guest.StartResult{}, err
	}
	return r.enqueue(ctx)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// refused is what is wrong with an override. Its value is never repeated: it may be a secret.
func refused(key, format string, args ...any) problem.Fault {
	return problem.Fault{Loc: []any{"body", "overrides", key}, Msg: fmt.Sprintf(format, args...), Type: "value_error"}
}

// checkOverrides refuses what the entry does not let be set, and values that are not of their type. The source looks at them again.
func (r *request) checkOverrides() error {
	var faults []problem.Fault
	for _, key := range slices.Sorted(maps.Keys(r.Overrides)) {
		i := slices.IndexFunc(r.offer.Entry.Overrides, func(o sdk.Option) bool { return o.Key == key })
		switch {
		case i < 0 || sdk.ForbiddenVariable(strings.ToUpper(key)):
			faults = append(faults, refused(key, "cannot be set when installing this entry"))
		case r.Overrides[key] == "" || !sdk.CheckOption(r.offer.Entry.Overrides[i], r.Overrides[key]):
			faults = append(faults, refused(key, "the value is not valid: %s", r.offer.Entry.Overrides[i].Description))
		}
	}
	for i, answer := range r.Answers {
		if strings.ContainsFunc(answer, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			faults = append(faults, problem.Fault{Loc: []any{"body", "answers", i}, Msg: "an answer must be one line of text",
				Type: "value_error"})
		}
	}
	if len(faults) > 0 {
		return problem.Invalid(faults...)
	}
	return nil
}

// consented is the problem consent_required where the caller has not agreed to exactly this bundle on this host.
func (r *request) consented(ctx context.Context) error {
	if r.Consent && r.Sum != nil {
		return nil
	}
	if r.Consent {
		before, err := r.Bundles.ConsentedBefore(ctx, r.HostID, sdk.Install, r.offer.Bundle.Sum)
		if err != nil || before {
			return err
		}
	}
	return problem.New(problem.CodeConsentRequired,
		"scripts would run as root on the machine of the host: review the plan, and send consent with the sum of the bundle that you "+
			"agree to").With("sum", r.offer.Bundle.Sum).With("consent", r.offer.ConsentText)
}

// diskKey is the override that says the size of the container's disk in GiB.
const diskKey = "disk"

// findPlace finds out where the container can be made.
func (r *request) findPlace(ctx context.Context) error {
	disk := int64(r.offer.Entry.Defaults.DiskGB)
	if n, ok := wholeOf(r.Overrides[diskKey]); ok {
		disk = n
	}
	usual, err := r.Hosts.Defaults(ctx, r.HostID)
	if err != nil {
		return err
	}
	r.place, err = guest.PlaceContainer(ctx, r.Actor, guest.ContainerRequest{HostID: r.HostID, Node: r.offer.Host.Node, Name: r.Name,
		CTID: r.CTID, Storage: r.Storage, TemplateStorage: r.TemplateStorage, Bridge: r.Bridge, DiskGB: disk, Usual: usual})
	return err
}

// prepare finds out how the source says that the bundle is run.
func (r *request) prepare(ctx context.Context) error {
	e := &r.offer.Entry
	if err := r.findTemplate(ctx); err != nil {
		return err
	}
	architecture, err := r.architecture(ctx)
	if err != nil {
		return err
	}
	if len(e.Architectures) > 0 && !slices.Contains(e.Architectures, architecture) {
		return problem.New(problem.CodeInvalidState, "%s does not run on machines of the architecture %s", e.Name, architecture).
			With("reason", "architecture")
	}
	var release string
	if err := r.DB.Pool.QueryRow(ctx, "SELECT version FROM hosts WHERE id = $1", r.HostID).Scan(&release); err != nil {
		return db.Problem(fmt.Errorf("reading the release of a host: %w", err))
	}
	r.launch, err = r.Catalog.Launch(ctx, r.offer, sdk.LaunchRequest{Name: r.Name, Container: string(r.place.ID), Tags: []string{r.mark},
		RootStorage: r.place.Storage, TemplateStorage: r.place.TemplateStorage, Bridge: r.place.Bridge, Architecture: architecture,
		Release: release, Overrides: r.Overrides, Answers: r.Answers, Yes: r.Yes})
	if err != nil {
		return r.launchProblem(err)
	}
	if leaks(r.launch, r.secrets()) {
		return problem.New(problem.CodeCatalogSourceError, "the source would expose a secret that was set").
			With("reason", string(plugin.Protocol))
	}
	if err := r.params().spec(&r.offer.Bundle.Manifest, nil).Check(); err != nil {
		return problem.New(problem.CodeCatalogSourceError, "the bundle cannot be run on the machine: %s", said(err)).
			With("reason", string(plugin.Protocol)).WithCause(err)
	}
	return nil
}

func said(err error) string {
	if e := (*plugin.Error)(nil); errors.As(err, &e) {
		return e.Message
	}
	return "it is not valid"
}

// bodyOf are the fields of a request by the source's names for them.
var bodyOf = map[string]string{"name": "name", "container": "ctid", "root_storage": "storage", "template_storage": "template_storage",
	"bridge": "bridge", "answers": "answers", "yes": "yes"}

// launchProblem is what the source has against a value. Of overrides its words are not told, for it may repeat a secret in them.
func (r *request) launchProblem(err error) error {
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field == "" {
		return err
	}
	if field := bodyOf[e.Field]; field != "" {
		text := "the source of the entry does not accept this value"
		if field == "yes" {
			text = "one of the scripts asks whether to run a third-party installer: set this to true to agree"
		} else if field == "answers" {
			text = fmt.Sprintf("the scripts ask %d questions; each answer must be one line", r.offer.Entry.Prompts)
		}
		return problem.InvalidField(text, "value_error", "body", field)
	}
	for _, o := range r.offer.Entry.Overrides {
		if o.Key == e.Field {
			return problem.Invalid(refused(o.Key, "the value is not valid: %s", o.Description))
		}
	}
	return problem.New(problem.CodeInvalidState, "the source of %s reports that the app cannot be installed on this host (%s)",
		r.offer.Entry.Name,
		host.Clean(e.Field)).With("reason", host.Clean(e.Field))
}

// architecture asks the machine for its own.
func (r *request) architecture(ctx context.Context) (string, error) {
	return host.OnNode(ctx, r.Hosts, r.HostID, uname, func(ctx context.Context, node hypervisor.NodeExecutor) (string, error) {
		var out bytes.Buffer
		_, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "uname", Arguments: []string{"-m"}, Limit: uname},
			hypervisor.NodeStreams{Output: &limited{to: &out, left: 100}})
		word := host.Clean(strings.TrimSpace(out.String()))
		if known := architectures[word]; known != "" {
			word = known
		}
		return word, err
	})
}
