package catalog

import "time"

// Entry describes one application that can be installed, or that could be in the
// past. Its texts are plain, without markup.
type Entry struct {
	// Slug identifies the entry within the source for ever: 1 to 63 lower-case
	// letters, digits, "-", "_" and ".", beginning with a letter or digit.
	Slug string
	// Digest changes whenever a field of the entry changes. EntryDigest computes
	// it.
	Digest string
	// Type is the kind of thing that is installed. The service installs only
	// ContainerEntry.
	Type EntryType
	// Name is the name for people, one line.
	Name string
	// Description may have several lines, at most 64 KiB.
	Description string
	// Categories are keys of Begin.Categories.
	Categories []string
	Tags       []string
	Authors    []string
	Licence    string
	Website    string
	Docs       string
	// Sources are the https addresses of the program itself.
	Sources []string
	// Web is the address of its web page. It is nil if there is none or if it is
	// unknown.
	Web *Web
	// Defaults are the size and system of the container if the user requests
	// nothing else.
	Defaults Defaults
	// ConfigPath is the path of its main configuration file inside the container.
	ConfigPath string
	// Credentials says how to log in for the first time. It is displayed and never
	// logged.
	Credentials string
	Notes       []Note
	// Created and Updated are the times at which its own files were added and last
	// changed. They are zero if unknown.
	Created, Updated time.Time
	// Updatable is true if the entry can update what it installed.
	Updatable bool
	// Disabled is the reason not to install it now, and Removed the reason why it
	// cannot be installed any more. Both are empty for a normal entry. Successor is
	// the slug of the entry that replaces it.
	Disabled, Removed, Successor string
	// VariantOf is the slug of the entry of which this one is another build, such
	// as one for a smaller system.
	VariantOf string
	// Architectures are the node architectures that it supports, such as "amd64".
	// Nil means all.
	Architectures []string
	// Prompts is the number of questions of its scripts without a default answer.
	// NeedsYes is true if one of them asks for consent; the service then asks the
	// user in advance.
	Prompts  int
	NeedsYes bool
	// Icon is an https address, or a reference for IconFetcher. It is empty if
	// there is no icon.
	Icon string
	// App is the pin of the last state that changed the entry's own files. An
	// installation is outdated if this pin changes, and not if other entries
	// change.
	App Pin
	// Privileges describe, for people, the rights that the container or its
	// installation gets beyond the usual ones.
	Privileges []Privilege
	// Overrides are the settings that a user may change for an installation.
	Overrides []Option
}

// EntryType is the kind of thing that an entry installs.
type EntryType string

// The types of entries.
const (
	// ContainerEntry creates one container.
	ContainerEntry EntryType = "ct"
	// VMEntry creates a virtual machine. AddonEntry adds something to a container.
	// NodeEntry changes the node itself.
	VMEntry    EntryType = "vm"
	AddonEntry EntryType = "addon"
	NodeEntry  EntryType = "node"
	// OtherEntry is anything else.
	OtherEntry EntryType = "other"
)

// EntryTypes returns all types.
func EntryTypes() []EntryType {
	return []EntryType{ContainerEntry, VMEntry, AddonEntry, NodeEntry, OtherEntry}
}

// Web is the address of an application's web page, relative to its container.
type Web struct {
	// Protocol is "http" or "https". Port is 1 to 65535. Path is empty or begins
	// with "/".
	Protocol string
	Port     int
	Path     string
}

// Defaults are the size and the system of a container. A zero field is unknown.
type Defaults struct {
	Cores    int
	MemoryMB int
	DiskGB   int
	// OS and OSVersion name the system, such as "debian" and "13".
	OS, OSVersion string
	// Privileged is true if root in the container is root on the node.
	Privileged bool
}

// Note is information that people should read before they install.
type Note struct {
	Level NoteLevel
	Text  string
}

// NoteLevel is the importance of a note.
type NoteLevel string

// The levels of notes.
const (
	InfoNote    NoteLevel = "info"
	WarningNote NoteLevel = "warning"
)

// Privilege is one right beyond the usual ones.
type Privilege struct {
	// Key identifies the right, such as "privileged", "gpu", "tun" or
	// "console_autologin". Text explains it to people.
	Key  string
	Text string
}
