package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// Key is a public key that may sign manifests.
type Key struct {
	// ID is the beginning of the SHA-256 of the key in DER: 16 hexadecimal digits.
	ID     string
	public ed25519.PublicKey
}

// ParseKey reads an Ed25519 public key in PEM (SubjectPublicKeyInfo, RFC 8410),
// as openssl pkey -pubout writes it. Text before or after the block, other
// kinds of keys and headers are refused.
func ParseKey(text []byte) (Key, error) {
	trimmed := bytes.TrimSpace(text)
	block, rest := pem.Decode(trimmed)
	if block == nil || len(rest) > 0 || len(block.Headers) > 0 || !bytes.HasPrefix(trimmed, []byte("-----BEGIN PUBLIC KEY-----")) {
		return Key{}, errors.New("the text must contain exactly one public key in PEM and nothing else")
	}
	parsed, err := cryptoutils.UnmarshalPEMToPublicKey(trimmed)
	if err != nil {
		return Key{}, fmt.Errorf("reading a public key: %w", err)
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return Key{}, fmt.Errorf("the key is not an Ed25519 key: %T", parsed)
	}
	return keyOf(public)
}

// keyOf makes a key of its public half. Its id is the beginning of the hash of
// its DER form.
func keyOf(public ed25519.PublicKey) (Key, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return Key{}, fmt.Errorf("encoding a public key: %w", err)
	}
	sum := sha256.Sum256(der)
	return Key{ID: hex.EncodeToString(sum[:8]), public: public}, nil
}

// PEM is the key as ParseKey reads it.
func (k Key) PEM() ([]byte, error) {
	text, err := cryptoutils.MarshalPublicKeyToPEM(k.public)
	if err != nil {
		return nil, fmt.Errorf("encoding the key %s: %w", k.ID, err)
	}
	return text, nil
}

// KeySuffix is how the files of trusted keys end; others in the folder are left alone.
const KeySuffix = ".pub"

// TrustedKeys reads all keys of a folder. Whoever can write there decides what
// is installed, so the folder and its files must belong to root or to the user
// who runs this program, and nobody else may write to them; links are refused.
func TrustedKeys(dir string) ([]Key, error) {
	if err := onlyOurs(dir, fs.ModeDir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the trusted keys: %w", err)
	}
	var keys []Key
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), KeySuffix) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if err := onlyOurs(path, 0); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a trusted key: %w", err)
		}
		key, err := ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("no trusted key (*%s) in %s", KeySuffix, dir)
	}
	return keys, nil
}

// onlyOurs refuses a file or folder that someone other than root and ourselves could have written.
func onlyOurs(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("checking the trusted keys: %w", err)
	}
	if info.Mode().Type() != kind {
		return fmt.Errorf("%s has the wrong file type (expected %s)", path, info.Mode().Type())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is writable by users other than its owner (mode %04o)", path, info.Mode().Perm())
	}
	if owner, ok := ownerOf(info); !ok || (owner != 0 && owner != uint32(os.Geteuid())) {
		return fmt.Errorf("%s belongs neither to root nor to the current user", path)
	}
	return nil
}
