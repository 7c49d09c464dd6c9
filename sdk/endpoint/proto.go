package endpoint

import (
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
)

// TargetToProto returns the message in which a target is sent to a plugin.
func TargetToProto(t Target) *pluginv1.Target {
	return &pluginv1.Target{
		Address: wire.Text(t.Address), Fingerprint: wire.Text(t.Fingerprint), VerifyTls: t.VerifyTLS, AllowLocal: t.AllowLocal,
		Credential: CredentialToProto(t.Credential), Ssh: sshToProto(t.SSH),
	}
}

// TargetFromProto is the inverse of TargetToProto. Nil becomes the zero Target.
func TargetFromProto(t *pluginv1.Target) Target {
	return Target{
		Address: t.GetAddress(), Fingerprint: t.GetFingerprint(), VerifyTLS: t.GetVerifyTls(), AllowLocal: t.GetAllowLocal(),
		Credential: CredentialFromProto(t.GetCredential()), SSH: sshFromProto(t.GetSsh()),
	}
}

// sshToProto returns nil for the zero value, so that a target without a login is no
// larger on the wire.
func sshToProto(s SSH) *pluginv1.SSH {
	if s == (SSH{}) {
		return nil
	}
	return &pluginv1.SSH{User: wire.Text(s.User), Port: int32(s.Port), HostKey: wire.Text(s.HostKey)}
}

func sshFromProto(s *pluginv1.SSH) SSH {
	return SSH{User: s.GetUser(), Port: int(s.GetPort()), HostKey: s.GetHostKey()}
}

// CredentialToProto returns the message in which a credential is sent to a plugin.
func CredentialToProto(c Credential) *pluginv1.Credential {
	return &pluginv1.Credential{
		Capability: wire.Text(string(c.Capability)), Form: wire.Text(c.Form), Id: wire.Text(c.ID), Secret: wire.Text(string(c.Secret)),
	}
}

// CredentialFromProto is the inverse of CredentialToProto. Nil becomes the zero
// Credential.
func CredentialFromProto(c *pluginv1.Credential) Credential {
	return Credential{
		Capability: Capability(c.GetCapability()), Form: c.GetForm(), ID: c.GetId(), Secret: plugin.Secret(c.GetSecret()),
	}
}
