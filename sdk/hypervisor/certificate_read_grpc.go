package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// ReadCertificate implements CertificateReader.
func (c *Client) ReadCertificate(ctx context.Context, target endpoint.Target) (endpoint.Certificate, error) {
	target.Credential = endpoint.Credential{}
	req := &hypervisorv1.ReadCertificateRequest{Target: endpoint.TargetToProto(target)}
	answer, err := wire.Call(ctx, hypervisorv1.NewCertificateReadServiceClient(c.conn).ReadCertificate, req)
	return certificateFromProto(answer), err
}

type certificateReadServer struct {
	hypervisorv1.UnimplementedCertificateReadServiceServer
	reader CertificateReader
}

func (s *certificateReadServer) ReadCertificate(ctx context.Context, req *hypervisorv1.ReadCertificateRequest) (
	*hypervisorv1.ReadCertificateResponse, error) {
	if req.GetTarget() == nil {
		return nil, plugin.Errorf(plugin.Invalid, "the request has no target")
	}
	read, err := s.reader.ReadCertificate(ctx, endpoint.TargetFromProto(req.GetTarget()))
	return certificateToProto(read), err
}

func certificateToProto(c endpoint.Certificate) *hypervisorv1.ReadCertificateResponse {
	return &hypervisorv1.ReadCertificateResponse{
		Fingerprint: wire.Text(c.Fingerprint), Subject: wire.Text(c.Subject), Names: wire.Texts(c.Names), Issuer: wire.Text(c.Issuer),
		NotBefore: wire.Timestamp(c.NotBefore), NotAfter: wire.Timestamp(c.NotAfter), SelfSigned: c.SelfSigned,
		Distrust: wire.Text(c.Distrust),
	}
}

func certificateFromProto(c *hypervisorv1.ReadCertificateResponse) endpoint.Certificate {
	return endpoint.Certificate{
		Fingerprint: c.GetFingerprint(), Subject: c.GetSubject(), Names: c.GetNames(), Issuer: c.GetIssuer(),
		NotBefore: wire.Time(c.GetNotBefore()), NotAfter: wire.Time(c.GetNotAfter()), SelfSigned: c.GetSelfSigned(),
		Distrust: c.GetDistrust(),
	}
}
