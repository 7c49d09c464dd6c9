package job_test

import (
	"context"
	"errors"
	"net"
	"net/rpc"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// hostServer lets another process use a host of this one, so that a test may kill that process and look at what reached the
// hypervisor.
type hostServer struct{ host hypervisor.Host }

// Call is the arguments of every method; Answer is what each returns.
type Call struct {
	Ref    hypervisor.GuestRef
	Action hypervisor.Action
	Query  hypervisor.TaskQuery
	TaskID string
	From   int
}

type Answer struct {
	Guest  hypervisor.Guest
	Tasks  hypervisor.TaskList
	TaskID string
	Lines  []hypervisor.LogLine
	Result hypervisor.TaskResult
	Err    string
	Kind   plugin.ErrorKind
}

func (a *Answer) fail(err error) {
	if err != nil {
		a.Err, a.Kind = err.Error(), plugin.KindOf(err)
	}
}

// Guest, Act, Tasks and Wait are the host's methods; Wait waits a moment only.
func (b *hostServer) Guest(c Call, a *Answer) (_ error) {
	var err error
	a.Guest, err = b.host.Guest(context.Background(), c.Ref)
	a.fail(err)
	return
}

func (b *hostServer) Act(c Call, a *Answer) (_ error) {
	var err error
	a.TaskID, err = b.host.(hypervisor.LifecycleManager).Act(context.Background(), c.Ref, c.Action)
	a.fail(err)
	return
}

func (b *hostServer) Tasks(c Call, a *Answer) (_ error) {
	var err error
	a.Tasks, err = b.host.Tasks(context.Background(), c.Query)
	a.fail(err)
	return
}

func (b *hostServer) Wait(c Call, a *Answer) (_ error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	var err error
	a.Result, err = b.host.WaitTask(ctx, c.TaskID, c.From, func(line hypervisor.LogLine) error {
		a.Lines = append(a.Lines, line)
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		a.fail(err)
	}
	return
}

// serve listens on loopback until the test ends.
func serve(t testing.TB, host hypervisor.Host) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	server := rpc.NewServer()
	if err := server.RegisterName("Host", &hostServer{host}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go server.ServeConn(conn)
		}
	}()
	return listener.Addr().String()
}

// far is the other end of a hostServer.
type far struct {
	hypervisor.Host
	client *rpc.Client
}

func (f *far) call(method string, c Call) (*Answer, error) {
	var a Answer
	if err := f.client.Call("Host."+method, c, &a); err != nil {
		return nil, plugin.Errorf(plugin.Unreachable, "calling: %w", err)
	}
	if a.Kind != "" {
		return nil, plugin.Errorf(a.Kind, "%s", a.Err)
	}
	return &a, nil
}

func (f *far) Guest(_ context.Context, ref hypervisor.GuestRef) (hypervisor.Guest, error) {
	a, err := f.call("Guest", Call{Ref: ref})
	if err != nil {
		return hypervisor.Guest{}, err
	}
	return a.Guest, nil
}

func (f *far) Act(_ context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	a, err := f.call("Act", Call{Ref: ref, Action: action})
	if err != nil {
		return "", err
	}
	return a.TaskID, nil
}

func (f *far) Tasks(_ context.Context, query hypervisor.TaskQuery) (hypervisor.TaskList, error) {
	a, err := f.call("Tasks", Call{Query: query})
	if err != nil {
		return hypervisor.TaskList{}, err
	}
	return a.Tasks, nil
}

func (f *far) WaitTask(ctx context.Context, taskID string, from int, line func(hypervisor.LogLine) error) (hypervisor.TaskResult, error) {
	for ctx.Err() == nil {
		a, err := f.call("Wait", Call{TaskID: taskID, From: from})
		if err != nil {
			return hypervisor.TaskResult{}, err
		}
		for _, l := range a.Lines {
			from = l.N
			if err := line(l); err != nil {
				return hypervisor.TaskResult{}, err
			}
		}
		if a.Result.Status != "" {
			return a.Result, nil
		}
	}
	return hypervisor.TaskResult{}, ctx.Err()
}

func (f *far) Close() error { return nil }
