package secret

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// What can be wrong with the keys and the values. The texts of the errors that
// wrap these name the remedy.
var (
	// ErrKeyMissing: the database holds sealed values and the key file is not there.
	ErrKeyMissing = errors.New("the key file is missing")
	// ErrKeyWrong: the key file is not the one that sealed a value.
	ErrKeyWrong = errors.New("the key file does not have the key")
	// ErrKeyAccess: others may read or replace the key file.
	ErrKeyAccess = errors.New("the key file is not secure")
	// ErrKeyReadOnly: the key file would have to be made or changed where nothing can be written.
	ErrKeyReadOnly = errors.New("the key file cannot be written")
	// ErrDecrypt: the value is damaged, or was sealed for another place.
	ErrDecrypt = errors.New("the encrypted value cannot be decrypted")
)

// A sealed value is: this version, the master key's id in four bytes, and
// tink's envelope (length of the sealed data key, the sealed data key, the
// value under it).
const (
	sealedVersion = 1
	headerSize    = 5
	// MaxPlaintext is the longest text in bytes that is sealed.
	MaxPlaintext = 1 << 20
)

// Box seals and opens values. It is safe for concurrent use, and notices by
// itself when the key file changes.
type Box struct {
	path string

	mu      sync.Mutex
	keyring *keyring
	stamp   stamp

	// watchState is what Watch has found.
	watchState watchState
}

// Load reads the key file at path. used asks the database which keys the file
// must have; see NeededKeys. If there is no key file and no key is needed, it makes
// a new file. A missing file for a database with sealed values is
// ErrKeyMissing, and a file without one of the keys is ErrKeyWrong: the service
// must not start then, because everything that it seals would make the damage
// worse.
func Load(ctx context.Context, path string, used func(context.Context) ([]KeyID, error)) (*Box, error) {
	needed, err := used(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the keys in use from the database: %w", err)
	}
	b := &Box{path: path, watchState: watchState{woken: make(chan struct{}, 1)}}
	b.keyring, b.stamp, err = readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if len(needed) > 0 {
			return nil, fmt.Errorf("%w: %s does not exist, but the database has secrets encrypted with key %s: restore the file from a "+
				"backup",
				ErrKeyMissing, path, list(needed))
		}
		b.keyring, b.stamp, _, err = create(path)
	}
	if err != nil {
		return nil, err
	}
	var lacking []KeyID
	for _, id := range needed {
		if !b.keyring.has(id) {
			lacking = append(lacking, id)
		}
	}
	if len(lacking) > 0 {
		return nil, fmt.Errorf("%w: the database has secrets encrypted with key %s, but %s has only %s: restore the right file from a "+
			"backup",
			ErrKeyWrong, list(lacking), path, list(b.keyring.ids()))
	}
	return b, nil
}

// Create makes the key file and its folder if there is none, and reports
// whether it did. It does not use the database and replaces nothing: an
// existing file is checked like by Load and left unchanged.
func Create(path string) (primary KeyID, made bool, err error) {
	r, _, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		r, _, made, err = create(path)
	}
	if err != nil {
		return 0, made, err
	}
	return r.primary, made, nil
}

// create makes the key file and reads it again. If another process made it in
// the meantime, that file is used.
func create(path string) (r *keyring, s stamp, made bool, err error) {
	if r, err = newKeyring(); err != nil {
		return nil, stamp{}, false, err
	}
	err = createFile(path, r)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, stamp{}, false, err
	}
	made = err == nil
	r, s, err = readFile(path)
	return r, s, made, err
}

// list writes key ids for a message.
func list(ids []KeyID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return strings.Join(texts, ", ")
}

// Primary returns the key that seals now.
func (b *Box) Primary() KeyID {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keyring.primary
}

// Seal encrypts s for one place. It checks the key file each time, so that
// nothing is sealed with a key that a rotation has replaced. It fails if the
// file is gone: after a restart the value could not be opened. A watched Box
// whose file has missed a rotation returns the problem key_outdated.
func (b *Box) Seal(s String, place Binding) ([]byte, error) {
	if err := place.check(); err != nil {
		return nil, err
	}
	text := s.Reveal()
	if len(text) > MaxPlaintext {
		return nil, fmt.Errorf("the secret is longer than %d bytes", MaxPlaintext)
	}
	if err := b.sealable(); err != nil {
		return nil, err
	}
	r, err := b.current()
	if err != nil {
		return nil, fmt.Errorf("encrypting a value: %w", err)
	}
	return r.sealValue(text, place)
}

// Open decrypts a sealed value of a place. Errors: ErrKeyWrong if the file does
// not have the key, or the problem key_outdated if the Box is known to have
// missed a rotation; ErrDecrypt if the value is damaged, cut, or sealed for
// another place.
func (b *Box) Open(sealed []byte, place Binding) (String, error) {
	if err := place.check(); err != nil {
		return String{}, err
	}
	id, err := KeyOf(sealed)
	if err != nil {
		return String{}, err
	}
	b.mu.Lock()
	r := b.keyring
	b.mu.Unlock()
	if !r.has(id) { // a rotation by another process
		if r, err = b.current(); err != nil {
			return String{}, fmt.Errorf("decrypting a value of key %s: %w", id, err)
		}
		if !r.has(id) {
			b.wake() // it may be that this file has missed a rotation
			if outdated := b.Outdated(); outdated != nil {
				return String{}, unavailable(outdated)
			}
			return String{}, fmt.Errorf("%w: the value of %s.%s is encrypted with key %s, but %s has only %s", ErrKeyWrong, place.Table,
				place.Column, id, b.path, list(r.ids()))
		}
	}
	return r.openValue(sealed, place)
}

// KeyOf returns the key with which a value is sealed, as its header says.
func KeyOf(sealed []byte) (KeyID, error) {
	if len(sealed) <= headerSize || sealed[0] != sealedVersion {
		return 0, fmt.Errorf("%w: it is not an encrypted value of a known version", ErrDecrypt)
	}
	return KeyID(binary.BigEndian.Uint32(sealed[1:headerSize])), nil
}

// header returns the readable beginning of every value that is sealed with a
// key.
func header(id KeyID) []byte {
	return binary.BigEndian.AppendUint32([]byte{sealedVersion}, uint32(id))
}

// sealValue encrypts a text with the primary key. The header names the key;
// header and binding are authenticated with it, so that a value that was copied
// to another row does not open.
func (r *keyring) sealValue(text string, place Binding) ([]byte, error) {
	head := header(r.primary)
	body, err := r.seal.Encrypt([]byte(text), place.associated(head))
	if err != nil {
		return nil, fmt.Errorf("encrypting a value: %w", err)
	}
	return append(head, body...), nil
}

// openValue decrypts a value. The error does not say which of the two is wrong,
// the bytes or the place: the cipher cannot tell.
func (r *keyring) openValue(sealed []byte, place Binding) (String, error) {
	text, err := r.seal.Decrypt(sealed[headerSize:], place.associated(sealed[:headerSize]))
	if err != nil {
		return String{}, fmt.Errorf("%w: it is damaged, or does not belong to %s.%s of row %s", ErrDecrypt, place.Table, place.Column,
			place.Row)
	}
	return New(string(text)), nil
}

// current returns the keyring of the key file as it is now. The file is read
// again only after a change.
func (b *Box) current() (*keyring, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Lstat(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s no longer exists: restore it from a backup", ErrKeyMissing, b.path)
	}
	if err != nil {
		return nil, fmt.Errorf("checking the key file: %w", err)
	}
	if stampOf(info) == b.stamp {
		return b.keyring, nil
	}
	r, s, err := readFile(b.path)
	if err != nil {
		return nil, err
	}
	b.keyring, b.stamp = r, s
	return r, nil
}
