package lxdapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// The states of an operation that is over. Smaller ones are states on the way.
const (
	OperationSucceeded = 200
	OperationFailed    = 400
	OperationCancelled = 401
)

const (
	maxProgress  = 256 // bytes of a progress text
	maxInstances = 64  // instances of one operation that are told; one may act on all of a project
)

// Operation is something that the server does or did. Of the metadata it only
// keeps the progress, because the rest contains the secrets of consoles.
type Operation struct {
	ID string
	// Class is task, websocket or token.
	Class       string
	Description string
	StatusCode  int
	Created     time.Time
	// Instances are those that it acts on, 64 at most. One that was not created yet is there too. LXD 5.0 does not tell their
	// project: it is that of the list or the event which the operation was in.
	Instances []InstanceRef
	MayCancel bool
	// Err is why it failed.
	Err string
	// Location is the member of a cluster that carries it out, "none" on a single server.
	Location string
	// Progress is how far it is, in the server's words; empty where it does not tell.
	Progress string
}

// Ended reports whether the operation is over, successful or not.
func (o *Operation) Ended() bool { return o.StatusCode >= OperationSucceeded }

// Failure returns why an operation that is over did not succeed, or nil if it
// did. Its kind is that of a request that is refused for the same reason.
func (o *Operation) Failure() error {
	switch {
	case o.StatusCode == OperationSucceeded:
		return nil
	case o.StatusCode == OperationCancelled:
		return plugin.Errorf(plugin.Refused, "the operation was canceled")
	case o.Err == "":
		return plugin.Errorf(plugin.Refused, "the operation failed without a reason")
	}
	return plugin.Errorf(kindOfText(o.Err, plugin.Refused), "%s", o.Err)
}

// UnmarshalJSON decodes an operation and leaves out its secrets.
func (o *Operation) UnmarshalJSON(data []byte) error {
	var raw struct {
		ID          string                     `json:"id"`
		Class       string                     `json:"class"`
		Description string                     `json:"description"`
		StatusCode  int                        `json:"status_code"`
		Created     time.Time                  `json:"created_at"`
		Resources   map[string][]string        `json:"resources"`
		Metadata    map[string]json.RawMessage `json:"metadata"`
		MayCancel   bool                       `json:"may_cancel"`
		Err         string                     `json:"err"`
		Location    string                     `json:"location"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*o = Operation{
		ID: cut(raw.ID, maxSegment), Class: cut(raw.Class, maxSegment), Description: scrub(raw.Description), StatusCode: raw.StatusCode,
		Created: raw.Created, MayCancel: raw.MayCancel, Err: scrub(raw.Err), Location: cut(raw.Location, maxSegment),
		Progress: progressOf(raw.Metadata),
	}
	for _, address := range raw.Resources["instances"] {
		if ref, ok := refOf(address); ok && len(o.Instances) < maxInstances {
			o.Instances = append(o.Instances, ref)
		}
	}
	return nil
}

// within sets the project of instances for which the server did not report one
// (LXD 5.0).
func (o *Operation) within(project string) {
	for i := range o.Instances {
		if o.Instances[i].Project == "" {
			o.Instances[i].Project = project
		}
	}
}

// progressOf finds the text of the progress, whose key names the step: create_instance_from_image_unpack_progress.
func progressOf(metadata map[string]json.RawMessage) string {
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		var text string
		if strings.HasSuffix(key, "_progress") && json.Unmarshal(metadata[key], &text) == nil && text != "" {
			return cut(scrub(text), maxProgress)
		}
	}
	return ""
}

// checkOperationID returns an Invalid error for a text that is not a UUID in
// lower case.
func checkOperationID(id string) error {
	ok := len(id) == 36
	for i := 0; ok && i < len(id); i++ {
		switch i {
		case 8, 13, 18, 23:
			ok = id[i] == '-'
		default:
			ok = id[i] >= '0' && id[i] <= '9' || id[i] >= 'a' && id[i] <= 'f'
		}
	}
	if ok {
		return nil
	}
	return plugin.Errorf(plugin.Invalid, "%q is not a valid operation ID", cut(id, maxSegment))
}
