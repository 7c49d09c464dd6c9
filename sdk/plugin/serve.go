package plugin

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
	"google.golang.org/grpc"
)

// ServeConfig configures Serve.
type ServeConfig struct {
	// Services are the kinds that the process serves: at least one, and each kind
	// at most once.
	Services []Service
	// Logger writes to the service's log. Nil means NewLogger.
	Logger hclog.Logger
}

// NewLogger returns a logger that writes JSON lines to the standard error of the
// plugin. The service reads them and writes them into its own log under the
// plugin's name. The level comes from LevelEnv, with Info as default.
func NewLogger() hclog.Logger {
	level := hclog.LevelFromString(os.Getenv(LevelEnv))
	if level == hclog.NoLevel {
		level = hclog.Info
	}
	return hclog.New(&hclog.LoggerOptions{Level: level, Output: os.Stderr, JSONFormat: true})
}

// Serve runs the plugin until the service stops it or is gone, and then exits the
// process. It must be the last call of the plugin's main function. An error that
// prevents the start is printed to standard error, and the exit code is 1.
func Serve(cfg ServeConfig) {
	if cfg.Logger == nil {
		cfg.Logger = NewLogger()
	}
	if _, err := describe(context.Background(), cfg.Services); err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
	watchHost(cfg.Logger)
	// A service manager signals the whole process group, but the service still
	// needs its plugins while it stops.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{
			ProtocolVersion: {setName: &set{services: cfg.Services}},
		},
		// Without a name of its own, go-plugin would log its start at info level as
		// if the plugin had done so.
		Logger:     cfg.Logger.Named("go-plugin"),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server { return NewServer(cfg.Logger, opts...) },
	})
	os.Exit(0)
}

// describe collects the descriptions of all services. It returns an error if there
// are none, if one has no kind or name, or if a kind occurs twice.
func describe(ctx context.Context, services []Service) (*pluginv1.DescribeResponse, error) {
	if len(services) == 0 {
		return nil, fmt.Errorf("the plugin has no services")
	}
	described := &pluginv1.DescribeResponse{}
	kinds := map[string]bool{}
	for _, s := range services {
		d, err := s.Describe(ctx)
		if err != nil {
			return nil, fmt.Errorf("cannot describe a service: %w", err)
		}
		if d.Kind == "" || d.Name == "" || kinds[d.Kind] {
			return nil, fmt.Errorf("kind %q, name %q: each kind needs a name and may occur only once", d.Kind, d.Name)
		}
		kinds[d.Kind] = true
		described.Services = append(described.Services, &pluginv1.Service{
			Kind: d.Kind, Name: d.Name, Version: d.Version, Abilities: d.Abilities, Scopes: scopesToProto(d.Scopes),
		})
	}
	return described, nil
}

func scopesToProto(scopes []ScopeAbilities) (out []*pluginv1.ScopeAbilities) {
	for _, s := range scopes {
		out = append(out, &pluginv1.ScopeAbilities{Kind: s.Kind, Abilities: s.Abilities})
	}
	return out
}
