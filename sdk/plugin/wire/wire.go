// Package wire converts values between Go and protobuf, and makes the gRPC calls of
// the plugin clients. It is shared by the packages of all kinds of plugins.
package wire

import (
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Text replaces invalid UTF-8 in s. Protobuf refuses a whole message for one such
// byte, and endpoints return texts that somebody typed long ago in another
// encoding.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Texts applies Text to a list. A valid list is returned unchanged, and the
// argument is never modified.
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

// Timestamp converts a time. The zero time becomes nil.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Time is the inverse of Timestamp. A missing or invalid timestamp becomes the zero
// time.
func Time(t *timestamppb.Timestamp) time.Time {
	if !t.IsValid() {
		return time.Time{}
	}
	return t.AsTime()
}

// Each converts the rows of a list. An empty list becomes nil.
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
