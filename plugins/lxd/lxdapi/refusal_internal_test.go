package lxdapi

import (
	"strings"
	"testing"
	"unsafe"
)

// What is kept of a huge text does not keep the rest in memory.
func TestPartsOfHugeTexts(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1<<20)
	if part := cut(text, maxSegment); len(part) != maxSegment || unsafe.StringData(part) == unsafe.StringData(text) {
		t.Errorf("%d bytes, a part of the text", len(part))
	}
	address := "/1.0/instances/web1/" + text
	ref, ok := refOf(address)
	begin, at := uintptr(unsafe.Pointer(unsafe.StringData(address))), uintptr(unsafe.Pointer(unsafe.StringData(ref.Name)))
	if !ok || ref.Name != "web1" || at >= begin && at < begin+uintptr(len(address)) {
		t.Errorf("%+v, %v, a part of the address", ref, ok)
	}
}
