package pve

import "testing"

func TestTaskCause_AddsTheReasonToTheError(t *testing.T) {
	t.Parallel()
	const tar = "command 'set -o pipefail && lxc-usernsexec -m u:0:100000:65536 -m g:0:100000:65536 -- tar cpf - --totals " +
		"--one-file-system -p --sparse --numeric-owner --acls --xattrs ./ " +
		"| zstd --rsyncable '--threads=1' >/mnt/pve/nas/dump/x.tar.dat' failed: exit code 70"
	const short = "command 'set -o pipefail && lxc-usernsexec -m u:0…' failed: exit code 70"
	for name, c := range map[string]struct {
		lines      []string
		text, want string
	}{
		"a download": {[]string{
			"downloading https://files.example.com/failed/a.iso to /var/lib/vz/template/iso/a.iso",
			"--2026-11-29 10:00:00--  https://files.example.com/a.iso", "HTTP request sent, awaiting response... 404 Not Found",
			"2026-11-29 10:00:00 ERROR 404: Not Found.",
			"TASK ERROR: download failed: command '/usr/bin/wget' failed: exit code 8",
		}, "download failed: command '/usr/bin/wget' failed: exit code 8",
			"download failed: command '/usr/bin/wget' failed: exit code 8: ERROR 404: Not Found."},
		"a migration": {[]string{
			"2026-11-29 10:00:00 starting migration of CT 101 to node 'pve2' (10.0.0.2)",
			"2026-11-29 10:00:00 ERROR: migration aborted (duration 00:00:00): storage 'fast' is not available on node 'pve2'",
			"TASK ERROR: migration aborted",
		}, "migration aborted", "migration aborted (duration 00:00:00): storage 'fast' is not available on node 'pve2'"},
		"a cause that is in the log before": {[]string{
			"2026-11-29 10:00:00 can't migrate 'local:iso/a.iso': local cdrom image",
			"2026-11-29 10:00:00 ERROR: migration aborted (duration 00:00:00): Problem found while scanning volumes - check log",
		}, "migration aborted", "migration aborted (duration 00:00:00): Problem found while scanning volumes - check log: " +
			"can't migrate 'local:iso/a.iso': local cdrom image"},
		"a container on a full storage": {[]string{
			"INFO: zstd: error 70 : Write error : cannot write block : No space left on device",
			"INFO: tar: Error is not recoverable: exiting now",
			"ERROR: Backup of VM 101 failed - " + tar,
			"INFO: Failed at 2026-11-29 10:00:00", "INFO: Backup job finished with errors",
			"ERROR: could not notify via target `mail-to-root`: no such recipient", "TASK ERROR: job errors",
		}, "job errors: Backup of VM 101 failed - " + tar, "job errors: Backup of VM 101 failed - " + short +
			": tar: Error is not recoverable: exiting now: zstd: error 70 : Write error : cannot write block : No space left on device"},
		"a console": {[]string{"VM 102 not running", "TASK ERROR: Failed to run vncproxy."}, "Failed to run vncproxy.",
			"Failed to run vncproxy: VM 102 not running"},
		"an address": {[]string{"wget: cannot read https://files.example.com/a.iso?signature=canary: error"},
			"download of 'https://files.example.com/a.iso?signature=canary' failed",
			"download of 'https://files.example.com/a.iso' failed: wget: cannot read https://files.example.com/a.iso error"},
		"a snapshot": {[]string{"snapshotting 'drive-scsi0' (fast:vm-100-disk-0)", "snapshot create failed: starting cleanup",
			"TASK ERROR: out of space"}, "out of space", "out of space"},
		"nothing":              {[]string{"copying", "100% done"}, "interrupted by signal", "interrupted by signal"},
		"no more than the end": {[]string{"TASK ERROR: unable to open file"}, "unable to open file", "unable to open file"},
		"the same once more": {[]string{"CT is locked (backup): cannot start", "error: CT is locked (backup)"}, "CT is locked (backup)",
			"error: CT is locked (backup)"},
	} {
		var cause taskCause
		for _, line := range c.lines {
			cause.read(line)
		}
		if got := cause.of(c.text); got != c.want {
			t.Errorf("%s: got  %q\nwant %q", name, got, c.want)
		}
	}
}
