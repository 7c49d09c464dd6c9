package main

import "testing"

func TestNotifyOneLine(t *testing.T) {
	t.Parallel()
	if got := status("%s", "a\nREADY=1"); got != "STATUS=a READY=1" {
		t.Errorf("the line is %q", got)
	}
}
