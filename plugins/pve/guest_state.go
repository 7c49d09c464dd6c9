package pve

import "github.com/hostler/hostler/sdk/hypervisor"

// guestState brings the hypervisor's words for a guest's state into ours. status is that of the list or the guest itself;
// qmp is QEMU's own run state, which lists give as status in some releases; lock tells a guest that was written to disk.
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
		// QEMU says so of a guest that sleeps in memory, too.
		if status == "running" || up {
			return hypervisor.GuestPaused
		}
		return hypervisor.GuestSuspended
	case "paused", "prelaunch", "postmigrate", "finish-migrate", "save-vm", "restore-vm", "io-error", "internal-error",
		"watchdog", "guest-panicked", "debug":
		// The process is there and its processors stand still.
		return hypervisor.GuestPaused
	}
	// A word of a later release: the list's own status is the safer one.
	switch status {
	case "running":
		return hypervisor.GuestRunning
	case "stopped":
		return hypervisor.GuestStopped
	}
	return hypervisor.GuestUnknown
}
