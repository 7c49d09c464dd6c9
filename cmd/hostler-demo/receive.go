package main

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/channel"
)

const (
	// maxPayload is the maximum size of a webhook that is read, in bytes.
	maxPayload = 1 << 20
	// oldest is the maximum difference between the time in a webhook and the
	// local clock. It limits replays of recorded webhooks. The libraries of
	// Standard Webhooks use the same tolerance.
	oldest = 5 * time.Minute
)

// receive runs a receiver of webhooks until ctx ends. It checks the signature
// of each webhook if --secret is given, prints one line per webhook, and
// responds with 204. A webhook with a wrong signature gets 401.
func receive(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("hostler-demo receive", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on; port 0 chooses a free port")
	secret := flags.String("secret", "", "secret of the channel's signature; empty to skip the check")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "listening at http://%s/\n", listener.Addr())
	server := &http.Server{ReadTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if err := genuine(r.Header, body, *secret); err != nil {
			fmt.Fprintf(out, "refused: %v\n", err)
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		var told channel.Payload
		if err := json.Unmarshal(body, &told); err != nil {
			http.Error(w, "this is not a webhook of Hostler", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(out, "%s %s %s: %s %s\n", told.At.Format(time.RFC3339), told.Kind, told.Severity, strconv.Quote(told.Title), told.Link)
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// genuine returns an error if the webhook is not signed with the secret or is
// not recent. The headers and the signed text follow the Standard Webhooks
// specification. Webhook-Signature may contain several signatures, separated by
// spaces, while a secret is being replaced; one match is enough. The comparison
// takes constant time.
func genuine(header http.Header, body []byte, secret string) error {
	if secret == "" {
		return nil
	}
	stamp := header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)).Abs(); err != nil || age > oldest {
		return fmt.Errorf("the time %q is invalid or too far from now", stamp)
	}
	want, err := channel.Sign(secret, header.Get("Webhook-Id"), stamp, body)
	if err != nil {
		return err
	}
	for signature := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		if hmac.Equal([]byte(signature), []byte(want)) {
			return nil
		}
	}
	return fmt.Errorf("the signature does not match")
}
