package processtest

import "testing"

// The check finds what it is to find.
func TestForeignWords(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{"vmid": null, "upid": "c4bd4f31-0000-4000-8000-000000000000"}`: 0,
		`{"error": "no API token", "list": [{"a": "UPID:pve1:1"}]}`:      2,
		`#!/bin/sh` + "\npveum role add\n":                               1,
	} {
		if found := foreign(t, "lxd", []byte(body)); len(found) != want {
			t.Errorf("%s: %q", body, found)
		}
	}
	if found := foreign(t, "pve", []byte(`["the instance is running", "Start", "an Incus"]`)); len(found) != 2 {
		t.Errorf("%q", found)
	}
}
