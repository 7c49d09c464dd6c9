package appscript_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host/hosttest"
	"github.com/hostler/hostler/core/job/jobtest"
	"github.com/hostler/hostler/core/service"
	"github.com/hostler/hostler/core/service/servicetest"
	"github.com/hostler/hostler/core/upload"
	"github.com/hostler/hostler/internal/waittest"
	"github.com/hostler/hostler/sdk/firewall/membackend"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

func TestMain(m *testing.M) { jobtest.Main(m, child) }

// child is a service in a process of its own, on the database and the hypervisor of the test: it does jobs until it is killed.
func child(args []string) error {
	url, keyFile, address, name := args[0], args[1], args[2], args[3]
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	keys, err := loadKeys(keyFile)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostler-test-")
	if err != nil {
		return err
	}
	spool, err := upload.OpenSpool(dir)
	if err != nil {
		return err
	}
	c := service.Config{Version: "test", StateDir: dir, DB: d, Keys: keys, Spool: spool, Catalogs: servicetest.Catalogs{},
		Drivers: hosttest.DriverTable{name: hypervisor.NewClient(conn)}, Firewalls: servicetest.Firewalls{Backend: membackend.New()}}
	c.Jobs.ResumeEvery, c.Jobs.Settle, c.Jobs.UnreachableLimit = 200*time.Millisecond, 2*time.Second, 20*time.Second
	s, err := service.New(c)
	if err != nil {
		return err
	}
	s.Scripts.Pauses = pauses
	return s.Queue.Start(context.Background())
}

// serve serves the driver of the fixture's hosts to other processes.
func (f *fixture) serve() (address, name string) {
	f.t.Helper()
	name = f.Value("SELECT driver FROM hosts WHERE id = 1")
	server := sdk.NewServer(hclog.NewNullLogger())
	if err := (hypervisor.Service{Driver: f.drivers.Hypervisor(name), HostType: (*labHost)(nil)}).Register(server); err != nil {
		f.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	f.t.Cleanup(server.Stop)
	return listener.Addr().String(), name
}

// A service that is killed at any step is followed by another one, which brings the update to its end: nothing is done twice, and what is
// told is true.
func TestKilled(t *testing.T) {
	t.Parallel()
	const broken = newVersion + `kill "$(cat /root/pid)"; echo run >>/root/counted; echo all done`
	const slow = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.5; done; echo run >>/root/counted; " + works + "echo all done"
	points := []struct{ slug, when, request, script, status, last, page string }{
		{"before-snapshot", "before", "snapshot", works + "echo all done", "succeeded", "updated 1.0 2.0 before-update-ID", "two"},
		{"after-snapshot", "after", "snapshot", works + "echo all done", "succeeded", "updated 1.0 2.0 before-update-ID", "two"},
		{"in-script", "", "line 2", slow, "succeeded", "updated 1.0 2.0 before-update-ID", "two"},
		{"in-script-cut", "", "line 2", slow, "succeeded", "updated 1.0 2.0 before-update-ID", "two"},
		{"before-roll-back", "before", "roll-back", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"after-roll-back", "after", "roll-back", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"before-start", "before", "start", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"after-start", "after", "start", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"before-backup", "before", "backup", works + "echo all done", "succeeded", "updated 1.0 2.0 none", "two"},
		{"after-backup", "after", "backup", works + "echo all done", "succeeded", "updated 1.0 2.0 none", "two"},
		{"before-stop-of-backup", "before", "stop", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"before-restore", "before", "restore", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"after-restore", "after", "restore", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
		{"before-delete", "before", "delete", broken, "failed", "rolled_back 1.0 1.0 none", "one"},
	}
	scripts := map[string]string{}
	for _, p := range points {
		scripts[p.slug] = p.script
	}
	f := newFixture(t, scripts)
	f.backups("before-backup", "after-backup", "before-stop-of-backup", "before-restore", "after-restore")
	address, name := f.serve()
	for _, p := range points {
		t.Run(p.slug, func(t *testing.T) {
			reached := make(chan struct{})
			stand := func(ctx context.Context, when, request string, id hypervisor.GuestID) error {
				if when != p.when || request != p.request || id != f.apps[p.slug].ref.ID {
					return nil
				}
				close(reached)
				<-ctx.Done() // of the process that is killed
				return ctx.Err()
			}
			f.set(func(ctx context.Context, request string, id hypervisor.GuestID) error {
				return stand(ctx, "before", request, id)
			},
				func(ctx context.Context, request string, id hypervisor.GuestID) { _ = stand(ctx, "after", request, id) })
			f.Queue.Suspend()
			id := f.ask(fmt.Sprintf("apps/%d/update", f.apps[p.slug].id), `{"consent":true}`)
			process := jobtest.Start(t, f.url, f.keyFile, address, name)
			if p.when == "" {
				waittest.Until(t, "the script is on", func() bool {
					return strings.Contains(f.Value("SELECT coalesce(string_agg(text, ' '), '') FROM job_events WHERE job_id = $1", id), p.request)
				})
			} else {
				<-reached
			}
			process.Kill()
			f.set(nil, nil)
			if p.slug == "in-script-cut" {
				f.machine.SSH.CloseConnections()
			}
			f.Queue.Unsuspend()
			transcript := f.ended(id, p.status)
			if got, want := f.last(p.slug), strings.ReplaceAll(p.last, "ID", fmt.Sprint(id)); got != want {
				t.Errorf("what came of it is %q, want %q:\n%s", got, want, transcript)
			}
			if got := f.page(p.slug); got != p.page {
				t.Errorf("the page says %q, want %q:\n%s", got, p.page, transcript)
			}
			if n := f.did("snapshot", p.slug) + f.did("backup", p.slug); n != 1 {
				t.Errorf("snapshots and backups were made as often as %d", n)
			}
			if n := f.did("roll-back", p.slug) + f.did("restore", p.slug); n > 1 {
				t.Errorf("it was set back as often as %d", n)
			}
			if n := strings.Count(transcript, "running update.sh\n"); n != 1 {
				t.Errorf("the script was run as often as %d:\n%s", n, transcript)
			}
			if p.when == "" {
				if counted := f.inside(p.slug, "cat /root/counted"); counted != "run" {
					t.Errorf("the script ran as often as this: %q", counted)
				}
			}
		})
	}
}
