package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/hostler/hostler/sdk/plugin"
	"google.golang.org/grpc"
)

// conn is a gRPC connection that leads to the process of a plugin that runs at
// the time of each call.
type conn struct {
	manager    *Manager
	kind, name string
}

var _ grpc.ClientConnInterface = (*conn)(nil)

// Invoke implements grpc.ClientConnInterface.
func (c *conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	s, p, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	err = p.conn.Invoke(ctx, method, args, reply, opts...)
	return s.judge(ctx, p, err)
}

// NewStream implements grpc.ClientConnInterface.
func (c *conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, p, err := c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := p.conn.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, s.judge(ctx, p, err)
	}
	return &stream{ClientStream: inner, ctx: ctx, supervisor: s, process: p}, nil
}

// stream judges the errors of a stream's messages.
type stream struct {
	grpc.ClientStream
	ctx        context.Context // of the one call that the stream is
	supervisor *supervisor
	process    *process
}

// RecvMsg receives one message. An end is no error; any other error is judged
// together with the process, because gRPC reports only that the connection
// broke when a plugin died.
func (s *stream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		return err // the stream's good end
	}
	return s.supervisor.judge(s.ctx, s.process, err)
}

// acquire returns the running process. If a start is running it waits a moment;
// otherwise it fails at once.
func (c *conn) acquire(ctx context.Context) (*supervisor, *process, error) {
	s := c.manager.find(c.kind, c.name)
	if s == nil && c.manager.lacks(c.kind, c.name) {
		return nil, nil, sdk.Errorf(sdk.Unsupported, "the plugin of %s does not support %s", c.name, c.kind)
	}
	if s == nil {
		return nil, nil, fmt.Errorf("%s %q: %w: it is not installed or not enabled", c.kind, c.name, sdk.ErrGone)
	}
	var timer *time.Timer // made only when there is something to wait for
	for {
		p, settled, err := s.running()
		if p != nil {
			return s, p, nil
		}
		if settled == nil {
			return nil, nil, fmt.Errorf("%s %q: %w: %w", c.kind, c.name, sdk.ErrGone, err)
		}
		if timer == nil {
			timer = time.NewTimer(c.manager.cfg.CallWait)
			defer timer.Stop()
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("waiting for %s %q to start: %w", c.kind, c.name, ctx.Err())
		case <-timer.C:
			return nil, nil, fmt.Errorf("%s %q: %w: it is starting", c.kind, c.name, sdk.ErrGone)
		}
	}
}

// running returns the process, or a channel to wait for while it starts, or the
// reason why it does not run.
func (s *supervisor) running() (p *process, settled <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.current != nil:
		return s.current, nil, nil
	case s.state == Starting:
		return nil, s.settled, nil
	case s.err != nil:
		return nil, nil, s.err
	default:
		return nil, nil, errors.New(string(s.state))
	}
}

// judge finds out whether a call failed because the process died. If so, the
// process is replaced at once, before its supervisor notices, and later calls
// wait for the new one.
func (s *supervisor) judge(ctx context.Context, p *process, err error) error {
	if err == nil || !errors.Is(sdk.CallError(ctx, err), sdk.ErrGone) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == p {
		s.current, s.state = nil, Starting
		s.settled = make(chan struct{})
		select {
		case s.doubt <- struct{}{}:
		default:
		}
	}
	return err
}
