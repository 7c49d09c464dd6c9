package lxdapi

import (
	"encoding/json"
	"time"
)

// Event is one thing that the server told of.
type Event struct {
	Time time.Time
	// Project is empty for what belongs to none.
	Project string
	// Location is the member of a cluster where it happened, "none" on a single server.
	Location string
	// Operation is what an operation had become; nil for an event of the lifecycle, which has what follows.
	Operation *Operation
	// Action is what happened, such as instance-started, and Source the path of what it happened to.
	Action, Source string
	// Requestor is the fingerprint of the certificate that asked for it, as LXD writes it: SHA-256 in small letters without
	// colons. It is empty where the server does not tell.
	Requestor string
}

// The types of events that are asked for.
const (
	eventOperation = "operation"
	eventLifecycle = "lifecycle"
)

const maxSource = 1 << 10 // bytes of the path of what an event is about

// readEvent reads one event and leaves its secrets out. ok is false for a type that is not known.
func readEvent(data []byte) (e Event, ok bool, err error) {
	var raw struct {
		Type     string          `json:"type"`
		Time     time.Time       `json:"timestamp"`
		Metadata json.RawMessage `json:"metadata"`
		Location string          `json:"location"`
		Project  string          `json:"project"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return Event{}, false, err
	}
	e = Event{Time: raw.Time, Project: cut(raw.Project, maxSegment), Location: cut(raw.Location, maxSegment)}
	switch raw.Type {
	case eventOperation:
		e.Operation = new(Operation)
		err = json.Unmarshal(raw.Metadata, e.Operation)
		e.Operation.within(e.Project)
	case eventLifecycle:
		var lifecycle struct {
			Action    string `json:"action"`
			Source    string `json:"source"`
			Requestor struct {
				Username string `json:"username"`
			} `json:"requestor"`
		}
		err = json.Unmarshal(raw.Metadata, &lifecycle)
		e.Action, e.Source = cut(lifecycle.Action, maxSegment), cut(scrub(lifecycle.Source), maxSource)
		e.Requestor = cut(lifecycle.Requestor.Username, maxSegment)
	default:
		return Event{}, false, nil
	}
	return e, err == nil, err
}

// same reports whether two events are one that the server sent twice, which a member of a cluster may do.
func (e Event) same(other Event) bool {
	if !e.Time.Equal(other.Time) || e.Location != other.Location || e.Project != other.Project || e.Action != other.Action ||
		e.Source != other.Source || (e.Operation == nil) != (other.Operation == nil) {
		return false
	}
	return e.Operation == nil || e.Operation.ID == other.Operation.ID && e.Operation.StatusCode == other.Operation.StatusCode &&
		e.Operation.Progress == other.Operation.Progress
}
