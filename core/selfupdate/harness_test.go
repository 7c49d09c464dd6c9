package selfupdate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/selfupdate"
	"github.com/hostler/hostler/core/selfupdate/selfupdatetest"
	"github.com/hostler/hostler/updater/installation"
	"github.com/hostler/hostler/updater/release"
)

// instance is one service of several on a database and one machine.
type instance struct {
	*selfupdate.Store
	*selfupdatetest.Installation
	dbtest.SQL
	t     testing.TB
	url   string
	db    *db.DB
	queue *job.Queue
}

// start makes an installation of 1.0.0 and a service on it.
func start(t testing.TB, edit func(*selfupdate.Config)) *instance {
	t.Helper()
	return again(t, dbtest.URL(t), selfupdatetest.New(t, "1.0.0"), edit)
}

// again makes a service on a database and an installation that are there: another instance, or the same one after a restart.
func again(t testing.TB, url string, installed *selfupdatetest.Installation, edit func(*selfupdate.Config)) *instance {
	t.Helper()
	i := &instance{t: t, url: url, db: dbtest.Open(t, url), Installation: installed}
	i.SQL = dbtest.On(t, i.db)
	var err error
	if i.queue, err = job.New(job.Config{DB: i.db, ResumeEvery: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	cfg := selfupdate.Config{
		DB: i.db, Queue: i.queue, ConfigFile: installed.File, Machine: installed.Machine(), Version: "1.0.0",
		Architecture: selfupdatetest.Architecture,
		WatchEvery:   20 * time.Millisecond,
	}
	if edit != nil {
		edit(&cfg)
	}
	i.Store = selfupdate.New(cfg)
	i.Register()
	return i
}

func (i *instance) status() *selfupdate.Status {
	i.t.Helper()
	s, err := i.Status(i.t.Context())
	if err != nil {
		i.t.Fatal(err)
	}
	return s
}

// look looks for releases and says how that ended: "" or the reason.
func (i *instance) look() string {
	i.t.Helper()
	_, err := i.Check(i.t.Context())
	return reason(err)
}

// reason is the code and the reason of a problem; empty for none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	p := problem.From(err)
	return fmt.Sprintf("%s %v", p.Code, p.Members["reason"])
}

// run runs the instance's loop until the test ends or the returned function is called.
func (i *instance) run() func() {
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.Run(ctx)
	}()
	stop := func() {
		end()
		<-done
	}
	i.t.Cleanup(stop)
	return stop
}

// server serves releases over TLS; the options trust it.
func server(t testing.TB, handler http.HandlerFunc) (string, release.SourceOptions) {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.URL + "/releases", release.SourceOptions{TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Retries: -1}
}

// written is a line of the updater's journal, minutes after noon.
func written(minute int, run string, step installation.Step, event installation.Event, text string, plan *installation.Plan) string {
	raw, err := json.Marshal(installation.Line{At: selfupdatetest.Day.Add(time.Duration(minute) * time.Minute), Run: run, Step: step,
		Event: event, Text: text, Plan: plan})
	if err != nil {
		panic(err)
	}
	return string(raw)
}
