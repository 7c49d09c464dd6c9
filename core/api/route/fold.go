package route

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"
)

// probe carries a list of candidates out of httprouter, whose Lookup returns
// only a Handle. Each Handle stores its list in the probe that it gets in place
// of a ResponseWriter. Nothing is ever written to it.
type probe struct {
	http.ResponseWriter
	candidates []*candidate
}

// fold registers one form per group of candidates with httprouter.
func (rt *Router) fold() {
	rt.index = httprouter.New()
	rt.rival()
	for method, candidates := range rt.routes {
		shapes := map[string][]*candidate{}
		fold("", 0, candidates, shapes)
		for shape, group := range shapes {
			slices.SortStableFunc(group, literalFirst)
			rt.index.Handle(method, shape, func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
				w.(*probe).candidates = group
			})
		}
	}
}

// rival tells each candidate which patterns of other methods take paths from
// it.
func (rt *Router) rival() {
	for method, candidates := range rt.routes {
		for other, rivals := range rt.routes {
			for _, c := range candidates {
				for _, d := range rivals {
					if method != other && overlap(c.segments, d.segments) && closer(d, c) < 0 {
						c.closer = append(c.closer, d)
					}
				}
			}
		}
	}
}

// overlap reports whether a path can match both patterns.
func overlap(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		switch {
		case rank(a[i]) == 2 || rank(b[i]) == 2:
			return true
		case rank(a[i]) == 0 && rank(b[i]) == 0 && a[i] != b[i]:
			return false
		}
	}
	return len(a) == len(b)
}

// fold divides candidates among the forms below prefix. The first depth
// segments of the candidates already have the same form.
func fold(prefix string, depth int, candidates []*candidate, shapes map[string][]*candidate) {
	next := map[string][]*candidate{}
	wildcard, rest := false, false
	for _, c := range candidates {
		switch {
		case len(c.segments) == depth:
			shapes[prefix] = append(shapes[prefix], c)
			continue
		case rank(c.segments[depth]) == 1:
			wildcard = true
		case rank(c.segments[depth]) == 2:
			rest = true
		}
		next[c.segments[depth]] = append(next[c.segments[depth]], c)
	}
	below := func(segment string, members []*candidate) {
		fold(prefix+"/"+segment, depth+1, members, shapes)
	}
	all := make([]*candidate, 0, len(candidates))
	for _, members := range next {
		all = append(all, members...)
	}
	switch {
	case rest: // whatever is longer is told apart by its candidates
		shape := prefix + "/*p" + strconv.Itoa(depth)
		shapes[shape] = append(shapes[shape], all...)
	case wildcard:
		below(":p"+strconv.Itoa(depth), all)
	default:
		for segment, members := range next {
			below(segment, members)
		}
	}
}

// literalFirst compares candidates: the closer one comes first. The pattern
// decides between equals, so that the order is stable.
func literalFirst(a, b *candidate) int {
	return cmp.Or(closer(a, b), strings.Compare(a.pattern, b.pattern))
}

// closer compares two candidates by the first segment whose kinds differ.
func closer(a, b *candidate) int {
	for i := range min(len(a.segments), len(b.segments)) {
		if d := cmp.Compare(rank(a.segments[i]), rank(b.segments[i])); d != 0 {
			return d
		}
	}
	return 0
}

// fits reports whether an escaped path matches the candidate.
func (c *candidate) fits(escaped string) bool {
	_, ok := c.match(escaped)
	return ok
}

// match compares the candidate with an escaped path and returns the values of
// the parameters.
func (c *candidate) match(escaped string) (Params, bool) {
	var params Params
	rest := escaped[1:]
	for i, want := range c.segments {
		if rank(want) == 2 {
			value, ok := unescapeRest(rest)
			return append(params, Param{want[1:], value}), ok
		}
		segment, tail, more := strings.Cut(rest, "/")
		if more == (i == len(c.segments)-1) {
			return nil, false // the path is longer or shorter than the pattern
		}
		if rank(want) == 1 {
			value, ok := unescape(segment)
			if !ok {
				return nil, false
			}
			if params == nil {
				params = make(Params, 0, 4)
			}
			params = append(params, Param{want[1:], value})
		} else if segment != want {
			return nil, false
		}
		rest = tail
	}
	return params, true
}

// unescape decodes one segment. It refuses a segment that is empty, consists of
// dots, or contains NUL or invalid UTF-8: neither the database nor the URL of a
// hypervisor could carry it.
func unescape(segment string) (string, bool) {
	value, err := url.PathUnescape(segment)
	if err != nil || value == "" || value == "." || value == ".." {
		return "", false
	}
	return value, utf8.ValidString(value) && !strings.Contains(value, "\x00")
}

// unescapeRest decodes the rest of a path. None of the parts between its
// slashes may be empty or consist of dots.
func unescapeRest(rest string) (string, bool) {
	value, ok := unescape(rest)
	if !ok {
		return "", false
	}
	for part := range strings.SplitSeq(value, "/") {
		if part == "" || part == "." || part == ".." {
			return "", false
		}
	}
	return value, true
}
