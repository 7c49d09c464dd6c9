package pve

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
)

func TestLogsOfBackups(t *testing.T) {
	t.Parallel()
	const failed = hypervisor.TaskFailed
	for name, c := range map[string]struct {
		lines           []string
		status, message string
		want            hypervisor.TaskResult
	}{
		"an archive": {[]string{
			"INFO: starting new backup job: vzdump 114 --node pve1 --storage data1 --mode stop --notes-template '{{guestname}}'",
			"INFO: creating vzdump archive '/var/lib/data1/dump/vzdump-lxc-114-2026_11_21-00_59_10.tar.zst'",
		}, hypervisor.TaskOK, "OK", hypervisor.TaskResult{Backup: "data1:backup/vzdump-lxc-114-2026_11_21-00_59_10.tar.zst"}},
		"a backup server": {[]string{
			"INFO: starting new backup job: vzdump 100 --notes-template 'a --storage other' --storage vault",
			"INFO: creating Proxmox Backup Server archive 'vm/100/2026-11-21T00:59:10Z'",
		}, hypervisor.TaskWarning, "WARNINGS: 1", hypervisor.TaskResult{Backup: "vault:backup/vm/100/2026-11-21T00:59:10Z"}},
		"no storage": {[]string{
			"INFO: creating vzdump archive '/mnt/vzdump-qemu-100-2026_11_21-00_59_10.vma'",
		}, hypervisor.TaskOK, "OK", hypervisor.TaskResult{}},
		"no name of a backup": {[]string{
			"INFO: starting new backup job: vzdump 100 --storage data1", "INFO: creating vzdump archive '../../etc/shadow'",
		}, hypervisor.TaskOK, "OK", hypervisor.TaskResult{}},
		"no log": {nil, failed, "job errors", hypervisor.TaskResult{}},
		"a full storage": {[]string{
			"INFO: starting new backup job: vzdump 100 --storage data1",
			"INFO: creating vzdump archive '/var/lib/data1/dump/vzdump-qemu-100-2026_11_21-00_59_10.vma.zst'",
			"INFO: zstd: error 70 : Write error : cannot write block : No space left on device",
			"ERROR: vma_queue_write: write error - Broken pipe",
			"ERROR: Backup of VM 100 failed - vma_queue_write: write error - Broken pipe",
		}, failed, "job errors", hypervisor.TaskResult{
			Message: "job errors: Backup of VM 100 failed - vma_queue_write: write error - Broken pipe",
		}},
	} {
		var log backupLog
		for _, line := range c.lines {
			log.read(line)
		}
		got, want := hypervisor.TaskResult{Status: c.status, Message: c.message}, c.want
		log.tell(&got)
		if want.Status = c.status; want.Message == "" {
			want.Message = c.message
		}
		if got.Backup != want.Backup || got.Message != want.Message || got.Status != want.Status {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	var log backupLog
	log.read("INFO: starting new backup job: vzdump 100 --storage " + strings.Repeat("x", 500))
	log.read("INFO: creating vzdump archive '/vzdump-qemu-100-x.vma'")
	if id := log.volume(); id != "" {
		t.Errorf("an endless name gives %q", id)
	}
}
