package auth

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/passkey"
)

// registerPasskeys declares the operations of passkeys.
func registerPasskeys(a *op.API, h handlers) {
	op.Post(a, "/api/v1/auth/passkeys/login/begin", h.beginPasskeyLogIn, op.Spec{
		ID: "begin_passkey_log_in", Summary: "Begin a log-in by a passkey", Tag: tag, Secret: true, Public: true, ReadOnly: true,
		Description: "Answers with `options` for `navigator.credentials.get`, as `PublicKeyCredential.parseRequestOptionsFromJSON` reads " +
			"them, " +
			"and with `ceremony`, which goes back with the answer within 5 minutes. Without `pending` the passkey is all that is asked for, and " +
			"it asks for a finger, a face or a PIN. With `pending` of a log-in that answered `totp_required`, it is the second factor of that. " +
			"Where the service has no domain of its own (`HOSTLER_BASE_URL`), it is 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/auth/passkeys/login", h.logInPasskey, op.Spec{
		ID: "complete_passkey_log_in", Summary: "Log in by a passkey", Tag: tag, Secret: true, Public: true,
		Audit: op.Audit{Action: "auth.login"},
		Description: "Takes what the authenticator has answered, once, and opens a session as a log-in by password does. An answer that is " +
			"not " +
			"believed, that comes again, or of a passkey that is not known, and one whose count of uses went back, for there may be a copy of " +
			"the " +
			"passkey, are 401 `invalid_credentials`; 30 of these from one address within 15 minutes are 429 `rate_limited`. An account without a " +
			"password logs in by its provider, and a passkey is the second factor there.",
	})
	op.Get(a, "/api/v1/auth/passkeys", h.passkeys, op.Spec{
		ID: "list_passkeys", Summary: "List own passkeys", Tag: tag, On: op.Anywhere,
		Description: "The caller's passkeys, the oldest first; at most 20.",
	})
	op.Post(a, "/api/v1/auth/passkeys/begin", h.beginPasskey, op.Spec{
		ID: "begin_passkey", Summary: "Begin to make a passkey", Tag: tag, Secret: true, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.passkey_begin"},
		Description: "Answers with `options` for `navigator.credentials.create`, as `PublicKeyCredential.parseCreationOptionsFromJSON` reads " +
			"them, and with `ceremony`, which goes back with the answer within 5 minutes and in the same session. It needs the password, where " +
			"the account has one; a wrong one is a 422 at `password`, ten of them within 15 minutes are 429 `rate_limited`. With an API key, " +
			"with " +
			"20 passkeys, and where the service has no domain of its own (`HOSTLER_BASE_URL`), it is 409 `invalid_state`.",
	})
	op.Post(a, "/api/v1/auth/passkeys", h.addPasskey, op.Spec{
		ID: "add_passkey", Summary: "Add a passkey", Tag: tag, Secret: true, On: op.Anywhere, Status: http.StatusCreated,
		Audit: op.Audit{Action: "auth.passkey_add"}, Recall: h.madePasskey,
		Description: "Takes what the authenticator has made. From then on a log-in by password asks for a second factor, and a passkey is " +
			"one. " +
			"Where it is the first, the answer has ten recovery codes, shown this once: each stands for a second factor, once. An answer that " +
			"is not believed is a 422 at `credential`, and one to a request that is over, or of another session, at `ceremony`.",
	})
	op.Patch(a, "/api/v1/auth/passkeys/:passkey_id", h.renamePasskey, op.Spec{
		ID: "rename_passkey", Summary: "Rename a passkey", Tag: tag, On: op.Anywhere,
		Audit:       op.Audit{Action: "auth.passkey_rename"},
		Description: "Gives one of the caller's passkeys another name. Somebody else's is 404, like one that does not exist.",
	})
	op.Delete(a, "/api/v1/auth/passkeys/:passkey_id", h.deletePasskey, op.Spec{
		ID: "delete_passkey", Summary: "Delete a passkey", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.passkey_delete"},
		Description: "Needs the password, in the body, where the account has one. Log-ins that wait for a second factor are over, and with " +
			"the " +
			"last second factor the recovery codes go. Sessions go on. A wrong password is a 422 at `password`; ten of them within 15 minutes " +
			"are 429 `rate_limited`. Somebody else's passkey is 404, like one that does not exist. With an API key it is 409 `invalid_state`: " +
			"it needs a session.",
	})
}

// Passkey is a passkey of the caller.
type Passkey struct {
	ID         int64      `json:"id" example:"4"`
	Name       string     `json:"name" example:"Laptop"`
	Transports []string   `json:"transports" example:"[\"internal\"]" doc:"How browsers reach its authenticator, as that has told"`
	Synced     bool       `json:"synced" example:"true" doc:"Copies of it are kept on several devices, by whoever made the authenticator"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"Null when it was never used"`
}

func passkeyOf(p *identity.Passkey) Passkey {
	out := Passkey{ID: p.ID, Name: p.Name, Transports: append([]string{}, p.Transports...), Synced: p.BackedUp, CreatedAt: p.CreatedAt.UTC()}
	if p.LastUsedAt != nil {
		out.LastUsedAt = new(p.LastUsedAt.UTC())
	}
	return out
}

type beginPasskeyOutput struct {
	Ceremony string    `json:"ceremony" doc:"Goes back with the answer"`
	Options  op.Object `json:"options" doc:"What the browser's navigator.credentials takes"`
}

func begun(b *passkey.Begun, err error) (*op.Body[beginPasskeyOutput], error) {
	if err != nil {
		return nil, err
	}
	return &op.Body[beginPasskeyOutput]{Body: beginPasskeyOutput{Ceremony: b.Ceremony, Options: op.Object(b.Options)}}, nil
}

type beginPasskeyLogInInput struct {
	Body struct {
		Pending string `json:"pending,omitempty" maxLength:"64" doc:"From the answer to the log-in whose second factor it is; empty for a passkey alone"`
	}
}

func (h handlers) beginPasskeyLogIn(ctx context.Context, in *beginPasskeyLogInInput) (*op.Body[beginPasskeyOutput], error) {
	return begun(h.ceremonies.BeginLogIn(ctx, in.Body.Pending))
}

type logInPasskeyInput struct {
	Client
	Body struct {
		Pending    string    `json:"pending,omitempty" maxLength:"64" doc:"As at the beginning"`
		Ceremony   string    `json:"ceremony" maxLength:"2048" doc:"From the beginning"`
		Credential op.Object `json:"credential" doc:"What navigator.credentials.get has given, by its toJSON"`
	}
}

func (h handlers) logInPasskey(ctx context.Context, in *logInPasskeyInput) (*logInOutput, error) {
	answer := passkey.Answer{Ceremony: in.Body.Ceremony, Credential: json.RawMessage(in.Body.Credential)}
	done, err := h.ceremonies.LogIn(ctx, in.Body.Pending, answer, in.from)
	if err != nil {
		return nil, err
	}
	return loggedIn(done, in.site), nil
}

func (h handlers) passkeys(ctx context.Context, _ *struct{}) (*op.List[Passkey], error) {
	all, err := h.users.Passkeys(ctx, identity.FromContext(ctx).UserID)
	if err != nil {
		return nil, err
	}
	list := &op.List[Passkey]{Total: len(all), Body: make([]Passkey, len(all))}
	for i := range all {
		list.Body[i] = passkeyOf(&all[i])
	}
	return list, nil
}

// Proof shows that who has the session has the password too.
type Proof struct {
	Password string `json:"password,omitempty" maxLength:"1024" example:"seven-yellow-donkeys" doc:"The present password, where the account has one"`
}

func (h handlers) beginPasskey(ctx context.Context, in *struct{ Body Proof }) (*op.Body[beginPasskeyOutput], error) {
	return begun(h.ceremonies.BeginAdd(ctx, identity.FromContext(ctx), in.Body.Password))
}

type addPasskeyInput struct {
	Body struct {
		Name       string    `json:"name" minLength:"1" maxLength:"100" example:"Laptop" doc:"By what its user knows it"`
		Ceremony   string    `json:"ceremony" maxLength:"2048" doc:"From the beginning"`
		Credential op.Object `json:"credential" doc:"What navigator.credentials.create has given, by its toJSON"`
	}
}

type addPasskeyOutput struct {
	Passkey       Passkey  `json:"passkey"`
	RecoveryCodes []string `json:"recovery_codes" doc:"Ten where it is the first second factor, shown this once; else empty"`
}

func (h handlers) addPasskey(ctx context.Context, in *addPasskeyInput) (*op.Body[addPasskeyOutput], error) {
	p, codes, err := h.ceremonies.Add(ctx, identity.FromContext(ctx), in.Body.Name,
		passkey.Answer{Ceremony: in.Body.Ceremony, Credential: json.RawMessage(in.Body.Credential)})
	if err != nil {
		return nil, err
	}
	return &op.Body[addPasskeyOutput]{Body: addPasskeyOutput{Passkey: passkeyOf(p), RecoveryCodes: append([]string{}, codes...)}}, nil
}

// madePasskey makes the answer to a passkey's making again.
func (h handlers) madePasskey(_ context.Context, made idempotency.Made) (any, error) {
	var kept identity.MadePasskey
	if err := made.Decode(&kept); err != nil {
		return nil, err
	}
	return addPasskeyOutput{Passkey: passkeyOf(&kept.Passkey), RecoveryCodes: append([]string{}, kept.Codes...)}, nil
}

// One names a passkey in the path.
type One struct {
	ID int64 `path:"passkey_id" minimum:"1" doc:"The passkey's id"`
}

type renamePasskeyInput struct {
	One
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100" example:"Old laptop" doc:"By what its user knows it"`
	}
}

func (h handlers) renamePasskey(ctx context.Context, in *renamePasskeyInput) (*op.Body[Passkey], error) {
	p, err := h.users.RenamePasskey(ctx, identity.FromContext(ctx), in.ID, in.Body.Name)
	if err != nil {
		return nil, err
	}
	return &op.Body[Passkey]{Body: passkeyOf(p)}, nil
}

type deletePasskeyInput struct {
	One
	Body Proof
}

func (h handlers) deletePasskey(ctx context.Context, in *deletePasskeyInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.DeletePasskey(ctx, identity.FromContext(ctx), in.ID, in.Body.Password)
}
