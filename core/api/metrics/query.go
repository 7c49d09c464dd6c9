package metrics

import (
	"context"
	"io"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
)

// Series is the answer of a query. Its JSON is written without reflection, see
// WriteJSON.
type Series struct {
	From       time.Time     `json:"from" doc:"Start of the first point"`
	To         time.Time     `json:"to" doc:"End of the last point"`
	Resolution string        `json:"resolution" enum:"raw,5m,1h" example:"5m"`
	StepS      int           `json:"step_s" example:"300" doc:"Seconds between two points"`
	CompleteTo *time.Time    `json:"complete_to" doc:"Data before this time is rolled up; null if none is"`
	Series     []OneSeries   `json:"series"`
	Marks      []metric.Mark `json:"marks" doc:"Jobs and alerts of the targets in the period"`

	answer *metric.Result
}

// OneSeries is the series of one metric of one target.
type OneSeries struct {
	Target string     `json:"target" example:"vm:3"`
	Name   string     `json:"name" example:"web-1" doc:"Name of the target"`
	Metric string     `json:"metric" example:"cpu"`
	Unit   string     `json:"unit" enum:"ratio,bytes,bytes_per_second" example:"ratio" doc:"Unit; a ratio is between 0 and 1"`
	Points []*float64 `json:"points" doc:"One value per step; null without data"`
}

// WriteJSON implements op.JSONWriter.
func (s Series) WriteJSON(w io.Writer) error { return s.answer.WriteJSON(w) }

var _ op.JSONWriter = Series{}

func written(a *metric.Result, err error) (*op.Body[Series], error) {
	if err != nil {
		return nil, err
	}
	return &op.Body[Series]{Body: Series{answer: a}}, nil
}

type queryInput struct {
	Targets    []string  `query:"target,explode" required:"true" minItems:"1" maxItems:"1000" example:"[\"vm:3\"]" doc:"host:1, vm:3, app:2, node:1/alpha (a host and a node of its cluster), storage:1/nas, or storage:1/local/alpha for one node; repeat for several"`
	Metrics    []string  `query:"metric,explode" required:"true" minItems:"1" maxItems:"20" example:"[\"cpu\"]" doc:"cpu, cpu_max, memory, memory_max, memory_total, disk, disk_total, net_in, net_out, disk_read or disk_write; repeat for several"`
	From       time.Time `query:"from" example:"2026-01-01T00:00:00Z" doc:"Start of the period; an hour before to if absent"`
	To         time.Time `query:"to" example:"2026-01-02T00:00:00Z" doc:"End of the period; now if absent"`
	Resolution string    `query:"resolution" enum:"raw,5m,1h" doc:"raw covers at most 7 days, 5m at most 100 days"`
}

func (h handlers) query(ctx context.Context, in *queryInput) (*op.Body[Series], error) {
	return written(h.Metrics.Query(ctx, metric.Query{
		Targets: in.Targets, Metrics: in.Metrics, From: in.From, To: in.To, Resolution: metric.Resolution(in.Resolution),
	}, identity.FromContext(ctx).Visible()))
}

type throughputInput struct {
	Hours int `query:"hours" default:"1" minimum:"1" maximum:"48" doc:"Length of the period in hours"`
}

func (h handlers) throughput(ctx context.Context, in *throughputInput) (*op.Body[Series], error) {
	return written(h.Metrics.Throughput(ctx, in.Hours, identity.FromContext(ctx).Visible()))
}
