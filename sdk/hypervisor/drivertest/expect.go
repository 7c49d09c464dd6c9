package drivertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
)

// wantKind ends the test unless err is a plugin.Error of the kind, with a
// message. It returns the error, so that a case can check its other fields.
func wantKind(t *testing.T, err error, kind plugin.ErrorKind) *plugin.Error {
	t.Helper()
	var e *plugin.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want one of kind %s", err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("error is %v, want kind %s", err, kind)
	}
	if e.Message == "" {
		t.Fatal("the error has no message")
	}
	return e
}

// wantCanceled fails unless err is the cancelation of the caller.
func wantCanceled(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want the caller's context.Canceled in it", err)
	}
}

// must ends the test on an error.
func must(t *testing.T, doing string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", doing, err)
	}
}

// subset reports the first of want that is not in got.
func subset[T comparable](want, got []T) (missing T, ok bool) {
	for _, w := range want {
		if !slices.Contains(got, w) {
			return w, false
		}
	}
	return missing, true
}
