// Package options is the HTTP resource of the options of VMs. The hypervisor
// determines which options exist; package option checks the values.
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

// Deps has what the operations of this package need.
type Deps struct {
	VMs     *vm.Store
	Options *option.Store
}

type handlers struct{ Deps }

// changeTime is how long a change may take, with the requests before and after
// it that read the options.
const changeTime = 3 * time.Minute

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps}
	op.Get(a, "/api/v1/vms/:vm_id/options", h.get, op.Spec{
		ID: "get_vm_options", Summary: "Get the options of a VM", Tag: "VMs", Role: identity.Viewer, On: op.VM, Calls: true,
		Needs: endpoint.Monitoring,
		Description: "Reads the options of the VM and of its firewall from the hypervisor, with changes that wait for " +
			"a restart and the list of supported options. Options that are not set are absent, or null in `firewall`; " +
			"the hypervisor's default applies.",
	})
	op.Put(a, "/api/v1/vms/:vm_id/options", h.change, op.Spec{
		ID: "change_vm_options", Summary: "Change the options of a VM", Tag: "VMs", Role: identity.Operator, On: op.VM, Calls: true,
		Needs: endpoint.Lifecycle, Audit: op.Audit{Action: "vm.change_options"}, Timeout: changeTime, Faults: option.Faults,
		Description: "Changes the options immediately. Absent fields are kept. To reset an option to the " +
			"hypervisor's default, send null or name the option in `delete`. Besides the firewall options, the body " +
			"accepts the options in `keys` of GET with values of their types; any other key is 422 with the list of " +
			"supported ones. The VM's options are changed in one request to the hypervisor, then the firewall's in " +
			"another; neither is repeated. If the second fails, `done` lists the changed options. Firewall options " +
			"are 501 `unsupported` if the firewall has no options for guests. An outdated `digest` is 409 " +
			"`digest_conflict`; the digest of `firewall` suffices if only firewall options change. 409 `guest_busy` " +
			"while a job works on the VM.",
	})
}

func (h handlers) get(ctx context.Context, _ *struct{}) (*op.Body[option.VMOptions], error) {
	r, err := h.VMs.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, nil)
	if err != nil {
		return nil, err
	}
	all, err := h.Options.Get(ctx, r.Guest)
	return &op.Body[option.VMOptions]{Body: all}, err
}

// OptionsChange has the new values by name. The hypervisor determines which
// options exist. Package core/option checks them all at once.
type OptionsChange map[string]json.RawMessage

var _ huma.SchemaProvider = OptionsChange{}

// Schema implements huma.SchemaProvider. It accepts every object and lists for
// people the options that exist everywhere.
func (OptionsChange) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{},
		Examples: []any{map[string]any{"onboot": true, "enable": 1, "policy_in": "DROP"}}}
	for name, text := range map[string]string{
		"enable": "Firewall option: 0 or 1", "dhcp": "Firewall option: 0 or 1", "ndp": "Firewall option: 0 or 1",
		"radv": "Firewall option: 0 or 1", "macfilter": "Firewall option: 0 or 1", "ipfilter": "Firewall option: 0 or 1",
		"policy_in": "Firewall option: ACCEPT, REJECT or DROP", "policy_out": "Firewall option: ACCEPT, REJECT or DROP",
		"digest": "Digest of the options that you read",
		"delete": "Options to reset, separated by commas",
	} {
		s.Properties[name] = &huma.Schema{Description: text}
	}
	return s
}

type changeInput struct{ Body OptionsChange }

func (h handlers) change(ctx context.Context, in *changeInput) (*op.Body[option.VMOptions], error) {
	r, err := h.VMs.Request(ctx, op.ResourceOf(ctx).ID, op.ResourceOf(ctx).TeamID, nil)
	if err != nil {
		return nil, err
	}
	all, err := h.Options.Change(ctx, r, in.Body)
	return &op.Body[option.VMOptions]{Body: all}, err
}
