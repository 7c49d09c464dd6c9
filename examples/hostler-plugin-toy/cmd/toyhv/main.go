// Command toyhv runs the toy hypervisor by hand, with ten guests. When it is ready it prints one line of JSON with its
// address, its certificate's fingerprint and a token for each of monitoring and lifecycle. It serves until SIGINT or
// SIGTERM, or until standard input ends with --stdin-eof.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/hostler-plugin-toy/toyhv"
)

type token struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve at")
	taskTime := flag.Duration("task-time", time.Second, "how long an action takes")
	stdinEOF := flag.Bool("stdin-eof", false, "stop when standard input ends")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := toyhv.Start(*listen, *taskTime)
	if err != nil {
		fmt.Fprintln(os.Stderr, "toyhv:", err)
		os.Exit(1)
	}
	defer server.Close()
	for i := range 10 {
		server.NewGuest([]string{"vm", "container"}[i%2], []string{"up", "down"}[i/5], "")
	}
	tokens := map[string]token{}
	for _, t := range []struct{ capability, scope string }{{"monitoring", toyhv.NodesRead}, {"lifecycle", toyhv.GuestsPower}} {
		id, secret := server.NewToken(toyhv.GuestsRead, t.scope)
		tokens[t.capability] = token{id, secret}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"address": server.Address(), "fingerprint": server.Fingerprint(), "tokens": tokens,
	})
	if *stdinEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	<-ctx.Done()
}
