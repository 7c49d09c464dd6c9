package wire_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/hostler/hostler/sdk/plugin/wire"
)

func openLane(t *testing.T) *wire.Lane {
	t.Helper()
	lane := wire.OpenLane()
	if lane == nil {
		if runtime.GOOS == "linux" {
			t.Fatal("there is no lane")
		}
		t.Skip("there are no lanes on this system")
	}
	t.Cleanup(lane.Close)
	return lane
}

// accept lets the other side join.
func accept(ctx context.Context, lane *wire.Lane) <-chan net.Conn {
	joined := make(chan net.Conn, 1)
	go func() { joined <- lane.Accept(ctx) }()
	return joined
}

// What one side writes the other reads, also when a stranger who has found the socket was there before and holds it.
func TestLaneIsForThoseWithTheKey(t *testing.T) {
	t.Parallel()
	lane := openLane(t)
	joined := accept(t.Context(), lane)
	for _, key := range [][]byte{nil, lane.Key[:32], make([]byte, len(lane.Key)), append(make([]byte, 32), lane.Key[32:]...)} {
		if conn := wire.JoinLane(t.Context(), lane.Name, key); conn != nil {
			t.Errorf("one with the key %x has joined", key)
		}
	}
	other := wire.JoinLane(t.Context(), lane.Name, lane.Key)
	ours := <-joined
	if other == nil || ours == nil {
		t.Fatalf("the sides are %v and %v", ours, other)
	}
	go func() {
		_, _ = ours.Write([]byte("all of it"))
		_ = ours.Close()
	}()
	if got, err := io.ReadAll(other); err != nil || string(got) != "all of it" {
		t.Errorf("%q arrived, %v", got, err)
	}
}

// Whoever has taken a socket of the name, or has closed it, is not taken for the other side.
func TestLaneThatIsNotTheOtherSides(t *testing.T) {
	t.Parallel()
	lane := openLane(t)
	lane.Close()
	if conn := wire.JoinLane(t.Context(), lane.Name, lane.Key); conn != nil {
		t.Error("a lane that is closed was joined")
	}
	stranger, err := net.Listen("unix", lane.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	go func() {
		conn, err := stranger.Accept()
		if err != nil {
			return
		}
		_, _ = io.CopyN(conn, conn, 32) // it gives back what it gets, and knows no more
		_ = conn.Close()
	}()
	if conn := wire.JoinLane(t.Context(), lane.Name, lane.Key); conn != nil {
		t.Error("a stranger was taken for the other side")
	}
	for _, name := range []string{"", "@", "/tmp/a-file", "name"} {
		if conn := wire.JoinLane(t.Context(), name, lane.Key); conn != nil {
			t.Errorf("%q was joined", name)
		}
	}
}

// A call that is over waits for nobody.
func TestLaneOfACallThatIsOver(t *testing.T) {
	t.Parallel()
	lane := openLane(t)
	ctx, cancel := context.WithCancel(t.Context())
	joined := accept(ctx, lane)
	cancel()
	if conn := <-joined; conn != nil {
		t.Error("someone has joined")
	}
	if conn := wire.JoinLane(t.Context(), lane.Name, lane.Key); conn != nil {
		t.Error("it was joined afterwards")
	}
}
