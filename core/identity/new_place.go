package identity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/notify"
)

// maxAgent is how much of the browser's User-Agent a message shows, in
// characters.
const maxAgent = 200

// welcome is remember for a log-in, and writes it into the account's history.
// The user gets a message about a log-in from an unknown browser on an unknown
// network, except for the very first log-in. user is the account before the
// log-in.
func (s *Store) welcome(ctx context.Context, tx *db.Tx, user *User, came arrival, from Client) (devices string, err error) {
	devices, strange, err := s.remember(ctx, tx, user.ID, from)
	if err == nil {
		err = noteLogin(ctx, tx, user.ID, came.method(), from, strange)
	}
	if err != nil || !strange || user.LastLoginAt == nil {
		return devices, err
	}
	agent := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(from.UserAgent, "\x00", ""), "")), " "))
	if len(agent) > maxAgent {
		agent = append(agent[:maxAgent], '…')
	}
	body := fmt.Sprintf("Someone logged in as %s from an address and with a browser that this account has not used recently.\n\n"+
		"Address: %s\nBrowser: %s\nTime: %s\n\nIf this was not you, change your password and end the session.",
		user.Email, Network(from.Address), string(agent), time.Now().UTC().Format("2006-01-02 15:04 MST"))
	return devices, notify.Write(ctx, tx.Pgx, notify.Event{Kind: notify.NewLogin, State: notify.OneTime, Severity: "warning",
		UserID: &user.ID,
		Title:  "New log-in to your account", Body: body, Link: "/account/sessions"})
}
