package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// process is one started plugin process.
type process struct {
	conn     *sdk.Connection
	services []sdk.Description
	pid      int
	started  time.Time

	cmd    *exec.Cmd
	client *goplugin.Client
	kill   context.CancelFunc
	// hold is the writing end of the pipe that the plugin watches: it closes with us.
	hold   *os.File
	runDir *runDir
	ended  sync.Once
	// over is closed by end.
	over chan struct{}
}

// readersLeave is how long the output of a dead process is read.
const readersLeave = 5 * time.Second

// launch starts a program with the digest sum, shakes hands, and asks what it
// serves. If ctx ends the launch is broken off; afterwards the process lives
// until end, whatever becomes of ctx.
func (m *Manager) launch(ctx context.Context, path, sum string, logger hclog.Logger) (*process, error) {
	logger = plainLog{logger}
	want, err := hex.DecodeString(sum)
	if err != nil || len(want) != sha256.Size {
		return nil, fmt.Errorf("%w: %q is not a SHA-256", ErrDigest, sum)
	}
	runDir, err := newRunDir(m.cfg.RunDir)
	if err != nil {
		return nil, err
	}
	watch, hold, err := os.Pipe()
	if err != nil {
		runDir.remove()
		return nil, fmt.Errorf("creating the pipe that the plugin watches: %w", err)
	}
	defer func() { _ = watch.Close() }()

	killed, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, kill)()
	cmd := exec.CommandContext(killed, path)
	cmd.Dir = "/"
	cmd.Env = append(slices.Clone(m.cfg.Env),
		sdk.WatchEnv+"=3", sdk.LevelEnv+"="+logger.GetLevel().String(), goplugin.EnvUnixSocketDir+"="+runDir.path)
	cmd.ExtraFiles = []*os.File{watch} // descriptor 3
	cmd.SysProcAttr = processAttributes()
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	cmd.WaitDelay = m.cfg.StopTimeout

	p := &process{
		cmd: cmd, kill: kill, hold: hold, runDir: runDir, started: time.Now(), over: make(chan struct{}),
		client: goplugin.NewClient(&goplugin.ClientConfig{
			HandshakeConfig:  sdk.Handshake(),
			VersionedPlugins: sdk.VersionedSet(),
			Cmd:              cmd,
			AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
			AutoMTLS:         true,
			SkipHostEnv:      true,
			SecureConfig:     &goplugin.SecureConfig{Checksum: want, Hash: sha256.New()},
			StartTimeout:     m.cfg.StartTimeout,
			Logger:           logger,
			SyncStdout:       lines(logger.Named("stdout")),
			SyncStderr:       lines(logger.Named("stderr")),
			GRPCDialOptions: append(sdk.DialOptions(), grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.DefaultConfig, MinConnectTimeout: m.cfg.StartTimeout,
			})),
		}),
	}
	if err := p.start(ctx, m.cfg.StartTimeout); err != nil {
		p.end(0)
		if errors.Is(err, goplugin.ErrChecksumsDoNotMatch) {
			return nil, fmt.Errorf("%w: %w", ErrDigest, err)
		}
		return nil, fmt.Errorf("starting the plugin: %w", shorten(err))
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// start runs the program from an operating-system thread that lives as long as
// the process. The kernel's signal on the parent's death (PR_SET_PDEATHSIG,
// prctl(2)) is sent when the thread that forked ends, and not only with the
// whole parent.
func (p *process) start(ctx context.Context, patience time.Duration) error {
	connected := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // so that the thread goes back into use and does not end
		rpc, err := p.client.Client()
		if err == nil {
			p.conn, err = sdk.Connect(rpc)
		}
		connected <- err
		if err == nil {
			<-p.over
		}
	}()
	if err := <-connected; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	if p.services, err = p.conn.Describe(ctx); err != nil {
		return fmt.Errorf("reading what the plugin serves: %w", err)
	}
	return nil
}

// end ends the process: it asks, waits for patience, and then kills. It returns
// when the process is gone, and may be called more than once.
func (p *process) end(patience time.Duration) {
	p.ended.Do(func() {
		if patience == 0 {
			p.kill()
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			p.client.Kill()
		}()
		if patience > 0 {
			wait(gone, patience)
			p.kill()
		}
		// A grandchild in its own session can keep the output open for ever;
		// then go-plugin's readers are abandoned.
		wait(gone, readersLeave)
		if p.cmd.Process != nil {
			_ = killGroup(p.cmd.Process.Pid) // what the process itself left behind
		}
		_ = p.hold.Close()
		p.runDir.remove()
		close(p.over)
	})
	<-p.over
}

// wait waits until done is closed, but not longer than patience.
func wait(done <-chan struct{}, patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// maxStartError limits the stored text of a failed start: go-plugin quotes the
// program's output.
const maxStartError = 300

// shorten gives the first line of an error, bounded: the errors of go-plugin
// have explanations of many lines.
func shorten(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	if len(first) > maxStartError {
		first = first[:maxStartError] + "…"
	}
	if first == err.Error() {
		return err
	}
	return errors.New(strings.ToValidUTF8(first, "\uFFFD"))
}
