package pvesim

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// fileSize is the size of a backup's file, in bytes; larger than what is read or sent at once.
const fileSize = 3 << 20

// backupName is how vzdump names a file: its kind, the guest's id and its format.
var backupName = regexp.MustCompile(`^vzdump-(qemu|lxc)-([0-9]+)-[0-9_]+-[0-9_]+\.((?:tar|vma)(?:\.[a-z0-9]+)?)$`)

// content is what a file of a backup has of the guest.
type content struct {
	Guest  GuestSpec
	Config map[string]any
}

// path is where a backup's file lies.
func (s *backupStore) path(b *backup) string { return filepath.Join(s.folder, filepath.Base(b.name)) }

// write makes the file of a backup: a checksum of all that follows, the guest, and zeros.
func (s *backupStore) write(b *backup) error {
	kept := content{Guest: b.guest, Config: map[string]any{}}
	for key, value := range b.config {
		if value != nil {
			kept.Config[key] = value
		}
	}
	kept.Guest.Config, kept.Guest.Pending = nil, nil
	var all bytes.Buffer
	if err := gob.NewEncoder(&all).Encode(kept); err != nil {
		return err
	}
	padded := append(all.Bytes(), make([]byte, max(0, fileSize-sha256.Size-all.Len()))...)
	sum := sha256.Sum256(padded)
	b.size = int64(len(padded) + sha256.Size)
	return os.WriteFile(s.path(b), append(sum[:], padded...), 0o600)
}

// read takes the guest out of the file of a backup, if the file is whole.
func (b *backup) read(path string) {
	data, err := os.ReadFile(path)
	if err != nil || len(data) < sha256.Size {
		return
	}
	var kept content
	if sum := sha256.Sum256(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) ||
		gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&kept) != nil {
		return
	}
	b.guest, b.config = kept.Guest, kept.Config
}

// readFolder has the list be what lies in the folder; it needs the store's lock. A file that is not whole is listed, and nothing can be
// made of it.
func (s *backupStore) readFolder() {
	files, err := os.ReadDir(s.folder)
	if err != nil {
		return
	}
	s.list = slices.DeleteFunc(s.list, func(b *backup) bool {
		return !slices.ContainsFunc(files, func(f os.DirEntry) bool { return f.Name() == filepath.Base(b.name) })
	})
	for _, file := range files {
		found := backupName.FindStringSubmatch(file.Name())
		name := "backup/" + file.Name()
		if found == nil || slices.ContainsFunc(s.list, func(b *backup) bool { return b.name == name }) {
			continue
		}
		info, err := file.Info()
		if err != nil {
			continue // it went meanwhile
		}
		b := &backup{node: s.node, name: name, kind: found[1], format: found[3], size: info.Size(), taken: info.ModTime().Truncate(time.Second)}
		b.vmid, _ = strconv.Atoi(found[2])
		b.read(filepath.Join(s.folder, file.Name()))
		s.list = append(s.list, b)
	}
}
