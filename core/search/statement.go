package search

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hostler/hostler/core/identity"
)

// statement is SQL in the making, with its parameters.
type statement struct {
	args []any
	// places are the parameters that are texts, by their values.
	places map[string]string
	// see puts what the caller may see into SQL.
	see *strings.Replacer
}

// head gives every parameter that a part may leave out a type.
const head = "WITH caller AS (SELECT $1::boolean, $2::bigint[], $3::bigint[]) "

func newStatement(visible identity.VisibleTeams, numbers []int64) *statement {
	return &statement{args: []any{visible.All, visible.Teams, numbers}, places: map[string]string{},
		see: strings.NewReplacer("$all", "$1::boolean", "$teams", "$2::bigint[]", "$numbers", "$3::bigint[]")}
}

// param is the place of a value.
func (s *statement) param(value any) string {
	s.args = append(s.args, value)
	return "$" + strconv.Itoa(len(s.args))
}

// text is the place of a text.
func (s *statement) text(value string) string {
	if s.places[value] == "" {
		s.places[value] = s.param(value) + "::text"
	}
	return s.places[value]
}

// find is the search in one statement: a row has the number of all that was found, the source and the key. What the caller may not see is
// left out in each part, before anything is compared. It is empty when the terms hold for nothing anywhere.
func find(terms []term, visible identity.VisibleTeams, offset, limit int) (sql string, args []any) {
	s := newStatement(visible, numbers(terms))
	parts := make([]string, 0, len(sources))
	for rank := range sources {
		if part, ok := s.part(&sources[rank], terms, rank); ok {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "", nil
	}
	return head + "SELECT count(*) OVER (), rank, key FROM (" + strings.Join(parts, "\nUNION ALL ") +
		") found (rank, key, score, sorted, name) ORDER BY score DESC, rank, sorted, name, key LIMIT " + s.param(limit) + " OFFSET " +
		s.param(offset), s.args
}

// show is the statement that reads what was found: a row has the source, the key and the columns of a Hit. keys are those by source.
func show(keys map[int][]int64, visible identity.VisibleTeams) (sql string, args []any) {
	s := newStatement(visible, append([]int64{}, keys[len(sources)-1]...)) // jobs, the old ones too
	parts := make([]string, 0, len(keys))
	for rank := range sources {
		if of := &sources[rank]; len(keys[rank]) > 0 {
			parts = append(parts, s.see.Replace("SELECT "+strconv.Itoa(rank)+", "+of.key+", "+of.columns+" FROM "+of.from+" "+of.rows+" "+of.shown+
				" WHERE "+of.visible)+" AND "+of.key+" = ANY("+s.param(keys[rank])+"::bigint[])")
		}
	}
	return head + strings.Join(parts, "\nUNION ALL "), s.args
}

// numbers are the words that may be ids.
func numbers(terms []term) []int64 {
	found := []int64{}
	for _, t := range terms {
		if n, err := strconv.ParseInt(t.value, 10, 64); err == nil && t.field == "" && n > 0 {
			found = append(found, n)
		}
	}
	return found
}

// part is the SELECT of one source; false where a term holds for nothing in it.
func (s *statement) part(of *source, terms []term, rank int) (string, bool) {
	conditions, scores := []string{of.visible}, []string{}
	rows, shown := "", ""
	if slices.ContainsFunc(terms, func(t term) bool { return !t.not && !of.knows(t) }) {
		return "", false
	}
	for _, t := range terms {
		if !of.knows(t) {
			continue
		}
		condition := s.condition(of, t)
		switch {
		case t.not:
			condition = "(" + condition + ") IS NOT TRUE"
		case t.field == "":
			scores = append(scores, of.score(s.text(t.value)))
		}
		switch t.field {
		case fieldIs:
			rows = of.rows
		case fieldStatus:
			rows, shown = of.rows, of.shown
		}
		conditions = append(conditions, condition)
	}
	score := "0"
	if len(scores) > 0 {
		score = "(" + strings.Join(scores, " + ") + ") * " + strconv.Itoa(of.weight)
	}
	return s.see.Replace("SELECT " + strconv.Itoa(rank) + ", " + of.key + ", " + score + ", " + of.order + "::bigint, " + of.name +
		` COLLATE "C" FROM ` + of.from + " " + rows + " " + shown + " WHERE " + strings.Join(conditions, " AND ")), true
}

// knows reports whether a term may hold for anything in the source.
func (of *source) knows(t term) bool {
	return t.field == "" || t.field == fieldIs && of.is[t.value] != "" || of.fields[t.field] != ""
}

// condition is that of a term which the source knows.
func (s *statement) condition(of *source, t term) string {
	switch t.field {
	case "":
		in := make([]string, len(of.texts))
		for i, text := range of.texts {
			in[i] = "strpos(" + text + ", " + s.text(t.value) + ") > 0"
		}
		return "(" + strings.Join(in, " OR ") + ")"
	case fieldIs:
		return of.is[t.value]
	}
	condition := of.fields[t.field]
	if strings.Contains(condition, "?") {
		condition = strings.ReplaceAll(condition, "?", s.text(pattern(t.value)))
	}
	return pieces.ReplaceAllStringFunc(condition, func(piece string) string { return s.piece(piece[1:len(piece)-1], t.value) })
}

// pieces are what piece has left in a condition.
var pieces = regexp.MustCompile(`\{[0-9]\}`)

// piece is the condition on a piece of a guest's words.
func (s *statement) piece(number, value string) string {
	if !strings.Contains(value, "*") {
		return `strpos(w.words, E'\x0` + number + `' || ` + s.text(value) + ` || E'\x1f') > 0`
	}
	// What stands for anything must not go beyond the piece, as a pattern of LIKE would.
	expression := strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, "[^\x1f]*")
	return `w.words ~ (E'\x0` + number + `' || ` + s.text(expression) + ` || E'\x1f')`
}

// score is how well a word fits, in SQL: the name is the word, the name begins with it, it is one of the words beside the name such as
// a number or a tag, one of the name's own words begins with it, it is within the name, or it is somewhere else.
func (of *source) score(place string) string {
	whole := "strpos(' ' || " + of.texts[0] + " || ' ', ' ' || " + place + " || ' ') > 0"
	if of.whole != "" {
		whole = strings.ReplaceAll(of.whole, "?", place)
	}
	return "CASE strpos(" + of.name + ", " + place + ") WHEN 0 THEN CASE WHEN " + whole + " THEN 60 ELSE 10 END WHEN 1 THEN CASE WHEN " +
		of.name + " = " + place + " THEN 100 ELSE 70 END ELSE CASE WHEN strpos(translate(" + of.name +
		", '-_./:', '     '), ' ' || translate(" + place + ", '-_./:', '     ')) > 0 THEN 50 ELSE 30 END END"
}
