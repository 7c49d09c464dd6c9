package pve

import (
	"strings"

	"github.com/hostler/hostler/plugins/pve/pveapi"
)

// maxInterned bounds what a hostile host can make us keep during one call.
const maxInterned = 4096

// intern gives equal texts the same memory during one call: node names, states and tags repeat in thousands of rows.
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
	// What is not written as it reads must not be found by what it reads as.
	if len(in.texts) < maxInterned && s == string(raw) {
		in.texts[s] = s
	}
	return s
}

// list splits a text at the separators. Callers share the result and must not change it.
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

// slab gives out pointers to numbers that lie side by side, one allocation for hundreds of figures.
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
