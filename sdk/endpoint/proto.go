package endpoint

import (
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
)

// TargetToProto is the form in which a target travels to a plugin.
func TargetToProto(t Target) *pluginv1.Target {
	return &pluginv1.Target{
		Address: wire.Text(t.Address), Fingerprint: wire.Text(t.Fingerprint), VerifyTls: t.VerifyTLS, AllowLocal: t.AllowLocal,
		Credential: &pluginv1.Credential{
			Capability: wire.Text(string(t.Credential.Capability)),
			TokenId:    wire.Text(t.Credential.TokenID),
			Secret:     wire.Text(string(t.Credential.Secret)),
		},
	}
}

// TargetFromProto is the way back; a nil one is the zero Target.
func TargetFromProto(t *pluginv1.Target) Target {
	return Target{
		Address: t.GetAddress(), Fingerprint: t.GetFingerprint(), VerifyTLS: t.GetVerifyTls(), AllowLocal: t.GetAllowLocal(),
		Credential: Credential{
			Capability: Capability(t.GetCredential().GetCapability()),
			TokenID:    t.GetCredential().GetTokenId(),
			Secret:     plugin.Secret(t.GetCredential().GetSecret()),
		},
	}
}
