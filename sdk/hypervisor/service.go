package hypervisor

import (
	"context"
	"errors"

	"github.com/hostler/hostler/sdk/plugin"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// Service is a driver as plugin.Serve takes it. It registers the gRPC services of exactly those optional interfaces that
// the driver and its host type satisfy, and Info reports them.
type Service struct {
	Driver Driver
	// HostType is a typed nil of what Driver.Open returns, such as (*pve.Host)(nil): its methods are looked at and never
	// called.
	HostType Host
}

var _ plugin.Service = Service{}

// Describe is the driver's Info with the abilities found.
func (s Service) Describe(ctx context.Context) (plugin.Description, error) {
	info, err := s.info(ctx)
	return info.description(), err
}

// Register adds HypervisorService and a service for each ability.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	if err := s.check(); err != nil {
		return err
	}
	base := &server{service: s}
	hypervisorv1.RegisterHypervisorServiceServer(registrar, base)
	abilities.Register(registrar, base)
	return nil
}

// info is the driver's Info, complete, with the abilities found.
func (s Service) info(ctx context.Context) (Info, error) {
	if err := s.check(); err != nil {
		return Info{}, err
	}
	info, err := Describe(ctx, s.Driver)
	if err != nil {
		return Info{}, err
	}
	info.Abilities = Abilities(s.Driver, s.HostType)
	return info, nil
}

func (info Info) description() plugin.Description {
	return plugin.Description{Kind: plugin.KindHypervisor, Name: info.Name, Version: info.Version, Abilities: info.Abilities}
}

func (s Service) check() error {
	if s.Driver == nil || s.HostType == nil {
		return errors.New("a hypervisor service needs a driver and its host type")
	}
	return nil
}
