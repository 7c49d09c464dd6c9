// Command hostler-sign makes, signs and checks releases. It is for the build machine: the only place where a private key
// is ever read.
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

func command() *cobra.Command {
	root := &cobra.Command{Use: "hostler-sign", Short: "Create, sign and check releases " +
		"of Hostler", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(keyCommand(), packCommand(), publishCommand(), checkCommand())
	return root
}
