package metric

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// Result is a set of series with common times.
type Result struct {
	// From is when the first point begins, and To when the last one ends.
	From, To   time.Time
	Resolution Resolution
	Step       time.Duration
	// CompleteTo is the time before which everything is rolled up; zero while nothing is.
	CompleteTo time.Time
	Series     []Series
	Marks      []Mark
}

// Series is one metric of one target.
type Series struct {
	Target, Name, Metric, Unit string
	Points                     Points
}

// Points are values, one for each step; a step without measurements has none.
type Points struct {
	merge merging
	unit  string
	sum   []float64
	// weight of what is summed up; zero where there is nothing.
	weight []float32
}

// newPoints makes n points without a value.
func newPoints(n int, f *figure) Points {
	return Points{merge: f.merge, unit: f.unit, sum: make([]float64, n), weight: make([]float32, n)}
}

// add takes one value in at a point. Means are weighed by the time that each
// value stands for, so that hours of which little was measured count little.
func (p *Points) add(i int, value, weight float64) {
	if i >= len(p.sum) {
		return
	}
	switch {
	case p.weight[i] == 0:
		p.sum[i], p.weight[i] = value, 1
		if p.merge == mean {
			p.sum[i], p.weight[i] = value*weight, float32(weight)
		}
	case p.merge == highest:
		p.sum[i] = math.Max(p.sum[i], value)
	case p.merge == latest:
		p.sum[i] = value
	case p.merge == rate:
		p.sum[i], p.weight[i] = p.sum[i]+value, p.weight[i]+1
	default:
		p.sum[i], p.weight[i] = p.sum[i]+value*weight, p.weight[i]+float32(weight)
	}
}

// Len returns the number of points.
func (p *Points) Len() int { return len(p.sum) }

// At returns the value of a point, and whether there is one.
func (p *Points) At(i int) (float64, bool) {
	if p.weight[i] == 0 {
		return 0, false
	}
	return p.sum[i] / float64(p.weight[i]), true
}

// AppendJSON appends the points as a list of numbers and nulls.
func (p *Points) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i := range p.sum {
		if i > 0 {
			b = append(b, ',')
		}
		value, ok := p.At(i)
		switch {
		case !ok:
			b = append(b, "null"...)
		case p.unit == Ratio:
			b = strconv.AppendFloat(b, value, 'f', -1, 32)
		case value >= 1e15:
			b = strconv.AppendFloat(b, value, 'e', -1, 64)
		case p.unit == Bytes:
			b = strconv.AppendInt(b, int64(math.Round(value)), 10)
		default:
			b = strconv.AppendFloat(b, math.Round(value*1000)/1000, 'f', -1, 64)
		}
	}
	return append(b, ']')
}

// chunk is how much JSON is buffered before it is written.
const chunk = 64 << 10

// WriteJSON writes the answer in the API's form, in pieces and without
// reflection for the points: an answer may have two million.
func (a *Result) WriteJSON(w io.Writer) error {
	b := make([]byte, 0, 2*chunk)
	b = append(b, `{"from":"`...)
	b = a.From.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","to":"`...)
	b = a.To.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","resolution":"`...)
	b = append(b, a.Resolution...)
	b = strconv.AppendInt(append(b, `","step_s":`...), int64(a.Step/time.Second), 10)
	b = append(b, `,"complete_to":`...)
	if a.CompleteTo.IsZero() {
		b = append(b, "null"...)
	} else {
		b = append(a.CompleteTo.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	}
	b = append(b, `,"series":[`...)
	for i := range a.Series {
		s := &a.Series[i]
		if i > 0 {
			b = append(b, ',')
		}
		head, err := json.Marshal(struct {
			Target string `json:"target"`
			Name   string `json:"name"`
			Metric string `json:"metric"`
			Unit   string `json:"unit"`
		}{s.Target, s.Name, s.Metric, s.Unit})
		if err != nil {
			return fmt.Errorf("writing a series: %w", err)
		}
		b = append(append(b, head[:len(head)-1]...), `,"points":`...)
		b = append(s.Points.AppendJSON(b), '}')
		if len(b) >= chunk {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	marks, err := json.Marshal(a.Marks)
	if err != nil {
		return fmt.Errorf("writing marks: %w", err)
	}
	b = append(append(append(b, `],"marks":`...), marks...), '}', '\n')
	_, err = w.Write(b)
	return err
}
