package private

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// What can be wrong at start. The texts of the errors that wrap these name the remedy.
var (
	// ErrNoBinaries means that no usable PostgreSQL is installed, or not the
	// major version that the data needs.
	ErrNoBinaries = errors.New("no usable PostgreSQL found")
	// ErrInUse means that another running service holds the folder.
	ErrInUse = errors.New("the folder is in use by another service")
	// ErrForeign means that this service did not create the folder or the
	// running PostgreSQL. Nothing was changed.
	ErrForeign = errors.New("not a cluster of this service")
	// ErrAccess means that the owner or the mode of a folder, or the system
	// user, does not allow the start.
	ErrAccess = errors.New("access refused")
	// ErrNoSpace means that the disk is full.
	ErrNoSpace = errors.New("not enough disk space")
)

// shortWrite is PostgreSQL's hint for a block that the disk accepted only in
// part. The system then reports no error code.
const shortWrite = "Check free disk space"

// explain turns the output of a PostgreSQL program into an error that says what
// to do, if the cause is known.
func explain(action, output string, cause error) error {
	output = lastLines(strings.TrimSpace(output), 6)
	switch {
	case strings.Contains(output, "No space left on device") || strings.Contains(output, shortWrite) || errors.Is(cause, syscall.ENOSPC):
		return fmt.Errorf("%s: %w: free some space or move the state folder (%v: %s)", action, ErrNoSpace, cause, output)
	case strings.Contains(output, "ermission denied") || errors.Is(cause, syscall.EACCES) || errors.Is(cause, syscall.EPERM):
		return fmt.Errorf("%s: %w: check owner and mode of the folders (%v: %s)", action, ErrAccess, cause, output)
	case errors.Is(cause, syscall.ENOENT) && output == "":
		return fmt.Errorf("%s: %w: it does not exist (%v)", action, ErrAccess, cause)
	case errors.Is(cause, syscall.EROFS):
		return fmt.Errorf("%s: %w: the file system is read-only (%v)", action, ErrAccess, cause)
	case output == "":
		return fmt.Errorf("%s: %w", action, cause)
	}
	return fmt.Errorf("%s: %w: %s", action, cause, output)
}

// lastLines joins the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, " | ")
}
