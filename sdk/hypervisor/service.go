package hypervisor

import (
	"context"
	"errors"

	"github.com/hostler/hostler/sdk/plugin"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// Service is a driver in the form that plugin.Serve takes. It registers the gRPC
// services of exactly those optional interfaces that the driver and its host type
// implement, and Info reports their names:
//
//	plugin.Serve(plugin.ServeConfig{Logger: plugin.NewLogger(), Services: []plugin.Service{
//		hypervisor.Service{Driver: driver, HostType: (*Host)(nil)},
//	}})
type Service struct {
	// Driver is the driver to serve.
	Driver Driver
	// HostType is a typed nil of the type that Driver.Open returns, such as
	// (*pve.Host)(nil). Its method set decides about the abilities. No method of it
	// is called.
	HostType Host
}

var _ plugin.Service = Service{}

// Describe returns the kind, name, version and abilities of the driver. It
// implements plugin.Service.
func (s Service) Describe(ctx context.Context) (plugin.Description, error) {
	info, err := s.info(ctx)
	return info.description(), err
}

// Register registers HypervisorService and a gRPC service for each ability.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	if err := s.check(); err != nil {
		return err
	}
	base := &server{service: s}
	hypervisorv1.RegisterHypervisorServiceServer(registrar, base)
	abilities.Register(registrar, base)
	return nil
}

// info returns the complete Info of the driver, with the abilities.
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

// description returns the part of the Info that all kinds of plugins have.
func (info Info) description() plugin.Description {
	return plugin.Description{Kind: plugin.KindHypervisor, Name: info.Name, Version: info.Version, Abilities: info.Abilities}
}

// check returns an error if a field of the service is missing.
func (s Service) check() error {
	if s.Driver == nil || s.HostType == nil {
		return errors.New("a hypervisor service needs a driver and its host type")
	}
	return nil
}
