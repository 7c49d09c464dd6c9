// Package toyhv is the toy hypervisor: one machine with virtual machines and containers that run nothing, behind a small
// JSON interface over HTTPS. It stands in for the product that a real driver talks to, with what such products have: a
// certificate of its own making, clients that are known by their certificates, codes that make a new client known once, guests
// that are named and renamed, tasks that take time and keep a log, snapshots, and locks.
//
//	GET    /v1/version                    the release and the node's name
//	GET    /v1/certificate                the scopes of the certificate that asks
//	POST   /v1/join                       makes the certificate that asks known, against a code       no certificate is known yet
//	GET    /v1/machine                    the node and its storages                                   nodes:read
//	GET    /v1/guests                     all guests, one JSON array                                  guests:read
//	GET    /v1/guests/{name}              one guest                                                   guests:read
//	POST   /v1/guests/{name}/{action}     202 and a task; uuid: only if the guest is that one         guests:power
//	GET    /v1/guests/{name}/snapshots    the guest's snapshots                                       guests:read
//	POST   /v1/guests/{name}/snapshots    takes one: name, note, uuid                                 guests:power
//	POST   /v1/guests/{name}/snapshots/{snapshot}/restore   goes back to it: start, uuid              guests:power
//	DELETE /v1/guests/{name}/snapshots/{snapshot}           deletes it: uuid                          guests:power
//	GET    /v1/tasks                      newest first; limit, node, guest, since, failed
//	GET    /v1/tasks/{id}                 one task
//	GET    /v1/tasks/{id}/log             lines from start on, at most limit
//
// Parameters travel in the query. A refusal has a status that says what is wrong and a body of type Refusal.
package toyhv

import "time"

// The scopes that a certificate can have.
const (
	NodesRead   = "nodes:read"
	GuestsRead  = "guests:read"
	GuestsPower = "guests:power"
)

// Release is the hypervisor's release.
const Release = "3.1.4"

// Node is the name of the one machine.
const Node = "toy1"

// Guest is a guest as the interface shows it. Its name is its address and changes when it is renamed; its UUID stays.
type Guest struct {
	Name   string `json:"name"`
	UUID   string `json:"uuid"`
	Type   string `json:"type"` // "vm" or "container"
	Node   string `json:"node"`
	State  string `json:"state"` // "up", "down" or "frozen"
	Lock   string `json:"lock,omitempty"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory"` // bytes it may use
	// Used are bytes and CPU the seconds that it has computed since its start. One that is down has neither.
	Used *int64   `json:"used,omitempty"`
	CPU  *float64 `json:"cpu_seconds,omitempty"`
	// Now is the hypervisor's clock, in the answer for one guest only.
	Now time.Time `json:"now,omitzero"`
}

// Snapshot is a snapshot as the interface shows it.
type Snapshot struct {
	Name  string    `json:"name"`
	Note  string    `json:"note,omitempty"`
	Taken time.Time `json:"taken"`
}

// Task is a task as the interface shows it.
type Task struct {
	ID      string    `json:"id"`
	Node    string    `json:"node"`
	Kind    string    `json:"kind"`            // "start", "stop", … or "copy"
	Guest   string    `json:"guest,omitempty"` // the name that it had then
	Client  string    `json:"client"`          // the SHA-256 of the certificate that asked, hexadecimal with colons
	State   string    `json:"state"`           // "running", "done" or "failed"
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

// JoinToken is what NewCode gives as the base64 of JSON.
type JoinToken struct {
	Address     string    `json:"address"`
	Fingerprint string    `json:"fingerprint"`
	Secret      string    `json:"secret"`
	Expires     time.Time `json:"expires"`
}

// Refusal is the body of every answer that is not a good one.
type Refusal struct {
	Error string `json:"error"`
	// Missing are the scopes that a 403 is about, Field the parameter that a 400 is about.
	Missing []string `json:"missing,omitempty"`
	Field   string   `json:"field,omitempty"`
}
