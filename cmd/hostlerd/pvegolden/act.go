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

// Act is one use of an operation.
type Act struct {
	// Operation is the ID of the operation. Case tells several acts of one
	// operation apart, and is empty for the usual one.
	Operation, Case string
	// Tokens are the capabilities that it uses in addition to monitoring.
	Tokens []endpoint.Capability
	// Before prepares the world; nil leaves it as it is.
	Before func(*World)
	// Method, Path and Body are its request. Words in braces are replaced by
	// their values in the world.
	Method, Path, Body string
	// Media is the media type of Body, where that is not JSON.
	Media string
	// Lacks reports that the hypervisor does not have this: the response is
	// 501, and nothing is requested from the hypervisor.
	Lacks bool
	// Most is the maximum number of requests to the hypervisor, without those
	// that follow tasks and those of polls; 0 means no limit.
	Most int64
	// Why explains why a list needs more than one request. It is recorded
	// beside the number.
	Why string
	// As is the role of the user; empty is an owner.
	As identity.Role
	// Ends is the status of its jobs when it did what it is for; empty is
	// succeeded.
	Ends job.Status
	// Long reports that its task goes on. How often a task is asked about
	// depends on the clock and is not counted.
	Long bool
	// First reports that it needs a new world, because its requests depend on
	// what the service already knows.
	First bool
}

// Name is the act's operation and case.
func (a *Act) Name() string {
	if a.Case == "" {
		return a.Operation
	}
	return a.Operation + ", " + a.Case
}

// Outcome is how an act ended: the response and the jobs.
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

// DoWithout prepares the world, takes privileges away from a role, carries out
// an act, and gives the privileges back.
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

// unreadable returns the parts of a successful response that are null because a
// privilege is missing.
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

// String returns the response and the jobs, for messages.
func (d Outcome) String() string {
	text := fmt.Sprintf("%d %s", d.Status, d.Body)
	for _, j := range d.Jobs {
		text += fmt.Sprintf("; job %s %s: %s", j.Kind, j.Status, j.Error)
	}
	return text
}

// Refusal is how an act was refused because a privilege is missing: in its
// response or by one of its jobs.
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
