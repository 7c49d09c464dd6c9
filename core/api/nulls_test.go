package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hostler/hostler/core/api/apitest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/identity/identitytest"
)

// What is null in a body is taken where the document says so and refused everywhere else, for every place of every body.
func TestNulls(t *testing.T) {
	if testing.Short() {
		t.Skip("puts null in every place of every body: make check runs it")
	}
	t.Parallel()
	e := newTeamsFixture(t)
	bodies := map[string]string{}
	for _, c := range e.allChanges() {
		bodies[c.Operation] = cmp.Or(c.Nulls, c.Body)
	}
	values := map[string]string{"schedule_id": fmt.Sprint(e.plan(e.vm, "nulls"))}
	for name, value := range e.values {
		values[name] = value
	}
	values["user_id"] = fmt.Sprint(identitytest.As(t, e.users, identity.Viewer).ID)
	taken, refused := e.Nulls(t, apitest.NullsConfig{Bodies: bodies, Values: values})
	if taken < 20 || refused < 60 {
		t.Errorf("only %d nulls were to be taken and %d to be refused", taken, refused)
	}
	t.Logf("%d nulls taken, %d refused", taken, refused)
}

// Every answer says null where, and only where, the document does: a document that forgets one is noticed.
func TestForgottenNullIsNoticed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.furnish()
	var document map[string]any
	if err := json.Unmarshal(wholeDocument(), &document); err != nil {
		t.Fatal(err)
	}
	at(document, "components", "schemas", "Schedule",
		"properties").(map[string]any)["writer"] = map[string]any{"$ref": "#/components/schemas/Writer"}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.CompareDocument(t, text, "GET", "/api/v1/schedules", ""); err == nil {
		t.Error("a writer that is null passes though the document does not say so")
	}
	if err := h.CompareDocument(t, wholeDocument(), "GET", "/api/v1/schedules", ""); err != nil {
		t.Error(err)
	}
}
