// Package secret keeps secrets from being read where they lie and from slipping out while they are used.
//
// At rest: a Box seals a value under a data key of its own, and the data key under a master key of the key file, which is
// not in the database. What a stolen database or backup holds cannot be opened without that file. Each value is bound to its
// table, column and row: moved elsewhere it does not open. Rotate replaces the master key under a running service. Instances
// that share a database must share the key file, or have a copy of it each: one with another file is refused at start, and
// one whose copy missed a rotation finds out by Watch, for the database says which key seals now.
//
// The key file may be a credential that systemd gives to a unit: a read-only copy from the unit's start. Such a service does
// not see a rotation. It holds a KeyFileCopy, which keeps rotations away; the file itself is rotated while the service is down.
//
// In use: String is a text that does not print, log or store itself. Only Reveal gives it.
package secret
