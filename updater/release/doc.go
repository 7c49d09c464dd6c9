// Package release is the format of a release and what must hold before anything of it is used.
//
// Three parties meet here. The *build machine* holds private Ed25519 keys; cmd/hostler-sign makes and signs a release
// there, and nothing else ever sees a private key. The *release server* is any folder or static HTTPS server; it is not
// trusted, and may be hostile. The *installation* has a folder of public keys that belongs to root and came with the
// package; the updater and the service hold a release against these keys, and against the newest manifest that this
// installation has seen.
//
// A release is three kinds of files in one place:
//
//	manifest.json       what there is: version, channel, date, and for each architecture name, size and SHA-256
//	manifest.json.sig   detached signatures over the bytes of manifest.json, one a line in base64
//	<name>.tar.gz       one for each architecture, named by the manifest
//
// One good signature by a trusted key is enough. During a change of keys a release is signed by the old and the new one:
// installations that have only one of them can both follow. A release signed by a trusted key may bring new keys and
// withdraw old ones (Manifest.Keys, Manifest.Withdrawn); this takes effect when the release is installed, and a manifest
// never withdraws the key that signs it.
//
// A signature proves who made a manifest, not that it is the newest: Seen refuses a manifest that is older than one that
// was seen before, so that a server cannot bring back an old release with a known hole. A server that keeps silent about
// a new release cannot be told from one that has none.
package release
