package scripts

import "github.com/hostler/hostler/sdk/catalog"

// steps are messages of an install in their order, with the progress that each
// one means. The scripts print them for people; if upstream changes a message,
// only the progress bar suffers.
var steps = []catalog.Step{
	{Text: "Storage space validated", Progress: 0.03}, {Text: "Template search completed", Progress: 0.06},
	{Text: "was successfully created", Progress: 0.2}, {Text: "Started LXC Container", Progress: 0.25},
	{Text: "Network in LXC is reachable", Progress: 0.3}, {Text: "Customized LXC Container", Progress: 0.4},
	{Text: "Set up Container OS", Progress: 0.43}, {Text: "Network Connected", Progress: 0.45},
	{Text: "Updated Container OS", Progress: 0.5}, {Text: "Installed Dependencies", Progress: 0.6},
	{Text: "Customized Container", Progress: 0.9}, {Text: "Completed successfully!", Progress: 1},
}

// exits explain the exit statuses of the scripts. Several statuses may share
// one reason.
var exits = []catalog.Exit{
	{Status: 10, Reason: "aborted", Text: "A third-party installer was not confirmed, or the container needs more rights."},
	{Status: 75, Reason: "needs_human", Text: "The update needs manual steps."},
	{Status: 100, Reason: "packages_failed", Text: "The package manager failed inside the container."},
	{Status: 103, Reason: "wrong_shell", Text: "The script was not run by bash."},
	{Status: 104, Reason: "not_root", Text: "The script was not run as root."},
	{Status: 105, Reason: "unsupported_release", Text: "The scripts do not support this release of the hypervisor."},
	{Status: 106, Reason: "unsupported_architecture", Text: "The scripts do not support this machine's architecture."},
	{Status: 109, Reason: "no_free_id", Text: "No VMID is free for the container."},
	{Status: 113, Reason: "under_provisioned", Text: "The container has less memory or fewer cores than the update needs."},
	{Status: 114, Reason: "disk_nearly_full", Text: "The container's disk is nearly full, so the update was refused."},
	{Status: 115, Reason: "engine_missing", Text: "The scripts could not load their shared functions."},
	{Status: 117, Reason: "not_started", Text: "The container did not start."},
	{Status: 118, Reason: "no_address", Text: "The container did not get an IP address."},
	{Status: 119, Reason: "no_storage", Text: "No storage allows containers."},
	{Status: 120, Reason: "no_template_storage", Text: "No storage allows templates."},
	{Status: 121, Reason: "no_network", Text: "The container has no network."},
	{Status: 129, Reason: "hung_up", Text: "The script was hung up."},
	{Status: 130, Reason: "interrupted", Text: "The script was interrupted."},
	{Status: 137, Reason: "killed", Text: "The script was killed, possibly because memory ran out."},
	{Status: 143, Reason: "terminated", Text: "The script was stopped."},
	{Status: 203, Reason: "refused_upstream",
		Text: "The script refused to continue: the app is disabled upstream, or the script now requires another operating system in the " +
			"container."},
	{Status: 205, Reason: "bad_id", Text: "The VMID of the container is invalid."},
	{Status: 206, Reason: "id_taken", Text: "The VMID of the container is already in use."},
	{Status: 209, Reason: "create_failed", Text: "The hypervisor did not create the container."},
	{Status: 210, Reason: "no_quorum", Text: "The cluster has no quorum."},
	{Status: 211, Reason: "template_locked", Text: "Another install locked the template for too long."},
	{Status: 212, Reason: "storage_unfit", Text: "The chosen storage allows only VMs."},
	{Status: 213, Reason: "storage_unfit", Text: "The chosen storage does not allow containers."},
	{Status: 214, Reason: "no_space", Text: "The storage does not have enough free space."},
	{Status: 215, Reason: "create_failed", Text: "The container was created but is not listed."},
	{Status: 216, Reason: "create_failed", Text: "The container was created without a disk."},
	{Status: 217, Reason: "storage_unreachable", Text: "The storage cannot be reached."},
	{Status: 218, Reason: "template_damaged", Text: "The template is damaged or incomplete."},
	{Status: 219, Reason: "storage_unfit", Text: "The chosen storage is a shared file system that does not support containers."},
	{Status: 220, Reason: "template_failed", Text: "The path of the template cannot be determined."},
	{Status: 221, Reason: "template_failed", Text: "The template cannot be read."},
	{Status: 222, Reason: "template_failed", Text: "The template could not be downloaded."},
	{Status: 223, Reason: "template_failed", Text: "The template was downloaded but is missing."},
	{Status: 224, Reason: "storage_unfit", Text: "The chosen storage is only for backups."},
	{Status: 225, Reason: "no_template", Text: "No template exists for the operating system and release that the script needs."},
	{Status: 231, Reason: "lxc_too_old", Text: "The node's LXC is too old for the template."},
}
