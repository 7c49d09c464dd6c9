// Package options is the HTTP resource of the options of VMs.
package options

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/option"
	"github.com/hostler/hostler/core/vm"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Deps is what the resource works with.
type Deps struct {
	VMs     *vm.Store
	Options *option.Store
}

type handlers struct{ Deps }

// changeTime is how long a change may take: its requests, and what is read before and after them.
const changeTime = 3 * time.Minute

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps}
	op.Get(a, "/api/v1/vms/:vm_id/options", h.get, op.Spec{
		ID: "get_vm_options", Summary: "Get the options of a VM", Tag: "VMs", Role: identity.Viewer, On: op.VM, Calls: true,
		Needs: endpoint.Monitoring,
		Description: "Asked of the hypervisor: the options of the VM's firewall and its own, with what waits for a restart, and which options " +
			"there are. What is not set is absent, or null in `firewall`: the hypervisor's default holds.",
	})
	op.Put(a, "/api/v1/vms/:vm_id/options", h.change, op.Spec{
		ID: "change_vm_options", Summary: "Change the options of a VM", Tag: "VMs", Role: identity.Operator, On: op.VM, Calls: true,
		Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "vm.change_options"}, Timeout: changeTime, Faults: option.Faults,
		Description: "What is absent stays; null, or being named in `delete`, puts an option back to the hypervisor's default. Beside the " +
			"firewall's options the body takes those that `keys` of GET lists, with values of their types; any other key is 422 with the list of " +
			"those that there are. Done at once: the VM's own options in one request to the hypervisor, then the firewall's in another, each " +
			"once. When the second fails, `done` names the options that are changed. Where the firewall has no options for guests its keys are " +
			"501 `unsupported`. A `digest` that is not that of GET any more is 409 `digest_conflict`; that of `firewall` will do where its " +
			"options alone are changed. Refused with 409 `guest_busy` while a job works on the VM.",
	})
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[option.VMOptions], error) {
	r, err := h.VMs.Request(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, nil)
	if err != nil {
		return nil, err
	}
	all, err := h.Options.Get(ctx, r.Guest)
	return &op.Body[option.VMOptions]{Body: all}, err
}

// OptionsChange holds new values by name. Which there are is the hypervisor's word: core/option checks all of them at once.
type OptionsChange map[string]json.RawMessage

var _ huma.SchemaProvider = OptionsChange{}

// Schema is an object of anything that names for people what is the same everywhere.
func (OptionsChange) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{},
		Examples: []any{map[string]any{"onboot": true, "enable": 1, "policy_in": "DROP"}}}
	for name, text := range map[string]string{
		"enable": "Of the firewall: 0 or 1", "dhcp": "Of the firewall: 0 or 1", "ndp": "Of the firewall: 0 or 1",
		"radv": "Of the firewall: 0 or 1", "macfilter": "Of the firewall: 0 or 1", "ipfilter": "Of the firewall: 0 or 1",
		"policy_in": "Of the firewall: ACCEPT, REJECT or DROP", "policy_out": "Of the firewall: ACCEPT, REJECT or DROP",
		"digest": "That of the options which you have read",
		"delete": "Options that are not to be set any more, separated by commas",
	} {
		s.Properties[name] = &huma.Schema{Description: text}
	}
	return s
}

type changeInput struct{ Body OptionsChange }

func (h handlers) change(ctx context.Context, in *changeInput) (*op.Body[option.VMOptions], error) {
	r, err := h.VMs.Request(ctx, op.Found(ctx).ID, op.Found(ctx).TeamID, nil)
	if err != nil {
		return nil, err
	}
	all, err := h.Options.Change(ctx, r, in.Body)
	return &op.Body[option.VMOptions]{Body: all}, err
}
