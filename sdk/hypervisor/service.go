package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hostler/hostler/sdk/endpoint"
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
	if err != nil {
		return plugin.Description{}, err
	}
	d := plugin.Description{Kind: plugin.KindHypervisor, Name: info.Name, Version: info.Version}
	for _, a := range info.Abilities {
		d.Abilities = append(d.Abilities, string(a))
	}
	return d, nil
}

// Register adds HypervisorService and a service for each ability.
func (s Service) Register(registrar grpc.ServiceRegistrar) error {
	if err := s.check(); err != nil {
		return err
	}
	base := &server{service: s}
	hypervisorv1.RegisterHypervisorServiceServer(registrar, base)
	for _, a := range s.Abilities() {
		switch a {
		case AbilityLifecycle:
			hypervisorv1.RegisterLifecycleServiceServer(registrar, &lifecycleServer{server: base})
		case AbilityTaskStop:
			hypervisorv1.RegisterTaskStopServiceServer(registrar, &taskStopServer{server: base})
		case AbilityNodeRead:
			hypervisorv1.RegisterNodeReadServiceServer(registrar, &nodeReadServer{server: base})
		case AbilityRoleScript:
			hypervisorv1.RegisterRoleScriptServiceServer(registrar, &roleScriptServer{scripter: s.Driver.(RoleScripter)})
		}
	}
	return nil
}

// Abilities are the optional interfaces that the driver and its host type satisfy.
func (s Service) Abilities() []Ability {
	var found []Ability
	if _, ok := s.HostType.(Lifecycler); ok {
		found = append(found, AbilityLifecycle)
	}
	if _, ok := s.HostType.(TaskStopper); ok {
		found = append(found, AbilityTaskStop)
	}
	if _, ok := s.HostType.(NodeReader); ok {
		found = append(found, AbilityNodeRead)
	}
	if _, ok := s.Driver.(RoleScripter); ok {
		found = append(found, AbilityRoleScript)
	}
	return found
}

// info is the driver's Info with the abilities found.
func (s Service) info(ctx context.Context) (Info, error) {
	if err := s.check(); err != nil {
		return Info{}, err
	}
	info, err := s.Driver.Info(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("asking the driver for its info: %w", err)
	}
	info.Abilities = s.Abilities()
	return info, nil
}

func (s Service) check() error {
	if s.Driver == nil || s.HostType == nil {
		return errors.New("a hypervisor service needs a driver and its host type")
	}
	return nil
}

// open opens the host for one call and makes sure that the driver told the truth about its type.
func (s Service) open(ctx context.Context, target endpoint.Target) (Host, error) {
	host, err := s.Driver.Open(ctx, target)
	if err != nil {
		return nil, err
	}
	if got, want := reflect.TypeOf(host), reflect.TypeOf(s.HostType); got != want {
		_ = host.Close()
		return nil, plugin.Errorf(plugin.Internal, "the driver opened a %s and promised a %s", got, want)
	}
	return host, nil
}
