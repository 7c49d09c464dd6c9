// Package metrics is the HTTP resource of what was measured: series for charts, and figures for those who keep their history elsewhere.
package metrics

import (
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/remotewrite"
)

// Deps is what the operations work with.
type Deps struct {
	Metrics  *metric.Store
	Receiver *remotewrite.Store
}

type handlers struct {
	Deps
	scrapes chan struct{} // holds one for each that is running
}

// scrapes at a time in one instance: each holds a connection to the database for as long as its reader takes.
const scrapes = 4

const tag = "Metrics"

// Register declares the operations.
func Register(a *op.API, deps Deps) {
	h := handlers{deps, make(chan struct{}, scrapes)}
	op.Get(a, "/api/v1/metrics/query", h.query, op.Spec{
		ID: "query_metrics", Summary: "Query what was measured", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "A series for each `metric` of each `target` that has it, all on one grid: the point i is of the time from `from` + i × " +
			"`step_s`. A point of which nothing is known is null, and never zero. Traffic is in bytes per second. Without `resolution` it is " +
			"the finest that is kept so long and holds the span in 2,000 points; where a resolution has more rows than that, a point is made " +
			"of several. At most 1,000 series come at once. What is not rolled up yet, after `complete_to`, is null. `marks` are the jobs and " +
			"alerts of the targets in that time, the newest 500. A target that is not there, or not yours to see, is 404.",
	})
	op.Download(a, "/api/v1/metrics/guests", h.guests, op.Spec{
		ID: "scrape_guests", Summary: "Read the figures of all guests as OpenMetrics", Tag: tag, Role: identity.Viewer,
		On: op.Anywhere, Content: []string{"application/openmetrics-text"}, Timeout: 5 * time.Minute,
		Description: "The last figures of every guest that you may see, for Prometheus and all that reads OpenMetrics 1.0, written as they " +
			"are read. Let it come with an API key of the scope `read`. Figures that no poll has told of for five minutes, or for three polls " +
			"where these are rarer, are left out. Every series has the labels `id`, `kind`, `name` and `cluster`; `hostler_guest_info` has " +
			"`host`, `node`, `ref` and `app` besides. At most four are read at once (429).",
	})
	op.Get(a, "/api/v1/network/throughput", h.throughput, op.Spec{
		ID: "get_network_throughput", Summary: "Get the throughput of all hosts", Tag: "Network", Role: identity.Viewer, On: op.Anywhere,
		Description: "What the guests of each host that you may see received and sent in the last hours, in bytes per second, all hosts on " +
			"one grid of at most 2,000 points. A point of which nothing is known is null.",
	})
	const receiver = "/api/v1/metrics/remote-write"
	op.Get(a, receiver, h.receiver, op.Spec{
		ID: "get_remote_write", Summary: "Tell where samples are sent", Tag: tag, Role: identity.Admin,
		Description: "The receiver of samples, how late it is and what went wrong last; its password or token is never shown.",
	})
	op.Put(a, receiver, h.setReceiver, op.Spec{
		ID: "set_remote_write", Summary: "Send samples to a receiver", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "metrics.remote_write"},
		Description: "A Prometheus (started with `--web.enable-remote-write-receiver`), a VictoriaMetrics or another that speaks remote write " +
			"1.0. It gets what polls measure of guests, nodes, hosts and storages, in order, under the names of GET /metrics/guests: a new one " +
			"from now on, one in the place of another from where that stood. What cannot be sent waits for as long as samples are kept as " +
			"polled (`metrics.retention_raw_days`). The body replaces all: without a password or token there is none. Redirects are not followed.",
	})
	op.Delete(a, receiver, h.removeReceiver, op.Spec{
		ID: "delete_remote_write", Summary: "Send samples nowhere", Tag: tag, Role: identity.Admin,
		Audit:       op.Audit{Action: "metrics.remote_write_end"},
		Description: "How far the receiver was is forgotten. 404 when there is none.",
	})
}
