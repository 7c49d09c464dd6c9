package feed

import (
	"slices"
	"strconv"
)

// key identifies an object.
type key struct {
	kind Kind
	id   int64
}

// change is the sum of several rows of the history about one object.
type change struct {
	key
	// whole is set when all of it is told: it is new, or others see it now. gone is the end.
	whole, gone bool
	// before are the teams who saw it before, of what is moved or gone; zero is
	// none but the default team.
	before  []int64
	columns []string
	// cluster and name are those of a node that is gone.
	cluster int64
	name    string
}

// scopeChange is a host that went from one team to another.
type scopeChange struct{ from, to int64 }

// changes are the rows of one part of the history, by object.
type changes struct {
	all    []*change
	scopes []scopeChange
	// many says that there are more rows than are told one by one.
	many bool
}

// fold joins rows by object. Rows of one object keep their order. Ids are never
// reused, so that an object that is gone stays gone.
func fold(rows []row) changes {
	if len(rows) > mostRows {
		return changes{many: true}
	}
	var c changes
	byKey := map[key]*change{}
	for i := range rows {
		r := &rows[i]
		if r.kind == scope {
			c.scopes = append(c.scopes, scopeOf(r))
			continue
		}
		k := key{r.kind, r.object}
		one := byKey[k]
		if one == nil {
			one = &change{key: k}
			byKey[k] = one
			c.all = append(c.all, one)
		}
		one.add(r)
	}
	return c
}

// scopeOf reads the row that a trigger writes when a host changes its team.
func scopeOf(r *row) scopeChange {
	s := scopeChange{from: teamOf(r.team)}
	if len(r.fields) == 1 {
		s.to, _ = strconv.ParseInt(r.fields[0], 10, 64) // a trigger wrote it
	}
	return s
}

// teamOf gives the team of a row; zero stands for none, which only readers of
// all teams see.
func teamOf(team *int64) int64 {
	if team == nil {
		return 0
	}
	return *team
}

// add folds one more row into the change. `new` and `moved` ask for the whole
// object; else only columns are collected, whose values are read later, so that
// several changes of one column cost one read.
func (c *change) add(r *row) {
	switch r.what {
	case "new":
		c.whole = true
	case "moved":
		c.whole = true
		c.before = append(c.before, teamOf(r.team))
	case "gone":
		c.gone = true
		c.before = append(c.before, teamOf(r.team))
		if len(r.fields) == 2 {
			c.cluster, _ = strconv.ParseInt(r.fields[0], 10, 64) // a trigger wrote it
			c.name = r.fields[1]
		}
	default:
		for _, column := range r.fields {
			if !slices.Contains(c.columns, column) {
				c.columns = append(c.columns, column)
			}
		}
	}
}
