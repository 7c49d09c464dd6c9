// Package plugintest serves plugins to tests, over a real gRPC connection but
// without a process. RoundTrip checks that a struct and its protobuf message carry
// the same fields.
package plugintest

import (
	"net"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hostler/hostler/sdk/plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Connect serves the services over gRPC on loopback, with the server that
// plugin.Serve uses, and returns the connection of a client. Both are closed at the
// end of the test.
func Connect(t testing.TB, services ...plugin.Service) *grpc.ClientConn {
	t.Helper()
	server := plugin.NewServer(hclog.NewNullLogger())
	if err := plugin.Register(server, services...); err != nil {
		t.Fatal("registering the services:", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("listening:", err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(),
		append(plugin.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal("dialling:", err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		<-served
	})
	return conn
}
