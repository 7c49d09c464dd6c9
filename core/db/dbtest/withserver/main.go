// Command withserver starts a PostgreSQL server for tests, runs a command with its address in dbtest.ServerVariable, and exits with the
// status of the command. All test programs that the command starts share the server. If the variable is already set, withserver uses that
// server.
//
//	go run ./core/db/dbtest/withserver go test ./...
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/hostler/hostler/core/db/dbtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withserver COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	server, err := dbtest.Server()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting PostgreSQL:", err)
		os.Exit(1)
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // a terminal sends it to the command too, which ends by it
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), dbtest.ServerVariable+"="+server)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(max(1, ended.ExitCode()))
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
