package catalog

import "context"

// Source opens catalogs. Its methods may be called at the same time.
type Source interface {
	// Info returns the description of the source. It must not use the network.
	Info(ctx context.Context) (Info, error)
	// Open returns the catalog for a configuration. It must be cheap and must not
	// use the network. A wrong option is Invalid with its key as the field. The
	// caller closes the catalog.
	Open(ctx context.Context, config Config) (Catalog, error)
}

// Catalog is what a source offers under one configuration. Its methods may be
// called at the same time.
type Catalog interface {
	// Health checks whether Sync would work now, with at most one small request.
	Health(ctx context.Context) error
	// Sync delivers the changes since the cursor of the request, at one pin: a
	// Begin first, then Entry and Removed steps in any order, then an End. A stream
	// without End was cut, and nothing of it counts. An error from each ends the
	// call and is returned.
	Sync(ctx context.Context, request SyncRequest, each func(SyncStep) error) error
	// Entry returns one entry at a pin. The slug and the app pin come from Sync.
	Entry(ctx context.Context, slug string, pin Pin) (Entry, error)
	// Bundle delivers all files of an entry at a pin: the Manifest first, alone,
	// then Data in pieces of at most 1 MiB. The data is the concatenation of the
	// files in the order of the manifest. An error from each ends the call and is
	// returned.
	Bundle(ctx context.Context, request BundleRequest, each func(BundlePart) error) error
	// Launch returns how the bundle of an entry is run. The result depends only on
	// the arguments and on the files at the pin.
	Launch(ctx context.Context, request LaunchRequest) (Launch, error)
	// Close releases the resources of the catalog. It is called once, after the
	// last call has returned.
	Close() error
}

// Info is the description of a source. Describe fills in the abilities.
type Info struct {
	// Name is the short name, such as "folder": at most 63 lower-case letters,
	// digits, "-" and "_". Version is the release of the source.
	Name    string
	Version string
	// Abilities are the names of the optional interfaces that the catalog
	// implements. A source leaves it nil.
	Abilities []string
	// Title is the name for people, such as "Community scripts".
	Title string
	// Trust explains in a few sentences whom the user trusts with root access by
	// using this source. The owner reads it before the source is enabled.
	Trust string
	// Options are the settings of the source, in the order in which they are
	// displayed.
	Options []Option
}

// Option describes one setting of a source, or one override of an entry.
type Option struct {
	// Key is at most 63 lower-case letters, digits and "_".
	Key string
	// Type is the type of the value. Values are the values of a Choice.
	Type   OptionType
	Values []string
	// Default describes, for people, what applies if nothing is set. Description is
	// one sentence.
	Default     string
	Description string
	// Required is true if the source does not work without a value.
	Required bool
	// Secret is true if the value must not be displayed again.
	Secret bool
	// Min and Max bound a Whole, inclusive. Both are 0 if there are no bounds.
	Min, Max int64
}

// OptionType is the type of an option's value. All values are strings.
type OptionType string

// The types of options.
const (
	// Line is a text without line breaks of at most 1000 bytes. Text may have line
	// breaks and has at most 64 KiB.
	Line OptionType = "line"
	Text OptionType = "text"
	// Integer is a whole number in decimal digits, Boolean is "true" or "false", and
	// Choice is one of Option.Values.
	Integer OptionType = "whole"
	Boolean OptionType = "switch"
	Choice  OptionType = "choice"
	// URL is an http or https address. Folder is the absolute path of a folder on
	// the service's machine.
	URL    OptionType = "url"
	Folder OptionType = "folder"
)

// Config is the configuration that a catalog is opened with.
type Config struct {
	// Options are the settings by key. The service has checked their types.
	Options map[string]string
	// Cache is a folder for downloads that no other configuration uses. The service
	// may empty it between two calls, and the disk may be full. It is empty if
	// there is no folder.
	Cache string
	// AllowPrivate permits addresses of private networks. Loopback and link-local
	// addresses are permitted only if AllowLoopback is set too.
	AllowPrivate, AllowLoopback bool
}
