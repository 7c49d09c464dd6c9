package hypervisor_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
	"google.golang.org/grpc"
)

// counting is a connection that counts the bytes of files in messages. alone takes the lane out, as if the plugin knew of none.
type counting struct {
	grpc.ClientConnInterface
	alone    bool
	messages *atomic.Int64
}

func (c counting) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream,
	error) {
	s, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	return countingStream{s, c}, err
}

type countingStream struct {
	grpc.ClientStream
	counting
}

func (s countingStream) SendMsg(m any) error {
	if req, ok := m.(*hypervisorv1.UploadRequest); ok {
		s.messages.Add(int64(len(req.GetData())))
		if s.alone {
			req.Lane, req.LaneKey = "", nil
		}
	}
	return s.ClientStream.SendMsg(m)
}

// uploading is a cluster in memory behind gRPC, and the bytes of files that went there in messages.
func uploading(t *testing.T, alone bool) (*memdriver.Cluster, hypervisor.Uploader, *atomic.Int64) {
	t.Helper()
	driver := memdriver.New()
	cluster := driver.Add("a.mem:8006", memdriver.Spec{})
	cluster.AddStorage(memdriver.StorageSpec{Name: "files", FreeGB: 1})
	messages := &atomic.Int64{}
	conn := plugintest.Connect(t, hypervisor.Service{Driver: driver, HostType: (*memdriver.Host)(nil)})
	client := hypervisor.NewClient(counting{conn, alone, messages})
	if _, err := client.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	host, err := client.Open(t.Context(), cluster.Target(endpoint.Lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	at, ok := hypervisor.As[hypervisor.Uploader](host)
	if !ok {
		t.Fatal("it takes no files")
	}
	return cluster, at, messages
}

// A file goes beside the call, and in its messages where the plugin comes from an older SDK, or is spoken to by an older service.
func TestFilesGoBesideTheCall(t *testing.T) {
	t.Parallel()
	content := make([]byte, 5<<20+3)
	_, _ = rand.Read(content)
	sum := sha256.Sum256(content)
	for name, c := range map[string]struct {
		alone bool
		want  int64
	}{"beside": {false, 0}, "in messages": {true, int64(len(content))}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, at, messages := uploading(t, c.alone)
			spec := hypervisor.UploadSpec{Node: cluster.Nodes()[0], Storage: "files", Name: "a.iso", Size: int64(len(content)),
				SHA256: hex.EncodeToString(sum[:])}
			if _, err := at.Upload(t.Context(), spec, bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
			if n := messages.Load(); n != c.want {
				t.Errorf("%d bytes went in messages, want %d", n, c.want)
			}
		})
	}
}

// What ends early beside the call is not taken for the end of the file: by a reader that fails, a caller that leaves, a driver that
// has enough.
func TestFileThatEndsEarlyBesideTheCall(t *testing.T) {
	t.Parallel()
	cluster, at, messages := uploading(t, false)
	broken := errors.New("broken")
	part := func(n int64) io.Reader { return io.LimitReader(rand.Reader, n) }
	leaving, leave := context.WithCancel(t.Context())
	defer leave()
	for name, c := range map[string]struct {
		ctx  context.Context
		size int64
		file io.Reader
		want error
	}{
		"a reader that fails": {t.Context(), 3 << 20, io.MultiReader(part(2<<20), failing{func() error { return broken }}), broken},
		"a caller that leaves": {leaving, 3 << 20, io.MultiReader(part(2<<20), failing{func() error {
			leave()
			return context.Canceled
		}}), context.Canceled},
		"one that is too short": {t.Context(), 3 << 20, part(2 << 20), nil},
		"one that is too long":  {t.Context(), 3 << 20, part(64 << 20), nil},
		"one that is refused":   {t.Context(), 1 << 40, part(64 << 20), nil},
	} {
		spec := hypervisor.UploadSpec{Node: cluster.Nodes()[0], Storage: "files", Name: "a.iso", Size: c.size}
		id, err := at.Upload(c.ctx, spec, c.file)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
	if files := cluster.Files(); len(files) != 0 || messages.Load() != 0 {
		t.Errorf("there are %+v, and %d bytes went in messages", files, messages.Load())
	}
}

// failing cannot be read.
type failing struct{ fail func() error }

func (f failing) Read([]byte) (int, error) { return 0, f.fail() }
