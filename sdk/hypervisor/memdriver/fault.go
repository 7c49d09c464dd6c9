package memdriver

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// Fault describes how a method misbehaves. The parts act in the order of the
// fields.
type Fault struct {
	// Delay is waited first, or until the caller gives up.
	Delay time.Duration
	// Block waits until the caller gives up.
	Block bool
	// Panic is the value that the method panics with.
	Panic string
	// Exit ends the process with this code when it is not zero: for plugin processes only.
	Exit int
	// Err is returned.
	Err error
	// Leak returns an error that holds the credential's secret, as a careless driver would.
	Leak bool
	// Late makes all of it happen in mid-stream: after the first page of an
	// inventory or the first line of a log, when a code was redeemed, when a
	// change of a storage or of a network, or a node's command was taken, when
	// a file was uploaded, and when something is typed into a console.
	Late bool
}

// Methods are the names of methods for SetFault and for addresses.
var Methods = []string{
	"version", "permissions", "inventory", "guest", "tasks", "tasklog", "waittask", "act", "stoptask", "nodestatus", "powernode", "peers",
	"member", "disks", "interfaces", "pci", "services", "subscription", "system",
	"snapshots", "takesnapshot", "deletesnapshot", "rollback", "redeem", "certificate",
	"placement", "createvm", "destroy", "clone", "config", "optionkeys", "reconfigure", "growdisk", "nics", "addresses", "changenic",
	"changedrive",
	"backups", "runbackup", "restore", "deletebackup", "protectbackup", "backupfile", "checkmigration", "migrate",
	"content", "deletevolume", "storagetypes", "storagedefinition", "attachstorage", "editstorage", "detachstorage", "download", "templates",
	"fetchtemplate",
	"checkupload", "upload", "openconsole", "consolelimits",
	"checklogin", "runonnode", "copytonode", "copyfromnode", "runinguest", "copytoguest", "copyfromguest", "sockets",
	"nodenetwork", "stageinterface", "stageremoval", "revertnetwork", "applynetwork",
}

// slow is the delay of the fault "slow" in an address.
const slow = 200 * time.Millisecond

// apply lets the fault act. It returns the fault's error, or that of ctx.
func (k Fault) apply(ctx context.Context, target endpoint.Target) error {
	if k.Delay > 0 {
		timer := time.NewTimer(k.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if k.Block {
		<-ctx.Done()
		return ctx.Err()
	}
	if k.Panic != "" {
		panic(k.Panic + map[bool]string{true: string(target.Credential.Secret)}[k.Leak])
	}
	if k.Exit != 0 {
		os.Exit(k.Exit)
	}
	if k.Leak {
		return fmt.Errorf("token %s=%s was not taken", target.Credential.ID, string(target.Credential.Secret))
	}
	return k.Err
}

// parseName reads the labels of an address; see Open.
func parseName(name string) (Spec, map[string]Fault, error) {
	var spec Spec
	faults := map[string]Fault{}
	for label := range strings.SplitSeq(name, ".") {
		what, of, ok := cutLast(label)
		if !ok {
			continue // a label without a dash only tells clusters apart
		}
		if n, err := strconv.Atoi(what); err == nil {
			switch {
			case n < 0 || n > 100_000:
				return Spec{}, nil, plugin.Errorf(plugin.Invalid, "%q is out of bounds", label)
			case of == "nodes":
				spec.Nodes = n
			case of == "vms":
				spec.VMs = n
			case of == "apps":
				spec.Containers = n
			default:
				return Spec{}, nil, plugin.Errorf(plugin.Invalid, "%q is not a size", label)
			}
			continue
		}
		fault, ok := named[what]
		if !ok {
			return Spec{}, nil, plugin.Errorf(plugin.Invalid, "%q is not a fault", label)
		}
		faults[of] = fault
	}
	return spec, faults, nil
}

// named maps the words of faults in addresses.
var named = map[string]Fault{
	"fail":      {Err: plugin.Errorf(plugin.Refused, "refused by a fault")},
	"block":     {Block: true},
	"slow":      {Delay: slow},
	"panic":     {Panic: "a fault said so"},
	"leakpanic": {Panic: "with ", Leak: true},
	"exit":      {Exit: 3},
	"leak":      {Leak: true},
	"lateexit":  {Exit: 3, Late: true},
	"lateblock": {Block: true, Late: true},
}

// cutLast splits a label at its last hyphen.
func cutLast(label string) (what, of string, ok bool) {
	i := strings.LastIndexByte(label, '-')
	if i < 0 {
		return "", "", false
	}
	return label[:i], label[i+1:], true
}
