package release

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sigstore/sigstore/pkg/signature"
)

// maxSignatures that a signature file may have.
const maxSignatures = 16

// ErrSignature: no trusted key has signed the manifest.
var ErrSignature = errors.New("the manifest is not signed by a trusted key")

// Verify holds a manifest's bytes against its signature file and the trusted
// keys, before anything in it is looked at, and reads it then. The key is the
// one whose signature held.
func Verify(manifest, signatures []byte, trusted []Key) (*Manifest, Key, error) {
	if len(manifest) > MaxManifest || len(signatures) > MaxManifest {
		return nil, Key{}, fmt.Errorf("the manifest or its signature is larger than %d bytes", MaxManifest)
	}
	key, err := signedBy(manifest, signatures, trusted)
	if err != nil {
		return nil, Key{}, err
	}
	m, err := ParseManifest(manifest)
	if err != nil {
		return nil, Key{}, err
	}
	if slices.Contains(m.Withdrawn, key.ID) {
		return nil, Key{}, fmt.Errorf("%w: it withdraws the key %s, which signs it", ErrSignature, key.ID)
	}
	return m, key, nil
}

// signedBy gives the trusted key that signed the manifest. One good signature
// is enough, so that a release can be signed with an old and a new key while
// keys change.
func signedBy(manifest, signatures []byte, trusted []Key) (Key, error) {
	lines := strings.Fields(string(signatures))
	if len(lines) == 0 || len(lines) > maxSignatures {
		return Key{}, fmt.Errorf("%w: its signature file is empty or has too many lines", ErrSignature)
	}
	for _, line := range lines {
		sig, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil {
			return Key{}, fmt.Errorf("%w: its signature file is not base64", ErrSignature)
		}
		for _, key := range trusted {
			verifier, err := signature.LoadED25519Verifier(key.public)
			if err != nil {
				return Key{}, fmt.Errorf("preparing the key %s: %w", key.ID, err)
			}
			if verifier.VerifySignature(bytes.NewReader(sig), bytes.NewReader(manifest)) == nil {
				return key, nil
			}
		}
	}
	return Key{}, ErrSignature
}
