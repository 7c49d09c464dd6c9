package processtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/programtest"
	"github.com/hostler/hostler/internal/waittest"
)

// freeAddress is a loopback address that nobody listens at now.
func freeAddress(b *testing.B) string {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// untilServed runs a program, takes the time until the page answers 200 for the first time, and ends the program.
func untilServed(b *testing.B, cmd *exec.Cmd, page string) time.Duration {
	b.Helper()
	var log waittest.Text
	cmd.Stderr = &log
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	for {
		err := func() error {
			resp, err := client.Get(page)
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
				return errors.New(string(text))
			}
			return nil
		}()
		took := time.Since(began)
		if err == nil {
			return took
		}
		if took > time.Minute {
			b.Fatalf("%s does not answer: %v: %s", page, err, log.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkStart is the time from the start of the program to its first 200 of /readyz: on a PostgreSQL that runs and has
// this release's schema, beside an empty Go server in the same run, and with a new private cluster.
func BenchmarkStart(b *testing.B) {
	empty := filepath.Join(b.TempDir(), "emptyserver")
	if err := programtest.Build(b.Context(), "", empty, "./testdata/emptyserver"); err != nil {
		b.Fatal(err)
	}
	hostlerd := func(database, state, address string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin(b), "hostlerd"), "serve")
		cmd.Env = append(environment(b, database, state), "HOSTLER_LISTEN="+address, "HOSTLER_LOG_LEVEL=info")
		return cmd
	}
	b.Run("database=given", func(b *testing.B) {
		database, state := dbtest.EmptyURL(b), b.TempDir()
		address := freeAddress(b)
		first := untilServed(b, hostlerd(database, state, address), "http://"+address+"/readyz") // migrates, and pins the plugins
		var ours, least []time.Duration
		for b.Loop() {
			address = freeAddress(b)
			ours = append(ours, untilServed(b, hostlerd(database, state, address), "http://"+address+"/readyz"))
			address = freeAddress(b)
			least = append(least, untilServed(b, exec.Command(empty, address), "http://"+address+"/"))
		}
		slices.Sort(ours)
		slices.Sort(least)
		b.ReportMetric(float64(first.Milliseconds()), "first-ms")
		b.ReportMetric(milliseconds(ours, 50), "p50-ms")
		b.ReportMetric(milliseconds(ours, 100), "max-ms")
		b.ReportMetric(milliseconds(least, 50), "empty-p50-ms")
		b.ReportMetric(milliseconds(ours, 50)-milliseconds(least, 50), "more-ms")
	})
	b.Run("database=private", func(b *testing.B) {
		var fresh, again []time.Duration
		for b.Loop() {
			state := filepath.Join(b.TempDir(), fmt.Sprint(len(fresh)))
			for _, into := range []*[]time.Duration{&fresh, &again} {
				address := freeAddress(b)
				*into = append(*into, untilServed(b, hostlerd("", state, address), "http://"+address+"/readyz"))
			}
		}
		slices.Sort(fresh)
		slices.Sort(again)
		b.ReportMetric(milliseconds(fresh, 50), "p50-new-ms")
		b.ReportMetric(milliseconds(again, 50), "p50-again-ms")
	})
}
