package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

// maxFlow is how long a sealed flow may be; browsers keep no more than 4 KiB in a cookie.
const maxFlow = 4 << 10

// Flows keeps the state of a log-in between its beginning and its end in the
// browser that began it, sealed. So every instance can complete it, nobody can
// read or forge one, and unknown clients do not fill the database.
type Flows struct {
	DB   *db.DB
	Keys secret.Keys
	// Name is what the flows are of; one of another name does not open.
	Name string
}

// Seal returns the text that stands for a flow, which is any value with a JSON
// form.
func (f Flows) Seal(flow any) (string, error) {
	text, err := json.Marshal(flow)
	if err != nil {
		return "", fmt.Errorf("storing a log-in flow: %w", err)
	}
	sealed, err := f.Keys.Seal(secret.New(string(text)), f.place())
	if err != nil {
		return "", fmt.Errorf("encrypting a log-in flow: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open reads a text of Seal into flow, and reports whether it is one. It does
// not know how long a flow is valid; the flow itself contains that.
func (f Flows) Open(text string, flow any) bool {
	if text == "" || len(text) > maxFlow {
		return false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	plain, err := f.Keys.Open(sealed, f.place())
	return err == nil && json.Unmarshal([]byte(plain.Reveal()), flow) == nil
}

// place returns what the encrypted cookie of a flow is bound to, so that the
// cookie of one flow is not accepted by another.
func (f Flows) place() secret.Binding {
	return secret.Binding{Table: "cookie", Column: f.Name, Row: "flow"}
}

// Use marks the state of a flow as used for the given time, and reports whether
// it was unused. A state is answered once over all instances, even if the
// browser repeats the answer.
func (f Flows) Use(ctx context.Context, state string, life time.Duration) (bool, error) {
	hash := sha256.Sum256([]byte(state))
	done, err := f.DB.Pool.Exec(ctx, "INSERT INTO sign_on_states (state_hash, expires_at) VALUES ($1, now() + $2) ON CONFLICT DO NOTHING",
		hash[:], life)
	if err != nil {
		return false, db.Problem(fmt.Errorf("recording the provider's answer: %w", err))
	}
	return done.RowsAffected() == 1, nil
}
