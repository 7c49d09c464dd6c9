// Package nodeunit runs a program on a host's machine that goes on when the service is gone: as a transient unit of systemd, 247 and
// later.
//
// A run has a name, and with it a folder below Folder on the machine, which only root can look into. It has the files of the run, its
// arguments, variables and input, what it prints, and how it ended. All of it comes in one stream and is there as a whole or not at all;
// its SHA-256 are checked when it comes, before the start, and by the unit itself. Nothing of it, and no variable, stands in arguments or
// in the unit's properties, which every user of the machine can read: those name the folder alone, and a launcher that is the same for
// all runs reads the rest. What is secret leaves the folder when the program starts.
//
// A run starts once: the launcher takes the start by a rename that works once, whoever asks how often, so a request whose answer was lost
// is simply made again, or ReadState is asked. Every call may be repeated, by another process too. How the unit ended is written by a
// command that systemd runs after it, in whichever way it ended; where that could not be, because the machine lost its power, its boot
// tells.
//
// The unit is in the slice "hostler.slice". All of its processes end with its first one, and what runs over its limit is ended by TERM,
// and KILL after StopTime. It is not hardened: what it is for are scripts that make containers, and these mount, load modules, and write
// below /etc and /tmp. Containers that it starts are in units of their own, and stay.
package nodeunit

import "time"

const (
	// Folder has the folders of all runs.
	Folder = "/var/lib/hostler/runs"
	// StopTime is how long a program has to end by itself when it is stopped.
	StopTime = 15 * time.Second
	// askLimit bounds one question to a machine, and sendLimit the sending of files.
	askLimit  = 45 * time.Second
	sendLimit = 10 * time.Minute
)
