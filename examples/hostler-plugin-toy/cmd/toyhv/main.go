// Command toyhv runs the toy hypervisor by hand, with ten guests. When it is ready it prints one line of JSON with its
// address, its certificate's fingerprint and a one-time code for each of monitoring and lifecycle. It serves until SIGINT or
// SIGTERM, or until standard input ends with --stdin-eof.
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/hostler-plugin-toy/toyhv"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve at")
	taskTime := flag.Duration("task-time", time.Second, "how long an action takes")
	trust := flag.String("trust", "", "PEM file whose first certificate is known to the hypervisor and may read nodes and guests")
	stdinEOF := flag.Bool("stdin-eof", false, "stop when standard input ends")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := toyhv.Start(*listen, *taskTime)
	if err == nil && *trust != "" {
		err = trustFile(server, *trust)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "toyhv:", err)
		os.Exit(1)
	}
	defer server.Close()
	for i := range 10 {
		server.NewGuest([]string{"vm", "container"}[i%2], []string{"up", "down"}[i/5], "")
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"address": server.Address(), "fingerprint": server.Fingerprint(), "codes": map[string]string{
			"monitoring": server.NewCode(time.Hour, toyhv.GuestsRead, toyhv.NodesRead),
			"lifecycle":  server.NewCode(time.Hour, toyhv.GuestsRead, toyhv.GuestsPower),
		},
	})
	if *stdinEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	<-ctx.Done()
}

func trustFile(server *toyhv.Server, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			server.Trust(toyhv.Fingerprint(block.Bytes), toyhv.GuestsRead, toyhv.NodesRead)
			return nil
		}
	}
	return fmt.Errorf("%s has no certificate in PEM", file)
}
