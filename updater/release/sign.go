package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// Signer is a private key. It stays on the build machine.
type Signer struct {
	// Key is its public half.
	Key     Key
	private ed25519.PrivateKey
}

// NewSigner makes a new key.
func NewSigner() (*Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating a key: %w", err)
	}
	return signerOf(private)
}

// signerOf makes a signer of a private key.
func signerOf(private ed25519.PrivateKey) (*Signer, error) {
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("the key has no public half")
	}
	key, err := keyOf(public)
	if err != nil {
		return nil, err
	}
	return &Signer{Key: key, private: private}, nil
}

// ParseSigner reads an Ed25519 private key in PEM (PKCS #8), as openssl genpkey
// writes it. A key that PEM encrypts asks for its passphrase.
func ParseSigner(text []byte, passphrase func() ([]byte, error)) (*Signer, error) {
	block, rest := pem.Decode(bytes.TrimSpace(text))
	if block == nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("the text must contain exactly one private key in PEM and nothing else")
	}
	parsed, err := cryptoutils.UnmarshalPEMToPrivateKey(text, func(bool) ([]byte, error) { return passphrase() })
	if err != nil {
		return nil, fmt.Errorf("reading the private key: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the key is not an Ed25519 key: %T", parsed)
	}
	return signerOf(private)
}

// PEM is the private key, encrypted when there is a passphrase (sigstore's
// form, scrypt and NaCl secretbox), and otherwise in PKCS #8 for openssl and
// for storage that encrypts by itself.
func (s *Signer) PEM(passphrase []byte) ([]byte, error) {
	if len(passphrase) == 0 {
		text, err := cryptoutils.MarshalPrivateKeyToPEM(s.private)
		if err != nil {
			return nil, fmt.Errorf("encoding the private key: %w", err)
		}
		return text, nil
	}
	der, err := cryptoutils.MarshalPrivateKeyToEncryptedDER(s.private, cryptoutils.StaticPasswordFunc(passphrase))
	if err != nil {
		return nil, fmt.Errorf("encrypting the private key: %w", err)
	}
	return cryptoutils.PEMEncode(cryptoutils.EncryptedSigstorePrivateKeyPEMType, der), nil
}

// Sign makes the signature file of a manifest: one line for each signer. It
// refuses a manifest that no installation would take, and one that withdraws a
// key that signs it.
func Sign(manifest []byte, signers ...*Signer) ([]byte, error) {
	m, err := ParseManifest(manifest)
	if err != nil {
		return nil, err
	}
	if len(signers) == 0 {
		return nil, errors.New("a release needs at least one key to sign it")
	}
	var lines strings.Builder
	for _, s := range signers {
		if slices.Contains(m.Withdrawn, s.Key.ID) {
			return nil, fmt.Errorf("the manifest withdraws the key %s, which signs it", s.Key.ID)
		}
		signer, err := signature.LoadED25519Signer(s.private)
		if err != nil {
			return nil, fmt.Errorf("preparing the key %s: %w", s.Key.ID, err)
		}
		sig, err := signer.SignMessage(bytes.NewReader(manifest))
		if err != nil {
			return nil, fmt.Errorf("signing by the key %s: %w", s.Key.ID, err)
		}
		lines.WriteString(base64.StdEncoding.EncodeToString(sig) + "\n")
	}
	return []byte(lines.String()), nil
}
