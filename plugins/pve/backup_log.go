package pve

import (
	"path"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// backupLog is the content of the log of one guest's backup that no answer of
// the API has: the storage, the new volume, and the reason of a failure, for
// which the task itself says only "job errors".
type backupLog struct{ storage, archive, reason string }

var (
	// The first line of the log is the command of the job. Notes in it are
	// quoted, and must not be read as other lines.
	quoted     = regexp.MustCompile(`'[^']*'`)
	intoDump   = regexp.MustCompile(` --storage (\S+)`)
	newArchive = regexp.MustCompile(`^INFO: creating (?:vzdump|Proxmox Backup Server) archive '([^']+)'$`)
)

// read takes the storage and the volume of the new backup from a line of the
// log.
func (b *backupLog) read(line string) {
	if command, found := strings.CutPrefix(line, "INFO: starting new backup job: "); found && b.storage == "" {
		if m := intoDump.FindStringSubmatch(quoted.ReplaceAllString(command, "")); m != nil {
			b.storage = m[1]
		}
	}
	if m := newArchive.FindStringSubmatch(line); m != nil {
		b.archive = m[1]
	}
	if text, found := strings.CutPrefix(line, "ERROR: "); found && strings.HasPrefix(text, "Backup of VM ") {
		b.reason = cut(shortCommand(text), maxCause)
	}
}

// tell completes the result of a task.
func (b *backupLog) tell(result *hypervisor.TaskResult) {
	if result.OK() {
		result.Backup = b.volume()
	}
	if result.Status == hypervisor.TaskFailed && b.reason != "" {
		result.Message += ": " + b.reason
	}
}

// volume returns the id of the backup; empty if the log does not name it. An
// archive is named by its file, and a snapshot on a backup server by its path
// there.
func (b *backupLog) volume() string {
	name := b.archive
	if strings.HasPrefix(name, "/") {
		name = path.Base(name)
	}
	id := b.storage + ":backup/" + name
	if checkBackup(id, b.storage) != nil || !backupName.MatchString("backup/"+name) {
		return ""
	}
	return id
}
