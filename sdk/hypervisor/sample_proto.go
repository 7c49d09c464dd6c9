package hypervisor

import (
	"time"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// metricNumber maps Sample.Metric to its number on the wire. A metric that is not
// in the map is not sent.
var metricNumber = map[string]hypervisorv1.Metric{
	"cpu":          hypervisorv1.Metric_METRIC_CPU,
	"memory":       hypervisorv1.Metric_METRIC_MEMORY,
	"memory_total": hypervisorv1.Metric_METRIC_MEMORY_TOTAL,
	"disk":         hypervisorv1.Metric_METRIC_DISK,
	"disk_total":   hypervisorv1.Metric_METRIC_DISK_TOTAL,
	"net_in":       hypervisorv1.Metric_METRIC_NET_IN,
	"net_out":      hypervisorv1.Metric_METRIC_NET_OUT,
	"disk_read":    hypervisorv1.Metric_METRIC_DISK_READ,
	"disk_write":   hypervisorv1.Metric_METRIC_DISK_WRITE,
	"load":         hypervisorv1.Metric_METRIC_LOAD,
}

// metricName is the inverse of metricNumber.
var metricName = func() map[hypervisorv1.Metric]string {
	names := make(map[hypervisorv1.Metric]string, len(metricNumber))
	for name, number := range metricNumber {
		names[number] = name
	}
	return names
}()

// samplesToProto groups consecutive samples of one node, guest or storage into
// series. Thousands of samples then cost three arrays and not as many messages.
func samplesToProto(samples []Sample) []*hypervisorv1.SampleSeries {
	var out []*hypervisorv1.SampleSeries
	var series *hypervisorv1.SampleSeries
	var last *Sample
	for i := range samples {
		s := &samples[i]
		metric, ok := metricNumber[s.Metric]
		if !ok {
			continue
		}
		if last == nil || !sameSubject(last, s) {
			series = &hypervisorv1.SampleSeries{Node: wire.Text(s.Node), Storage: wire.Text(s.Storage)}
			if s.Guest != nil {
				series.Guest = refToProto(*s.Guest)
			}
			out = append(out, series)
		}
		last = s
		series.AtUnixMs = append(series.AtUnixMs, s.At.UnixMilli())
		series.Metric = append(series.Metric, metric)
		series.Value = append(series.Value, s.Value)
	}
	return out
}

// sameSubject reports whether two samples are of the same node, guest or storage.
func sameSubject(a, b *Sample) bool {
	if a.Node != b.Node || a.Storage != b.Storage {
		return false
	}
	if a.Guest == b.Guest {
		return true
	}
	return a.Guest != nil && b.Guest != nil && *a.Guest == *b.Guest
}

// samplesFromProto uses the shortest column as the length of a series, because a
// faulty plugin may send columns of different lengths.
func samplesFromProto(in []*hypervisorv1.SampleSeries) []Sample {
	total := 0
	for _, s := range in {
		total += rows(s)
	}
	if total == 0 {
		return nil
	}
	out := make([]Sample, 0, total)
	for _, s := range in {
		var guest *GuestRef
		if s.GetGuest() != nil {
			ref := refFromProto(s.GetGuest())
			guest = &ref
		}
		for i := range rows(s) {
			name, ok := metricName[s.Metric[i]]
			if !ok {
				continue
			}
			out = append(out, Sample{
				Node: s.GetNode(), Guest: guest, Storage: s.GetStorage(),
				At: time.UnixMilli(s.AtUnixMs[i]).UTC(), Metric: name, Value: s.Value[i],
			})
		}
	}
	return out
}

func rows(s *hypervisorv1.SampleSeries) int {
	return min(len(s.GetAtUnixMs()), len(s.GetMetric()), len(s.GetValue()))
}
