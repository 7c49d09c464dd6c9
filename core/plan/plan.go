// Package plan says what an operation would do before it does it. An operation that destroys, interrupts or cannot be undone begins a
// Draft, lets its refusals pass through it and decides at the end:
//
//	draft := plan.Begin(ctx)
//	if err := draft.Refuse(check()); err != nil {
//		return err
//	}
//	if err := draft.Decide(ctx, plan.Confirmation{Phrase: name, Given: confirm}, effects); err != nil {
//		return err
//	}
//
// A caller who only plans gets an Result as the error of Finish: what would be refused with a 409 is among its blockers. One who sends
// a plan's digest is refused when the plan has changed. The plan is with each request for a confirmation too.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Plan is what an operation would do, as the API shows it.
type Plan struct {
	Effects  []Effect  `json:"effects" doc:"Effects of the request"`
	Warnings []string  `json:"warnings" doc:"Warnings that do not prevent the request"`
	Blockers []Blocker `json:"blockers" doc:"Reasons why the request would be refused now; a plan without blockers can be carried out"`
	// ConfirmPhrase is nil where nothing is to be confirmed.
	ConfirmPhrase *string `json:"confirm_phrase" example:"web1" doc:"Required value of confirm; null if no confirmation is required"`
	IsSelf        bool    `json:"is_self" doc:"true if the request affects the service itself"`
	Digest        string  `json:"digest" example:"5f2b0c9e81d4a7f3" doc:"Identifies this plan; a request with the digest of an outdated plan is refused"`
}

// The kinds of effects.
const (
	KindGuest      = "guest"      // becomes of a guest
	KindUptime     = "uptime"     // ends; At is its begin
	KindData       = "data"       // is lost; At is from when on
	KindDisk       = "disk"       // is destroyed or made
	KindSnapshot   = "snapshot"   // is deleted or lost
	KindBackup     = "backup"     // is deleted, or remains; At is when it was taken
	KindSchedule   = "schedule"   // names what is gone
	KindApp        = "app"        // is forgotten
	KindCredential = "credential" // is deleted
	KindAccess     = "access"     // ends: a session, an API key, a role
	KindHost       = "host"       // falls to another team
	KindRule       = "rule"       // of a firewall comes or goes
	KindTraffic    = "traffic"    // gets through, or does not any more
)

// Effect is one thing that would happen. What is not known or makes no sense is nil.
type Effect struct {
	Kind      string     `json:"kind" enum:"guest,uptime,data,disk,snapshot,backup,schedule,app,credential,access,host,rule,traffic" doc:"Kind of the affected object"`
	Text      string     `json:"text" example:"VM web1 is destroyed." doc:"Effect as a sentence"`
	Name      *string    `json:"name" example:"web1" doc:"Name of the affected object; null if it has none or you cannot see it"`
	SizeBytes *int64     `json:"size_bytes" doc:"Size of the affected object in bytes"`
	At        *time.Time `json:"at" doc:"Depends on the kind: start of the uptime; start of the data loss; when the backup or snapshot was taken; when the configuration of the guest was read. Null if not known"`
}

// Blocker is a refusal that the request would get.
type Blocker struct {
	Error  string `json:"error" example:"guest_busy"`
	Detail string `json:"detail" example:"another job works on this guest"`
}

// Add appends an effect without figures.
func (p *Plan) Add(kind, name, format string, args ...any) {
	p.Effects = append(p.Effects, Effect{Kind: kind, Text: fmt.Sprintf(format, args...), Name: named(name)})
}

// AddSized appends an effect on something of a size in bytes; nil where it is not known.
func (p *Plan) AddSized(kind, name string, size *int64, format string, args ...any) {
	p.Effects = append(p.Effects, Effect{Kind: kind, Text: fmt.Sprintf(format, args...), Name: named(name), SizeBytes: size})
}

// AddSince appends an effect on something that has been so since a time; a zero time is not known.
func (p *Plan) AddSince(kind, name string, at time.Time, format string, args ...any) {
	e := Effect{Kind: kind, Text: fmt.Sprintf(format, args...), Name: named(name)}
	if !at.IsZero() {
		at = at.UTC().Truncate(time.Second)
		e.At = &at
	}
	p.Effects = append(p.Effects, e)
}

// Plural is the text about n things: one for a single thing, and many with the number in the place of its verb %d for any other.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// Warn appends a warning.
func (p *Plan) Warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

func named(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

// seal fills in the digest. The begin of an uptime is not in it, which is worked out anew each time and differs by a second, nor is that
// of an effect on a guest, which may say when it was read.
func (p *Plan) seal() {
	steady := *p
	steady.Digest, steady.Effects = "", make([]Effect, len(p.Effects))
	for i, e := range p.Effects {
		if e.Kind == KindUptime || e.Kind == KindGuest {
			e.At = nil
		}
		steady.Effects[i] = e
	}
	text, err := json.Marshal(steady)
	if err != nil {
		panic(err) // plain values
	}
	sum := sha256.Sum256(text)
	p.Digest = hex.EncodeToString(sum[:8])
}
