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

// Request is a request to install an entry. A nil field takes the default of
// the host.
type Request struct {
	// Path is the name of the entry in the API.
	Path   string
	HostID int64
	// Name is the name of the app and of its container.
	Name string
	CTID *int64
	// Consent says that the caller agrees that the bundle with the checksum Sum
	// runs as root on the host. Without a Sum, the bundle is the one in the
	// catalog now, and the caller must have agreed to exactly that bundle on
	// this host before.
	Consent bool
	Sum     *string
	// Storage is for the disks of the container, and TemplateStorage for the
	// template from which it is created.
	Storage, TemplateStorage, Bridge *string
	// Overrides are the values of the entry's options by key, as strings.
	Overrides map[string]string
	// Answers are the answers to the questions of the scripts, in order. Yes
	// agrees to a script's question whether to continue.
	Answers []string
	Yes     bool
}

// uname bounds asking a machine for its architecture.
const uname = 20 * time.Second

// architectures maps the kernel's name of an architecture to the one of the
// catalog.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// request is a Request on its way to a job.
type request struct {
	*Store
	Request
	teamID int64
	offer  *catalog.Offer
	place  *guest.ContainerPlace
	launch sdk.Launch
	mark   string
	// template is a sentence about the template of the container for the plan;
	// empty if the entry names no system.
	template string
}

// Install requests an install on a host of the team, or returns only the plan.
// The checks come in an order that serves users: first faults of the input,
// then what is missing on the host, then the consent.
//
// Problems: not_found; invalid_state for an entry that cannot be installed, and
// if the node of the host is unknown; invalid; those of host.RequireSSH;
// consent_required with the checksum and the text to agree to;
// catalog_source_error; plan_stale; and those of host.Call and host.OnNode.
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

// refused returns the fault of an override. It never repeats the value, which
// may be a secret.
func refused(key, format string, args ...any) problem.Fault {
	return problem.Fault{Loc: []any{"body", "overrides", key}, Msg: fmt.Sprintf(format, args...), Type: "value_error"}
}

// checkOverrides refuses options that the entry does not have, and values of
// the wrong type. The source checks the values again.
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

// consented returns the problem consent_required if the caller has not agreed
// to exactly this bundle on this host.
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

// diskKey is the override for the size of the container's disk in GiB.
const diskKey = "disk"

// findPlace decides where the container is created.
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

// prepare asks the source how to run the bundle on this machine, and checks the
// answer. A source is a plugin: if it would expose a secret, the install is
// refused.
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

// bodyOf maps the source's names of fields to those of the API.
var bodyOf = map[string]string{"name": "name", "container": "ctid", "root_storage": "storage", "template_storage": "template_storage",
	"bridge": "bridge", "answers": "answers", "yes": "yes"}

// launchProblem converts a source's refusal of a value. It does not repeat the
// source's words about an override, because they may contain a secret.
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

// architecture asks the machine for its architecture.
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
