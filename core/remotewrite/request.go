package remotewrite

import (
	"math"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hostler/hostler/core/metric"
)

// The numbers of the fields of remote write 1.0: prometheus.WriteRequest, TimeSeries, Label and Sample.
const (
	seriesOfRequest = 1
	labelsOfSeries  = 1
	samplesOfSeries = 2
	nameOfLabel     = 1
	valueOfLabel    = 2
	valueOfSample   = 1
	timeOfSample    = 2
)

// encode is the body of a request, compressed as the protocol wants it: in Snappy's block form.
func encode(samples []metric.Sample) []byte {
	var request, series, part []byte
	for i := range samples {
		s := &samples[i]
		for _, v := range s.Values {
			series = appendLabel(series[:0], &part, "__name__", v.Name) // the first in the order of names
			for _, l := range s.Labels {
				series = appendLabel(series, &part, l.Name, l.Value)
			}
			part = protowire.AppendTag(part[:0], valueOfSample, protowire.Fixed64Type)
			part = protowire.AppendFixed64(part, math.Float64bits(v.Value))
			part = protowire.AppendTag(part, timeOfSample, protowire.VarintType)
			part = protowire.AppendVarint(part, uint64(s.At.UnixMilli()))
			series = protowire.AppendTag(series, samplesOfSeries, protowire.BytesType)
			series = protowire.AppendBytes(series, part)
			request = protowire.AppendTag(request, seriesOfRequest, protowire.BytesType)
			request = protowire.AppendBytes(request, series)
		}
	}
	return s2.EncodeSnappy(nil, request)
}

func appendLabel(b []byte, part *[]byte, name, value string) []byte {
	p := protowire.AppendTag((*part)[:0], nameOfLabel, protowire.BytesType)
	p = protowire.AppendString(p, name)
	p = protowire.AppendTag(p, valueOfLabel, protowire.BytesType)
	p = protowire.AppendString(p, value)
	*part = p
	b = protowire.AppendTag(b, labelsOfSeries, protowire.BytesType)
	return protowire.AppendBytes(b, p)
}

// values is how many there are in samples.
func values(samples []metric.Sample) (n int64) {
	for i := range samples {
		n += int64(len(samples[i].Values))
	}
	return n
}

// most is how many things one request tells of.
const most = 500

// first is the beginning of samples that goes into one request: no thing comes in it twice.
func first(samples []metric.Sample) int {
	type thing struct {
		kind string
		id   int64
	}
	seen := make(map[thing]bool, min(most, len(samples)))
	for i := range samples {
		of := thing{samples[i].Kind, samples[i].ID}
		if i == most || seen[of] {
			return i
		}
		seen[of] = true
	}
	return len(samples)
}
