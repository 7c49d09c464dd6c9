package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type backupReadServer struct {
	hypervisorv1.UnimplementedBackupReadServiceServer
	*server
}

func (h *remoteHost) BackupContent(ctx context.Context, backup Backup) (BackupContent, error) {
	answer, err := wire.Call(ctx, hypervisorv1.NewBackupReadServiceClient(h.client.conn).BackupContent,
		&hypervisorv1.BackupContentRequest{Target: h.target, Backup: backupToProto(backup)})
	if err != nil {
		return BackupContent{}, err
	}
	return backupContentFromProto(answer), nil
}

func (s *backupReadServer) BackupContent(ctx context.Context, req *hypervisorv1.BackupContentRequest) (
	*hypervisorv1.BackupContentResponse, error) {
	return serve(ctx, s.server, req, func(host BackupReader) (*hypervisorv1.BackupContentResponse, error) {
		content, err := host.BackupContent(ctx, backupFromProto(req.GetBackup()))
		return backupContentToProto(content), err
	})
}

func backupContentToProto(c BackupContent) *hypervisorv1.BackupContentResponse {
	return &hypervisorv1.BackupContentResponse{Disks: wire.Each(c.Disks, diskToProto), Keeps: c.Keeps, Refused: wire.Text(c.Refused)}
}

func backupContentFromProto(c *hypervisorv1.BackupContentResponse) BackupContent {
	return BackupContent{Disks: wire.Each(c.GetDisks(), diskFromProto), Keeps: c.GetKeeps(), Refused: c.GetRefused()}
}
