package guest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

const childKey = "HOSTLER_TEST_GUEST_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childKey); args != "" {
		child(strings.Split(args, " "))
		return
	}
	os.Exit(m.Run())
}

// child is an instance in a process of its own, on the hypervisor of the test. Before or after the request that it is told
// it says so and stands still. It ends with its standard input, so that it cannot outlive the test.
func child(args []string) {
	url, address, when, request := args[0], args[1], args[2], args[3]
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	fail(err)
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	fail(err)
	q, err := job.New(job.Config{DB: d})
	fail(err)
	targets := map[int64]map[endpoint.Capability]plainTarget{}
	fail(json.Unmarshal([]byte(os.Getenv(childKey+"_TARGETS")), &targets))
	hosts := &halting{driver: hypervisor.NewClient(conn), targets: targets, when: when, request: request}
	w := &guest.Worker{DB: d, Hosts: hosts, Machines: hosts}
	w.Register(q)
	guest.Register(q, w, bounce())
	guest.Register(q, w, removal())
	backups(d, q, w.Hosts).Register(q)
	fail(q.Start(context.Background()))
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// halting opens hosts whose requests stand still at one point.
type halting struct {
	driver        hypervisor.Driver
	targets       map[int64]map[endpoint.Capability]plainTarget // by host
	when, request string
}

// plainTarget is a target as it goes to the process of a test, with its secret.
type plainTarget struct {
	endpoint.Target
	Secret string
}

func (h *halting) Open(ctx context.Context, hostID int64, capability endpoint.Capability) (hypervisor.Host, error) {
	plain := h.targets[hostID][capability]
	target := plain.Target
	target.Credential.Secret = sdk.Secret(plain.Secret)
	host, err := h.driver.Open(ctx, target)
	return &haltingHost{host, h}, err
}

type haltingHost struct {
	hypervisor.Host
	at *halting
}

func (h *halting) do(request string, send func() (string, error)) (string, error) {
	h.stand("before", request)
	task, err := send()
	h.stand("after", request)
	return task, err
}

func (h *halting) stand(when, request string) {
	if when == h.when && request == h.request {
		fmt.Println("at", when, request)
		select {}
	}
}

func (h *haltingHost) Act(ctx context.Context, ref hypervisor.GuestRef, action hypervisor.Action) (string, error) {
	return h.at.do(string(action), func() (string, error) { return h.Host.(hypervisor.LifecycleManager).Act(ctx, ref, action) })
}

// killed enqueues a job, kills the process that does it at the point, and lets the fixture's own instance go on.
func (b *lifecycleFixture) killed(t *testing.T, when, request string, want job.Status, enqueue func() int64) (*job.Job, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts and kills a service: make check runs it")
	}
	server := sdk.NewServer(hclog.NewNullLogger())
	if err := (hypervisor.Service{Driver: b.served, HostType: (*memdriver.Host)(nil)}).Register(server); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	targets := map[int64]map[endpoint.Capability]plainTarget{}
	for host, cluster := range b.clusters() {
		targets[host] = map[endpoint.Capability]plainTarget{}
		for _, capability := range []endpoint.Capability{endpoint.Monitoring, endpoint.Lifecycle, endpoint.Backup} {
			target := cluster.Target(capability)
			targets[host][capability] = plainTarget{target, string(target.Credential.Secret)}
		}
		login := cluster.NodeLogin()
		targets[host][machineLogin] = plainTarget{login, string(login.Credential.Secret)}
	}
	text, err := json.Marshal(targets)
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), childKey+"="+strings.Join([]string{b.url, listener.Addr().String(), when, request}, " "),
		childKey+"_TARGETS="+string(text))
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	id := enqueue()
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if want := "at " + when + " " + request + "\n"; said != want {
		t.Errorf("the service said %q (%v), want %q", said, err, want)
	}
	_ = process.Process.Kill()
	_ = process.Wait()
	if b.meanwhile != nil {
		b.meanwhile()
	}
	b.start(t)
	j, transcript := b.ended(t, id, want)
	if j.Runs != 2 {
		t.Errorf("%d runs\n%s", j.Runs, transcript)
	}
	return j, transcript
}

// A service that is killed before or after any request of a job of several steps goes on with the step that it was at, and
// sends nothing a second time.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for _, request := range []string{"stop", "start"} {
			t.Run(when+" "+request, func(t *testing.T) {
				t.Parallel()
				inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
					guest.Register(b.queue, b.worker, bounce())
					ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
					_, transcript := b.killed(t, when, request, job.Succeeded, func() int64 { return b.bounce(t, p) })
					if got := fmt.Sprint(b.words(t, ref)); got != "[stop start]" {
						t.Errorf("the tasks %s\n%s", got, transcript)
					}
				})
			})
		}
	}
}

// A service that is killed around the request of a restart restarts the guest once, or says that it does not know whether it did.
func TestKilledAroundARestart(t *testing.T) {
	t.Parallel()
	for when, tasks := range map[string]int{"before": 0, "after": 1} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(t *testing.T, b *lifecycleFixture) {
				ref, p := b.guest(t, hypervisor.VM, hypervisor.GuestRunning)
				b.meanwhile = func() { b.endOf(t, ref) }
				want, wanted := job.Succeeded, 1
				if b.Forgets {
					want, wanted = job.Unknown, tasks
				}
				j, transcript := b.killed(t, when, "restart", want, func() int64 { return b.enqueue(t, p, hypervisor.Restart) })
				if n := b.tasks(t, ref); n != wanted || b.Forgets && !strings.Contains(j.Error, "does not reach back that far") {
					t.Errorf("%d tasks, want %d; error %q\n%s", n, wanted, j.Error, transcript)
				}
			})
		})
	}
}
