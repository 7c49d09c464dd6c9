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

// MaxAnswer is the maximum size of a JSON response in bytes. Lists are limited
// by the size and number of their entries; this limit is for data that grows
// anyway, such as what a hypervisor reports.
const MaxAnswer = 64 << 20

// overlong is the error of a response that exceeds MaxAnswer.
type overlong struct {
	// fits is how many entries of a list fit; 0 if the response is not a list.
	fits int
}

// Error implements error.
func (e *overlong) Error() string {
	return fmt.Sprintf("the response exceeds %d MiB", MaxAnswer>>20)
}

// bounded writes all of a value as JSON without HTML escapes, or nothing if it
// exceeds MaxAnswer. It encodes lists entry by entry, so they never use more
// memory than that.
func bounded(w io.Writer, v any) error {
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
		if all.Len() > MaxAnswer {
			return &overlong{i}
		}
	}
	all.WriteString("]\n")
	_, err := w.Write(all.Bytes())
	return err
}

// marshalers is the interface of types that write their own JSON, whose size is
// unknown in advance.
var marshalers = reflect.TypeFor[json.Marshaler]()

// limitedWriter refuses writes of more than MaxAnswer bytes. A json.Encoder
// writes a value with one call.
type limitedWriter struct{ io.Writer }

// Write refuses an answer larger than MaxAnswer before any of it is sent, so
// that the caller gets a problem and not half a document.
func (w limitedWriter) Write(p []byte) (int, error) {
	if len(p) > MaxAnswer {
		return 0, &overlong{}
	}
	return w.Writer.Write(p)
}

// overlongProblem returns the problem for a response that is too large. It
// names the largest page that fits, or the parameters that narrow the list.
func (q *request) overlongProblem(limit, fits int) error {
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

// overlongIn returns the problem of a list or response that is too large, or nil for other errors.
func (q *request) overlongIn(err error) error {
	if long, is := errors.AsType[*db.ListTooLarge](err); is {
		return q.overlongProblem(db.MaxList, long.Fits)
	}
	if long, is := errors.AsType[*overlong](err); is {
		return q.overlongProblem(MaxAnswer, long.fits)
	}
	return nil
}
