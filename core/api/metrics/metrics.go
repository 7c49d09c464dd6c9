// Package metrics is the HTTP resource of measurements: series for charts, the
// last values of all guests in the OpenMetrics format, and the receiver to
// which the service sends its samples (remote write).
package metrics

import (
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/remotewrite"
)

// Deps has what the operations of this package need.
type Deps struct {
	Metrics  *metric.Store
	Receiver *remotewrite.Store
}

type handlers struct {
	Deps
	scrapes chan struct{} // holds one for each that is running
}

// scrapes is how many scrapes one instance answers at a time. Each holds a
// connection to the database for as long as its reader takes.
const scrapes = 4

const tag = "Metrics"

// Register declares the operations of this package.
func Register(a *op.API, deps Deps) {
	h := handlers{deps, make(chan struct{}, scrapes)}
	op.Get(a, "/api/v1/metrics/query", h.query, op.Spec{
		ID: "query_metrics", Summary: "Query metrics", Tag: tag, Role: identity.Viewer, On: op.Anywhere,
		Description: "Returns a series for each `metric` of each `target` that has it, all with the same points in " +
			"time: point i is at `from` + i × `step_s`. A point without data is null, never zero. Traffic is in bytes " +
			"per second. Without `resolution`, the service uses the finest one that is stored for the whole period " +
			"and covers it with at most 2,000 points, otherwise `1h`. If the period has more points than that, with " +
			"or without `resolution`, neighboring points are merged. A request returns at most 1,000 series. Points " +
			"after `complete_to` that are not rolled up yet are null. `marks` are the newest 500 jobs and alerts of " +
			"the targets in the period. A target that does not exist, or that you cannot see, is 404.",
	})
	op.Download(a, "/api/v1/metrics/guests", h.guests, op.Spec{
		ID: "scrape_guests", Summary: "Get the metrics of all guests in OpenMetrics format", Tag: tag, Role: identity.Viewer,
		On: op.Anywhere, Content: []string{"application/openmetrics-text"}, Timeout: 5 * time.Minute,
		Description: "Returns the last measured values of every guest that you can see, for Prometheus and other " +
			"readers of OpenMetrics 1.0, as a stream. Use an API key with the scope `read`. Values older than five " +
			"minutes, or than three poll intervals if that is longer, are left out. Every series has the labels " +
			"`id`, `kind`, `name` and `cluster`; `hostler_guest_info` also has `host`, `node`, `ref` and `app`. At " +
			"most four requests run at once (429).",
	})
	op.Get(a, "/api/v1/network/throughput", h.throughput, op.Spec{
		ID: "get_network_throughput", Summary: "Get the throughput of all hosts", Tag: "Network", Role: identity.Viewer, On: op.Anywhere,
		Description: "Returns the bytes per second that the guests of each visible host received and sent in the " +
			"last `hours` hours, with the same points in time for all hosts, at most 2,000. A point without data is " +
			"null.",
	})
	const receiver = "/api/v1/metrics/remote-write"
	op.Get(a, receiver, h.receiver, op.Spec{
		ID: "get_remote_write", Summary: "Get the remote-write receiver", Tag: tag, Role: identity.Admin,
		Description: "Returns the receiver of samples, its delay and its last error; the password or token is never " +
			"returned.",
	})
	op.Put(a, receiver, h.setReceiver, op.Spec{
		ID: "set_remote_write", Summary: "Set the remote-write receiver", Tag: tag, Role: identity.Admin,
		Audit: op.Audit{Action: "metrics.remote_write"},
		Description: "Sends samples to a Prometheus (started with `--web.enable-remote-write-receiver`), a " +
			"VictoriaMetrics or another receiver of remote write 1.0. The samples are the values that polls measure " +
			"for guests, nodes, hosts and storages. They are sent in order, with the names of GET /metrics/guests. " +
			"The first receiver gets samples from now on; a receiver that replaces another one continues where the " +
			"old one stopped. Unsent samples are kept as long as raw samples (`metrics.retention_raw_days`). The " +
			"body replaces all settings: an absent password or token is removed. Redirects are not followed.",
	})
	op.Delete(a, receiver, h.removeReceiver, op.Spec{
		ID: "delete_remote_write", Summary: "Remove the remote-write receiver", Tag: tag, Role: identity.Admin,
		Audit:       op.Audit{Action: "metrics.remote_write_end"},
		Description: "Stops sending samples and deletes the position of the receiver. 404 if there is none.",
	})
}
