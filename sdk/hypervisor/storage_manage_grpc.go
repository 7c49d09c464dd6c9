package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

func (h *remoteHost) storages() hypervisorv1.StorageManageServiceClient {
	return hypervisorv1.NewStorageManageServiceClient(h.client.conn)
}

type storageManageServer struct {
	hypervisorv1.UnimplementedStorageManageServiceServer
	*server
}

func (h *remoteHost) StorageTypes(ctx context.Context) ([]StorageType, error) {
	answer, err := wire.Call(ctx, h.storages().StorageTypes, &hypervisorv1.StorageTypesRequest{Target: h.target})
	return wire.Each(answer.GetTypes(), storageTypeFromProto), err
}

func (s *storageManageServer) StorageTypes(ctx context.Context, req *hypervisorv1.StorageTypesRequest) (
	*hypervisorv1.StorageTypesResponse, error) {
	return serve(ctx, s.server, req, func(host StorageManager) (*hypervisorv1.StorageTypesResponse, error) {
		all, err := host.StorageTypes(ctx)
		return &hypervisorv1.StorageTypesResponse{Types: wire.Each(all, storageTypeToProto)}, err
	})
}

func (h *remoteHost) StorageDefinition(ctx context.Context, name string) (StorageDefinition, error) {
	req := &hypervisorv1.StorageDefinitionRequest{Target: h.target, Name: wire.Text(name)}
	answer, err := wire.Call(ctx, h.storages().StorageDefinition, req)
	if err != nil {
		return StorageDefinition{}, err
	}
	if answer.GetDefinition() == nil {
		return StorageDefinition{}, wire.MissingPart("definition")
	}
	return definitionFromProto(answer.GetDefinition()), nil
}

func (s *storageManageServer) StorageDefinition(ctx context.Context, req *hypervisorv1.StorageDefinitionRequest) (
	*hypervisorv1.StorageDefinitionResponse, error) {
	return serve(ctx, s.server, req, func(host StorageManager) (*hypervisorv1.StorageDefinitionResponse, error) {
		d, err := host.StorageDefinition(ctx, req.GetName())
		return &hypervisorv1.StorageDefinitionResponse{Definition: definitionToProto(d)}, err
	})
}

func (h *remoteHost) AttachStorage(ctx context.Context, spec StorageSpec) error {
	req := storageSpecToProto(spec)
	req.Target = h.target
	_, err := wire.Call(ctx, h.storages().AttachStorage, req)
	return err
}

func (s *storageManageServer) AttachStorage(ctx context.Context, req *hypervisorv1.AttachStorageRequest) (
	*hypervisorv1.AttachStorageResponse, error) {
	return serve(ctx, s.server, req, func(host StorageManager) (*hypervisorv1.AttachStorageResponse, error) {
		return &hypervisorv1.AttachStorageResponse{}, host.AttachStorage(ctx, storageSpecFromProto(req))
	})
}

func (h *remoteHost) EditStorage(ctx context.Context, change StorageChange) error {
	req := storageChangeToProto(change)
	req.Target = h.target
	_, err := wire.Call(ctx, h.storages().EditStorage, req)
	return err
}

func (s *storageManageServer) EditStorage(ctx context.Context, req *hypervisorv1.EditStorageRequest) (
	*hypervisorv1.EditStorageResponse, error) {
	return serve(ctx, s.server, req, func(host StorageManager) (*hypervisorv1.EditStorageResponse, error) {
		return &hypervisorv1.EditStorageResponse{}, host.EditStorage(ctx, storageChangeFromProto(req))
	})
}

func (h *remoteHost) DetachStorage(ctx context.Context, name string) error {
	_, err := wire.Call(ctx, h.storages().DetachStorage, &hypervisorv1.DetachStorageRequest{Target: h.target, Name: wire.Text(name)})
	return err
}

func (s *storageManageServer) DetachStorage(ctx context.Context, req *hypervisorv1.DetachStorageRequest) (
	*hypervisorv1.DetachStorageResponse, error) {
	return serve(ctx, s.server, req, func(host StorageManager) (*hypervisorv1.DetachStorageResponse, error) {
		return &hypervisorv1.DetachStorageResponse{}, host.DetachStorage(ctx, req.GetName())
	})
}

func storageTypeToProto(t StorageType) *hypervisorv1.StorageType {
	return &hypervisorv1.StorageType{Name: wire.Text(t.Name), Keys: wire.Each(t.Keys, storageKeyToProto)}
}

func storageTypeFromProto(t *hypervisorv1.StorageType) StorageType {
	return StorageType{Name: t.GetName(), Keys: wire.Each(t.GetKeys(), storageKeyFromProto)}
}

func storageKeyToProto(k StorageKey) *hypervisorv1.StorageKey {
	return &hypervisorv1.StorageKey{
		Name: wire.Text(k.Name), Type: wire.Text(k.Type), Values: wire.Texts(k.Values), Min: k.Min, Max: k.Max, MaxLength: k.MaxLength,
		Required: k.Required, Fixed: k.Fixed, Secret: k.Secret,
	}
}

func storageKeyFromProto(k *hypervisorv1.StorageKey) StorageKey {
	return StorageKey{
		Name: k.GetName(), Type: k.GetType(), Values: k.GetValues(), Min: k.Min, Max: k.Max, MaxLength: k.GetMaxLength(),
		Required: k.GetRequired(), Fixed: k.GetFixed(), Secret: k.GetSecret(),
	}
}

func settingToProto(s StorageSetting) *hypervisorv1.StorageSetting {
	return &hypervisorv1.StorageSetting{Key: wire.Text(s.Key), Value: wire.Text(string(s.Value))}
}

func settingFromProto(s *hypervisorv1.StorageSetting) StorageSetting {
	return StorageSetting{Key: s.GetKey(), Value: plugin.Secret(s.GetValue())}
}

func definitionToProto(d StorageDefinition) *hypervisorv1.StorageDefinition {
	out := &hypervisorv1.StorageDefinition{
		Name: wire.Text(d.Name), Type: wire.Text(d.Type), Digest: wire.Text(d.Digest),
	}
	if len(d.Config) > 0 {
		out.Config = make(map[string]string, len(d.Config))
	}
	for key, value := range d.Config {
		out.Config[wire.Text(key)] = wire.Text(value)
	}
	return out
}

func definitionFromProto(d *hypervisorv1.StorageDefinition) StorageDefinition {
	return StorageDefinition{Name: d.GetName(), Type: d.GetType(), Digest: d.GetDigest(), Config: d.GetConfig()}
}

// storageSpecToProto and storageChangeToProto leave the target out.
func storageSpecToProto(s StorageSpec) *hypervisorv1.AttachStorageRequest {
	return &hypervisorv1.AttachStorageRequest{Name: wire.Text(s.Name), Type: wire.Text(s.Type), Config: wire.Each(s.Config, settingToProto)}
}

func storageSpecFromProto(req *hypervisorv1.AttachStorageRequest) StorageSpec {
	return StorageSpec{Name: req.GetName(), Type: req.GetType(), Config: wire.Each(req.GetConfig(), settingFromProto)}
}

func storageChangeToProto(c StorageChange) *hypervisorv1.EditStorageRequest {
	return &hypervisorv1.EditStorageRequest{
		Name: wire.Text(c.Name), Digest: wire.Text(c.Digest), Set: wire.Each(c.Set, settingToProto), Clear: wire.Texts(c.Clear),
	}
}

func storageChangeFromProto(req *hypervisorv1.EditStorageRequest) StorageChange {
	return StorageChange{
		Name: req.GetName(), Digest: req.GetDigest(), Set: wire.Each(req.GetSet(), settingFromProto), Clear: req.GetClear(),
	}
}
