package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) snapshots() hypervisorv1.SnapshotServiceClient {
	return hypervisorv1.NewSnapshotServiceClient(h.client.conn)
}

type snapshotServer struct {
	hypervisorv1.UnimplementedSnapshotServiceServer
	*server
}

func (h *remoteHost) Snapshots(ctx context.Context, guest GuestRef) ([]Snapshot, error) {
	answer, err := wire.Call(ctx, h.snapshots().Snapshots, &hypervisorv1.SnapshotsRequest{Target: h.target, Guest: refToProto(guest)})
	return wire.Each(answer.GetSnapshots(), snapshotFromProto), err
}

func (s *snapshotServer) Snapshots(ctx context.Context, req *hypervisorv1.SnapshotsRequest) (*hypervisorv1.SnapshotsResponse, error) {
	return serve(ctx, s.server, req, func(host Snapshotter) (*hypervisorv1.SnapshotsResponse, error) {
		snapshots, err := host.Snapshots(ctx, refFromProto(req.GetGuest()))
		return &hypervisorv1.SnapshotsResponse{Snapshots: wire.Each(snapshots, snapshotToProto)}, err
	})
}

func (h *remoteHost) TakeSnapshot(ctx context.Context, guest GuestRef, spec SnapshotSpec) (string, error) {
	req := snapshotSpecToProto(spec)
	req.Target, req.Guest = h.target, refToProto(guest)
	answer, err := wire.Call(ctx, h.snapshots().TakeSnapshot, req)
	return answer.GetTaskId(), err
}

func (s *snapshotServer) TakeSnapshot(ctx context.Context, req *hypervisorv1.TakeSnapshotRequest) (
	*hypervisorv1.TakeSnapshotResponse, error) {
	return serve(ctx, s.server, req, func(host Snapshotter) (*hypervisorv1.TakeSnapshotResponse, error) {
		task, err := host.TakeSnapshot(ctx, refFromProto(req.GetGuest()), snapshotSpecFromProto(req))
		return &hypervisorv1.TakeSnapshotResponse{TaskId: wire.Text(task)}, err
	})
}

func (h *remoteHost) DeleteSnapshot(ctx context.Context, guest GuestRef, name string) (string, error) {
	req := &hypervisorv1.DeleteSnapshotRequest{Target: h.target, Guest: refToProto(guest), Name: wire.Text(name)}
	answer, err := wire.Call(ctx, h.snapshots().DeleteSnapshot, req)
	return answer.GetTaskId(), err
}

func (s *snapshotServer) DeleteSnapshot(ctx context.Context, req *hypervisorv1.DeleteSnapshotRequest) (
	*hypervisorv1.DeleteSnapshotResponse, error) {
	return serve(ctx, s.server, req, func(host Snapshotter) (*hypervisorv1.DeleteSnapshotResponse, error) {
		task, err := host.DeleteSnapshot(ctx, refFromProto(req.GetGuest()), req.GetName())
		return &hypervisorv1.DeleteSnapshotResponse{TaskId: wire.Text(task)}, err
	})
}

func (h *remoteHost) RollBack(ctx context.Context, guest GuestRef, spec RollbackSpec) (string, error) {
	req := rollbackSpecToProto(spec)
	req.Target, req.Guest = h.target, refToProto(guest)
	answer, err := wire.Call(ctx, h.snapshots().RollBack, req)
	return answer.GetTaskId(), err
}

func (s *snapshotServer) RollBack(ctx context.Context, req *hypervisorv1.RollBackRequest) (*hypervisorv1.RollBackResponse, error) {
	return serve(ctx, s.server, req, func(host Snapshotter) (*hypervisorv1.RollBackResponse, error) {
		task, err := host.RollBack(ctx, refFromProto(req.GetGuest()), rollbackSpecFromProto(req))
		return &hypervisorv1.RollBackResponse{TaskId: wire.Text(task)}, err
	})
}

func snapshotToProto(s Snapshot) *hypervisorv1.Snapshot {
	return &hypervisorv1.Snapshot{
		Name: wire.Text(s.Name), Parent: wire.Text(s.Parent), Description: wire.Text(s.Description),
		TakenAt: wire.Timestamp(s.TakenAt), Memory: s.Memory, Incomplete: s.Incomplete,
	}
}

func snapshotFromProto(s *hypervisorv1.Snapshot) Snapshot {
	return Snapshot{
		Name: s.GetName(), Parent: s.GetParent(), Description: s.GetDescription(), TakenAt: wire.Time(s.GetTakenAt()), Memory: s.GetMemory(),
		Incomplete: s.GetIncomplete(),
	}
}

// snapshotSpecToProto and rollbackSpecToProto leave target and guest out.
func snapshotSpecToProto(s SnapshotSpec) *hypervisorv1.TakeSnapshotRequest {
	return &hypervisorv1.TakeSnapshotRequest{Name: wire.Text(s.Name), Description: wire.Text(s.Description), Memory: s.Memory}
}

func snapshotSpecFromProto(req *hypervisorv1.TakeSnapshotRequest) SnapshotSpec {
	return SnapshotSpec{Name: req.GetName(), Description: req.GetDescription(), Memory: req.GetMemory()}
}

func rollbackSpecToProto(s RollbackSpec) *hypervisorv1.RollBackRequest {
	return &hypervisorv1.RollBackRequest{Name: wire.Text(s.Name), Start: s.Start}
}

func rollbackSpecFromProto(req *hypervisorv1.RollBackRequest) RollbackSpec {
	return RollbackSpec{Name: req.GetName(), Start: req.GetStart()}
}
