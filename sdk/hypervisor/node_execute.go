package hypervisor

import (
	"context"
	"encoding/hex"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// NodeExecutor is satisfied by hosts whose machine can be logged in to. It needs no capability: the target's credential is a key of the
// form endpoint.FormSSHKey, and Target.SSH says who logs in, at which port, and which host key the machine must prove to have. Only the
// machine at the target's address is reached, and no other node of its cluster.
//
// No text of the caller's is ever part of a command that a shell reads: a program gets exactly the arguments that were given, whatever
// bytes are in them, and values of variables stand in no process's arguments. That is so because SSH has one text for a command (RFC 4254
// section 6.5), which the user's shell reads, whichever that is: a driver makes that text of its own words alone, and sends all else over
// the standard input.
//
// All calls open a connection of their own and close it. A machine with another host key is Untrusted with Field endpoint.FieldHostKey and
// the Fingerprint that was seen; one that does not take the key is TokenRejected. A connection that breaks before the end was told is
// Unreachable, or Timeout where nothing was heard any more: what ran may have done all, some or nothing of it, and is never said to have
// succeeded.
type NodeExecutor interface {
	// CheckLogin logs in, runs "true" and tells what it saw. It is the only call that takes any host key where none is pinned.
	CheckLogin(ctx context.Context) (NodeLogin, error)
	// RunOnNode runs a program to its end and gives how it ended, which is no error whatever the code: so it is for a program that is not
	// there (127) or cannot be run (126). One that does not end within its limit, or when ctx ends, is killed with all that it has started
	// and not put into the background of a session of its own, and that is Timeout. So it is on the machine when the connection breaks,
	// at the end of the limit. A command is Invalid with the field as Check says; a directory that is not there is NotFound.
	RunOnNode(ctx context.Context, command NodeCommand, streams NodeStreams) (NodeResult, error)
	// CopyToNode stores a file under its path with what content gives, exactly Size bytes: it is written beside that place, checked there
	// and renamed, so that at no time anything but the whole old or the whole new file stands there. It belongs to root. A content of
	// another length, one whose reader fails, and one without the SHA-256 that was given, store nothing: Invalid with the field "size" or
	// "sha256", and the reader's own error. A folder that is not there is NotFound, and a path that is a folder Conflict. What a broken
	// call leaves beside the place is named ".hostler-" and ten letters.
	CopyToNode(ctx context.Context, file NodeFile, content io.Reader) (sha256 string, err error)
	// CopyFromNode writes a file of the machine into content. The answer has its path, mode, size and SHA-256. One that is larger than
	// limit in bytes, also when it grows meanwhile, is Refused; what is no regular file Conflict; one that is not there NotFound.
	// After an error content may have got a part.
	CopyFromNode(ctx context.Context, path string, limit int64, content io.Writer) (NodeFile, error)
}

// NodeLogin is what a login has shown.
type NodeLogin struct {
	// HostKey is the fingerprint of the machine's key, as endpoint.HostKeyFingerprint gives it, and HostKeyType its algorithm, such as
	// "ssh-ed25519".
	HostKey     string
	HostKeyType string
	User        string
	// UserID is what the machine calls the user; 0 is root.
	UserID int
	// Server is how the SSH server calls itself.
	Server string
}

// NodeCommand is a program to run. Its texts are bytes without NUL, and need not be UTF-8.
type NodeCommand struct {
	// Program is an absolute path, or a name that is looked for in the usual folders of root's.
	Program   string
	Arguments []string
	// Environment are variables beside those of the login. Values are secrets to everybody but the program and root.
	Environment []NodeVariable
	// Directory is where it runs; empty is "/".
	Directory string
	// Limit is how long it may run, to the second; zero leaves it to ctx, and is an hour where that has no deadline.
	Limit time.Duration
}

// NodeVariable is a variable of a program's environment.
type NodeVariable struct {
	Name  string
	Value plugin.Secret
}

// NodeStreams are a program's standard streams. Nil is an empty input, and output that nobody reads.
type NodeStreams struct {
	// Input is read while the program runs. A failure other than io.EOF ends the program, and is the call's error. A Read that waits when
	// the program has ended is left alone: it may return after the call has.
	Input io.Reader
	// Output and Errors get what comes, each from one goroutine at a time. A failure of theirs ends the program, and is the call's error.
	Output io.Writer
	Errors io.Writer
}

// NodeResult is how a program has ended.
type NodeResult struct {
	ExitCode int
	// Signal is the one that has ended it, without "SIG", such as "KILL"; the ExitCode is 128 and more then. Empty for one that has ended
	// by itself.
	Signal string
}

// OK reports whether the program has ended by itself, and well.
func (r NodeResult) OK() bool { return r.ExitCode == 0 && r.Signal == "" }

// NodeFile is a file of a machine.
type NodeFile struct {
	// Path is absolute and clean.
	Path string
	// Mode are its permissions, 0 to 0o777.
	Mode uint32
	// Size in bytes.
	Size int64
	// SHA256 in hexadecimal digits; empty is not checked.
	SHA256 string
}

// Bounds of commands, in bytes: what the kernel of a machine takes as arguments and as one of them, with room to spare.
const (
	MaxNodeArgument = 96 << 10
	MaxNodeCommand  = 512 << 10
	// MaxNodePath is how long a path may be.
	MaxNodePath = 4000
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// reserved are variables by which a shell lets itself be led, or that it does not let be set.
var reserved = map[string]bool{"IFS": true, "ENV": true, "BASH_ENV": true, "SHELLOPTS": true, "BASHOPTS": true, "OPTIND": true,
	"PPID": true, "UID": true, "EUID": true, "PS4": true}

// Check refuses what no driver may run, as Invalid with its field: a NUL, a program that is no name and no clean absolute path, a variable
// without a proper name or of the shell's own, a directory that is not absolute, what is too long. Drivers call it first; over a
// connection that was done.
func (c NodeCommand) Check() error {
	switch {
	case c.Program == "" || strings.HasPrefix(c.Program, "-") || strings.ContainsRune(c.Program, 0) || len(c.Program) > MaxNodePath:
		return invalidNode("program", "a program is an absolute path or a name")
	case strings.Contains(c.Program, "/") && !cleanPath(c.Program):
		return invalidNode("program", "a program with a slash is an absolute path without . and ..")
	case c.Directory != "" && c.Directory != "/" && !cleanPath(c.Directory):
		return invalidNode("directory", "a directory is an absolute path without . and ..")
	case c.Limit < 0:
		return invalidNode("limit", "a limit is no negative time")
	}
	all := len(c.Program) + len(c.Directory)
	for _, argument := range c.Arguments {
		if strings.ContainsRune(argument, 0) || len(argument) > MaxNodeArgument {
			return invalidNode("arguments", "an argument has no NUL and at most %d bytes", MaxNodeArgument)
		}
		all += len(argument) + 1
	}
	seen := map[string]bool{}
	for _, v := range c.Environment {
		switch {
		case !variableName.MatchString(v.Name) || reserved[v.Name] || strings.HasPrefix(v.Name, "hostler_") || seen[v.Name]:
			return invalidNode("environment", "a variable has a name of letters, digits and underscores, once, that is none of the shell's own")
		case strings.ContainsRune(string(v.Value), 0) || len(v.Value) > MaxNodeArgument:
			return invalidNode("environment", "a variable has no NUL and at most %d bytes", MaxNodeArgument)
		}
		seen[v.Name] = true
		all += len(v.Name) + len(v.Value) + 2
	}
	if all > MaxNodeCommand {
		return invalidNode("arguments", "a command has at most %d bytes", MaxNodeCommand)
	}
	return nil
}

// Check refuses what no driver may store, as Invalid with its field. Drivers call it first; over a connection that was done.
func (f NodeFile) Check() error {
	if err := CheckNodePath(f.Path); err != nil {
		return err
	}
	sum, err := hex.DecodeString(f.SHA256)
	switch {
	case f.Mode > 0o777:
		return invalidNode("mode", "a mode is 0 to 0777: nothing is stored that runs as somebody else")
	case f.Size < 0:
		return invalidNode("size", "a size is no negative number")
	case err != nil || len(sum) != 0 && len(sum) != 32:
		return invalidNode("sha256", "a SHA-256 has 64 hexadecimal digits")
	}
	return nil
}

// CheckNodePath refuses a path that is not absolute, not clean or the root, as Invalid with the field "path".
func CheckNodePath(name string) error {
	if !cleanPath(name) {
		return invalidNode("path", "a path is absolute, without . and .., and has at most %d bytes and no NUL", MaxNodePath)
	}
	return nil
}

func cleanPath(name string) bool {
	return path.IsAbs(name) && name != "/" && path.Clean(name) == name && !strings.ContainsRune(name, 0) && len(name) <= MaxNodePath
}

func invalidNode(field, format string, args ...any) error {
	err := plugin.Errorf(plugin.Invalid, format, args...)
	err.Field = field
	return err
}
