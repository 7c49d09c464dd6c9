package updater

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
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
	o.Config.SourceOptions.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	o.Config.SourceOptions.Retries, o.Config.SourceOptions.Idle = -1, time.Second
	o.Config.Service = remote{o.Supervisor}
	o.Config.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	u, err := New(o.Config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	u.hook = func(point string) {
		if point == o.KillAt {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if point == o.PauseAt {
			_ = os.WriteFile(path+".paused", nil, 0o600)
			for {
				if _, err := os.Stat(path + ".go"); err == nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	var answer said
	switch o.Do {
	case "resume":
		answer.Result, err = u.Resume(context.Background())
	case "revert":
		answer.Result, err = u.Revert(context.Background(), o.Restore)
	default:
		answer.Result, err = u.Run(context.Background(), o.Options)
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

// start starts the updater's process; wait waits for its answer, which is nil when it was killed.
func (s *site) start(o order) (wait func() *said, path string) {
	s.t.Helper()
	if o.Config.Channel == "" {
		o.Config = s.config()
	}
	o.Supervisor, o.Authority = s.supervisor.api.URL, s.server.Certificate().Raw
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	path = filepath.Join(s.t.TempDir(), "order.json")
	s.put(path, string(text), 0o600)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &s.supervisor.log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return func() *said {
		_ = cmd.Wait() // the answer tells
		if out.Len() == 0 {
			return nil
		}
		var answer said
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			s.t.Fatalf("%v: %s", err, out.String())
		}
		return &answer
	}, path
}

func (s *site) do(o order) *said {
	s.t.Helper()
	wait, _ := s.start(o)
	return wait()
}
