// Package catalog is the contract between Hostler and the author of a catalog source.
// A source lists applications that can be installed, and delivers the files that
// install them.
//
// A source fetches and never executes. It gets no credential of any host and does not
// know hosts, users or jobs. The service does not trust it: it verifies the checksum
// of every byte, and shows people what will run before it runs.
//
// # Main types
//
//   - Source runs in its own process. It describes itself (Info) and opens a Catalog
//     under the options that the owner configured.
//   - Catalog lists entries (Sync, Entry), delivers a Bundle and says how that is run
//     (Launch). IconFetcher and Ranker are optional; ask As for them.
//   - Entry describes one application.
//   - Pin names one state of everything that an entry consists of: commits and
//     checksums, never branches or tags.
//   - Manifest lists the files of a bundle with their checksums.
//   - Service registers a source with plugin.Serve, Client is the service's side.
//
// A source that has all entries in memory uses Listing for Sync, and BundleBuilder for
// Bundle. It then need not deal with cursors, digests and manifests. Package
// catalogtest is the conformance suite.
//
// The service calls VerifySync and ReadBundle in place of Catalog.Sync and
// Catalog.Bundle. They check everything that the source says.
//
// # Bundles
//
// A bundle consists of all files that run on a node as root, at one Pin. The same pin
// and slug always give the same bytes, as long as the source can deliver them at all.
// If it cannot, the service uses its own copy of what the user agreed to.
//
// # Life cycle
//
// The service opens a Catalog for each call and closes it afterwards. All methods may
// be called at the same time. A catalog keeps downloads in Config.Cache only; the
// service may empty that folder between two calls.
//
// # Errors
//
// Methods return a *plugin.Error for a failure that the service should report to its
// users. Any other error is Internal. The kinds have these meanings:
//
//   - NotFound: the slug or the pin does not exist, or does not exist any more.
//   - Protocol: the source's data is malformed.
//   - Busy: a rate limit was reached. The message says when to retry.
//   - Invalid: an option of the configuration is wrong; Field is its key.
//   - Unreachable, Timeout and Untrusted: as for every plugin.
package catalog
