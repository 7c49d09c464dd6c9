package catalog

import "time"

// LaunchRequest is what a source needs to know to say how a bundle is run.
type LaunchRequest struct {
	Slug    string
	Pin     Pin
	Purpose Purpose
	// Place is the bundle's, whose folder is below BundleFolder on the node, and for an update in the container.
	Place string
	// Name is the container's, and Container the id that it should have; empty for any.
	Name, Container string
	// Tags are what the container must carry, the first of which tells the service which one it is.
	Tags []string
	// RootStorage and TemplateStorage are names of storages that are there and have room, Bridge that of a network.
	RootStorage, TemplateStorage, Bridge string
	// Architecture is the node's, such as "amd64".
	Architecture string
	// Release is that of the hypervisor on the node, such as "9.2.11"; empty where nobody knows.
	Release string
	// Overrides are what the caller has set, by key of Entry.Overrides. The service has checked their types.
	Overrides map[string]string
	// Answers are what the caller says to questions, in order, and Yes that the caller consents where Entry.NeedsYes.
	Answers []string
	Yes     bool
}

// Launch is how a bundle is run. All paths are absolute, or of the bundle where they say so.
type Launch struct {
	// Program is a file of the bundle, run by the shell Interpreter, "bash" or "sh", with Arguments.
	Interpreter string
	Program     string
	Arguments   []string
	// Environment is everything that the program sees, but for PATH and HOME. No name is one that loads code.
	Environment []Variable
	// PathFolders are folders of the bundle that come before all others in PATH.
	PathFolders []string
	// Input is all that the program can read; it ends with an end of file.
	Input string
	// Prepare are files that must be on the node before, unless they are there already: an operator's answer is never overwritten.
	Prepare []PreparedFile
	// Push says that the program inside the container needs the bundle at the same place; the program brings it there by itself.
	Push bool
	// Sentinel is the file that is written when the program asked something which nobody answers, or wanted code that is not in the
	// bundle: its text is what it was, and the program has failed then, whatever its exit status says. It is relative to the folder of
	// the run, whose path the program finds in the variable RunFolderVariable.
	Sentinel string
	// Succeeded is a line of the output without which the program has not succeeded, whatever its exit status says; empty for none.
	Succeeded string
	// Steps tell how far the program is, by lines of its output.
	Steps []Step
	// Exits explain exit statuses.
	Exits []Exit
	// Limit is how long it may take; 0 for the service's own limit.
	Limit time.Duration
	// VersionFile is the file in the container that holds the version of what was installed; empty for none.
	VersionFile string
}

// RunFolderVariable is the variable of the environment that holds the folder of a run on the node.
const RunFolderVariable = "HOSTLER_RUN"

// Variable is one of the environment.
type Variable struct {
	Name, Value string
	// Secret says that nobody may see the value.
	Secret bool
}

// PreparedFile is a small file that a node should have.
type PreparedFile struct {
	// Path is absolute. Content is at most 4 KiB.
	Path, Content string
}

// Step is reached when a line of the output contains Text.
type Step struct {
	Text string
	// Progress is from 0 to 1.
	Progress float64
}

// Exit is what an exit status means.
type Exit struct {
	Status int
	// Reason is a word of small letters and "_", Text a sentence for people.
	Reason, Text string
}
