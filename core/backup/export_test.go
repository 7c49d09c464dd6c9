package backup

// Query is a statement with its parameters, and the index that it is to use.
type Query struct {
	Text  string
	Args  []any
	Index string
}

// Queries are those over all backups.
var Queries = map[string]Query{
	"coverage": {coverageRows, []any{true, []int64{}, 7, false, 0, 50}, "backups_guest"},
	"list":     {"SELECT " + columns + join + newest(0, 50), nil, "backups_taken"},
}
