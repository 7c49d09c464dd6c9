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

// MaxAnswer is the most that an answer in JSON may have, in bytes. Lists are bounded by what their entries hold and by how many there are:
// this is for what somebody makes larger all the same, such as a hypervisor.
const MaxAnswer = 64 << 20

// overlong is the error of an answer with more bytes than that.
type overlong struct {
	// fits is how many entries of a list have fewer; 0 where the answer is not a list.
	fits int
}

func (e *overlong) Error() string {
	return fmt.Sprintf("an answer takes more than %d MiB", MaxAnswer>>20)
}

// bounded writes JSON without HTML escapes, wholly or not at all, and at most MaxAnswer bytes of it. A list takes no more memory than that
// either, for it is written entry by entry.
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

var marshalers = reflect.TypeFor[json.Marshaler]()

// limitedWriter refuses what is longer than an answer may be. A json.Encoder writes a value at once.
type limitedWriter struct{ io.Writer }

func (w limitedWriter) Write(p []byte) (int, error) {
	if len(p) > MaxAnswer {
		return 0, &overlong{}
	}
	return w.Writer.Write(p)
}

// overlongProblem is what a caller is told of an answer that is too large: how long a page may be, or what narrows the answer.
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
		Msg: fmt.Sprintf("the answer would have more than %d MiB", limit>>20)}
	switch {
	case paged && fits > 0:
		fault.Loc = append(fault.Loc, "per_page")
		fault.Msg = fmt.Sprintf("the page would have more than %d MiB; ask for at most %d entries", limit>>20, fits)
	case len(narrows) > 0:
		fault.Msg += "; narrow it by one of these parameters: " + strings.Join(narrows, ", ")
	default:
		fault.Msg += ", and nothing narrows it; ask for each thing on its own"
	}
	return problem.Invalid(fault)
}

// overlongIn is that problem where an error says so; else nil.
func (q *request) overlongIn(err error) error {
	if long, is := errors.AsType[*db.ListTooLarge](err); is {
		return q.overlongProblem(db.MaxList, long.Fits)
	}
	if long, is := errors.AsType[*overlong](err); is {
		return q.overlongProblem(MaxAnswer, long.fits)
	}
	return nil
}
