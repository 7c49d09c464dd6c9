package updater

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/updater/installation"
)

// child is the updater's process.
func child(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	pool := x509.NewCertPool()
	if authority, err := x509.ParseCertificate(o.Authority); err == nil {
		pool.AddCert(authority)
	}
	o.Config.SourceOptions.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12,
		Time: func() time.Time { return time.Now().Add(o.Clock) }}
	o.Config.SourceOptions.Retries = -1
	o.Config.Service = remote{o.Supervisor}
	o.Config.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	u, err := New(o.Config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var jumped atomic.Int64
	jumped.Store(int64(o.Clock))
	u.cfg.Now = func() time.Time { return time.Now().Add(time.Duration(jumped.Load())) }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM) // as main does
	defer stop()
	u.hook = func(point string) {
		if point == o.JumpAt {
			jumped.Store(int64(o.Jump))
		}
		if point == o.KillAt {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if point == o.PauseAt {
			_ = os.WriteFile(path+".paused", nil, 0o600)
			for {
				if text, err := os.ReadFile(path + ".go"); err == nil {
					if string(text) == "signal" {
						<-ctx.Done()
					}
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	var answer said
	switch o.Do {
	case "resume":
		answer.Result, err = u.Resume(ctx)
	case "install":
		answer.Result, err = u.Install(ctx, o.Tree, o.Offline)
	case "revert":
		answer.Result, err = u.Revert(ctx, o.Restore)
	default:
		answer.Result, err = u.Run(ctx, o.Options)
	}
	if err != nil {
		answer.Err = err.Error()
	}
	if answer.Result != nil && answer.Result.Reason != nil {
		answer.Reason, answer.Result.Reason = answer.Result.Reason.Error(), nil
	}
	_ = json.NewEncoder(os.Stdout).Encode(answer)
	return 0
}

// process is an updater that runs.
type process struct {
	site *site
	path string
	cmd  *exec.Cmd
	out  bytes.Buffer
	gone chan struct{}
}

// start starts the updater's process.
func (s *site) start(o order) *process {
	s.t.Helper()
	if o.Config.Channel == "" {
		o.Config = s.config()
	}
	o.Supervisor = s.supervisor.api.URL
	if o.Authority == nil {
		o.Authority = s.server.Certificate().Raw
	}
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{site: s, path: filepath.Join(s.t.TempDir(), "order.json"), gone: make(chan struct{})}
	s.put(p.path, string(text), 0o600)
	p.cmd = exec.Command(updaterProgram(s.t))
	p.cmd.Env = append(os.Environ(), childVariable+"="+p.path)
	if o.Temp != "" {
		p.cmd.Env = append(p.cmd.Env, "TMPDIR="+o.Temp)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &s.supervisor.log
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { defer close(p.gone); _ = p.cmd.Wait() }() // the answer tells
	return p
}

// paused waits until the process is at the point where it pauses.
func (p *process) paused() {
	p.site.t.Helper()
	waittest.Succeeds(p.site.t, "it comes to its pause", func() error {
		gone := p.ended()
		_, err := os.Stat(p.path + ".paused")
		if err != nil && gone {
			p.site.t.Fatalf("it did not come to its pause: %s\n%s", p.out.String(), p.site.supervisor.log.String())
		}
		if err != nil {
			return errors.New(p.site.supervisor.log.String())
		}
		return nil
	})
}

// ended reports whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// goOn ends the pause.
func (p *process) goOn() { p.proceed("") }

// noticed waits until the process has met a failure that its log tells after so many bytes, or is gone.
func (p *process) noticed(after int) {
	p.site.t.Helper()
	waittest.Succeeds(p.site.t, "the updater meets a failure", func() error {
		text := p.site.supervisor.log.String()[after:]
		if strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") || p.ended() {
			return nil
		}
		return errors.New(text)
	})
}

// terminate ends the pause once the process has heard a SIGTERM.
func (p *process) terminate() {
	p.site.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.site.t.Fatal(err)
	}
	p.proceed("signal")
}

func (p *process) proceed(how string) {
	p.site.t.Helper()
	p.site.put(p.path+".word", how, 0o600)
	if err := os.Rename(p.path+".word", p.path+".go"); err != nil {
		p.site.t.Fatal(err)
	}
}

// wait is the answer; nil when the process was killed.
func (p *process) wait() *said {
	p.site.t.Helper()
	<-p.gone
	if p.out.Len() == 0 {
		return nil
	}
	var answer said
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		p.site.t.Fatalf("%v: %s", err, p.out.String())
	}
	return &answer
}

func (s *site) do(o order) *said {
	s.t.Helper()
	return s.start(o).wait()
}

// during runs an order, does something at one point of it, and lets it go on.
func (s *site) during(point string, o order, do func()) *said {
	s.t.Helper()
	o.PauseAt = point
	p := s.start(o)
	p.paused()
	do()
	p.goOn()
	return p.wait()
}

// end says whether the answer is the end of a run, and which.
func (a *said) end() (installation.Step, error) {
	switch {
	case a == nil:
		return "", errors.New("it was killed")
	case a.Err != "":
		return "", errors.New(a.Err)
	case a.Result == nil:
		return "", errors.New("there was nothing to do")
	}
	return a.Result.Step, nil
}

// must fails the test unless the answer is that of a run with an end.
func (s *site) must(a *said, want installation.Step) {
	s.t.Helper()
	if step, err := a.end(); err != nil || step != want {
		reason := ""
		if a != nil {
			reason = a.Reason
		}
		s.t.Fatalf("%s, %v (%s); want %s\n%s", step, err, reason, want, s.supervisor.log.String())
	}
}

// update makes an ordinary update at the end of a test: what happened before keeps nobody from updating.
func (s *site) update() {
	s.t.Helper()
	s.must(s.do(order{Do: "run"}), installation.StepDone)
	s.holds(newVersion, "done")
}
