// Package contexts keeps to which services one has logged in: their addresses, certificates and API keys, in a file of mode 0600. A key
// can be in the system's keyring instead.
package contexts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/zalando/go-keyring"
)

// Context is a service and who one is there.
type Context struct {
	// URL of the service, without /api/v1.
	URL string `json:"url"`
	// Fingerprint of the certificate that it must show; empty where the authorities vouch for it.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Authorities is a file of certificates in PEM that stand in the place of the system's.
	Authorities string `json:"authorities,omitempty"`
	// PlainHTTP allows plain HTTP to another machine: the user asked for it when logging in.
	PlainHTTP bool `json:"plain_http,omitempty"`
	// User is whose key it is, and KeyID which of theirs; zero when it was not made by logging in.
	User  string `json:"user,omitempty"`
	KeyID int64  `json:"key_id,omitempty"`
	// Key is the API key; empty when Keyring says that the system's keyring has it.
	Key     string `json:"key,omitempty"`
	Keyring bool   `json:"keyring,omitempty"`
}

// File is all contexts, by name.
type File struct {
	Current  string             `json:"current"`
	Contexts map[string]Context `json:"contexts"`
	path     string
}

// service is the name of what is in the keyring.
const service = "hostler"

// maxFile bounds the file that is read, in bytes.
const maxFile = 1 << 20

// Path is where the file is: HOSTLER_CONFIG, or hostler/contexts.json in the user's folder of settings.
func Path() (string, error) {
	if path := os.Getenv("HOSTLER_CONFIG"); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("cannot find your configuration folder (set HOSTLER_CONFIG to a file instead): %w", err)
	}
	return filepath.Join(dir, "hostler", "contexts.json"), nil
}

// Open reads the file; one that is not there has no contexts. One that others may read is refused: it holds keys.
func Open(path string) (*File, error) {
	f := &File{Contexts: map[string]Context{}, path: path}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the contexts: %w", err)
	}
	if info.Size() > maxFile || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file of contexts", path)
	}
	if err := CheckPrivate(path, info); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the contexts: %w", err)
	}
	if err := json.Unmarshal(text, f); err != nil { // whose text has nothing of the file but a letter and its place
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if f.Contexts == nil {
		f.Contexts = map[string]Context{}
	}
	return f, nil
}

// CheckPrivate returns an error when a file that holds keys gives permissions to users other than its owner.
func CheckPrivate(path string, info fs.FileInfo) error {
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s contains keys, and other users can read it: run chmod 600 on it, and revoke the keys if someone may have "+
			"read them", path)
	}
	return nil
}

// maxKeyFile bounds a file with an API key, in bytes.
const maxKeyFile = 64 << 10

// ReadKeyFile reads a file with an API key. It refuses a file that other users may read.
func ReadKeyFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if err := CheckPrivate(path, info); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	if len(text) > maxKeyFile {
		return "", fmt.Errorf("%s is too large for an API key", path)
	}
	return strings.TrimSpace(string(text)), nil
}

// Save writes the file in one step.
func (f *File) Save() error {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("creating the folder of contexts: %w", err)
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".contexts-*") // its mode is 0600
	if err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(append(text, '\n'))
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	return nil
}

// Names are those of all contexts, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Contexts)) }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// CheckName says what is wrong with a name for a context.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return errors.New("invalid context name: use at most 63 letters, digits, periods, hyphens and underscores")
	}
	return nil
}

// Get is a context by name, or the current one when name is empty.
func (f *File) Get(name string) (string, Context, error) {
	if name == "" {
		name = f.Current
	}
	if name == "" {
		return "", Context{}, ErrNotLoggedIn
	}
	c, ok := f.Contexts[name]
	if !ok {
		return "", Context{}, fmt.Errorf("context %s not found: see hostler context list", name)
	}
	return name, c, nil
}

// ErrNotLoggedIn says that nobody has logged in yet.
var ErrNotLoggedIn = errors.New("log in first: hostler login URL")

// Put stores a context with its key, in the keyring or in the file, and makes it the current one. The file is not saved yet.
func (f *File) Put(name string, c Context, key string) error {
	if err := f.forget(name); err != nil {
		return err
	}
	c.Key = key
	if c.Keyring {
		if err := keyring.Set(service, name+" "+c.URL, key); err != nil {
			return fmt.Errorf("cannot store the key in the keyring (without --keyring it is stored in a file): %w", err)
		}
		c.Key = ""
	}
	f.Contexts[name], f.Current = c, name
	return nil
}

// Secret is the key of a context.
func (f *File) Secret(name string, c Context) (string, error) {
	if !c.Keyring {
		return c.Key, nil
	}
	key, err := keyring.Get(service, name+" "+c.URL)
	if err != nil {
		return "", fmt.Errorf("cannot read the key of %s from the keyring: %w", name, err)
	}
	return key, nil
}

// Remove forgets a context and its key. The file is not saved yet.
func (f *File) Remove(name string) error {
	if err := f.forget(name); err != nil {
		return err
	}
	delete(f.Contexts, name)
	if f.Current == name {
		f.Current = ""
	}
	return nil
}

// forget takes the key of a context out of the keyring, when it has one there.
func (f *File) forget(name string) error {
	c, ok := f.Contexts[name]
	if !ok || !c.Keyring {
		return nil
	}
	if err := keyring.Delete(service, name+" "+c.URL); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("removing the key from the keyring: %w", err)
	}
	return nil
}
