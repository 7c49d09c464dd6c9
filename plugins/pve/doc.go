// Package pve is Hostler's driver for Proxmox VE, from release 6.2, the first with API tokens, to 9.
//
// A Driver opens a Host for each call; a Host sends its requests with the one token that it was given, through package
// pveapi. Nothing is remembered between calls but connections.
//
// The inventory takes two requests whatever the number of guests: /cluster/resources, which the cluster has at hand, and
// /cluster/status. Its rows are up to ten seconds old; Guest reads one guest past that cache. Changes are tasks of
// the hypervisor, named by a UPID, and WaitTask follows one by its log; only a change of a configuration is made when it is answered.
//
// A Backend is the same for firewalls. The hypervisor compares a digest with some changes and not with others, replaces some objects
// whole, deletes what is not there, and keeps rules for guests that do not exist: Firewall looks before it sends, by requests that need
// no more privileges than the change where there are any.
package pve
