package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) provision() hypervisorv1.ProvisionServiceClient {
	return hypervisorv1.NewProvisionServiceClient(h.client.conn)
}

type provisionServer struct {
	hypervisorv1.UnimplementedProvisionServiceServer
	*server
}

func (h *remoteHost) Placement(ctx context.Context, query PlacementQuery) (Placement, error) {
	answer, err := wire.Call(ctx, h.provision().Placement, &hypervisorv1.PlacementRequest{
		Target: h.target, Kind: wire.Text(string(query.Kind)), Node: wire.Text(query.Node), Name: wire.Text(query.Name), Number: query.Number,
		Image: wire.Text(query.Image), Id: query.ID, Storages: query.Storages, Bridges: query.Bridges,
	})
	return placementFromProto(answer), err
}

func (s *provisionServer) Placement(ctx context.Context, req *hypervisorv1.PlacementRequest) (*hypervisorv1.PlacementResponse, error) {
	return serve(ctx, s.server, req, func(host Provisioner) (*hypervisorv1.PlacementResponse, error) {
		placement, err := host.Placement(ctx, PlacementQuery{
			Kind: GuestKind(req.GetKind()), Node: req.GetNode(), Name: req.GetName(), Number: req.Number, Image: req.GetImage(),
			ID: req.GetId(), Storages: req.GetStorages(), Bridges: req.GetBridges(),
		})
		return placementToProto(placement), err
	})
}

func (h *remoteHost) CreateVM(ctx context.Context, spec VMSpec) (string, error) {
	req := &hypervisorv1.CreateVMRequest{Target: h.target, Spec: vmSpecToProto(spec)}
	answer, err := wire.Call(ctx, h.provision().CreateVM, req)
	return answer.GetTaskId(), err
}

func (s *provisionServer) CreateVM(ctx context.Context, req *hypervisorv1.CreateVMRequest) (*hypervisorv1.CreateVMResponse, error) {
	return serve(ctx, s.server, req, func(host Provisioner) (*hypervisorv1.CreateVMResponse, error) {
		task, err := host.CreateVM(ctx, vmSpecFromProto(req.GetSpec()))
		return &hypervisorv1.CreateVMResponse{TaskId: wire.Text(task)}, err
	})
}

func (h *remoteHost) Destroy(ctx context.Context, guest GuestRef, spec DestroySpec) (string, error) {
	req := &hypervisorv1.DestroyRequest{Target: h.target, Guest: refToProto(guest), Purge: spec.Purge}
	answer, err := wire.Call(ctx, h.provision().Destroy, req)
	return answer.GetTaskId(), err
}

func (s *provisionServer) Destroy(ctx context.Context, req *hypervisorv1.DestroyRequest) (*hypervisorv1.DestroyResponse, error) {
	return serve(ctx, s.server, req, func(host Provisioner) (*hypervisorv1.DestroyResponse, error) {
		task, err := host.Destroy(ctx, refFromProto(req.GetGuest()), DestroySpec{Purge: req.GetPurge()})
		return &hypervisorv1.DestroyResponse{TaskId: wire.Text(task)}, err
	})
}

func placementToProto(p Placement) *hypervisorv1.PlacementResponse {
	return &hypervisorv1.PlacementResponse{
		Ref: wire.Text(string(p.ID)), Number: p.Number, Storages: wire.Each(p.Storages, placementStorageToProto), Bridges: wire.Texts(p.Bridges),
		ImageFound: p.ImageFound, OsTypes: wire.Texts(p.OSTypes), Limits: limitsToProto(p.Limits),
	}
}

func placementFromProto(p *hypervisorv1.PlacementResponse) Placement {
	if p == nil { // with an error
		return Placement{}
	}
	return Placement{
		ID: GuestID(p.GetRef()), Number: p.Number, Storages: wire.Each(p.GetStorages(), placementStorageFromProto),
		Bridges: p.GetBridges(), ImageFound: p.GetImageFound(), OSTypes: p.GetOsTypes(), Limits: limitsFromProto(p.GetLimits()),
	}
}

func placementStorageToProto(s PlacementStorage) *hypervisorv1.PlacementStorage {
	return &hypervisorv1.PlacementStorage{
		Name: wire.Text(s.Name), Vms: s.VMs, Containers: s.Containers, Backups: s.Backups, Shared: s.Shared,
		Available: s.Available, Free: s.Free, Templates: s.Templates, Thin: s.Thin,
	}
}

func placementStorageFromProto(s *hypervisorv1.PlacementStorage) PlacementStorage {
	return PlacementStorage{
		Name: s.GetName(), VMs: s.GetVms(), Containers: s.GetContainers(), Backups: s.GetBackups(), Shared: s.GetShared(),
		Available: s.GetAvailable(), Free: s.Free, Templates: s.GetTemplates(), Thin: s.GetThin(),
	}
}

func limitsToProto(l GuestLimits) *hypervisorv1.GuestLimits {
	return &hypervisorv1.GuestLimits{
		Cores: l.Cores, MemoryMb: l.MemoryMB, DiskGb: l.DiskGB, Mtu: l.MTU, MinNumber: l.MinNumber, MaxNumber: l.MaxNumber,
	}
}

func limitsFromProto(l *hypervisorv1.GuestLimits) GuestLimits {
	return GuestLimits{
		Cores: l.GetCores(), MemoryMB: l.GetMemoryMb(), DiskGB: l.GetDiskGb(), MTU: l.GetMtu(), MinNumber: l.GetMinNumber(),
		MaxNumber: l.GetMaxNumber(),
	}
}

func vmSpecToProto(s VMSpec) *hypervisorv1.VMSpec {
	return &hypervisorv1.VMSpec{
		Ref: wire.Text(string(s.ID)), Node: wire.Text(s.Node), Name: wire.Text(s.Name), Cores: s.Cores, MemoryMb: s.MemoryMB, DiskGb: s.DiskGB,
		Storage: wire.Text(s.Storage), Bridge: wire.Text(s.Bridge), Vlan: s.VLAN, Image: wire.Text(s.Image), OsType: wire.Text(s.OSType),
		Mark: wire.Text(s.Mark),
	}
}

func vmSpecFromProto(s *hypervisorv1.VMSpec) VMSpec {
	if s == nil {
		return VMSpec{}
	}
	return VMSpec{
		ID: GuestID(s.GetRef()), Node: s.GetNode(), Name: s.GetName(), Cores: s.GetCores(), MemoryMB: s.GetMemoryMb(), DiskGB: s.GetDiskGb(),
		Storage: s.GetStorage(), Bridge: s.GetBridge(), VLAN: s.Vlan, Image: s.GetImage(), OSType: s.GetOsType(), Mark: s.GetMark(),
	}
}
