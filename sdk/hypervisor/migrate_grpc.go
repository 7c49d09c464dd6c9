package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) migration() hypervisorv1.MigrateServiceClient {
	return hypervisorv1.NewMigrateServiceClient(h.client.conn)
}

type migrateServer struct {
	hypervisorv1.UnimplementedMigrateServiceServer
	*server
}

func (h *remoteHost) CheckMigration(ctx context.Context, guest GuestRef, query MigrationQuery) (MigrationCheck, error) {
	req := migrationQueryToProto(query)
	req.Target, req.Guest = h.target, refToProto(guest)
	answer, err := wire.Call(ctx, h.migration().CheckMigration, req)
	return migrationCheckFromProto(answer), err
}

func (s *migrateServer) CheckMigration(ctx context.Context, req *hypervisorv1.CheckMigrationRequest) (
	*hypervisorv1.CheckMigrationResponse, error) {
	return serve(ctx, s.server, req, func(host Migrator) (*hypervisorv1.CheckMigrationResponse, error) {
		check, err := host.CheckMigration(ctx, refFromProto(req.GetGuest()), migrationQueryFromProto(req))
		return migrationCheckToProto(check), err
	})
}

func (h *remoteHost) Migrate(ctx context.Context, guest GuestRef, spec MigrationSpec) (string, error) {
	req := migrationSpecToProto(spec)
	req.Target, req.Guest = h.target, refToProto(guest)
	answer, err := wire.Call(ctx, h.migration().Migrate, req)
	return answer.GetTaskId(), err
}

func (s *migrateServer) Migrate(ctx context.Context, req *hypervisorv1.MigrateRequest) (*hypervisorv1.MigrateResponse, error) {
	return serve(ctx, s.server, req, func(host Migrator) (*hypervisorv1.MigrateResponse, error) {
		task, err := host.Migrate(ctx, refFromProto(req.GetGuest()), migrationSpecFromProto(req))
		return &hypervisorv1.MigrateResponse{TaskId: wire.Text(task)}, err
	})
}

// migrationQueryToProto and migrationSpecToProto leave target and guest out.
func migrationQueryToProto(q MigrationQuery) *hypervisorv1.CheckMigrationRequest {
	return &hypervisorv1.CheckMigrationRequest{Node: wire.Text(q.Node), Storage: wire.Text(q.Storage)}
}

func migrationQueryFromProto(req *hypervisorv1.CheckMigrationRequest) MigrationQuery {
	return MigrationQuery{Node: req.GetNode(), Storage: req.GetStorage()}
}

func migrationSpecToProto(s MigrationSpec) *hypervisorv1.MigrateRequest {
	return &hypervisorv1.MigrateRequest{Node: wire.Text(s.Node), Online: s.Online, Restart: s.Restart, Storage: wire.Text(s.Storage)}
}

func migrationSpecFromProto(req *hypervisorv1.MigrateRequest) MigrationSpec {
	return MigrationSpec{Node: req.GetNode(), Online: req.GetOnline(), Restart: req.GetRestart(), Storage: req.GetStorage()}
}

func migrationCheckToProto(c MigrationCheck) *hypervisorv1.CheckMigrationResponse {
	return &hypervisorv1.CheckMigrationResponse{
		Live: c.Live, NodesTold: c.Nodes != nil, Nodes: wire.Texts(c.Nodes),
		Blockers: wire.Each(c.Blockers, findingToProto), Warnings: wire.Each(c.Warnings, findingToProto),
		Disks: wire.Each(c.Disks, migrationDiskToProto), Resources: wire.Texts(c.Resources),
	}
}

func migrationCheckFromProto(c *hypervisorv1.CheckMigrationResponse) MigrationCheck {
	if c == nil { // with an error
		return MigrationCheck{}
	}
	check := MigrationCheck{
		Live: c.GetLive(), Nodes: c.GetNodes(),
		Blockers: wire.Each(c.GetBlockers(), findingFromProto), Warnings: wire.Each(c.GetWarnings(), findingFromProto),
		Disks: wire.Each(c.GetDisks(), migrationDiskFromProto), Resources: c.GetResources(),
	}
	if check.Nodes == nil && c.GetNodesTold() {
		check.Nodes = []string{}
	}
	return check
}

func findingToProto(f MigrationFinding) *hypervisorv1.MigrationFinding {
	return &hypervisorv1.MigrationFinding{Code: wire.Text(f.Code), Message: wire.Text(f.Message)}
}

func findingFromProto(f *hypervisorv1.MigrationFinding) MigrationFinding {
	return MigrationFinding{Code: f.GetCode(), Message: f.GetMessage()}
}

func migrationDiskToProto(d MigrationDisk) *hypervisorv1.MigrationDisk {
	return &hypervisorv1.MigrationDisk{
		Key: wire.Text(d.Key), Storage: wire.Text(d.Storage), Volume: wire.Text(d.Volume), SizeBytes: d.SizeBytes,
	}
}

func migrationDiskFromProto(d *hypervisorv1.MigrationDisk) MigrationDisk {
	return MigrationDisk{Key: d.GetKey(), Storage: d.GetStorage(), Volume: d.GetVolume(), SizeBytes: d.SizeBytes}
}
