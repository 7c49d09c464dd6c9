package pvesim

import (
	"fmt"
	"net/http"
)

// guestOrder is the body of POST /guest. Members that are absent change nothing.
type guestOrder struct {
	Op             string  `json:"op"`
	VMID           int     `json:"vmid"`
	Type           string  `json:"type"`
	Node           string  `json:"node"`
	Name           *string `json:"name"`
	Status         *string `json:"status"`
	Lock           *string `json:"lock"`
	Tags           *string `json:"tags"`
	Pool           *string `json:"pool"`
	Template       *bool   `json:"template"`
	Cores          *int    `json:"cores"`
	MemoryMB       *int64  `json:"memory_mb"`
	IgnoreShutdown *bool   `json:"ignore_shutdown"`
	BridgeMissing  *string `json:"bridge_missing"`
	Warnings       *int    `json:"warnings"`
	TaskLines      *int    `json:"task_lines"`
	Storage        *string `json:"storage"`
	SnapshotError  *string `json:"snapshot_error"`
	BackupError    *string `json:"backup_error"`

	HotplugErrors *map[string]string `json:"hotplug_errors"`
	Interfaces    *[]GuestInterface  `json:"interfaces"`
}

// assign copies a value that is given.
func assign[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// apply writes what the order names into a description.
func (o *guestOrder) apply(s *GuestSpec) {
	assign(&s.Name, o.Name)
	assign(&s.Status, o.Status)
	assign(&s.Lock, o.Lock)
	assign(&s.Tags, o.Tags)
	assign(&s.Pool, o.Pool)
	assign(&s.Template, o.Template)
	assign(&s.Cores, o.Cores)
	assign(&s.IgnoreShutdown, o.IgnoreShutdown)
	assign(&s.BridgeMissing, o.BridgeMissing)
	assign(&s.Warnings, o.Warnings)
	assign(&s.TaskLines, o.TaskLines)
	assign(&s.Storage, o.Storage)
	assign(&s.SnapshotError, o.SnapshotError)
	assign(&s.BackupError, o.BackupError)
	assign(&s.HotplugErrors, o.HotplugErrors)
	assign(&s.Interfaces, o.Interfaces)
	if o.MemoryMB != nil {
		s.Memory = *o.MemoryMB * mebibyte
	}
}

// controlGuest changes a guest behind the API's back.
func controlGuest(c *Cluster, r *http.Request) (any, error) {
	var o guestOrder
	if err := decodeControl(r, &o); err != nil {
		return nil, err
	}
	vmid := o.VMID
	var err error
	switch o.Op {
	case "create":
		s := GuestSpec{VMID: o.VMID, Type: o.Type, Node: o.Node}
		o.apply(&s)
		vmid, err = c.AddGuest(s)
	case "delete":
		err = c.RemoveGuest(o.VMID)
	case "strand":
		err = c.StrandGuest(o.VMID, o.Node)
	case "migrate":
		err = c.MigrateGuest(o.VMID, o.Node)
	case "rename", "status", "lock", "set":
		err = c.ChangeGuest(o.VMID, o.apply)
	default:
		err = fmt.Errorf("unknown op %q", o.Op)
	}
	return map[string]int{"vmid": vmid}, err
}
