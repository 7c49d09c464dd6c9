package feed

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// item is the message about one object. It does not change after its batch is
// published.
type item struct {
	key
	version int64
	// gone is an object that is there no more; team is who sees any other, and before who saw it until now.
	gone   bool
	team   int64
	before []int64
	// whole says that fields are all that there are.
	whole  bool
	fields map[string]json.RawMessage
	// cluster and name are those of a node.
	cluster int64
	name    string
	// figures are those of a cluster, by team.
	figures *figures

	set, removal []byte
}

// encode builds the JSON for readers, once for all of them.
func (i *item) encode() {
	if i.kind == Figures {
		return
	}
	head := `{"kind":"` + string(i.kind) + `","id":` + strconv.FormatInt(i.id, 10)
	if i.kind == Node {
		name, _ := json.Marshal(i.name) // a string
		head += `,"cluster_id":` + strconv.FormatInt(i.cluster, 10) + `,"node":` + string(name)
	}
	head += `,"version":` + strconv.FormatInt(i.version, 10)
	i.removal = []byte(head + `,"gone":true}`)
	if i.gone {
		return
	}
	b := bytes.NewBufferString(head)
	if i.whole {
		b.WriteString(`,"whole":true`)
	}
	b.WriteString(`,"set":{`)
	for n, name := range slices.Sorted(maps.Keys(i.fields)) {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":`)
		b.Write(i.fields[name])
	}
	b.WriteString("}}")
	i.set = b.Bytes()
}

// appendTo appends the message about the object for a reader, with a comma in
// front; nothing if the reader may not see it.
func (i *item) appendTo(b []byte, s Filter) []byte {
	if !s.wants(i.kind) {
		return b
	}
	if i.kind == Figures {
		return i.figures.appendTo(b, i.id, i.version, s)
	}
	switch {
	case !i.gone && s.sees(i.team):
		b = append(b, ',')
		return append(b, i.set...)
	case slices.ContainsFunc(i.before, s.sees):
		b = append(b, ',')
		return append(b, i.removal...)
	}
	return b
}

// after joins two items about one object, of which i is the later.
func (i *item) after(earlier *item) *item {
	if i.kind == Figures {
		return i
	}
	both := *i
	both.before = slices.Concat(earlier.before, i.before)
	if !earlier.gone {
		if earlier.team != i.team || i.gone {
			both.before = append(both.before, earlier.team)
		}
		if !i.gone && !i.whole {
			both.whole = earlier.whole
			both.fields = maps.Clone(earlier.fields)
			maps.Copy(both.fields, i.fields)
		}
	}
	both.encode()
	return &both
}
