package nodeunit

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// MaxLimit is the longest limit of a run, MaxInput the largest input in bytes, and MaxFiles how many files it has at most.
	MaxLimit = 24 * time.Hour
	MaxInput = 1 << 20
	MaxFiles = 5000
	// maxFile is the size of a file in bytes.
	maxFile = 64 << 20
)

// Spec is a run.
type Spec struct {
	// Run is its name on the machine: 1 to 40 small letters, digits and hyphens, no hyphen at an end.
	Run string
	// Program, Arguments and Environment are as in a hypervisor.NodeCommand. The environment is what systemd gives to services, with HOME
	// and a PATH of the usual folders. A Program that begins with "./" is one of the run's files.
	Program     string
	Arguments   []string
	Environment []hypervisor.NodeVariable
	// Input is what the program reads, at most MaxInput.
	Input []byte
	// Files are in the folder in which the program runs.
	Files []File
	// Limit is how long it may run, to the second, MaxLimit at most.
	Limit time.Duration
}

// File is a file of a run.
type File struct {
	// Name is relative and clean, of letters, digits and ._+@/-; no part of it begins with a hyphen.
	Name string
	// Mode is 0 to 0o777.
	Mode uint32
	// Size in bytes and SHA256 are what it must turn out to have, on the machine.
	Size   int64
	SHA256 string
	// Open gives the content. It is closed after it was read.
	Open func() (io.ReadCloser, error)
}

// Bytes is a file of a run with a content that is at hand.
func Bytes(name string, mode uint32, content []byte) File {
	return File{Name: name, Mode: mode, Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
}

// NewRun is a name for a run that no other one has, also of another service that uses the machine, or of one whose database was set back:
// what the run is for, in small letters, and something random behind it.
func NewRun(what string) string { return what + "-" + strings.ToLower(rand.Text()) }

// FolderOf is a run's folder on the machine, and FilesOf that of its files, in which the program runs.
func FolderOf(run string) string { return Folder + "/" + run }

// FilesOf is the folder in which a run's program runs.
func FilesOf(run string) string { return FolderOf(run) + "/files" }

// Unit is the name of a run's unit.
func Unit(run string) string { return "hostler-run-" + run + ".service" }

var (
	runName  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)
	fileName = regexp.MustCompile(`^[A-Za-z0-9._+@][A-Za-z0-9._+@-]*(/[A-Za-z0-9._+@][A-Za-z0-9._+@-]*)*$`)
)

func checkRun(run string) error {
	if !runName.MatchString(run) {
		return invalid("run", "a run's name must be 1 to 40 lowercase letters, digits and hyphens")
	}
	return nil
}

// Check refuses what cannot be run, as Invalid with its field.
func (s Spec) Check() error {
	if err := checkRun(s.Run); err != nil {
		return err
	}
	switch {
	case s.Limit <= 0 || s.Limit > MaxLimit:
		return invalid("limit", "a limit must be a duration up to %s", MaxLimit)
	case len(s.Input) > MaxInput:
		return invalid("input", "an input can have at most %d bytes", MaxInput)
	case len(s.Files) > MaxFiles:
		return invalid("files", "a run can have at most %d files", MaxFiles)
	}
	if err := (hypervisor.NodeCommand{Program: s.program(), Arguments: s.Arguments, Environment: s.Environment}).Check(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range s.Files {
		sum, err := hex.DecodeString(f.SHA256)
		if !fileName.MatchString(f.Name) || path.Clean(f.Name) != f.Name || strings.HasPrefix(f.Name, "..") || len(f.Name) > 200 ||
			seen[f.Name] || f.Mode > 0o777 || f.Size < 0 || f.Size > maxFile || err != nil || len(sum) != sha256.Size || f.Open == nil {
			return invalid("files", "a file must have a unique clean name, a mode, a size of at most %d bytes, and a SHA-256", maxFile)
		}
		seen[f.Name] = true
	}
	for name := range seen {
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			if seen[at] {
				return invalid("files", "a name is used for both a file and a folder")
			}
		}
	}
	return nil
}

func invalid(field, format string, args ...any) error {
	err := plugin.Errorf(plugin.Invalid, format, args...)
	err.Field = field
	return err
}

// program is the program's absolute path, or its name.
func (s Spec) program() string {
	if own, ok := strings.CutPrefix(s.Program, "./"); ok {
		return FilesOf(s.Run) + "/" + own
	}
	return s.Program
}

// part is a file of the folder that is not one of the run's own.
type part struct {
	name    string
	mode    int64
	content []byte
}

// parts are what the launcher reads, and sums, which has the SHA-256 of all else in the form of sha256sum(1).
func (s Spec) parts(of scripts) []part {
	var command, environment []byte
	for _, word := range append([]string{s.program()}, s.Arguments...) {
		command = append(encode(append(command, "a "...), word), '\n')
	}
	for _, v := range s.Environment {
		environment = append(encode(append(append(environment, v.Name...), ' '), string(v.Value)), '\n')
	}
	all := []part{{"launch", 0o700, []byte(of.launch)}, {"finish", 0o700, []byte(of.finish)}, {"command", 0o600, command},
		{"environment", 0o600, environment}, {"input", 0o600, s.Input}, {"limit", 0o600, fmt.Appendf(nil, "%d\n", s.seconds())}}
	var sums []byte
	for _, p := range all {
		sums = fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(p.content), p.name)
	}
	for _, f := range s.Files {
		sums = fmt.Appendf(sums, "%s  files/%s\n", strings.ToLower(f.SHA256), f.Name)
	}
	return append(all, part{"sums", 0o600, sums})
}

func (s Spec) seconds() int64 { return int64((s.Limit + time.Second - 1) / time.Second) }

// digest is the SHA-256 of the run's sums, and so stands for all of it.
func digest(parts []part) string {
	for _, p := range parts {
		if p.name == "sums" {
			return fmt.Sprintf("%x", sha256.Sum256(p.content))
		}
	}
	return ""
}

// harmless are the bytes that stand for themselves in a line.
const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:,=@+"

// encode writes a value as the argument of printf's %b: every byte that is not harmless as a backslash, 0 and three octal digits (POSIX
// printf).
func encode(b []byte, value string) []byte {
	for i := range len(value) {
		if c := value[i]; strings.IndexByte(harmless, c) >= 0 {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, `\0%03o`, c)
		}
	}
	return b
}

// writeTar writes the folder's content. Times and owners are the same for all: only bytes and modes matter.
func (s Spec) writeTar(to io.Writer, parts []part) error {
	w := tar.NewWriter(to)
	for _, p := range parts {
		err := w.WriteHeader(&tar.Header{Name: p.name, Mode: p.mode, Size: int64(len(p.content)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write(p.content)
		}
		if err != nil {
			return err
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "files/", Mode: 0o700, Typeflag: tar.TypeDir, Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	for _, f := range s.Files {
		if err := writeFile(w, f); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeFile(w *tar.Writer, f File) error {
	content, err := f.Open()
	if err != nil {
		return fmt.Errorf("opening %s: %w", f.Name, err)
	}
	defer func() { _ = content.Close() }()
	if err := w.WriteHeader(&tar.Header{Name: "files/" + f.Name, Mode: int64(f.Mode), Size: f.Size, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(content, f.Size))
	if err == nil && n == f.Size {
		if more, _ := content.Read(make([]byte, 1)); more == 0 {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	return invalid("files", "a file does not have the specified size: %s", f.Name)
}
