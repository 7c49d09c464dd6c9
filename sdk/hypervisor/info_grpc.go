package hypervisor

import (
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func infoToProto(info Info) *hypervisorv1.InfoResponse {
	return &hypervisorv1.InfoResponse{
		Name: wire.Text(info.Name), Version: wire.Text(info.Version), Product: wire.Text(info.Product), Abilities: wire.Texts(info.Abilities),
		DefaultPort: wire.Text(info.DefaultPort), Forms: wire.Each(info.Forms, formToProto), Scope: scopeToProto(info.Scope),
		Usual:        usualToProto(info.Usual),
		Capabilities: wire.Each(info.Capabilities, func(c endpoint.Capability) string { return wire.Text(string(c)) }),
		Actions: wire.Each(info.Actions, func(k KindActions) *hypervisorv1.KindActions {
			return &hypervisorv1.KindActions{
				Kind: wire.Text(string(k.Kind)), Actions: wire.Each(k.Actions, func(a Action) string { return wire.Text(string(a)) }),
			}
		}),
	}
}

func infoFromProto(in *hypervisorv1.InfoResponse) Info {
	return Info{
		Name: in.GetName(), Version: in.GetVersion(), Product: in.GetProduct(), Abilities: in.GetAbilities(),
		DefaultPort: in.GetDefaultPort(), Forms: wire.Each(in.GetForms(), formFromProto),
		Scope:        Scope{Word: in.GetScope().GetWord(), Holds: in.GetScope().GetHolds(), Example: in.GetScope().GetExample()},
		Usual:        DefaultNames{Storage: in.GetUsual().GetStorage(), Bridge: in.GetUsual().GetBridge()},
		Capabilities: wire.Each(in.GetCapabilities(), func(c string) endpoint.Capability { return endpoint.Capability(c) }),
		Actions: wire.Each(in.GetActions(), func(k *hypervisorv1.KindActions) KindActions {
			return KindActions{Kind: GuestKind(k.GetKind()), Actions: wire.Each(k.GetActions(), func(a string) Action { return Action(a) })}
		}),
	}
}

func formToProto(f CredentialForm) *hypervisorv1.CredentialForm {
	return &hypervisorv1.CredentialForm{
		Name: wire.Text(f.Name), Label: wire.Text(f.Label), IdLabel: wire.Text(f.IDLabel), SecretLabel: wire.Text(f.SecretLabel),
		Multiline: f.Multiline, OneTime: f.OneTime,
	}
}

func formFromProto(f *hypervisorv1.CredentialForm) CredentialForm {
	return CredentialForm{
		Name: f.GetName(), Label: f.GetLabel(), IDLabel: f.GetIdLabel(), SecretLabel: f.GetSecretLabel(),
		Multiline: f.GetMultiline(), OneTime: f.GetOneTime(),
	}
}

// scopeToProto is nil for the zero Scope.
func scopeToProto(s Scope) *hypervisorv1.Scope {
	if s == (Scope{}) {
		return nil
	}
	return &hypervisorv1.Scope{Word: wire.Text(s.Word), Holds: wire.Text(s.Holds), Example: wire.Text(s.Example)}
}

// usualToProto is nil for the zero Usual.
func usualToProto(u DefaultNames) *hypervisorv1.Usual {
	if u == (DefaultNames{}) {
		return nil
	}
	return &hypervisorv1.Usual{Storage: wire.Text(u.Storage), Bridge: wire.Text(u.Bridge)}
}
