// Package catalog is what the author of a catalog source sees of Hostler: a source lists what can be installed, and hands over the
// files that do it.
//
// A Source runs in a process of its own. The service opens a Catalog for each call, under what its owner has configured. A source
// fetches and never executes; it gets no credential of any host. The service believes nothing: it takes the checksum of every byte that
// a source sends, and shows people what will run before it does.
//
// What is installed is a Bundle: all the files that run on a node as root, at one Pin. The same pin and slug give the same bytes for ever,
// as long as the source can give them at all; when it cannot any more, the service has its own copy of what was consented to.
//
// Errors: every method returns a *plugin.Error for whatever the service should tell its users; any other error is Internal. NotFound is a
// slug or a pin that is not there, or not any more; Protocol is data that makes no sense; Unreachable, Timeout and Untrusted are as
// everywhere; Busy is a limit of requests, whose message says when to come again; Invalid names an option of the configuration.
package catalog

import "context"

// Source opens catalogs. Its methods may be called at the same time.
type Source interface {
	// Info says what the source is. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open gives the catalog under a configuration. It must be cheap and must not use the network; an option that makes no sense is
	// Invalid with its key as the field. The caller closes the catalog.
	Open(ctx context.Context, config Config) (Catalog, error)
}

// Catalog is what a source offers under one configuration. Its methods may be called at the same time.
type Catalog interface {
	// Health finds out whether Sync would work now, with one small request at most.
	Health(ctx context.Context) error
	// Sync hands over what has changed since the cursor of the request, at one pin: a Begin first, then Entry and Removed in any order,
	// then an End. A stream that ends without an End was cut, and nothing of it counts. An error from each ends the call and is returned.
	Sync(ctx context.Context, request SyncRequest, each func(SyncStep) error) error
	// Entry gives one entry at a pin, whose slug and app pin Sync has told.
	Entry(ctx context.Context, slug string, pin Pin) (Entry, error)
	// Bundle gives all files of an entry at a pin: the Manifest first, alone, then Data in pieces of at most 1 MiB, which are the files'
	// contents one behind the other in the order of the manifest. An error from each ends the call and is returned.
	Bundle(ctx context.Context, request BundleRequest, each func(BundlePart) error) error
	// Launch says how the bundle of an entry is run. It uses nothing but its arguments and the files at the pin.
	Launch(ctx context.Context, request LaunchRequest) (Launch, error)
	// Close releases what the catalog holds. It is called once, after the last call has returned.
	Close() error
}

// Info is what a source says of itself. What it leaves empty is filled in by Describe.
type Info struct {
	// Name is its short name, such as "folder": at most 63 lower-case letters, digits, "-" and "_". Version is its own release.
	Name    string
	Version string
	// Abilities are the names of the optional interfaces that the catalog satisfies. A source leaves it nil.
	Abilities []string
	// Title is the source's name for people, such as "Community scripts".
	Title string
	// Trust says in a few sentences whom one trusts with root by using this source. The owner reads it before it is switched on.
	Trust string
	// Options are what can be configured, in the order in which people are asked.
	Options []Option
}

// Option is one value of a source's configuration, or of an entry's overrides.
type Option struct {
	// Key is at most 63 lower-case letters, digits and "_".
	Key string
	// Type says what the value is; Values are the values of a Choice.
	Type   OptionType
	Values []string
	// Default is what holds when nothing is set, in words for people. Description is one sentence.
	Default     string
	Description string
	// Required says that nothing works without it.
	Required bool
	// Secret says that nobody may see it again.
	Secret bool
	// Min and Max bound a Whole; both 0 for no bounds.
	Min, Max int64
}

// OptionType is what the value of an option is. All values are texts.
type OptionType string

// The types of options.
const (
	// Line is a text without a line break, at most 1000 bytes, and Text one of at most 64 KiB with them.
	Line OptionType = "line"
	Text OptionType = "text"
	// Whole is a whole number in decimal digits, Switch "true" or "false", and Choice one of Option.Values.
	Whole  OptionType = "whole"
	Switch OptionType = "switch"
	Choice OptionType = "choice"
	// URL is an http or https address, and Folder the absolute path of a folder of the service's machine.
	URL    OptionType = "url"
	Folder OptionType = "folder"
)

// Config is what a catalog is opened under.
type Config struct {
	// Options are those of Info that are set, by key. The service has checked their types.
	Options map[string]string
	// Cache is a folder of this configuration alone for what was fetched. The service may empty it between two calls, and the disk may be
	// full. Empty when there is none.
	Cache string
	// AllowPrivate says that addresses of private networks may be dialled. Loopback and link-local ones never are, unless AllowLoopback
	// says so too.
	AllowPrivate, AllowLoopback bool
}
