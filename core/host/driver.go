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

// Drivers returns the drivers of installed plugins.
type Drivers interface {
	// Hypervisor returns the driver with that name. Its calls fail while its
	// plugin is not running.
	Hypervisor(name string) hypervisor.Driver
}

// DriverLister is implemented by Drivers that know which drivers exist, as
// *plugin.Manager does. For other Drivers every name counts as existing.
type DriverLister interface {
	// Status returns every installed plugin of every kind.
	Status() []plugin.Status
}

var (
	_ Drivers      = (*plugin.Manager)(nil)
	_ DriverLister = (*plugin.Manager)(nil)
)

// Driver describes a driver to people before they add hosts with it.
type Driver struct {
	Name         string           `json:"name" example:"pve" doc:"Name of the driver; the value of driver in a new host"`
	Product      string           `json:"product" example:"Proxmox VE"`
	DefaultPort  int              `json:"default_port" example:"8006" doc:"Default port of an address"`
	Forms        []CredentialForm `json:"credential_forms" doc:"Forms of credentials, the usual one first"`
	Capabilities []string         `json:"capabilities" example:"[\"monitoring\",\"lifecycle\"]" doc:"Capabilities that this hypervisor supports, in order"`
	Scope        *Scope           `json:"scope" doc:"Objects that a token script can restrict rights to; null if it cannot restrict them"`
	Actions      DriverActions    `json:"actions" doc:"Actions that guests support"`
}

// CredentialForm describes how access is entered.
type CredentialForm struct {
	Name        string  `json:"name" example:"token" doc:"Name of the form; the value of credential_form"`
	Label       string  `json:"label" example:"API token"`
	IDLabel     *string `json:"id_label" example:"Token ID" doc:"Label for token_id; null if the form has no ID"`
	SecretLabel string  `json:"secret_label" example:"Secret" doc:"Label for token_secret"`
	Multiline   bool    `json:"multiline" example:"false" doc:"true if token_secret has several lines"`
	OneTime     bool    `json:"one_time" example:"false" doc:"true if it is exchanged once for a permanent credential and contains the address of the server"`
}

// Scope describes what rights can be limited to.
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

// ListDrivers returns the running drivers, sorted by name.
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

// driverOf converts a driver's description for the API.
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
		if d.info.HasAction(hypervisor.VM, action) {
			out.Actions.VM = append(out.Actions.VM, string(action))
		}
		if d.info.HasAction(hypervisor.Container, action) {
			out.Actions.Container = append(out.Actions.Container, string(action))
		}
	}
	return out
}

// driver is a driver with its description.
type driver struct {
	hypervisor.Driver
	name string
	info hypervisor.Info
}

// describe reads the description of the driver with that name and remembers it.
// It fails while the driver's plugin is not running.
func (s *Store) describe(ctx context.Context, name string) (driver, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	d := driver{Driver: s.drivers.Hypervisor(name), name: name}
	var err error
	if d.info, err = hypervisor.Describe(ctx, d.Driver); err != nil {
		return driver{}, plugin.Problem(err)
	}
	s.described.Store(name, d)
	return d, nil
}

// recallTime bounds the wait for a description that is mostly known already.
const recallTime = 2 * time.Second

// recall is describe for callers that can work with the last known description.
// It returns false if the driver has never answered.
func (s *Store) recall(ctx context.Context, name string) (driver, bool) {
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	d, err := s.describe(ctx, name)
	if err == nil {
		return d, true
	}
	s.log.Debug("could not read a driver's info", "driver", name, "error", err)
	last, ok := s.described.Load(name)
	if !ok {
		return driver{}, false
	}
	return last.(driver), true
}

// Defaults returns the names that most hosts of this hypervisor have, according to
// the host's driver. It is zero while the driver does not answer.
func (s *Store) Defaults(ctx context.Context, hostID int64) (hypervisor.DefaultNames, error) {
	var name string
	if err := s.db.Pool.QueryRow(ctx, "SELECT driver FROM hosts WHERE id = $1", hostID).Scan(&name); err != nil {
		return hypervisor.DefaultNames{}, db.Problem(fmt.Errorf("reading the driver of a host: %w", err))
	}
	d, _ := s.recall(ctx, name)
	return d.info.Usual, nil
}

// choose returns the driver that a request names, or the usual one. The
// argument where is the position of the name in the request. A driver that is
// not installed is invalid, with the names of those that run.
func (s *Store) choose(ctx context.Context, name string, where ...any) (driver, error) {
	if name == "" {
		return s.describe(ctx, s.driver)
	}
	if all, ok := s.installed(); ok && !slices.ContainsFunc(all, func(p plugin.Status) bool { return p.Name == name }) {
		names := "no driver is running"
		if run := running(all); len(run) > 0 {
			names = "running drivers: " + strings.Join(run, ", ")
		}
		return driver{}, problem.InvalidField("driver not found; "+names, "enum", where...)
	}
	return s.describe(ctx, name)
}

// installed returns the plugins of hypervisors, and false if that is unknown.
func (s *Store) installed() ([]plugin.Status, bool) {
	list, ok := s.drivers.(DriverLister)
	if !ok {
		return nil, false
	}
	return slices.DeleteFunc(slices.Clone(list.Status()), func(p plugin.Status) bool { return p.Kind != sdk.KindHypervisor }), true
}

// running returns the sorted names of the plugins that run.
func running(all []plugin.Status) (names []string) {
	for _, p := range all {
		if p.State == plugin.Running {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// capabilities returns the driver's capabilities in the order in which they are
// displayed.
func (d driver) capabilities() []endpoint.Capability {
	return slices.DeleteFunc(endpoint.Capabilities(), func(c endpoint.Capability) bool { return !d.info.Has(c) })
}

// require returns the problem unsupported for a capability that the driver's
// hypervisor does not have.
func (d driver) require(c endpoint.Capability) error {
	if d.info.Has(c) {
		return nil
	}
	return problem.New(problem.CodeUnsupported, "%s does not have the capability %s: the driver %s does not support it",
		d.info.Product, c, d.name).With(
		"capability", string(c))
}

// RequireAction returns the problem unsupported if guests of that kind do not
// have the action at the host. It does not ask the hypervisor. While the
// driver's plugin is not running and has never answered, nothing is refused.
func (s *Store) RequireAction(ctx context.Context, id int64, kind hypervisor.GuestKind, action hypervisor.Action) error {
	e, err := s.connection(ctx, id)
	if err != nil {
		return err
	}
	if d, known := s.recall(ctx, e.driver); known && !d.info.HasAction(kind, action) {
		return problem.New(problem.CodeUnsupported, "%s cannot %s a %s", d.info.Product, action, kind)
	}
	return nil
}

// fieldFault converts a credential error of the driver to invalid, with the
// field's name in the request. The text is the plugin's and may contain a
// secret.
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

// unfitError returns the error of a driver whose result cannot be stored.
func (d driver) unfitError(what string) error {
	return fmt.Errorf("the driver %s returned %s that cannot be stored", d.name, what)
}
