package service

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/secret"
)

// Loop names a background activity of a service. It is also the name of the
// loop's heartbeat.
type Loop string

// What runs by itself: jobs, polls of hosts, schedules, the seal of the audit log, partitions of metrics, what the updater does,
// the listing of backups, the reading of guests' configurations, the folder of uploads, sending samples to others, telling people
// what happens, the count of requests to hosts, drafts of firewalls that their jobs have left, the history of the live feed, and the
// evaluation of alert rules.
const (
	// The loops of a service. Except for Jobs, each runs until the service is
	// drained.
	//
	//   - Jobs runs queued jobs.
	//   - Polls reads the inventory of hosts.
	//   - Schedules starts what is due.
	//   - Seal seals the audit log.
	//   - Metrics creates and drops partitions of the metrics.
	//   - Updates records what the updater did.
	//   - Backups lists backup storages and writes their daily report.
	//   - Details reads the configurations of guests.
	//   - Uploads cleans up the upload folder.
	//   - RemoteWrite sends samples to other systems.
	//   - Notifications delivers messages to the channels.
	//   - Load stores how many requests the hosts got.
	//   - Drafts cleans up firewall drafts that their jobs left.
	//   - Feed maintains the history of the live feed.
	//   - Alerts evaluates alert rules.
	Jobs      Loop = "job"
	Polls     Loop = "poll"
	Schedules Loop = "schedule"
	Seal      Loop = "audit"
	Metrics   Loop = "metric"
	Updates   Loop = "update"
	Backups   Loop = "backup"
	Details   Loop = "detail"
	Uploads   Loop = "upload"

	RemoteWrite   Loop = "remote-write"
	Notifications Loop = "notification"
	Load          Loop = "load"
	Drafts        Loop = "firewall"
	Feed          Loop = "feed"
	Alerts        Loop = "alert"
)

// Loops are all loops.
var Loops = []Loop{Jobs, Polls, Seal, Metrics, Schedules, Updates, Backups, Details, Uploads, RemoteWrite, Notifications, Load, Drafts,
	Feed, Alerts}

// Start starts the plugins, the watch over the key file and the loops of the
// configuration. While there is no user, it also writes the token of the first
// setup into the state folder. It returns once everything is started. If it
// fails, the caller must still call Drain and Close.
//
// A key file that missed a rotation is not an error: the service starts, and
// jobs and polls are left to other instances until the file is updated.
func (s *Service) Start(ctx context.Context) error {
	if path, needed, err := s.setup.Prepare(ctx); err != nil {
		return err
	} else if needed {
		s.config.Loggers("setup").Warn("there is no user yet: POST /api/v1/setup with the token in this file creates the first owner",
			"file", path)
	}
	if err := s.config.Plugins.Start(ctx); err != nil {
		return err
	}
	if err := s.config.Keys.CheckKeyFile(ctx, s.watch); err != nil && !errors.Is(err, secret.ErrOutdated) {
		return err
	}
	s.loops.Go(func() { s.config.Keys.Watch(s.running, s.watch) })
	s.loops.Go(func() { s.underway.Run(s.running) })
	if slices.Contains(s.config.Loops, Jobs) {
		if err := s.Queue.Start(ctx); err != nil {
			return err
		}
	}
	for loop, run := range map[Loop]func(context.Context){
		Polls: s.Poller.Run, Seal: s.sealer.Run, Schedules: s.Schedule.Run, Updates: s.Updates.Run,
		Backups: s.Backups.Run, Details: s.details.Run, Uploads: s.Uploads.Run, RemoteWrite: s.Receiver.Run,
		Notifications: s.Channels.Run, Load: s.Load.Run, Drafts: s.Drafts.Run, Feed: s.Feed.Run, Alerts: s.Alerts.Run,
		Metrics: func(ctx context.Context) {
			metric.MaintainPartitions(ctx, s.config.DB, s.config.Loggers("metric"), s.Heartbeats[Metrics])
		},
	} {
		if slices.Contains(s.config.Loops, loop) {
			s.loops.Go(func() { run(s.running) })
		}
	}
	return nil
}

// Context returns a context that Drain ends. Responses that have no natural
// end, such as event streams, must end with it.
func (s *Service) Context() context.Context { return s.running }

// Drain stops the loops and closes the sockets, and waits, within ctx, until
// jobs have reached a safe point. The next start, or another instance, resumes
// jobs that did not reach one. The API still answers, so that the caller can
// drain before it closes the listener. A second call does nothing.
func (s *Service) Drain(ctx context.Context) {
	s.drain.Do(func() {
		s.end()
		s.Consoles.Close()
		var leaving sync.WaitGroup
		leaving.Go(func() { s.leave(ctx) })
		defer leaving.Wait()
		if err := s.Queue.Stop(ctx); err != nil {
			s.config.Loggers("job").Warn("jobs did not reach a safe point in time; the next start resumes them", "error", err)
		}
	})
}

// leave waits, within ctx, until every socket has closed. It takes the write
// lock of lasting and never releases it, so that no further socket can open.
func (s *Service) leave(ctx context.Context) {
	left := make(chan struct{})
	go func() {
		s.lasting.Lock() // for good
		close(left)
	}()
	select {
	case <-left:
	case <-ctx.Done():
		s.config.Loggers("api").Warn("some sockets did not close in time")
	}
}

// Close waits for the loops and stops the plugins. Call it after Drain and
// after the last request has ended. A second call does nothing.
func (s *Service) Close() {
	s.close.Do(func() {
		s.loops.Wait()
		s.Feed.Close()
		s.config.Plugins.Stop()
		s.Poller.Close()
	})
}
