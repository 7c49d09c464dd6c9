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

// NodeExecutor is implemented by hosts whose machine accepts an SSH login. It needs
// no capability: the credential of the target is a key of the form
// endpoint.FormSSHKey, and Target.SSH has the user, the port and the host key that
// the machine must prove. Only the machine at the target's address can be reached,
// not the other nodes of its cluster.
//
// No text of the caller becomes part of a command that a shell reads. SSH sends a
// command as one string (RFC 4254 section 6.5), which the user's login shell
// interprets, so a driver builds that string only from its own words and sends
// everything else over the standard input. A program therefore gets exactly the
// given arguments, whatever bytes they contain, and the values of variables do not
// appear in the arguments of any process.
//
// Each call opens its own connection and closes it. A machine with another host key
// is Untrusted, with Field endpoint.FieldHostKey and the Fingerprint of the key
// that it presented. A machine that does not accept the credential is
// TokenRejected. A connection that breaks before the result arrives is Unreachable,
// or Timeout if the machine stopped answering. The program may then have done all,
// a part or nothing of its work; it is never reported as successful.
type NodeExecutor interface {
	// CheckLogin logs in, runs "true" and returns what it saw. It is the only
	// method that accepts any host key if none is pinned.
	CheckLogin(ctx context.Context) (NodeLogin, error)
	// RunOnNode runs a program to its end and returns how it ended. An exit code
	// other than zero is not an error. A program that does not exist has the code
	// 127, one that cannot be executed has 126, as in POSIX shells.
	//
	// A program that exceeds its limit, or is still running when ctx ends, is
	// killed together with all of its children except those that moved to their own
	// session. The result is Timeout. If the connection breaks, the machine kills
	// the program at the end of the limit. A malformed command is Invalid with the
	// field of NodeCommand.Check. A working directory that does not exist is
	// NotFound.
	RunOnNode(ctx context.Context, command NodeCommand, streams NodeStreams) (NodeResult, error)
	// CopyToNode stores a file with exactly file.Size bytes of content, owned by
	// root, and returns its SHA-256. It writes a temporary file in the same folder,
	// checks it and renames it, so that the path always has either the whole old or
	// the whole new file.
	//
	// A content of another length is Invalid with the field "size", one with
	// another SHA-256 than the given one is Invalid with the field "sha256", and an
	// error of the reader is returned. Nothing is stored in these cases. A folder
	// that does not exist is NotFound, and a path that is a folder is Conflict. A
	// broken call may leave a temporary file whose name is ".hostler-" and ten
	// letters.
	CopyToNode(ctx context.Context, file NodeFile, content io.Reader) (sha256 string, err error)
	// CopyFromNode writes a file of the machine to content. It returns the path,
	// mode, size and SHA-256. A file larger than limit bytes, also one that grows
	// during the copy, is Refused. A path that is not a regular file is Conflict,
	// one that does not exist is NotFound. After an error, content may have
	// received a part of the file.
	CopyFromNode(ctx context.Context, path string, limit int64, content io.Writer) (NodeFile, error)
}

// NodeLogin is the result of NodeExecutor.CheckLogin.
type NodeLogin struct {
	// HostKey is the fingerprint of the machine's host key in the form of
	// endpoint.HostKeyFingerprint. HostKeyType is the algorithm, such as
	// "ssh-ed25519".
	HostKey     string
	HostKeyType string
	// User is the name of the user that logged in.
	User string
	// UserID is the numeric ID of the user on the machine. 0 is root.
	UserID int
	// Server is the identification string of the SSH server (RFC 4253 section 4.2).
	Server string
}

// NodeCommand describes a program to run. Its texts are bytes without NUL and need
// not be UTF-8.
type NodeCommand struct {
	// Program is an absolute path, or a name that is searched in root's usual
	// folders.
	Program string
	// Arguments follow the program. Each has at most MaxNodeArgument bytes.
	Arguments []string
	// Environment contains variables in addition to those of the login. Their
	// values are visible to the program and to root only.
	Environment []NodeVariable
	// Directory is the working directory. An empty value means "/".
	Directory string
	// Limit is the longest run time, rounded to seconds. Zero uses the deadline of
	// ctx, or an hour if ctx has none.
	Limit time.Duration
}

// NodeVariable is an environment variable of a program.
type NodeVariable struct {
	Name  string
	Value plugin.Secret
}

// NodeStreams are the standard streams of a program. A nil Input is empty, a nil
// output is discarded.
type NodeStreams struct {
	// Input is read while the program runs. An error other than io.EOF ends the
	// program and is returned. A Read that still waits when the program ends is
	// abandoned: it may return after the call has returned.
	Input io.Reader
	// Output and Errors receive the standard output and the standard error, each
	// from one goroutine at a time. An error of theirs ends the program and is
	// returned.
	Output io.Writer
	Errors io.Writer
}

// NodeResult says how a program ended.
type NodeResult struct {
	// ExitCode is the exit code, 0 to 255.
	ExitCode int
	// Signal is the name of the signal that ended the program, without "SIG", such
	// as "KILL". ExitCode is then 128 or more. It is empty if the program exited.
	Signal string
}

// OK reports whether the program exited with code 0.
func (r NodeResult) OK() bool { return r.ExitCode == 0 && r.Signal == "" }

// NodeFile describes a file on a machine.
type NodeFile struct {
	// Path is absolute and clean.
	Path string
	// Mode contains the permission bits, 0 to 0o777.
	Mode uint32
	// Size is in bytes.
	Size int64
	// SHA256 is in hexadecimal digits. An empty value is not checked.
	SHA256 string
}

// Limits of a command in bytes: of one argument and of all together. They are below
// the limits of the Linux kernel, MAX_ARG_STRLEN (128 KiB) and a quarter of the
// stack (2 MiB) with room to spare for the login's environment.
const (
	MaxNodeArgument = 96 << 10
	MaxNodeCommand  = 512 << 10
	// MaxNodePath is how long a path may be.
	MaxNodePath = 4000
)

// variableName is the shape of a portable variable name (POSIX.1-2017, Base
// Definitions, section 8.1).
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// reserved lists variables that change how a shell behaves, or that a shell does
// not allow to be set.
var reserved = map[string]bool{"IFS": true, "ENV": true, "BASH_ENV": true, "SHELLOPTS": true, "BASHOPTS": true, "OPTIND": true,
	"PPID": true, "UID": true, "EUID": true, "PS4": true}

// Check returns Invalid, with the field, for a command that no driver may run: a
// NUL byte, a program that is neither a name nor a clean absolute path, a variable
// with a malformed or reserved name, a relative working directory, or a text that
// is too long. Drivers call it first. A command that came over a plugin connection
// is already checked.
func (c NodeCommand) Check() error {
	switch {
	case c.Program == "" || strings.HasPrefix(c.Program, "-") || strings.ContainsRune(c.Program, 0) || len(c.Program) > MaxNodePath:
		return invalidNode("program", "a program must be an absolute path or a name")
	case strings.Contains(c.Program, "/") && !cleanPath(c.Program):
		return invalidNode("program", "a program with a slash must be an absolute path without . and ..")
	case c.Directory != "" && c.Directory != "/" && !cleanPath(c.Directory):
		return invalidNode("directory", "a directory must be an absolute path without . and ..")
	case c.Limit < 0:
		return invalidNode("limit", "a limit must not be negative")
	}
	all := len(c.Program) + len(c.Directory)
	for _, argument := range c.Arguments {
		if strings.ContainsRune(argument, 0) || len(argument) > MaxNodeArgument {
			return invalidNode("arguments", "an argument must have at most %d bytes and no NUL", MaxNodeArgument)
		}
		all += len(argument) + 1
	}
	seen := map[string]bool{}
	for _, v := range c.Environment {
		switch {
		case !variableName.MatchString(v.Name) || reserved[v.Name] || strings.HasPrefix(v.Name, "hostler_") || seen[v.Name]:
			return invalidNode("environment", "a variable name must have letters, digits and underscores, occur once, and not be reserved")
		case strings.ContainsRune(string(v.Value), 0) || len(v.Value) > MaxNodeArgument:
			return invalidNode("environment", "a variable must have at most %d bytes and no NUL", MaxNodeArgument)
		}
		seen[v.Name] = true
		all += len(v.Name) + len(v.Value) + 2
	}
	if all > MaxNodeCommand {
		return invalidNode("arguments", "a command must have at most %d bytes", MaxNodeCommand)
	}
	return nil
}

// Check returns Invalid, with the field, for a file that no driver may store: a bad
// path, a mode with set-user-ID or similar bits, a negative size or a malformed
// SHA-256. Drivers call it first. A file that came over a plugin connection is
// already checked.
func (f NodeFile) Check() error {
	if err := CheckNodePath(f.Path); err != nil {
		return err
	}
	sum, err := hex.DecodeString(f.SHA256)
	switch {
	case f.Mode > 0o777:
		return invalidNode("mode", "a mode must be between 0 and 0777: set-user-ID and similar bits are not allowed")
	case f.Size < 0:
		return invalidNode("size", "a size must not be negative")
	case err != nil || len(sum) != 0 && len(sum) != 32:
		return invalidNode("sha256", "a SHA-256 must have 64 hexadecimal digits")
	}
	return nil
}

// CheckNodePath returns Invalid with the field "path" for a path that is not
// absolute, not clean, the root, or longer than MaxNodePath.
func CheckNodePath(name string) error {
	if !cleanPath(name) {
		return invalidNode("path", "a path must be absolute, without . and .., and have at most %d bytes and no NUL", MaxNodePath)
	}
	return nil
}

// cleanPath reports whether name is an absolute path in its shortest form. Such a
// path has no ".." with which a caller could leave a folder that was checked
// before.
func cleanPath(name string) bool {
	return path.IsAbs(name) && name != "/" && path.Clean(name) == name && !strings.ContainsRune(name, 0) && len(name) <= MaxNodePath
}

// invalidNode returns an error of kind Invalid for a field of a command or file.
func invalidNode(field, format string, args ...any) error {
	err := plugin.Errorf(plugin.Invalid, format, args...)
	err.Field = field
	return err
}
