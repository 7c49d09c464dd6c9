package hypervisor

import (
	"context"
	"slices"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

func (h *remoteHost) backups() hypervisorv1.BackupServiceClient {
	return hypervisorv1.NewBackupServiceClient(h.client.conn)
}

type backupServer struct {
	hypervisorv1.UnimplementedBackupServiceServer
	*server
}

func (h *remoteHost) Backups(ctx context.Context, query BackupQuery) (all []Backup, err error) {
	req := &hypervisorv1.BackupsRequest{Target: h.target, Storage: wire.Text(query.Storage), Node: wire.Text(query.Node)}
	err = wire.Gather(ctx, h.backups().Backups, req, func(part *hypervisorv1.BackupsResponse) error {
		all = append(all, wire.Each(part.GetBackups(), backupFromProto)...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// backupRows is what one message of a list carries at most.
const backupRows = 512

func (s *backupServer) Backups(req *hypervisorv1.BackupsRequest, stream grpc.ServerStreamingServer[hypervisorv1.BackupsResponse]) error {
	ctx := stream.Context()
	return endpoint.With(ctx, s.opener(), req, func(host BackupManager) error {
		all, err := host.Backups(ctx, BackupQuery{Storage: req.GetStorage(), Node: req.GetNode()})
		if err != nil {
			return err
		}
		for part := range slices.Chunk(all, backupRows) {
			if err := stream.Send(&hypervisorv1.BackupsResponse{Backups: wire.Each(part, backupToProto)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *remoteHost) RunBackup(ctx context.Context, guest GuestRef, spec BackupSpec) (string, error) {
	req := backupSpecToProto(spec)
	req.Target, req.Guest = h.target, refToProto(guest)
	answer, err := wire.Call(ctx, h.backups().RunBackup, req)
	return answer.GetTaskId(), err
}

func (s *backupServer) RunBackup(ctx context.Context, req *hypervisorv1.RunBackupRequest) (*hypervisorv1.RunBackupResponse, error) {
	return serve(ctx, s.server, req, func(host BackupManager) (*hypervisorv1.RunBackupResponse, error) {
		task, err := host.RunBackup(ctx, refFromProto(req.GetGuest()), backupSpecFromProto(req))
		return &hypervisorv1.RunBackupResponse{TaskId: wire.Text(task)}, err
	})
}

func (h *remoteHost) Restore(ctx context.Context, spec RestoreSpec) (string, error) {
	req := restoreSpecToProto(spec)
	req.Target = h.target
	answer, err := wire.Call(ctx, h.backups().Restore, req)
	return answer.GetTaskId(), err
}

func (s *backupServer) Restore(ctx context.Context, req *hypervisorv1.RestoreRequest) (*hypervisorv1.RestoreResponse, error) {
	return serve(ctx, s.server, req, func(host BackupManager) (*hypervisorv1.RestoreResponse, error) {
		task, err := host.Restore(ctx, restoreSpecFromProto(req))
		return &hypervisorv1.RestoreResponse{TaskId: wire.Text(task)}, err
	})
}

func (h *remoteHost) DeleteBackup(ctx context.Context, backup Backup) (string, error) {
	req := &hypervisorv1.DeleteBackupRequest{Target: h.target, Backup: backupToProto(backup)}
	answer, err := wire.Call(ctx, h.backups().DeleteBackup, req)
	return answer.GetTaskId(), err
}

func (s *backupServer) DeleteBackup(ctx context.Context, req *hypervisorv1.DeleteBackupRequest) (
	*hypervisorv1.DeleteBackupResponse, error) {
	return serve(ctx, s.server, req, func(host BackupManager) (*hypervisorv1.DeleteBackupResponse, error) {
		task, err := host.DeleteBackup(ctx, backupFromProto(req.GetBackup()))
		return &hypervisorv1.DeleteBackupResponse{TaskId: wire.Text(task)}, err
	})
}

func (h *remoteHost) ProtectBackup(ctx context.Context, backup Backup, protected bool) error {
	req := &hypervisorv1.ProtectBackupRequest{Target: h.target, Backup: backupToProto(backup), Protected: protected}
	_, err := wire.Call(ctx, h.backups().ProtectBackup, req)
	return err
}

func (s *backupServer) ProtectBackup(ctx context.Context, req *hypervisorv1.ProtectBackupRequest) (
	*hypervisorv1.ProtectBackupResponse, error) {
	return serve(ctx, s.server, req, func(host BackupManager) (*hypervisorv1.ProtectBackupResponse, error) {
		return &hypervisorv1.ProtectBackupResponse{}, host.ProtectBackup(ctx, backupFromProto(req.GetBackup()), req.GetProtected())
	})
}

func backupToProto(b Backup) *hypervisorv1.Backup {
	return &hypervisorv1.Backup{
		Id: wire.Text(b.ID), Storage: wire.Text(b.Storage), Node: wire.Text(b.Node), Kind: wire.Text(string(b.Kind)),
		Guest: wire.Text(string(b.Guest)), Uid: wire.Text(b.UID), TakenAt: wire.Timestamp(b.TakenAt), SizeBytes: b.SizeBytes,
		Format: wire.Text(b.Format), Protected: b.Protected, Encrypted: b.Encrypted, Notes: wire.Text(b.Notes), Verified: wire.Text(b.Verified),
	}
}

func backupFromProto(b *hypervisorv1.Backup) Backup {
	if b == nil {
		return Backup{}
	}
	return Backup{
		ID: b.GetId(), Storage: b.GetStorage(), Node: b.GetNode(), Kind: GuestKind(b.GetKind()), Guest: GuestID(b.GetGuest()), UID: b.GetUid(),
		TakenAt: wire.Time(b.GetTakenAt()), SizeBytes: b.SizeBytes, Format: b.GetFormat(), Protected: b.GetProtected(),
		Encrypted: b.GetEncrypted(), Notes: b.GetNotes(), Verified: b.GetVerified(),
	}
}

// backupSpecToProto and restoreSpecToProto leave target and guest out.
func backupSpecToProto(s BackupSpec) *hypervisorv1.RunBackupRequest {
	return &hypervisorv1.RunBackupRequest{
		Storage: wire.Text(s.Storage), Mode: wire.Text(s.Mode), Compress: wire.Text(s.Compress), Notes: wire.Text(s.Notes),
		Protected: s.Protected,
	}
}

func backupSpecFromProto(req *hypervisorv1.RunBackupRequest) BackupSpec {
	return BackupSpec{
		Storage: req.GetStorage(), Mode: req.GetMode(), Compress: req.GetCompress(), Notes: req.GetNotes(), Protected: req.GetProtected(),
	}
}

func restoreSpecToProto(s RestoreSpec) *hypervisorv1.RestoreRequest {
	return &hypervisorv1.RestoreRequest{
		Backup: backupToProto(s.Backup), Ref: wire.Text(string(s.ID)), Node: wire.Text(s.Node), Storage: wire.Text(s.Storage), Over: s.Over,
		NewIdentity: s.NewIdentity, Name: wire.Text(s.Name),
	}
}

func restoreSpecFromProto(req *hypervisorv1.RestoreRequest) RestoreSpec {
	return RestoreSpec{
		Backup: backupFromProto(req.GetBackup()), ID: GuestID(req.GetRef()), Node: req.GetNode(), Storage: req.GetStorage(), Over: req.GetOver(),
		NewIdentity: req.GetNewIdentity(), Name: req.GetName(),
	}
}
