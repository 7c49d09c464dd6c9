package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Drivers gives the drivers of the installed plugins.
type Drivers interface {
	// Hypervisor is the driver of that name; its calls fail while its plugin is away.
	Hypervisor(name string) hypervisor.Driver
}

// Lister is satisfied by Drivers that know which drivers there are, as *plugin.Manager does. Of Drivers that do not know, every name
// is taken for one that is there.
type Lister interface {
	// Status tells of every installed plugin of every kind.
	Status() []plugin.Status
}

var (
	_ Drivers = (*plugin.Manager)(nil)
	_ Lister  = (*plugin.Manager)(nil)
)

// Driver is what people are told of a driver before they enrol hosts with it.
type Driver struct {
	Name         string           `json:"name" example:"pve" doc:"Name of the driver; the value of driver in a new host"`
	Product      string           `json:"product" example:"Proxmox VE"`
	DefaultPort  int              `json:"default_port" example:"8006" doc:"Default port of an address"`
	Forms        []CredentialForm `json:"credential_forms" doc:"Forms of credentials, the usual one first"`
	Capabilities []string         `json:"capabilities" example:"[\"monitoring\",\"lifecycle\"]" doc:"Capabilities that this hypervisor supports, in order"`
	Scope        *Scope           `json:"scope" doc:"Objects that a token script can restrict rights to; null if it cannot restrict them"`
	Actions      DriverActions    `json:"actions" doc:"Actions that guests support"`
}

// CredentialForm is how access is entered.
type CredentialForm struct {
	Name        string  `json:"name" example:"token" doc:"Name of the form; the value of credential_form"`
	Label       string  `json:"label" example:"API token"`
	IDLabel     *string `json:"id_label" example:"Token ID" doc:"Label for token_id; null if the form has no ID"`
	SecretLabel string  `json:"secret_label" example:"Secret" doc:"Label for token_secret"`
	Multiline   bool    `json:"multiline" example:"false" doc:"true if token_secret has several lines"`
	OneTime     bool    `json:"one_time" example:"false" doc:"true if it is exchanged once for a permanent credential and contains the address of the server"`
}

// Scope is what rights can be narrowed to.
type Scope struct {
	Word    string `json:"word" example:"pool"`
	Holds   string `json:"holds" example:"guests and storages" doc:"Objects that it contains"`
	Example string `json:"example" example:"/pool/customers" doc:"Example for the path of a token script"`
}

// DriverActions are the actions of guests by their kind.
type DriverActions struct {
	VM        []string `json:"vm" example:"[\"start\",\"stop\"]"`
	Container []string `json:"container" example:"[\"start\",\"stop\"]"`
}

// ListDrivers tells of the drivers that run, by name.
func (s *Store) ListDrivers(ctx context.Context) ([]Driver, error) {
	names := []string{s.driver}
	if all, ok := s.installed(); ok {
		names = running(all)
	}
	drivers := make([]Driver, 0, len(names))
	for _, name := range names {
		if d, known := s.recall(ctx, name); known {
			drivers = append(drivers, driverOf(d))
		}
	}
	return drivers, nil
}

func driverOf(d driver) Driver {
	port, _ := strconv.Atoi(d.info.DefaultPort)
	out := Driver{Name: d.name, Product: d.info.Product, DefaultPort: port, Actions: DriverActions{VM: []string{}, Container: []string{}}}
	for _, f := range d.info.Forms {
		out.Forms = append(out.Forms, CredentialForm{f.Name, f.Label, orNil(f.IDLabel), f.SecretLabel, f.Multiline, f.OneTime})
	}
	for _, c := range d.capabilities() {
		out.Capabilities = append(out.Capabilities, string(c))
	}
	if scope := d.info.Scope; scope != (hypervisor.Scope{}) {
		out.Scope = &Scope{scope.Word, scope.Holds, scope.Example}
	}
	for _, action := range hypervisor.Actions(hypervisor.VM) { // which knows them all
		if d.info.Knows(hypervisor.VM, action) {
			out.Actions.VM = append(out.Actions.VM, string(action))
		}
		if d.info.Knows(hypervisor.Container, action) {
			out.Actions.Container = append(out.Actions.Container, string(action))
		}
	}
	return out
}

// driver is one with what it says of itself.
type driver struct {
	hypervisor.Driver
	name string
	info hypervisor.Info
}

// describe asks the driver of that name what it is. It fails as the driver does while its plugin is away.
func (s *Store) describe(ctx context.Context, name string) (driver, error) {
	ctx, cancel := s.timed(ctx)
	defer cancel()
	d := driver{Driver: s.drivers.Hypervisor(name), name: name}
	var err error
	if d.info, err = hypervisor.Describe(ctx, d.Driver); err != nil {
		return driver{}, plugin.Problem(err)
	}
	s.described.Store(name, d)
	return d, nil
}

// recallTime bounds a question to a driver whose answer is mostly known.
const recallTime = 2 * time.Second

// recall is describe for those who can do without: a driver that does not answer is as it last said; false when it never did.
func (s *Store) recall(ctx context.Context, name string) (driver, bool) {
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	d, err := s.describe(ctx, name)
	if err == nil {
		return d, true
	}
	s.log.Debug("a driver does not tell what it is", "driver", name, "error", err)
	last, ok := s.described.Load(name)
	if !ok {
		return driver{}, false
	}
	return last.(driver), true
}

// Usual is what most hosts of the hypervisor of a host have, as its driver says; zero while that does not answer.
func (s *Store) Usual(ctx context.Context, hostID int64) (hypervisor.Usual, error) {
	var name string
	if err := s.db.Pool.QueryRow(ctx, "SELECT driver FROM hosts WHERE id = $1", hostID).Scan(&name); err != nil {
		return hypervisor.Usual{}, db.Problem(fmt.Errorf("reading the driver of a host: %w", err))
	}
	d, _ := s.recall(ctx, name)
	return d.info.Usual, nil
}

// choose is the driver that a request names, and the usual one where it names none; where is the place of the name in the
// request. One that is not installed is a 422 that names those that run.
func (s *Store) choose(ctx context.Context, name string, where ...any) (driver, error) {
	if name == "" {
		return s.describe(ctx, s.driver)
	}
	if all, ok := s.installed(); ok && !slices.ContainsFunc(all, func(p plugin.Status) bool { return p.Name == name }) {
		names := "none runs"
		if run := running(all); len(run) > 0 {
			names = "these run: " + strings.Join(run, ", ")
		}
		return driver{}, problem.InvalidField("there is no driver of this name; "+names, "enum", where...)
	}
	return s.describe(ctx, name)
}

// installed are the plugins of hypervisors; false where it is not known which there are.
func (s *Store) installed() ([]plugin.Status, bool) {
	list, ok := s.drivers.(Lister)
	if !ok {
		return nil, false
	}
	return slices.DeleteFunc(slices.Clone(list.Status()), func(p plugin.Status) bool { return p.Kind != sdk.KindHypervisor }), true
}

func running(all []plugin.Status) (names []string) {
	for _, p := range all {
		if p.State == plugin.Running {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// capabilities are the driver's, in the order in which people are shown them.
func (d driver) capabilities() []endpoint.Capability {
	return slices.DeleteFunc(endpoint.Capabilities(), func(c endpoint.Capability) bool { return !d.info.Has(c) })
}

// require is the problem unsupported for a capability that means nothing at the driver's hypervisor.
func (d driver) require(c endpoint.Capability) error {
	if d.info.Has(c) {
		return nil
	}
	return problem.New(problem.CodeUnsupported, "%s has no %s: the driver %s knows nothing of the kind", d.info.Product, c, d.name).With(
		"capability", string(c))
}

// RequireAction is the problem unsupported when guests of that kind cannot do the action at the host. It asks no hypervisor.
// While the driver's plugin is away and was never there, nothing is refused.
func (s *Store) RequireAction(ctx context.Context, id int64, kind hypervisor.GuestKind, action hypervisor.Action) error {
	e, err := s.connection(ctx, id)
	if err != nil {
		return err
	}
	if d, known := s.recall(ctx, e.driver); known && !d.info.Knows(kind, action) {
		return problem.New(problem.CodeUnsupported, "%s cannot %s a %s", d.info.Product, action, kind)
	}
	return nil
}

// fieldFault is the 422 of a credential that the driver does not take, with the field's name of the request.
func fieldFault(err error) error {
	var e *sdk.Error
	if !errors.As(err, &e) || e.Kind != sdk.Invalid {
		return plugin.Problem(err)
	}
	fields := map[string]string{"id": "token_id", "secret": "token_secret", "form": "credential_form"}
	if name, ok := fields[e.Field]; ok {
		return problem.InvalidField(sdk.HideSecrets(e.Message), "value_error", "body", name)
	}
	return problem.InvalidField(sdk.HideSecrets(e.Message), "value_error", "body")
}

// unfit is the error of a driver whose answer cannot be kept.
func (d driver) unfit(what string) error {
	return fmt.Errorf("the driver %s gave %s that cannot be kept", d.name, what)
}
