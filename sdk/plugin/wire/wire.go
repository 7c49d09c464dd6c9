// Package wire brings values into the form in which protobuf carries them, and back.
package wire

import (
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Text makes s fit for protobuf, which refuses a whole message for one byte that is not UTF-8. Endpoints pass on what
// somebody typed long ago in some other encoding.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Texts is Text for a list; a clean list is returned as it is.
func Texts(list []string) []string {
	for i, s := range list {
		if !utf8.ValidString(s) {
			out := append([]string(nil), list...)
			for j := i; j < len(out); j++ {
				out[j] = Text(out[j])
			}
			return out
		}
	}
	return list
}

// Timestamp makes the zero time an absent one.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Time is the way back; an absent or impossible timestamp is the zero time.
func Time(t *timestamppb.Timestamp) time.Time {
	if !t.IsValid() {
		return time.Time{}
	}
	return t.AsTime()
}

// Each converts the rows of a list; an empty list is nil.
func Each[From, To any](rows []From, convert func(From) To) []To {
	if len(rows) == 0 {
		return nil
	}
	out := make([]To, len(rows))
	for i, row := range rows {
		out[i] = convert(row)
	}
	return out
}
