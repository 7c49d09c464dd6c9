package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) Version(ctx context.Context) (Version, error) {
	answer, err := wire.Call(ctx, h.client.base.Version, &hypervisorv1.VersionRequest{Target: h.target})
	return versionFromProto(answer), err
}

func (s *server) Version(ctx context.Context, req *hypervisorv1.VersionRequest) (*hypervisorv1.VersionResponse, error) {
	return serve(ctx, s, req, func(host Host) (*hypervisorv1.VersionResponse, error) {
		version, err := host.Version(ctx)
		return versionToProto(version), err
	})
}

func versionToProto(v Version) *hypervisorv1.VersionResponse {
	return &hypervisorv1.VersionResponse{
		Version: wire.Text(v.Version), Release: wire.Text(v.Release), Fingerprint: wire.Text(v.Fingerprint),
		NotAfter: wire.Timestamp(v.NotAfter), Node: wire.Text(v.Node), NotBefore: wire.Timestamp(v.NotBefore),
		CertificateNames: wire.Texts(v.CertificateNames), CertificateIssuer: wire.Text(v.CertificateIssuer),
	}
}

func versionFromProto(v *hypervisorv1.VersionResponse) Version {
	return Version{
		Version: v.GetVersion(), Release: v.GetRelease(), Fingerprint: v.GetFingerprint(),
		NotAfter: wire.Time(v.GetNotAfter()), Node: v.GetNode(), NotBefore: wire.Time(v.GetNotBefore()),
		CertificateNames: v.GetCertificateNames(), CertificateIssuer: v.GetCertificateIssuer(),
	}
}

func (h *remoteHost) Permissions(ctx context.Context) (Permissions, error) {
	answer, err := wire.Call(ctx, h.client.base.Permissions, &hypervisorv1.PermissionsRequest{Target: h.target})
	return permissionsFromProto(answer), err
}

func (s *server) Permissions(ctx context.Context, req *hypervisorv1.PermissionsRequest) (*hypervisorv1.PermissionsResponse, error) {
	return serve(ctx, s, req, func(host Host) (*hypervisorv1.PermissionsResponse, error) {
		permissions, err := host.Permissions(ctx)
		return permissionsToProto(permissions), err
	})
}

func permissionsToProto(p Permissions) *hypervisorv1.PermissionsResponse {
	out := &hypervisorv1.PermissionsResponse{
		Missing: wire.Texts(p.Missing), Extra: wire.Texts(p.Extra), Recommended: wire.Texts(p.Recommended), Paths: wire.Texts(p.Paths),
		Ends: wire.Each(p.Ends, credentialEndToProto), Remedy: wire.Text(p.Remedy),
	}
	if p.Version != nil {
		out.Version = versionToProto(*p.Version)
	}
	return out
}

func permissionsFromProto(p *hypervisorv1.PermissionsResponse) Permissions {
	out := Permissions{
		Missing: p.GetMissing(), Extra: p.GetExtra(), Recommended: p.GetRecommended(), Paths: p.GetPaths(),
		Ends: wire.Each(p.GetEnds(), credentialEndFromProto), Remedy: p.GetRemedy(),
	}
	if p.GetVersion() != nil {
		out.Version = new(versionFromProto(p.GetVersion()))
	}
	return out
}

func credentialEndToProto(e CredentialEnd) *hypervisorv1.CredentialEnd {
	return &hypervisorv1.CredentialEnd{Id: wire.Text(e.ID), At: wire.Timestamp(e.At)}
}

func credentialEndFromProto(e *hypervisorv1.CredentialEnd) CredentialEnd {
	return CredentialEnd{ID: e.GetId(), At: wire.Time(e.GetAt())}
}
