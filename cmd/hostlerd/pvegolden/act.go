package pvegolden

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
)

// Act is one way to use an operation.
type Act struct {
	// Operation is the operation's id; Case tells several acts of one operation apart, and is empty for the usual one.
	Operation, Case string
	// Tokens are the capabilities that it uses besides monitoring.
	Tokens []endpoint.Capability
	// Before brings the world to where the act makes sense; nil leaves it as it is.
	Before func(*World)
	// Method, Path and Body are its request; words in braces are replaced by their values in the world.
	Method, Path, Body string
	// Media is the media type of Body, where that is not JSON.
	Media string
	// Lacks says that the hypervisor has no such thing: 501, and nothing is asked of it.
	Lacks bool
	// Most is how many requests it may take besides those that follow tasks and those of polls; 0 for no bound.
	Most int64
	// Why says for a list that takes more than one request why no single one has it all; it stands beside the figure.
	Why string
	// As is whose request it is; zero is an owner's.
	As identity.Role
	// Ends is how its jobs end where it did what it is for; empty is succeeded.
	Ends job.Status
	// Long says that it is about a task that goes on: how often that is asked after hangs on the clock, and is not counted.
	Long bool
	// First says that it needs a world in which nothing has happened: what it asks hangs on what is known already.
	First bool
}

// Name is the act's operation and case.
func (a *Act) Name() string {
	if a.Case == "" {
		return a.Operation
	}
	return a.Operation + ", " + a.Case
}

// Outcome is how an act ended.
type Outcome struct {
	Response
	Jobs []job.View
	ends job.Status
}

// Prepare gives the world a new VM and a new container and brings it to where an act makes sense.
func (w *World) Prepare(a *Act) {
	w.t.Helper()
	w.RecreateGuests()
	if a.Before != nil {
		a.Before(w)
	}
}

// Do lets an act happen in a prepared world and waits for its jobs. What is counted begins with it.
func (w *World) Do(a *Act) Outcome {
	w.t.Helper()
	w.ResetStats()
	got := w.ask(a.As, a.Method, a.Path, a.Body, a.Media)
	return Outcome{got, w.ended(got), cmp.Or(a.Ends, job.Succeeded)}
}

// DoWithout prepares the world and lets an act happen while a role lacks some privileges.
func (w *World) DoWithout(a *Act, role string, privileges ...string) Outcome {
	w.t.Helper()
	w.Prepare(a)
	all := w.Role(role)
	w.SetRole(role, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(privileges, p) })...)
	defer w.SetRole(role, all...)
	return w.Do(a)
}

// Succeeded reports whether an act did what it is for.
func (d Outcome) Succeeded() bool {
	return d.Status >= 200 && d.Status < http.StatusMultipleChoices &&
		!slices.ContainsFunc(d.Jobs, func(j job.View) bool { return j.Status != d.ends }) && d.unreadable() == nil
}

// unreadable are the parts of a good answer that are null for want of a privilege, and the rows of one that tell of that.
func (d Outcome) unreadable() (refused []Refusal) {
	type part struct {
		Reason, Remedy string
		Missing        []string
		// AddressesError is why a guest's addresses are null.
		AddressesError string `json:"addresses_error"`
	}
	var answer struct{ Unreadable []part }
	if err := json.Unmarshal(d.Body, &answer); err != nil {
		var rows []part
		if err := json.Unmarshal(d.Body, &rows); err != nil {
			return nil
		}
		answer.Unreadable = rows
	}
	for _, part := range answer.Unreadable {
		if strings.Contains(part.AddressesError, "the token lacks ") {
			refused = append(refused, Refusal{Text: part.AddressesError})
		}
		if part.Reason == "permission" {
			refused = append(refused, Refusal{Missing: part.Missing, Remedy: part.Remedy, Text: string(d.Body)})
		}
	}
	return refused
}

// Kinds are those of its jobs.
func (d Outcome) Kinds() string {
	var kinds []string
	for _, j := range d.Jobs {
		kinds = append(kinds, j.Kind)
	}
	return strings.Join(kinds, ", ")
}

func (d Outcome) String() string {
	text := fmt.Sprintf("%d %s", d.Status, d.Body)
	for _, j := range d.Jobs {
		text += fmt.Sprintf("; job %s %s: %s", j.Kind, j.Status, j.Error)
	}
	return text
}

// Refusal is in whose words an act was refused for want of a privilege: those of its answer, or of a job of it.
type Refusal struct {
	// Missing are the privileges that it names, and Remedy the command that grants them; a job has both in Text.
	Missing      []string
	Remedy, Text string
}

// Refusal tells how an act was refused for want of privileges; false when it was not, or not for that.
func (d Outcome) Refusal() (Refusal, bool) {
	for _, j := range d.Jobs {
		if j.Status == job.Failed && (strings.Contains(j.Error, "the token lacks ") || strings.Contains(j.Error, "Permission check failed")) {
			return Refusal{Text: j.Error}, true
		}
	}
	if refused := d.unreadable(); refused != nil {
		return refused[0], true
	}
	var p struct {
		Error, Reason, Remedy string
		Missing               []string
	}
	if err := json.Unmarshal(d.Body, &p); err != nil || p.Reason != "permission" {
		// Of several things in the way of one request this is one.
		several := p.Error == string(problem.CodeMigrationBlocked) || p.Error == string(problem.CodeInUse)
		return Refusal{Text: string(d.Body)}, several && strings.Contains(string(d.Body), "the token lacks ")
	}
	return Refusal{Missing: p.Missing, Remedy: p.Remedy, Text: string(d.Body)}, true
}
