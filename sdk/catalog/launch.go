package catalog

import "time"

// LaunchRequest contains what a source needs to decide how a bundle is run.
type LaunchRequest struct {
	Slug    string
	Pin     Pin
	Purpose Purpose
	// Place is the place of the bundle: its folder below BundleFolder on the node
	// and, for an update, in the container.
	Place string
	// Name is the name of the container. Container is its wanted ID, empty for any.
	Name, Container string
	// Tags must be set on the container. The service recognises the container by
	// the first one.
	Tags []string
	// RootStorage and TemplateStorage are existing storages with free space. Bridge
	// is the network of the container.
	RootStorage, TemplateStorage, Bridge string
	// Architecture is the node's architecture, such as "amd64".
	Architecture string
	// Release is the release of the hypervisor on the node. It is empty if unknown.
	Release string
	// Overrides are the user's settings by the keys of Entry.Overrides. The service
	// has checked their types.
	Overrides map[string]string
	// Answers are the user's answers to the questions, in order. Yes is the user's
	// consent if Entry.NeedsYes is set.
	Answers []string
	Yes     bool
}

// Launch says how a bundle is run. CheckLaunch validates it.
type Launch struct {
	// Program is a file of the bundle, run by the shell Interpreter, "bash" or
	// "sh", with Arguments.
	Interpreter string
	Program     string
	Arguments   []string
	// Environment is the whole environment of the program, except PATH and HOME. It
	// must not contain a ForbiddenVariable.
	Environment []Variable
	// PathFolders are folders of the bundle that come first in PATH.
	PathFolders []string
	// Input is the standard input of the program, followed by end of file.
	Input string
	// Prepare are files that must exist on the node before. An existing file is
	// never overwritten, because it may contain an operator's answer.
	Prepare []PreparedFile
	// Push is true if the program needs the bundle at the same path inside the
	// container. The program copies it there itself.
	Push bool
	// Sentinel is a file that the bundle writes if the program asked a question
	// that nobody answers, or requested code that is not in the bundle. Its text
	// says what it was. If it exists, the run has failed, whatever the exit status
	// is. The name is relative to the folder of the run, which is in the variable
	// RunFolderVariable.
	Sentinel string
	// Succeeded is a line of the output without which the run has failed, whatever
	// the exit status is. It is empty if there is no such line.
	Succeeded string
	// Steps map lines of the output to progress.
	Steps []Step
	// Exits explain exit statuses.
	Exits []Exit
	// Limit is the longest run time. 0 means the service's own limit.
	Limit time.Duration
	// VersionFile is the absolute path of the file in the container that contains
	// the installed version. It is empty if there is none.
	VersionFile string
}

// RunFolderVariable is the environment variable with the folder of a run on the
// node.
const RunFolderVariable = "HOSTLER_RUN"

// Variable is an environment variable.
type Variable struct {
	Name, Value string
	// Secret is true if the value must not be displayed or logged.
	Secret bool
}

// PreparedFile is a small file that a node should have.
type PreparedFile struct {
	// Path is absolute. Content has at most MaxPreparedFile bytes.
	Path, Content string
}

// Step is reached when a line of the output contains Text.
type Step struct {
	Text string
	// Progress is the part of the work that is complete, 0 to 1.
	Progress float64
}

// Exit explains an exit status.
type Exit struct {
	Status int
	// Reason is an identifier of lower-case letters and "_". Text is a sentence for
	// people.
	Reason, Text string
}
