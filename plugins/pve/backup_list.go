package pve

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These limit a row. A list may have hundreds of thousands of rows, and a peer
// that sends long ones must not fill the memory.
const (
	// maxNotes is the length in bytes of the notes that a list hands on; a list
	// has the first line only.
	maxNotes = 1 << 10
	// maxWord is the length in bytes of any other text of a row.
	maxWord = 64
	// lastSecond is the end of the year 9999, after which times have no form on the wire.
	lastSecond = 253402300799
)

// backupRow is one row of the content of a storage. Its texts are valid until
// the next row is read.
type backupRow struct {
	volume, subtype, format, notes, encrypted pveapi.Scalar
	vmid, taken, size                         figure
	protected                                 bool
	verification                              verification
}

// verification is the result of a backup server's last check of a backup.
type verification struct{ state string }

var (
	_ pveapi.RowDecoder = (*backupRow)(nil)
	_ pveapi.RowDecoder = (*verification)(nil)
)

// Reset empties it. With Field it implements the visitor of package pveapi, so
// that the nested object of a row needs no map.
func (v *verification) Reset() { *v = verification{} }

func (v *verification) Field(name []byte, value pveapi.Scalar) {
	if string(name) == "state" {
		v.state = value.Text()
	}
}

// Reset empties the row.
func (r *backupRow) Reset() { *r = backupRow{} }

// Field takes one member of the row.
func (r *backupRow) Field(name []byte, v pveapi.Scalar) {
	switch string(name) {
	case "volid":
		r.volume = v
	case "subtype":
		r.subtype = v
	case "format":
		r.format = v
	case "notes":
		r.notes = v
	case "encrypted":
		r.encrypted = v
	case "vmid":
		r.vmid.from(v)
	case "ctime":
		r.taken.from(v)
	case "size":
		r.size.from(v)
	case "protected":
		r.protected = v.Bool()
	case "verification":
		if !v.Object(&r.verification) {
			r.verification = verification{}
		}
	}
}

// backupName is the form of volume names of a guest's backup: archives of
// vzdump, and snapshots on a backup server.
var backupName = regexp.MustCompile(`^backup/(?:vzdump-(qemu|lxc|openvz)-([1-9][0-9]{2,8})-|(vm|ct)/([1-9][0-9]{2,8})/)`)

// kinds maps the words for guests in lists of backups. Releases before 7 name
// the kind only in the volume's name.
var kinds = map[string]hypervisor.GuestKind{
	"qemu": hypervisor.VM, "vm": hypervisor.VM, "lxc": hypervisor.Container, "ct": hypervisor.Container, "openvz": hypervisor.Container,
}

// backup converts the row. ok is false for a backup that belongs to no guest,
// such as one of a whole machine. Kind and guest come from the row's own
// fields; older releases and some storage plugins omit them, and then the name
// of the archive tells. Times out of range and negative sizes are treated as
// unknown. The field "encrypted" is the fingerprint of the key, or 1 if the key
// is unknown.
func (r *backupRow) backup(query hypervisor.BackupQuery) (b hypervisor.Backup, ok bool) {
	b = hypervisor.Backup{
		ID: r.volume.Text(), Storage: query.Storage, Node: query.Node, Kind: kinds[r.subtype.Text()], Guest: hypervisor.GuestID(r.guest()),
		Format: cut(r.format.Text(), maxWord), Protected: r.protected, Notes: cut(strings.TrimSpace(r.notes.Text()), maxNotes),
	}
	storage, name, found := strings.Cut(b.ID, ":")
	if !found || storage != query.Storage {
		return b, false
	}
	if m := backupName.FindStringSubmatch(name); m != nil {
		if b.Kind == "" {
			b.Kind = kinds[m[1]+m[3]]
		}
		if b.Guest == "" {
			b.Guest = hypervisor.GuestID(m[2] + m[4])
		}
	}
	if checkBackup(b.ID, b.Storage) != nil || b.Kind == "" || b.Guest == "" {
		return b, false
	}
	if r.taken.set && r.taken.n > 0 && r.taken.n <= lastSecond {
		b.TakenAt = time.Unix(r.taken.n, 0).UTC()
	}
	if r.size.set && r.size.n >= 0 {
		size := r.size.n
		b.SizeBytes = &size
	}
	// The value is the fingerprint of the key, or 1 if the key is unknown.
	if text := r.encrypted.Text(); text != "" && text != "0" {
		b.Encrypted = true
	}
	switch r.verification.state {
	case hypervisor.BackupVerified, hypervisor.BackupDamaged:
		b.Verified = r.verification.state
	}
	return b, true
}

// guest returns the id of the guest; empty if the row has none.
func (r *backupRow) guest() string {
	if text := strconv.FormatInt(r.vmid.n, 10); r.vmid.set && guestNumber.MatchString(text) {
		return text
	}
	return ""
}

// Backups implements hypervisor.BackupManager. Proxmox VE lists only backups of
// guests that the token may back up, without an error. For an empty list the
// rights of the token are therefore asked for as well.
func (h *Host) Backups(ctx context.Context, query hypervisor.BackupQuery) ([]hypervisor.Backup, error) {
	all, err := h.listBackups(ctx, query)
	if err == nil && len(all) == 0 {
		err = h.hidden(ctx, need{"VM.Backup", "/vms"}, need{"Datastore.AllocateSpace", "/storage/" + query.Storage})
	}
	return all, err
}

// listBackups reads the list with one request.
func (h *Host) listBackups(ctx context.Context, query hypervisor.BackupQuery) ([]hypervisor.Backup, error) {
	if !storageName.MatchString(query.Storage) {
		return nil, plugin.Errorf(plugin.NotFound, "storage %.80q does not exist", query.Storage)
	}
	path, err := nodePath(query.Node, "storage", query.Storage, "content")
	if err != nil {
		return nil, err
	}
	answer, err := h.api.Stream(ctx, path, url.Values{"content": {"backup"}})
	if err != nil {
		return nil, h.explain(ctx, query.Node, err)
	}
	defer answer.Close()
	var all []hypervisor.Backup
	row := &backupRow{}
	err = answer.Rows(row, func() error {
		if b, ok := row.backup(query); ok {
			all = append(all, b)
		}
		return nil
	})
	if err != nil {
		return nil, err // nothing of a list that was cut off
	}
	return all, nil
}

// cut shortens a text to at most that many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
