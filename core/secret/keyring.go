package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// KeyID names a master key. It is not secret: every sealed value contains the
// id of its key.
type KeyID uint32

// String gives the id with eight hexadecimal digits, as the commands show it.
func (id KeyID) String() string { return fmt.Sprintf("%08x", uint32(id)) }

// keyNote is what the key file stores about a key besides the key.
type keyNote struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Retired is when a rotation had found no more values under the key. It
	// stays for a while, for a value that was sealed before the rotation and
	// committed after it.
	Retired *time.Time `json:"retired,omitempty"`
}

// keyring is the content of a key file. It never changes; a rotation makes
// another one.
type keyring struct {
	handle  *keyset.Handle
	seal    tink.AEAD
	primary KeyID
	notes   []keyNote // in the order of the keys
}

// keyFile is the form of the key file. The keyset is in tink's own JSON, so
// that tink's tools can read it.
type keyFile struct {
	Version int             `json:"version"`
	Warning string          `json:"warning"`
	Notes   []keyNote       `json:"keys"`
	Keyset  json.RawMessage `json:"keyset"`
}

// warning is written into the key file itself, for who finds it.
const warning = "Without this file, the secrets in the database cannot be decrypted. Back it up separately from the database, and do " +
	"not let others read it."

// newKeyring returns a keyring with one new key.
func newKeyring() (*keyring, error) {
	m := keyset.NewManager()
	id, err := m.Add(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return assemble(m, KeyID(id), []keyNote{{ID: KeyID(id).String(), Created: now()}})
}

// grow returns the keyring with a new key that seals.
func (r *keyring) grow() (*keyring, error) {
	m := keyset.NewManagerFromHandle(r.handle)
	id, err := m.Add(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return assemble(m, KeyID(id), append(slices.Clone(r.notes), keyNote{ID: KeyID(id).String(), Created: now()}))
}

// retire returns the keyring with all keys but the primary one marked as
// retired.
func (r *keyring) retire() (*keyring, error) {
	notes := slices.Clone(r.notes)
	for i := range notes {
		if notes[i].Retired == nil && notes[i].ID != r.primary.String() {
			at := now()
			notes[i].Retired = &at
		}
	}
	return assemble(keyset.NewManagerFromHandle(r.handle), r.primary, notes)
}

// drop returns the keyring without some keys.
func (r *keyring) drop(ids []KeyID) (*keyring, error) {
	m := keyset.NewManagerFromHandle(r.handle)
	notes := slices.Clone(r.notes)
	for _, id := range ids {
		if err := m.Delete(uint32(id)); err != nil {
			return nil, fmt.Errorf("dropping key %s: %w", id, err)
		}
		notes = slices.DeleteFunc(notes, func(n keyNote) bool { return n.ID == id.String() })
	}
	return assemble(m, r.primary, notes)
}

// assemble makes a keyring of keys whose primary one is not chosen yet.
func assemble(m *keyset.Manager, primary KeyID, notes []keyNote) (*keyring, error) {
	if err := m.SetPrimary(uint32(primary)); err != nil {
		return nil, fmt.Errorf("choosing the encryption key: %w", err)
	}
	h, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("assembling the keys: %w", err)
	}
	return keyringOf(h, notes)
}

// keyringOf makes a keyring of keys as they are.
func keyringOf(h *keyset.Handle, notes []keyNote) (*keyring, error) {
	first, err := h.Primary()
	if err != nil {
		return nil, fmt.Errorf("finding the encryption key: %w", err)
	}
	master, err := aead.New(h)
	if err != nil {
		return nil, fmt.Errorf("preparing the keys: %w", err)
	}
	r := &keyring{handle: h, primary: KeyID(first.KeyID()), notes: notes}
	r.seal = aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), master)
	ids := r.ids()
	if len(notes) != len(ids) {
		return nil, errors.New("the list of keys and the keys differ")
	}
	for _, note := range notes {
		id, err := strconv.ParseUint(note.ID, 16, 32)
		if err != nil || !slices.Contains(ids, KeyID(id)) {
			return nil, errors.New("the list of keys and the keys differ")
		}
	}
	return r, nil
}

// ids returns the keys that open values.
func (r *keyring) ids() []KeyID {
	var ids []KeyID
	for i := range r.handle.Len() {
		if e, err := r.handle.Entry(i); err == nil && e.KeyStatus() == keyset.Enabled {
			ids = append(ids, KeyID(e.KeyID()))
		}
	}
	return ids
}

// has reports whether the keyring has a key.
func (r *keyring) has(id KeyID) bool { return slices.Contains(r.ids(), id) }

// unfinished reports whether a rotation began and did not end.
func (r *keyring) unfinished() bool {
	return slices.ContainsFunc(r.notes, func(n keyNote) bool { return n.Retired == nil && n.ID != r.primary.String() })
}

// retiredBefore returns the keys that were retired before t.
func (r *keyring) retiredBefore(t time.Time) []KeyID {
	var ids []KeyID
	for _, id := range r.ids() {
		if slices.ContainsFunc(r.notes, func(n keyNote) bool { return n.ID == id.String() && n.Retired != nil && n.Retired.Before(t) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// encode returns the text of the key file.
func (r *keyring) encode() ([]byte, error) {
	var keys bytes.Buffer
	if err := insecurecleartextkeyset.Write(r.handle, keyset.NewJSONWriter(&keys)); err != nil {
		return nil, fmt.Errorf("writing the keys: %w", err)
	}
	text, err := json.MarshalIndent(keyFile{Version: 1, Warning: warning, Notes: r.notes, Keyset: keys.Bytes()}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the keys: %w", err)
	}
	return append(text, '\n'), nil
}

// decode reads the text of a key file. Its errors do not repeat the text, which
// contains keys.
func decode(text []byte) (*keyring, error) {
	var f keyFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, errors.New("it is not a key file, or is damaged")
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("it has version %d, which this release does not support", f.Version)
	}
	h, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(f.Keyset)))
	if err != nil {
		return nil, errors.New("its keys are damaged")
	}
	return keyringOf(h, f.Notes)
}

// now is the time in whole seconds, as the key file keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
