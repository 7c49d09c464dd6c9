// Package scripts is the catalog source of the community scripts: shell scripts that make one container each and install an app in it.
//
// What runs comes from the archive of one commit of their repository, and from nowhere else: a branch or tag is resolved to a commit once
// per sync. How an entry looks comes from the tree too, and from data that was extracted of it when it still had them (decoration.jsonl);
// that never decides what runs.
//
// The pin of an app is the commit at which its own files were last seen to be others: an archive has no history, and asking for the
// history of each file would be a request per app. Each sync compares the own files with those at the earlier pins, which the cursor
// names. With an empty cursor, every app has the pin of that sync.
package scripts
