// Package folder is the catalog source of one's own apps: a folder of this machine with a folder per app. README.md says what is in it.
//
// A pin is the checksum of everything, so it needs no repository. What a pin named is kept in the cache when it was synced, and is given
// from there when the folder has changed since; the service keeps what was consented to besides.
package folder
