package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hostler/hostler/core/outbound"
)

// Limits of an answer.
const (
	// maxAnswer is how many bytes of a response are read. They are only used in
	// error texts.
	maxAnswer = 2 << 10
	// longestAsked is the longest delay that a receiver can ask for with
	// Retry-After.
	longestAsked = time.Hour
)

// sender sends the messages of one channel. serve makes one per turn, so that
// connections are reused.
type sender struct {
	channel *Channel
	secrets Secrets
	// url is where messages are posted, without a slash at the end; "" for
	// email.
	url    string
	target outbound.Target
	// limit bounds sending one message.
	limit  time.Duration
	client *http.Client
}

// dial returns a sender. It does not connect yet. The caller must call close.
func (s *Store) dial(c *Channel, secrets Secrets) (*sender, error) {
	url, address, err := c.destination(s.rules(c), secrets)
	if err != nil {
		return nil, fmt.Errorf("the receiver's address %w", err)
	}
	out := &sender{channel: c, secrets: secrets, url: strings.TrimRight(url, "/"), limit: s.SendTime,
		target: outbound.Target{Rules: s.rules(c), Address: address, Fingerprint: c.Settings.Fingerprint}}
	if c.Kind != SMTP {
		out.client, err = out.target.Client(s.SendTime)
	}
	return out, err
}

// close closes the connection of the sender.
func (o *sender) close() {
	if o.client != nil {
		o.client.CloseIdleConnections()
	}
}

// plain removes the channel's secrets from a text of the receiver.
func (o *sender) plain(text string) string { return outbound.Plain(text, o.secrets.reveal()...) }

// post sends a value as JSON. Its error is a *refusal or an *unavailable.
func (o *sender) post(ctx context.Context, method, url string, value any, header http.Header) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // six bytes for each < would be against the limits of services
	if err := encoder.Encode(value); err != nil {
		return &refusal{"the message cannot be encoded as JSON"}
	}
	return o.send(ctx, method, url, body.Bytes(), header)
}

// send sends one HTTP request. An answer other than success is an error whose
// kind says whether to retry.
func (o *sender) send(ctx context.Context, method, url string, body []byte, header http.Header) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return &unavailable{text: "the receiver's URL is not valid"}
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "hostler")
	answer, err := o.client.Do(r)
	if err != nil {
		return &unavailable{text: "the receiver cannot be reached: " + o.plain(outbound.Cause(err).Error())}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil && answer.StatusCode/100 != 2 {
		text = nil
	}
	return o.judge(answer, string(text))
}

// judge classifies a response. A status that concerns the message itself is a
// refusal; everything else may pass, or the owner of the channel can fix it.
func (o *sender) judge(answer *http.Response, text string) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	told := fmt.Sprintf("the receiver answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if answer.StatusCode/100 == 3 {
		return &unavailable{text: told + ": redirects are not followed"}
	}
	if text = o.plain(text); text != "" {
		told += ": " + text
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &refusal{told}
	}
	return &unavailable{text: told, after: outbound.RetryAfter(answer.Header, longestAsked)}
}

// bearer returns a header with the channel's token; empty if there is none.
func (o *sender) bearer() http.Header {
	header := http.Header{}
	if token := o.secrets["token"]; !token.Empty() {
		header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return header
}
