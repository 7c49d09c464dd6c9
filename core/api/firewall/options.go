package firewall

import (
	"context"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/firewall"
	sdk "github.com/hostler/hostler/sdk/firewall"
)

func (h handlers) registerOptions(a *op.API, d declared) {
	op.Get(a, d.path+"/options", h.options, d.read("get_%_options", "Get the firewall options", "/options",
		"Reads from the hypervisor. Options that are not set are null, and the hypervisor's default applies. `other` "+
			"contains options that not all hypervisors have."))
	op.Put(a, d.path+"/options", h.changeOptions, d.write("change_%_options", "Change the firewall options", "/options",
		"options_change", "Absent fields are kept. To reset an option to the hypervisor's default, send null or "+
			"name the option in `delete`. Options that this scope does not have are 422. The response contains all "+
			"options after the change. "+stale))
}

func (h handlers) options(ctx context.Context, _ *struct{}) (*op.Body[firewall.Options], error) {
	return done(ctx, h, func(on firewall.Scope) (firewall.Options, error) { return h.Firewalls.Options(ctx, on) })
}

// optionsIn is the body of a change of options.
type optionsIn struct {
	Enable        op.Optional[int]    `json:"enable,omitzero" minimum:"0" maximum:"1" example:"1" doc:"1 enables the firewall of the scope"`
	DHCP          op.Optional[int]    `json:"dhcp,omitzero" minimum:"0" maximum:"1"`
	NDP           op.Optional[int]    `json:"ndp,omitzero" minimum:"0" maximum:"1"`
	RADV          op.Optional[int]    `json:"radv,omitzero" minimum:"0" maximum:"1"`
	MACFilter     op.Optional[int]    `json:"macfilter,omitzero" minimum:"0" maximum:"1"`
	IPFilter      op.Optional[int]    `json:"ipfilter,omitzero" minimum:"0" maximum:"1"`
	PolicyIn      op.Optional[string] `json:"policy_in,omitzero" enum:"ACCEPT,REJECT,DROP" example:"DROP"`
	PolicyOut     op.Optional[string] `json:"policy_out,omitzero" enum:"ACCEPT,REJECT,DROP"`
	PolicyForward op.Optional[string] `json:"policy_forward,omitzero" enum:"ACCEPT,REJECT,DROP"`
	LogIn         op.Optional[string] `json:"log_level_in,omitzero" minLength:"1" maxLength:"64" example:"info"`
	LogOut        op.Optional[string] `json:"log_level_out,omitzero" minLength:"1" maxLength:"64"`
	LogForward    op.Optional[string] `json:"log_level_forward,omitzero" minLength:"1" maxLength:"64"`
	Other         map[string]*string  `json:"other,omitempty" doc:"Other options, by the hypervisor's names; null unsets one"`
	Digest        *string             `json:"digest,omitempty" nullable:"true" maxLength:"200" doc:"Digest of the options that you read"`
	Delete        *string             `json:"delete,omitempty" nullable:"true" maxLength:"4096" example:"dhcp,ndp" doc:"Options to reset, separated by commas"`
}

type changeOptionsInput struct{ Body optionsIn }

func (h handlers) changeOptions(ctx context.Context, in *changeOptionsInput) (*op.Body[firewall.Options], error) {
	b := &in.Body
	patch := firewall.OptionsPatch{Flags: map[string]*bool{}, Texts: map[string]*string{}, Other: b.Other, Delete: deref(b.Delete),
		Digest: deref(b.Digest)}
	for name, value := range map[string]op.Optional[int]{
		sdk.OptionEnable: b.Enable, sdk.OptionDHCP: b.DHCP, sdk.OptionNDP: b.NDP, sdk.OptionRADV: b.RADV,
		sdk.OptionMACFilter: b.MACFilter, sdk.OptionIPFilter: b.IPFilter,
	} {
		if value.Set {
			patch.Flags[name] = flag(value.Pointer())
		}
	}
	for name, value := range map[string]op.Optional[string]{
		sdk.OptionPolicyIn: b.PolicyIn, sdk.OptionPolicyOut: b.PolicyOut, sdk.OptionPolicyForward: b.PolicyForward,
		sdk.OptionLogLevelIn: b.LogIn, sdk.OptionLogLevelOut: b.LogOut, sdk.OptionLogLevelForward: b.LogForward,
	} {
		if value.Set {
			patch.Texts[name] = value.Pointer()
		}
	}
	return done(ctx, h, func(on firewall.Scope) (firewall.Options, error) { return h.Firewalls.ChangeOptions(ctx, on, patch) })
}
