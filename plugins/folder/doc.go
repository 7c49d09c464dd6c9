// Package folder is the catalog source for your own apps: a folder on the
// service's machine that contains one folder per app. README.md describes the
// files of an app.
//
// The state of the folder is its content, so a pin is the SHA-256 of all files
// instead of a commit. There are two kinds of pins, told apart by the
// repository: "folder" pins everything, and "folder/SLUG" pins the folder of
// one app, so that a change of one app is no update of another.
//
// A sync copies the folder into the cache, and Entry, Bundle and Launch read
// from that copy. So an approved app stays installable while somebody edits the
// folder. The cache keeps the last 30 states; a pin that is older is NotFound.
//
// The flow of an installation is: Sync lists the entries, a person reads the
// bundle of one entry and approves it, and Launch says how to run exactly that
// bundle.
package folder
