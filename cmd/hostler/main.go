// Command hostler manages hosts, VMs and apps of a Hostler service from the
// command line. Package client/command implements it.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/hostler/hostler/client/command"
	"github.com/hostler/hostler/client/output"
)

// version is the version of the release. The linker sets it with -X.
var version = "dev"

func main() {
	// It runs for a moment, and lists may be long: less is collected, as long as nobody says otherwise by GOGC.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	screen := output.NewScreen()
	status := command.Run(ctx, command.New(version, os.Stdin, screen), screen, os.Args[1:])
	stop()
	os.Exit(status)
}
