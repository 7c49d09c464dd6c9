// Command hostler-sign creates, signs and checks releases. It belongs on the
// build machine, the only place where a private key is read; installations only
// contain public keys.
//
// A release is made in three steps:
//
//	hostler-sign pack FOLDER hostler-linux-amd64.tar.gz
//	hostler-sign publish --key release.key --file linux/amd64=... FOLDER
//	hostler-sign check --trusted KEYS PLACE
//
// Package updater/release defines the formats.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "hostler-sign:", err)
		os.Exit(1)
	}
}

// command returns the tree of commands.
func command() *cobra.Command {
	root := &cobra.Command{Use: "hostler-sign", Short: "Create, sign and check releases " +
		"of Hostler", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(keyCommand(), packCommand(), publishCommand(), checkCommand())
	return root
}
