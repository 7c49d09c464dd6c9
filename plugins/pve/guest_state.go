package pve

import "github.com/hostler/hostler/sdk/hypervisor"

// guestState converts the state of a guest. status is that of the list or of
// the guest itself. qmp is the run state of QEMU, which some releases put into
// status in lists. lock shows a guest that was suspended to disk.
func guestState(status, qmp, lock string, up bool) string {
	if status == "" || status == "unknown" {
		return hypervisor.GuestUnknown
	}
	if lock == "suspended" {
		return hypervisor.GuestSuspended
	}
	if lock == "backup" && qmp == "prelaunch" {
		return hypervisor.GuestStopped // the backup has started it, to read its disks
	}
	word := status
	if qmp != "" {
		word = qmp
	}
	switch word {
	case "running", "inmigrate", "colo":
		return hypervisor.GuestRunning
	case "stopped", "shutdown":
		return hypervisor.GuestStopped
	case "suspended":
		// QEMU also reports this for a guest that sleeps in memory.
		if status == "running" || up {
			return hypervisor.GuestPaused
		}
		return hypervisor.GuestSuspended
	case "paused", "prelaunch", "postmigrate", "finish-migrate", "save-vm", "restore-vm", "io-error", "internal-error",
		"watchdog", "guest-panicked", "debug":
		// The process exists, and its processors are stopped.
		return hypervisor.GuestPaused
	}
	// A word of a later release. The status of the list itself is the safer
	// source then.
	switch status {
	case "running":
		return hypervisor.GuestRunning
	case "stopped":
		return hypervisor.GuestStopped
	}
	return hypervisor.GuestUnknown
}
