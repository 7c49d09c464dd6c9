package pve

import (
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
)

// maxInterned limits the memory that a hostile host can make one call keep.
const maxInterned = 4096

// intern gives equal texts the same memory during one call. Names of nodes,
// states and tags repeat in thousands of rows.
type intern struct {
	texts map[string]string
	lists map[string][]string
}

// newIntern returns an empty intern table for one inventory.
func newIntern() *intern {
	return &intern{texts: map[string]string{}, lists: map[string][]string{}}
}

// text returns the string of a scalar. Equal texts, such as names of nodes and
// pools, share one allocation.
func (in *intern) text(v pveapi.Scalar) string {
	raw := v.Bytes()
	if len(raw) == 0 {
		return ""
	}
	if s, ok := in.texts[string(raw)]; ok {
		return s
	}
	s := v.Text()
	// A text that was escaped in JSON must not be found by its decoded bytes:
	// the key of the map is the raw text.
	if len(in.texts) < maxInterned && s == string(raw) {
		in.texts[s] = s
	}
	return s
}

// list splits a text at separators. Callers share the result and must not
// change it.
func (in *intern) list(v pveapi.Scalar, separators string) []string {
	whole := in.text(v)
	if whole == "" {
		return nil
	}
	if l, ok := in.lists[separators+whole]; ok {
		return l
	}
	l := strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(separators, r) })
	if len(in.lists) < maxInterned {
		in.lists[separators+whole] = l
	}
	return l
}

// slab returns pointers to numbers that lie side by side: one allocation for
// hundreds of figures.
type slab[T any] struct{ free []T }

// ptr returns a pointer to the value, or nil if it is not set.
func (s *slab[T]) ptr(v T, set bool) *T {
	if !set {
		return nil
	}
	if len(s.free) == 0 {
		s.free = make([]T, 512)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	*p = v
	return p
}
