package pvesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// section is a named list of a firewall configuration: an IP set with its members, or a security group with its rules.
type section[T any] struct {
	comment string
	list    []T
}

// sections are those of one kind, by name. The real server keeps them in a file, below heads with their names, and lowers the names
// when it reads that. So no name has a capital here, and whoever asks for one that has finds nothing.
type sections[T any] map[string]*section[T]

// sectionKind is how the API names a kind of sections: in texts, and as a parameter.
type sectionKind struct{ noun, parameter string }

var (
	ipsetKind = sectionKind{"IPSet", "name"}
	groupKind = sectionKind{"Security group", "group"}
)

// rows lists the sections, each with the digest of all. Their members do not count for it.
func (s sections[T]) rows(kind sectionKind) (rows []map[string]any, digest string) {
	rows = []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		row := map[string]any{kind.parameter: name}
		if s[name].comment != "" {
			row["comment"] = s[name].comment
		}
		rows = append(rows, row)
	}
	return rows, withDigest(rows)
}

// put stores a section under its name in lower case. Of two heads that differ by their case, which the API lets pass, the one in lower
// case is read last and counts; only a comment that it lacks is left of the other.
func (s sections[T]) put(name string, added *section[T]) {
	lower := strings.ToLower(name)
	if known := s[lower]; known != nil && lower != name {
		if known.comment == "" {
			known.comment = added.comment
		}
		return
	}
	s[lower] = added
}

// putSection creates what the request names, or renames it, or gives it another comment: then old and new name are the same.
func putSection[T any](r *request, s sections[T], kind sectionKind) *apiError {
	refuse := func(text, name string) *apiError {
		return badParameter(kind.parameter, fmt.Sprintf("%s '%s' "+text, kind.noun, name))
	}
	name, old := r.values.text(kind.parameter), r.values.text("rename")
	comment := fileComment(r.values.text("comment"))
	if old == "" {
		if s[name] != nil {
			return refuse("already exists", name)
		}
		s.put(name, &section[T]{comment: comment})
		return nil
	}
	_, digest := s.rows(kind)
	if err := r.unmodified(digest); err != nil {
		return err
	}
	moved := s[old]
	switch {
	case moved == nil:
		return refuse("does not exist", old)
	case s[name] != nil && name != old:
		return refuse("does already exist", name)
	}
	if r.values.has("comment") {
		moved.comment = comment
	}
	delete(s, old)
	s.put(name, moved)
	return nil
}
