package pve

import (
	"path"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// backupLog is what the log of a backup of one guest tells: where it goes to, and how it failed, of which the task itself says no more
// than "job errors".
type backupLog struct{ storage, archive, reason string }

var (
	// The job's command is the log's first line; notes in it are quoted.
	quoted     = regexp.MustCompile(`'[^']*'`)
	intoDump   = regexp.MustCompile(` --storage (\S+)`)
	newArchive = regexp.MustCompile(`^INFO: creating (?:vzdump|Proxmox Backup Server) archive '([^']+)'$`)
)

// read takes the storage and the volume of the new backup from a line of the
// task's log. They are in no other answer of the API.
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

// tell completes a task's result.
func (b *backupLog) tell(result *hypervisor.TaskResult) {
	if result.OK() {
		result.Backup = b.volume()
	}
	if result.Status == hypervisor.TaskFailed && b.reason != "" {
		result.Message += ": " + b.reason
	}
}

// volume is the id of the backup; empty when the log does not tell it. An archive is named by its file, and what is on a backup server
// by its path there.
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
