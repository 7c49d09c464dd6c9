package channel

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/core/notify"
)

// keyPrefix is the prefix of a signing key in base64, as Standard Webhooks
// defines it.
const keyPrefix = "whsec_"

// Payload is the JSON body of a webhook. Its ID is the same for each attempt,
// so that a receiver can ignore duplicates.
type Payload struct {
	ID        string    `json:"id"`
	ChannelID int64     `json:"channel_id"`
	Kind      string    `json:"kind"`
	State     string    `json:"state"`
	Incident  string    `json:"incident,omitempty"`
	Severity  string    `json:"severity"`
	TeamID    *int64    `json:"team_id"`
	Rule      string    `json:"rule,omitempty"`
	Target    *Target   `json:"target"`
	Tags      []string  `json:"tags"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	Link      string    `json:"link,omitempty"`
	At        time.Time `json:"at"`
	// Audit is the entry of the audit log in the format of GET /audit. It is
	// absent for other kinds than audit.
	Audit json.RawMessage `json:"audit,omitempty"`
}

// Target is what an event is about.
type Target struct {
	Kind string `json:"kind"`
	ID   *int64 `json:"id"`
	Name string `json:"name"`
}

// sendWebhook posts a message in the format of Standard Webhooks 1.0
// (standardwebhooks.com), whose libraries verify the signature.
func sendWebhook(ctx context.Context, out *sender, m *message) error {
	e := &m.event
	payload := Payload{ID: m.id, ChannelID: m.channel.ID, Kind: string(e.Kind), State: string(e.State), Incident: e.Incident,
		Severity: e.Severity, TeamID: e.TeamID, Rule: e.Rule, Tags: e.Tags, Title: e.Title, Body: e.Body, Link: m.link(), At: m.at,
		Audit: m.audit}
	if e.Kind == notify.Audit && m.audit == nil {
		return &refusal{"the entry was deleted from the audit log before it could be sent"}
	}
	if e.TargetKind != "" {
		payload.Target = &Target{Kind: e.TargetKind, ID: e.TargetID, Name: e.TargetName}
	}
	body, err := json.Marshal(payload)
	if err != nil {
		return &refusal{"the message cannot be encoded as JSON"}
	}
	header := out.bearer()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	header.Set("Webhook-Id", m.id)
	header.Set("Webhook-Timestamp", stamp)
	if key := out.secrets["secret"]; !key.Empty() {
		signature, err := Sign(key.Reveal(), m.id, stamp, body)
		if err != nil {
			return &unavailable{text: err.Error()}
		}
		header.Set("Webhook-Signature", signature)
	}
	return out.send(ctx, http.MethodPost, out.url, body, header)
}

// Sign returns the value of the header Webhook-Signature: "v1," and the
// HMAC-SHA256 in base64 of Webhook-Id, Webhook-Timestamp (seconds since 1970)
// and the body, joined by dots. A secret with the prefix whsec_ is a key in
// base64; any other secret is the key itself.
//
// A receiver should refuse old timestamps, so that nobody can replay a recorded
// request.
func Sign(secret, id, timestamp string, body []byte) (string, error) {
	key, err := signingKey(secret)
	if err != nil {
		return "", err
	}
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
}

// signingKey returns the key of a webhook's signature. A secret with the prefix
// is base64.
func signingKey(secret string) ([]byte, error) {
	text, encoded := strings.CutPrefix(secret, keyPrefix)
	if !encoded {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) == 0 {
		return nil, errors.New("must be base64 after " + keyPrefix)
	}
	return key, nil
}
