// Package pveapi speaks the HTTP API of Proxmox VE as it is, not as its schema says.
//
// A Client belongs to one hypervisor target: address, certificate policy and one API token. Connections are shared
// between the clients of the same address and policy; the token travels with each request and is kept nowhere else.
//
// Three rules hold for every request. The certificate is checked on each connection. Only GET is ever repeated, and only
// when trying again can help; a POST, PUT or DELETE is sent once, on a connection of its own, so that a worker of
// pveproxy that closes an idle connection at the wrong moment can never make its fate unknown. And every failure becomes
// a *plugin.Error, read from the places where the hypervisor hides its texts: the JSON members errors and message,
// and the reason phrase of the status line.
//
// Answers with many rows are read as a stream by Rows, one row at a time, with the tolerance that nine years of releases
// ask for: numbers written as strings, booleans as 0, 1, "1" or true, members missing or null.
package pveapi
