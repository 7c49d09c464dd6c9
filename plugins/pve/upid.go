package pve

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// upid is the name of a task, parsed:
// UPID:node:pid:pstart:starttime:type:id:user: The node in it has the task's
// log, whichever node is asked.
type upid struct {
	text    string
	node    string
	started time.Time
	kind    string // the hypervisor's type, such as "qmstart"
	id      string // what the task is about, such as a guest's id; may be empty
	user    string // with realm
	tokenID string // the token's own name; empty when the user did it
}

// upidForm is the form of a task's name. The process start time has nine digits
// on machines that run for a long time. Neither id nor user contains a colon.
var upidForm = regexp.MustCompile(`^UPID:([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8,` +
	`16}):([0-9A-Fa-f]{8,9}):([^:\s]+):([^:\s]*):([^:\s]+):$`)

// parseUPID reads a task's name.
func parseUPID(text string) (upid, error) {
	m := upidForm.FindStringSubmatch(text)
	if m == nil || len(text) > 512 {
		return upid{}, plugin.Errorf(plugin.NotFound, "%.80q is not a task ID", text)
	}
	started, err := strconv.ParseInt(m[4], 16, 64)
	if err != nil {
		return upid{}, plugin.Errorf(plugin.NotFound, "%.80q is not a task ID", text)
	}
	u := upid{text: text, node: m[1], started: time.Unix(started, 0).UTC(), kind: m[5], id: m[6]}
	u.user, u.tokenID = splitToken(m[7])
	return u, nil
}

// splitToken splits "user@realm!token".
func splitToken(authID string) (user, tokenID string) {
	user, tokenID, _ = strings.Cut(authID, "!")
	return user, tokenID
}

// guestID returns the guest of the task, or an empty id.
func (u upid) guestID() hypervisor.GuestID {
	for _, family := range guestTasks {
		if strings.HasPrefix(u.kind, family) {
			id := hypervisor.GuestID(u.id)
			if _, err := vmid(id); err != nil {
				return ""
			}
			return id
		}
	}
	return ""
}

// guestTasks are the beginnings of the task types whose id is a guest's.
var guestTasks = []string{"qm", "vz", "ha", "vnc", "spice", "move_volume", "resize", "unlink", "push_file", "pull_file"}

// operationOf is our word for a type of task. A pause was a qmsuspend before it
// had a type of its own; the ha types are those of guests that the cluster's
// manager watches.
var operationOf = map[string]hypervisor.Operation{
	"qmstart": hypervisor.Start.Operation(), "vzstart": hypervisor.Start.Operation(), "hastart": hypervisor.Start.Operation(),
	"qmstop": hypervisor.Stop.Operation(), "vzstop": hypervisor.Stop.Operation(), "hastop": hypervisor.Stop.Operation(),
	"qmshutdown": hypervisor.Shutdown.Operation(), "vzshutdown": hypervisor.Shutdown.Operation(),
	"hashutdown": hypervisor.Shutdown.Operation(),
	"qmreboot":   hypervisor.Restart.Operation(), "vzreboot": hypervisor.Restart.Operation(),
	"qmpause": hypervisor.Pause.Operation(), "qmsuspend": hypervisor.Pause.Operation(),
	"qmresume": hypervisor.Resume.Operation(),
	"qmreset":  hypervisor.Reset.Operation(),

	"qmsnapshot": hypervisor.OperationSnapshotCreate, "vzsnapshot": hypervisor.OperationSnapshotCreate,
	"qmdelsnapshot": hypervisor.OperationSnapshotDelete, "vzdelsnapshot": hypervisor.OperationSnapshotDelete,
	"qmrollback": hypervisor.OperationSnapshotRollback, "vzrollback": hypervisor.OperationSnapshotRollback,

	"qmcreate": hypervisor.OperationCreate, "vzcreate": hypervisor.OperationCreate,
	"qmdestroy": hypervisor.OperationDestroy, "vzdestroy": hypervisor.OperationDestroy,
	"qmclone": hypervisor.OperationClone, "vzclone": hypervisor.OperationClone,
	"qmigrate": hypervisor.OperationMigrate, "vzmigrate": hypervisor.OperationMigrate, "hamigrate": hypervisor.OperationMigrate,

	"vzdump":    hypervisor.OperationBackup,
	"qmrestore": hypervisor.OperationRestore, "vzrestore": hypervisor.OperationRestore,

	"vncproxy": hypervisor.OperationConsole, "vncshell": hypervisor.OperationConsole, "spiceproxy": hypervisor.OperationConsole,
	"spiceshell": hypervisor.OperationConsole,

	"imgdel": hypervisor.OperationVolumeDelete, "download": hypervisor.OperationDownload,
}

// operation is our word for what the task does.
func (u upid) operation() hypervisor.Operation {
	if u.kind == "srvreload" && u.id == "networking" { // other services are reloaded by tasks of this type, too
		return hypervisor.OperationApplyNetwork
	}
	return operationOf[u.kind]
}
