// Package scripts is the catalog source of the community scripts. These are
// shell scripts that each create one container on Proxmox VE and install one
// app in it.
//
// A sync works as follows:
//
//   - The branch or tag of the configuration is resolved to a commit, once
//     per repository (Catalog.newest).
//   - The archive of that commit is downloaded, checked and unpacked into
//     the cache, unless the cache has it already (Catalog.commit, unpack).
//   - The scripts in the tree are found and described (state.entries).
//     Scripts are parsed by their form and never run.
//   - The entries are compared with the cursor of the caller, and only the
//     differences are sent.
//
// What runs on a node comes from the archive of one commit and from nowhere
// else. Addresses under which scripts load each other are rewritten to the
// files of the bundle (see rewriting). An app with an address that cannot be
// rewritten is listed as disabled, and no bundle is made for it.
//
// The appearance of an entry, such as its description and its logo, comes from
// the tree and from decoration.jsonl. That file was extracted from the
// repository while the repository still had this data. It never decides what
// runs.
//
// The pin of an app is the first synced commit in which its own files had their
// present content. An archive contains no history, and asking GitHub for the
// history of each file would cost one request per app. Each sync therefore
// compares the files of an app with those at the earlier pin, which the cursor
// names. Without a cursor, the state that was last synced counts; if the cache
// does not know it either, every app gets the pin of the current sync.
package scripts
