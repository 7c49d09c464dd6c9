package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
)

// MaxResponse is the maximum size of a JSON response in bytes. Lists are limited
// by the size and number of their entries; this limit is for data that grows
// anyway, such as what a hypervisor reports.
const MaxResponse = 64 << 20

// responseTooLarge is the error of a response that exceeds MaxResponse.
type responseTooLarge struct {
	// fits is how many entries of a list fit; 0 if the response is not a list.
	fits int
}

// Error implements error.
func (e *responseTooLarge) Error() string {
	return fmt.Sprintf("the response exceeds %d MiB", MaxResponse>>20)
}

// encodeBounded writes all of a value as JSON without HTML escapes, or nothing if it
// exceeds MaxResponse. It encodes lists entry by entry, so they never use more
// memory than that.
func encodeBounded(w io.Writer, v any) error {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice || list.IsNil() || list.Type().Implements(marshalers) {
		encoder := json.NewEncoder(limitedWriter{w})
		encoder.SetEscapeHTML(false)
		return encoder.Encode(v)
	}
	var all bytes.Buffer
	encoder := json.NewEncoder(&all)
	encoder.SetEscapeHTML(false)
	all.WriteByte('[')
	for i := range list.Len() {
		if i > 0 {
			all.WriteByte(',')
		}
		if err := encoder.Encode(list.Index(i).Addr().Interface()); err != nil {
			return err
		}
		all.Truncate(all.Len() - 1) // a line's end
		if all.Len() > MaxResponse {
			return &responseTooLarge{i}
		}
	}
	all.WriteString("]\n")
	_, err := w.Write(all.Bytes())
	return err
}

// marshalers is the interface of types that write their own JSON, whose size is
// unknown in advance.
var marshalers = reflect.TypeFor[json.Marshaler]()

// limitedWriter refuses a write of more than MaxResponse bytes. It relies on
// json.Encoder, which writes each value with one call.
type limitedWriter struct{ io.Writer }

// Write refuses an answer larger than MaxResponse before any of it is sent, so
// that the caller gets a problem and not half a document.
func (w limitedWriter) Write(p []byte) (int, error) {
	if len(p) > MaxResponse {
		return 0, &responseTooLarge{}
	}
	return w.Writer.Write(p)
}

// responseTooLarge returns the problem for a response that is too large. It
// names the largest page that fits, or the parameters that narrow the list.
func (q *request) responseTooLarge(limit, fits int) error {
	var narrows []string
	paged := false
	if q != nil && q.operation != nil {
		for _, p := range q.operation.params {
			switch {
			case p.In != "query" || p.Name == "page":
			case p.Name == "per_page":
				paged = true
			default:
				narrows = append(narrows, p.Name)
			}
		}
	}
	fault := problem.Fault{Loc: []any{"query"}, Type: "answer_too_large",
		Msg: fmt.Sprintf("the response would exceed %d MiB", limit>>20)}
	switch {
	case paged && fits > 0:
		fault.Loc = append(fault.Loc, "per_page")
		fault.Msg = fmt.Sprintf("the page would exceed %d MiB; request at most %d entries per page", limit>>20, fits)
	case len(narrows) > 0:
		fault.Msg += "; narrow the list with one of these parameters: " + strings.Join(narrows, ", ")
	default:
		fault.Msg += "; this list has no filters, so request each object by its ID"
	}
	return problem.Invalid(fault)
}

// tooLargeIn returns the problem of a list or response that is too large, or nil for other errors.
func (q *request) tooLargeIn(err error) error {
	if long, is := errors.AsType[*db.ListTooLarge](err); is {
		return q.responseTooLarge(db.MaxList, long.Fits)
	}
	if long, is := errors.AsType[*responseTooLarge](err); is {
		return q.responseTooLarge(MaxResponse, long.fits)
	}
	return nil
}
