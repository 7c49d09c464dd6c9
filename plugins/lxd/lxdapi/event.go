package lxdapi

import (
	"encoding/json"
	"time"
)

// Event is a change of an operation, as the server reported it.
type Event struct {
	// Time is when, by the clock of the server, or of the member of a cluster, that tells. A member may tell one event twice, and
	// the server may tell two in the wrong order.
	Time      time.Time
	Operation Operation
}

// eventOperation is the type of events that is asked for.
const eventOperation = "operation"

// readEvent decodes an event without the secrets in it. ok is false for an
// event of another type.
func readEvent(data []byte) (e Event, ok bool, err error) {
	var raw struct {
		Type     string          `json:"type"`
		Time     time.Time       `json:"timestamp"`
		Metadata json.RawMessage `json:"metadata"`
		Project  string          `json:"project"`
	}
	if err := json.Unmarshal(data, &raw); err != nil || raw.Type != eventOperation {
		return Event{}, false, err
	}
	e.Time = raw.Time
	if err := json.Unmarshal(raw.Metadata, &e.Operation); err != nil {
		return Event{}, false, err
	}
	e.Operation.within(cut(raw.Project, maxSegment))
	return e, true, nil
}
