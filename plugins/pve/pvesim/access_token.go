package pvesim

import (
	"maps"
	"slices"
)

// tokenEndpoints serves API tokens.
func tokenEndpoints() []*endpoint {
	return []*endpoint{
		serve("GET", "/access/users/{userid}/token", listTokens),
		serve("GET", "/access/users/{userid}/token/{tokenid}", readToken),
		serve("POST", "/access/users/{userid}/token/{tokenid}", createToken),
		serve("PUT", "/access/users/{userid}/token/{tokenid}", updateToken),
		serve("DELETE", "/access/users/{userid}/token/{tokenid}", deleteToken),
	}
}

// row returns a token without its secret.
func (t *token) row() map[string]any {
	row := map[string]any{"expire": t.expire, "privsep": oneOrZero(t.privsep)}
	if t.comment != "" {
		row["comment"] = t.comment
	}
	return row
}

// tokenRows returns the tokens of a user, sorted.
func (u *user) tokenRows() []map[string]any {
	rows := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(u.tokens)) {
		row := u.tokens[id].row()
		row["tokenid"] = id
		rows = append(rows, row)
	}
	return rows
}

// listTokens lists the tokens of a user.
func listTokens(r *request) (result, *apiError) {
	u, err := r.userOfPath()
	if err != nil {
		return fail(err)
	}
	return ok(u.tokenRows())
}

// tokenOfPath returns the user and the token in the path of a request.
func (r *request) tokenOfPath() (*user, *token, *apiError) {
	u, err := r.userOfPath()
	if err != nil {
		return nil, nil, err
	}
	t := u.tokens[r.values.text("tokenid")]
	if t == nil {
		return nil, nil, failure("no such token '%s' for user '%s'", r.values.text("tokenid"), r.values.text("userid"))
	}
	return u, t, nil
}

// readToken returns one token.
func readToken(r *request) (result, *apiError) {
	_, t, err := r.tokenOfPath()
	if err != nil {
		return fail(err)
	}
	return ok(t.row())
}

// createToken answers the secret, once. What was sent is echoed as it was sent:
// "privsep":"1" of a form.
func createToken(r *request) (result, *apiError) {
	u, err := r.userOfPath()
	if err != nil {
		return fail(err)
	}
	id := r.values.text("tokenid")
	if u.tokens[id] != nil {
		return fail(badParameter("tokenid", "Token already exists."))
	}
	t := &token{
		secret: r.c.newUUID(), privsep: r.values.boolean("privsep", true), expire: r.values.integer("expire", 0),
		comment: r.values.text("comment"),
	}
	u.tokens[id] = t
	r.c.accessChanged()
	info := map[string]any{"privsep": 1}
	for _, name := range []string{"comment", "expire", "privsep"} {
		if r.values.has(name) {
			info[name] = r.values.echo(name)
		}
	}
	return ok(map[string]any{"full-tokenid": r.values.text("userid") + "!" + id, "info": info, "value": t.secret})
}

// updateToken changes a token. It never returns the secret.
func updateToken(r *request) (result, *apiError) {
	_, t, err := r.tokenOfPath()
	if err != nil {
		return fail(err)
	}
	for _, name := range r.values.listOf("delete") {
		switch name {
		case "comment":
			t.comment = ""
		case "expire":
			t.expire = 0
		default:
			return fail(badParameter("delete", "unknown option '"+name+"'"))
		}
	}
	if r.values.has("comment") {
		t.comment = r.values.text("comment")
	}
	t.expire = r.values.integer("expire", t.expire)
	t.privsep = r.values.boolean("privsep", t.privsep)
	row := t.row()
	if r.values.boolean("regenerate", false) {
		t.secret = r.c.newUUID()
		row["value"] = t.secret
	}
	r.c.accessChanged()
	return ok(row)
}

// deleteToken removes a token and its entries.
func deleteToken(r *request) (result, *apiError) {
	u, _, err := r.tokenOfPath()
	if err != nil {
		return fail(err)
	}
	id := r.values.text("tokenid")
	delete(u.tokens, id)
	r.c.dropTokenEntries(r.values.text("userid") + "!" + id)
	return ok(nil)
}
