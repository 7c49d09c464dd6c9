// Package lxd is Hostler's driver for LXD, from release 5.0, and for Incus, from 6.0.
//
// A Driver opens a Host for each call; a Host sends its requests with the one client certificate that it was given, through
// package lxdapi. Nothing is remembered between calls but connections and the projects of the last operations. README.md says what
// it asks of a server, with which rights, and what cannot be done.
//
// The inventory takes the same few requests whatever the number of guests: guests come with their states and without figures,
// for these cost the server 45 ms for each guest that runs. With Detail they are read from the server's metrics in one request.
// All changes are operations of the server, which forgets them 5 s after their end: Tasks shows what runs and what has just
// ended, and what became of an operation that is forgotten must be seen from the guest. WaitTask waits 3 s at the server; an
// operation that goes on is followed by the server's events, over one stream for all waits of an address, a certificate and a
// project, and by asking again and again where there is no stream.
package lxd
