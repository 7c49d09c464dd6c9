// Package schema holds what the API of Proxmox VE 9.2 says about itself: each method with its parameters, the privileges that it
// asks for, and who carries it out. The simulator routes, checks parameters and checks privileges with it.
//
// The facts stand in methods.txt, which go generate makes from the schema of the real server. One line is a method, the
// indented lines below it are its parameters:
//
//	POST /nodes/{node}/qemu/{vmid}/snapshot {"check":["perm","/vms/{vmid}",["VM.Snapshot"]],"daemon":1,"node":1}
//		snapname {"type":"string","format":"pve-configid","maxLength":40}
//		vmstate {"type":"boolean","optional":1}
//
// Members of a method: check and user are the privileges as the real schema writes them (neither: root@pam only), before9 those
// of releases before 9; daemon, node, notoken and since are the fields of [Method]. A method is decoded when it is first
// asked for.
//
// macros.txt holds the firewall's macros in the same manner, one rule to a line.
package schema

//go:generate go run ./generate
