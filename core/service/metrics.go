package service

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hostler/hostler/core/api/plugins"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/feed"
	"github.com/hostler/hostler/core/load"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/poll"
	"github.com/hostler/hostler/core/remotewrite"
)

// metrics has the metrics for Prometheus. No label has the name of a host or a
// user, because the endpoint is public.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(d *db.DB, installed plugins.Manager, poller *poll.Poller, receiver *remotewrite.Store,
	sent *load.Recorder, live *feed.Feed) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hostler_request_duration_seconds", Help: "Duration of the API's operations.",
			Buckets: []float64{.005, .02, .1, .5, 2, 10, 60},
		}, []string{"operation", "status"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, &state{db: d, plugins: installed, poller: poller, receiver: receiver, sent: sent, feed: live})
	return m
}

// observe records an operation of the API. The labels are the ID of the
// operation and the status, both from a bounded set.
func (m *metrics) observe(operation, _ string, status int, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Observe(took.Seconds())
}

// handler serves the metrics, at most four requests at once.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// state is the collector of metrics that are read when Prometheus fetches them.
type state struct {
	db      *db.DB
	plugins plugins.Manager
	poller  *poll.Poller
	// receiver sends samples to other systems.
	receiver *remotewrite.Store
	sent     *load.Recorder
	feed     *feed.Feed
}

var (
	hostsDesc    = prometheus.NewDesc("hostler_hosts", "Enrolled hosts by status.", []string{"status"}, nil)
	jobsDesc     = prometheus.NewDesc("hostler_jobs_unfinished", "Jobs that are queued or running.", []string{"status"}, nil)
	pluginDesc   = prometheus.NewDesc("hostler_plugin_up", "Whether the plugin's process is running.", []string{"kind", "name"}, nil)
	restartsDesc = prometheus.NewDesc("hostler_plugin_restarts_total", "Starts of the plugin after the first.", []string{"kind", "name"}, nil)
	pollsDesc    = prometheus.NewDesc("hostler_polls_total", "Inventories that this instance requested.", nil, nil)
	failuresDesc = prometheus.NewDesc("hostler_poll_failures_total", "Inventories that failed.", nil, nil)
	secondsDesc  = prometheus.NewDesc("hostler_poll_seconds_total", "Duration of inventories.", nil, nil)
	sentDesc     = prometheus.NewDesc("hostler_hypervisor_requests_total", "Requests that this instance sent to hypervisors, by driver.",
		[]string{"driver"}, nil)
	busyDesc = prometheus.NewDesc("hostler_hypervisor_request_seconds_total", "Time that these requests kept hypervisors busy.",
		[]string{"driver"}, nil)
	lateDesc = prometheus.NewDesc("hostler_remote_write_late_seconds", "How long samples have been waiting for their receiver.", nil,
		nil)
	readersDesc = prometheus.NewDesc("hostler_feed_readers", "Readers of the live feed on this instance.", nil, nil)
	refusedDesc = prometheus.NewDesc("hostler_remote_write_refused_total", "Values that the receiver of samples refused.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *state) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{hostsDesc, jobsDesc, pluginDesc, restartsDesc, pollsDesc, failuresDesc, secondsDesc, sentDesc,
		busyDesc, lateDesc, refusedDesc, readersDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. If the database does not answer
// within 2 s, its metrics are missing from the result instead of failing the
// request.
func (s *state) Collect(ch chan<- prometheus.Metric) {
	count := s.poller.Counters()
	ch <- prometheus.MustNewConstMetric(pollsDesc, prometheus.CounterValue, float64(count.Polls))
	ch <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(count.Failures))
	ch <- prometheus.MustNewConstMetric(secondsDesc, prometheus.CounterValue, count.Seconds)
	ch <- prometheus.MustNewConstMetric(readersDesc, prometheus.GaugeValue, float64(s.feed.Readers()))
	for _, total := range s.sent.Totals() {
		ch <- prometheus.MustNewConstMetric(sentDesc, prometheus.CounterValue, float64(total.Requests), total.Plugin)
		ch <- prometheus.MustNewConstMetric(busyDesc, prometheus.CounterValue, total.Seconds, total.Plugin)
	}
	for _, p := range s.plugins.Status() {
		up := 0.0
		if p.State == plugin.Running {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(pluginDesc, prometheus.GaugeValue, up, p.Kind, p.Name)
		ch <- prometheus.MustNewConstMetric(restartsDesc, prometheus.CounterValue, float64(p.Restarts), p.Kind, p.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s.count(ctx, ch, hostsDesc, "SELECT status, count(*) FROM hosts GROUP BY status")
	s.count(ctx, ch, jobsDesc, "SELECT status, count(*) FROM jobs WHERE status IN ('queued', 'running') GROUP BY status")
	if state, err := s.receiver.Get(ctx); err == nil && state.LateS != nil {
		ch <- prometheus.MustNewConstMetric(lateDesc, prometheus.GaugeValue, float64(*state.LateS))
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(state.SamplesRefused))
	}
}

// count sends one gauge per row of a query that returns a label and a number.
func (s *state) count(ctx context.Context, ch chan<- prometheus.Metric, desc *prometheus.Desc, query string) {
	rows, err := s.db.Pool.Query(ctx, query)
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var label string
		var n int64
		if rows.Scan(&label, &n) != nil {
			return
		}
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), label)
	}
}
