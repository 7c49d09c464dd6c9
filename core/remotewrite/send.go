package remotewrite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/secret"
	"github.com/hostler/hostler/sdk/endpoint"
)

const (
	// requestTime is how long one request may take.
	requestTime = 30 * time.Second
	// maxAnswer is how much of a refusal is read, in bytes, and maxText how much of it is told.
	maxAnswer, maxText = 2 << 10, 300
	// maxTries is how many requests look for what a receiver refuses among the samples of one.
	maxTries = 40
)

// refusal means that the receiver does not take these samples, whenever they come.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// away means that the receiver takes nothing now.
type away struct {
	text string
	// after is how long it asks to be left alone; zero when it says nothing.
	after time.Duration
}

func (e *away) Error() string { return e.text }

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
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, errors.New("the receiver's URL cannot be read")
	}
	address, err := s.address(u)
	if err != nil {
		return nil, fmt.Errorf("the receiver's address %w", err)
	}
	target := endpoint.Target{Address: address, Fingerprint: r.Fingerprint, VerifyTLS: true, AllowLocal: s.AllowLocal}
	config, err := endpoint.TLSConfig(target, nil)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: requestTime / 3, Control: endpoint.DialControl(target)}
	alive := func() { s.Heartbeat.Beat(turnTime + 2*requestTime) }
	return &sender{url: r.URL, username: r.Username, secret: r.Secret, alive: alive, client: &http.Client{
		Timeout: requestTime,
		// No proxy: DialControl judges the address that is dialled.
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: requestTime / 3,
			MaxIdleConns: 1, ForceAttemptHTTP2: true},
		// Credentials and samples go where they were meant to go, and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (c *sender) close() { c.client.CloseIdleConnections() }

// send sends one request. The error is a refusal, or away.
func (c *sender) send(ctx context.Context, samples []metric.Sample) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(encode(samples)))
	if err != nil {
		return &away{text: "the receiver's URL cannot be used"}
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
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // the URL may tell what is no error's to tell
		}
		return &away{text: "the receiver cannot be reached: " + c.plain(err.Error())}
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
	told := fmt.Sprintf("the receiver answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if text = c.plain(text); text != "" {
		told += ": " + text
	}
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &refusal{told}
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > int(longestWait/time.Second) {
		seconds = 0
	}
	return &away{text: told, after: time.Duration(seconds) * time.Second}
}

// plain is a text of others, short, on one line and without the secret, which a receiver may repeat.
func (c *sender) plain(text string) string {
	if own := c.secret.Reveal(); own != "" {
		text = strings.ReplaceAll(text, own, secret.Redacted)
	}
	text = strings.Join(strings.FieldsFunc(host.Clean(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return host.CleanTo(text, maxText)
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
