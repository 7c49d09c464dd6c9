// Package toyhv is the toy hypervisor: one machine with virtual machines and containers that run nothing, behind a small
// JSON interface over HTTPS. It stands in for the product that a real driver talks to, with what such products have: a
// certificate of its own making, tokens with scopes, guests, tasks that take time and keep a log, and locks.
//
//	GET  /v1/version                the release and the node's name
//	GET  /v1/token                  the scopes of the token that asks
//	GET  /v1/machine                the node and its storages           nodes:read
//	GET  /v1/guests                 all guests, one JSON array          guests:read
//	GET  /v1/guests/{id}            one guest                           guests:read
//	POST /v1/guests/{id}/{action}   202 and the id of a task            guests:power
//	GET  /v1/tasks                  newest first; limit, node, guest, since, failed
//	GET  /v1/tasks/{id}             one task
//	GET  /v1/tasks/{id}/log         lines from start on, at most limit
//
// Tokens travel as basic authentication. A refusal has a status that says what is wrong and a body of type Refusal.
package toyhv

import "time"

// The scopes that a token can have.
const (
	NodesRead   = "nodes:read"
	GuestsRead  = "guests:read"
	GuestsPower = "guests:power"
)

// Release is the hypervisor's release.
const Release = "3.1.4"

// Node is the name of the one machine.
const Node = "toy1"

// Guest is a guest as the interface shows it.
type Guest struct {
	ID     int64  `json:"id"`
	Type   string `json:"type"` // "vm" or "container"
	Node   string `json:"node"`
	Name   string `json:"name"`
	State  string `json:"state"` // "up", "down" or "frozen"
	Lock   string `json:"lock,omitempty"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory"` // bytes it may use
	Used   int64  `json:"used"`   // bytes it uses
	// Now is the hypervisor's clock, in the answer for one guest only.
	Now time.Time `json:"now,omitzero"`
}

// Task is a task as the interface shows it.
type Task struct {
	ID      string    `json:"id"`
	Node    string    `json:"node"`
	Kind    string    `json:"kind"` // "start", "stop", … or "copy"
	Guest   int64     `json:"guest,omitempty"`
	Token   string    `json:"token"`
	State   string    `json:"state"` // "running", "done" or "failed"
	Message string    `json:"message,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
}

// Machine is the answer of /v1/machine.
type Machine struct {
	Name     string    `json:"name"`
	Cores    int       `json:"cores"`
	Memory   int64     `json:"memory"`
	Used     int64     `json:"used"`
	Uptime   int64     `json:"uptime"`
	Storages []Storage `json:"storages"`
}

// Storage is one storage of the machine.
type Storage struct {
	Name string `json:"name"`
	Used int64  `json:"used"`
	Size int64  `json:"size"`
}

// Log is a window of a task's log.
type Log struct {
	Lines []string `json:"lines"`
	Total int      `json:"total"`
}

// Refusal is the body of every answer that is not a good one.
type Refusal struct {
	Error string `json:"error"`
	// Missing are the scopes that a 403 is about, Field the parameter that a 400 is about.
	Missing []string `json:"missing,omitempty"`
	Field   string   `json:"field,omitempty"`
}
