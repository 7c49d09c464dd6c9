package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

type backupFileServer struct {
	hypervisorv1.UnimplementedBackupFileServiceServer
	*server
}

func (h *remoteHost) BackupFile(ctx context.Context, query BackupQuery, backup Backup) (BackupFile, error) {
	answer, err := wire.Call(ctx, hypervisorv1.NewBackupFileServiceClient(h.client.conn).BackupFile, &hypervisorv1.BackupFileRequest{
		Target: h.target, Storage: wire.Text(query.Storage), Node: wire.Text(query.Node), Backup: backupToProto(backup)})
	if err != nil {
		return BackupFile{}, err
	}
	file := backupFileFromProto(answer)
	if err := file.check(backup); err != nil {
		return BackupFile{}, plugin.Errorf(plugin.Protocol, "the driver did not report the path of the backup: %w", err)
	}
	return file, nil
}

func (s *backupFileServer) BackupFile(ctx context.Context, req *hypervisorv1.BackupFileRequest) (
	*hypervisorv1.BackupFileResponse, error) {
	return serve(ctx, s.server, req, func(host BackupFileLocator) (*hypervisorv1.BackupFileResponse, error) {
		file, err := host.BackupFile(ctx, BackupQuery{Storage: req.GetStorage(), Node: req.GetNode()}, backupFromProto(req.GetBackup()))
		return backupFileToProto(file), err
	})
}

func backupFileToProto(f BackupFile) *hypervisorv1.BackupFileResponse {
	return &hypervisorv1.BackupFileResponse{Path: []byte(f.Path), Id: wire.Text(f.ID)}
}

func backupFileFromProto(f *hypervisorv1.BackupFileResponse) BackupFile {
	return BackupFile{Path: string(f.GetPath()), ID: f.GetId()}
}
