package wire_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/hostler/hostler/sdk/plugin"
	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// parts is a stream of that many messages of a mebibyte.
type parts struct {
	grpc.ClientStream
	left int
}

func (p *parts) Recv() (*hypervisorv1.ContentResponse, error) {
	if p.left--; p.left < 0 {
		return nil, io.EOF
	}
	return &hypervisorv1.ContentResponse{Hidden: []string{strings.Repeat("x", 1<<20)}}, nil
}

// A list that comes in parts is received as a whole, unless a plugin goes on and on.
func TestGather(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 1 << 20} {
		received := 0
		err := wire.Gather(t.Context(), func(context.Context, *hypervisorv1.ContentRequest, ...grpc.CallOption) (
			grpc.ServerStreamingClient[hypervisorv1.ContentResponse], error) {
			return &parts{left: n}, nil
		}, &hypervisorv1.ContentRequest{}, func(*hypervisorv1.ContentResponse) error { received++; return nil })
		if n == 10 && (err != nil || received != n) || n > 10 && (plugin.KindOf(err) != plugin.Protocol || received > wire.MaxList>>20) {
			t.Errorf("of %d parts %d are received: %v", n, received, err)
		}
	}
}
