package remotewrite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/outbound"
	"github.com/hostler/hostler/core/secret"
)

const (
	// requestTime is how long one request may take.
	requestTime = 30 * time.Second
	// maxAnswer is how much of a refusal is read, in bytes.
	maxAnswer = 2 << 10
	// maxTries is how many requests look for what a receiver refuses among the samples of one.
	maxTries = 40
)

// refusal means that the receiver does not take these samples, whenever they come.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// unavailable means that the receiver takes nothing now.
type unavailable struct {
	text string
	// after is how long it asks to be left alone; zero when it says nothing.
	after time.Duration
}

func (e *unavailable) Error() string { return e.text }

// sender sends to one receiver.
type sender struct {
	url      string
	username string
	secret   secret.String
	client   *http.Client
	// alive is called before each request, which may take long.
	alive func()
}

// dial makes a sender; nothing is sent yet. Its end is close.
func (s *Store) dial(r Receiver) (*sender, error) {
	_, address, err := s.rules().ParseURL(r.URL)
	if err != nil {
		return nil, fmt.Errorf("the receiver's address %w", err)
	}
	client, err := outbound.Target{Rules: s.rules(), Address: address, Fingerprint: r.Fingerprint}.Client(requestTime)
	if err != nil {
		return nil, err
	}
	alive := func() { s.Heartbeat.Beat(turnTime + 2*requestTime) }
	return &sender{url: r.URL, username: r.Username, secret: r.Secret, alive: alive, client: client}, nil
}

func (c *sender) close() { c.client.CloseIdleConnections() }

// send sends one request. The error is a refusal, or away.
func (c *sender) send(ctx context.Context, samples []metric.Sample) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(encode(samples)))
	if err != nil {
		return &unavailable{text: "the receiver's URL is not valid"}
	}
	r.Header.Set("Content-Encoding", "snappy")
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	r.Header.Set("User-Agent", "hostler")
	switch {
	case c.username != "":
		r.SetBasicAuth(c.username, c.secret.Reveal())
	case !c.secret.Empty():
		r.Header.Set("Authorization", "Bearer "+c.secret.Reveal())
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return &unavailable{text: "the receiver cannot be reached: " + c.plain(outbound.Cause(err).Error())}
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	return c.judge(answer, string(text))
}

// judge says what an answer means.
func (c *sender) judge(answer *http.Response, text string) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	told := fmt.Sprintf("the receiver answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if text = c.plain(text); text != "" {
		told += ": " + text
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &refusal{told}
	}
	return &unavailable{text: told, after: outbound.RetryAfter(answer.Header, longestWait)}
}

// plain is a text of others without the secret.
func (c *sender) plain(text string) string {
	secrets := []string{c.secret.Reveal()}
	if c.username != "" {
		secrets = append(secrets, c.username+":"+c.secret.Reveal()) // which has base64 of its own where the secret is short
	}
	return outbound.Plain(text, secrets...)
}

// outcome is what became of the samples of one request.
type outcome struct {
	sent, refused int64
	// why is the last refusal; empty without any.
	why string
}

// deliver sends the samples of one request. Where the receiver refuses them, it looks by halves for those that are meant, so that one
// that it does not like costs not all of them. The error is away.
func (c *sender) deliver(ctx context.Context, samples []metric.Sample) (outcome, error) {
	var o outcome
	tries := 0
	var halve func([]metric.Sample) error
	halve = func(part []metric.Sample) error {
		if tries++; tries > maxTries {
			o.refused += values(part)
			return nil
		}
		c.alive()
		err := c.send(ctx, part)
		var refused *refusal
		if !errors.As(err, &refused) {
			if err == nil {
				o.sent += values(part)
			}
			return err
		}
		o.why = refused.text
		if len(part) == 1 {
			o.refused += values(part)
			return nil
		}
		if err := halve(part[:len(part)/2]); err != nil {
			return err
		}
		return halve(part[len(part)/2:])
	}
	err := halve(samples)
	return o, err
}
