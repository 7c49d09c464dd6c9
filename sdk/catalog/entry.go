package catalog

import "time"

// Entry is one thing that can be installed, or could once. Texts are plain, never markup; the service shows them as they are.
type Entry struct {
	// Slug names it for ever within the source: 1 to 63 lower-case letters, digits, "-", "_" and ".", a letter or digit first.
	Slug string
	// Digest is another one whenever anything of the entry is, as EntryDigest makes it.
	Digest string
	// Type is what it is. The service installs only those of ContainerEntry.
	Type EntryType
	Name string
	// Description may have several lines and be long, at most 64 KiB.
	Description string
	// Categories are keys of Begin.Categories.
	Categories []string
	Tags       []string
	Authors    []string
	Licence    string
	Website    string
	Docs       string
	// Sources are where the program itself comes from, as https addresses.
	Sources []string
	// Web is where its page will be; nil when it has none, or nobody knows.
	Web *Web
	// Defaults are what is made when nothing else is asked for.
	Defaults Defaults
	// ConfigPath is its main configuration file inside the container.
	ConfigPath string
	// Credentials tells how one logs in first; it is shown and never logged.
	Credentials string
	Notes       []Note
	// Created and Updated are when its own files were added and last changed; zero when nobody knows.
	Created, Updated time.Time
	// Updatable says that the entry knows how to update what it has installed.
	Updatable bool
	// Disabled is why nobody should install it now, and Removed why nobody can any more; empty when one can. Successor is the slug of what
	// has taken its place.
	Disabled, Removed, Successor string
	// VariantOf is the slug of the entry of which this one is another build, such as one for a smaller system.
	VariantOf string
	// Architectures are those of nodes that it runs on, such as "amd64"; nil for any.
	Architectures []string
	// Prompts is how many questions its scripts ask that have no usual answer; NeedsYes says that one of them is a consent, which is asked
	// of people beforehand.
	Prompts  int
	NeedsYes bool
	// Icon is an https address, or a reference of the source's own for IconFetcher; empty when it has none.
	Icon string
	// App is the pin of what is the entry's own: the last state that changed its own files. An entry is stale when this moves, and not when
	// some other one does.
	App Pin
	// Privileges are what the container or its install gets beyond the usual, in words for people, such as "privileged container".
	Privileges []Privilege
	// Overrides are what a caller may set for an install.
	Overrides []Option
}

// EntryType is what an entry is.
type EntryType string

// The types of entries.
const (
	// ContainerEntry makes one container.
	ContainerEntry EntryType = "ct"
	// VMEntry makes a virtual machine, AddonEntry adds something to a container, NodeEntry changes the node itself.
	VMEntry    EntryType = "vm"
	AddonEntry EntryType = "addon"
	NodeEntry  EntryType = "node"
	// OtherEntry is none of these.
	OtherEntry EntryType = "other"
)

// EntryTypes lists them.
func EntryTypes() []EntryType {
	return []EntryType{ContainerEntry, VMEntry, AddonEntry, NodeEntry, OtherEntry}
}

// Web is where an app's page is.
type Web struct {
	// Protocol is "http" or "https", Port 1 to 65535, Path empty or with a "/" first.
	Protocol string
	Port     int
	Path     string
}

// Defaults are a container's size and system. Zero is for what nobody knows.
type Defaults struct {
	Cores    int
	MemoryMB int
	DiskGB   int
	// OS and OSVersion are such as "debian" and "13".
	OS, OSVersion string
	// Privileged says that its root is the node's.
	Privileged bool
}

// Note is something that people should read before they install.
type Note struct {
	Level NoteLevel
	Text  string
}

// NoteLevel is how much a note matters.
type NoteLevel string

// The levels of notes.
const (
	InfoNote    NoteLevel = "info"
	WarningNote NoteLevel = "warning"
)

// Privilege is one right beyond the usual that something gets.
type Privilege struct {
	// Key is a word such as "privileged", "gpu", "tun", "console_autologin".
	Key  string
	Text string
}
