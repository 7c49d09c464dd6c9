package job_test

import (
	"bufio"
	"context"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/hypervisor/memdriver"
)

const childKey = "HOSTLER_TEST_JOB_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childKey); args != "" {
		child(strings.Split(args, " "))
		return
	}
	os.Exit(m.Run())
}

// child is an instance in a process of its own: it runs jobs on a hostServer, and at the named point it says so and stands
// still. It ends with its standard input, so that it cannot outlive the test.
func child(args []string) {
	url, bridged, point := args[0], args[1], args[2]
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	d, err := db.Open(context.Background(), db.Config{URL: url, Logger: hclog.NewNullLogger()})
	fail(err)
	client, err := rpc.Dial("tcp", bridged)
	fail(err)
	q, err := job.New(job.Config{DB: d})
	fail(err)
	q.Register("act", job.WorkerFunc(func(ctx context.Context, run *job.Run) error {
		var o order
		if err := run.Params(&o); err != nil {
			return err
		}
		_, err := run.Do(ctx, stepOn(o, func(context.Context) (hypervisor.Host, error) { return &far{client: client}, nil }))
		return err
	}))
	q.Hook(func(_ context.Context, at string, _ int64) {
		if at == point {
			fmt.Println("at", point)
			select {}
		}
	})
	fail(q.Start(context.Background()))
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// A service that is killed at any point of a job loses nothing, and the next one sends nothing a second time.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"begun", "before-send", "after-send", "waiting", "before-end"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memdriver.Spec{TaskTime: 300 * time.Millisecond})
			ref := w.cluster.NewGuest(hypervisor.VM, hypervisor.GuestRunning)
			process := exec.Command(os.Args[0])
			process.Env = append(os.Environ(), childKey+"="+strings.Join([]string{w.url, serve(t, w.open()), point}, " "))
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
			i := w.add(t, nil)
			id := i.enqueue(t, w.spec(ref, hypervisor.Stop))
			said, err := bufio.NewReader(stdout).ReadString('\n')
			if want := "at " + point + "\n"; said != want {
				t.Errorf("the service said %q (%v), want %q", said, err, want)
			}
			_ = process.Process.Kill()
			_ = process.Wait()
			killed := time.Now()
			i.run(t)
			j := i.ended(t, id, job.Succeeded)
			t.Logf("resumed and ended after %v", time.Since(killed).Round(time.Millisecond))
			if task := w.once(t, ref); j.TaskID != task {
				t.Errorf("the job has the task %q, the hypervisor %q", j.TaskID, task)
			}
			transcript := i.transcript(t, id)
			if j.Runs != 2 || !strings.Contains(transcript, "goes on (run 2)") {
				t.Errorf("%d runs, transcript\n%s", j.Runs, transcript)
			}
			for _, line := range []string{"log: stop of", "log: guest is stopped"} {
				if strings.Count(transcript, line) != 1 {
					t.Errorf("the line %q is there %d times in\n%s", line, strings.Count(transcript, line), transcript)
				}
			}
		})
	}
}
