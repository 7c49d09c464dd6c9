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

// registerPasskeys declares the operations on passkeys. A log-in and the
// creation of a passkey each take two requests: the first returns the challenge
// for the browser, and the second sends the response of the authenticator.
func registerPasskeys(a *op.API, h handlers) {
	op.Post(a, "/api/v1/auth/passkeys/login/begin", h.beginPasskeyLogIn, op.Spec{
		ID: "begin_passkey_log_in", Summary: "Begin a log-in with a passkey", Tag: tag, Secret: true, Public: true, ReadOnly: true,
		Description: "Returns `options` for `navigator.credentials.get`, in the format of " +
			"`PublicKeyCredential.parseRequestOptionsFromJSON`, and `ceremony`, which must be sent with the result " +
			"within 5 minutes. Without `pending`, the passkey is the only factor and requires user verification, such as " +
			"a fingerprint, a face or a PIN. With the `pending` of a log-in that returned `totp_required`, it is the " +
			"second factor of that log-in. 409 `invalid_state` if the service has no domain name (`HOSTLER_BASE_URL`).",
	})
	op.Post(a, "/api/v1/auth/passkeys/login", h.logInPasskey, op.Spec{
		ID: "complete_passkey_log_in", Summary: "Log in with a passkey", Tag: tag, Secret: true, Public: true,
		Audit: op.Audit{Action: "auth.login"},
		Description: "Accepts the response of the authenticator once and creates a session like a log-in by password. " +
			"401 `invalid_credentials` for an invalid or repeated response, for an unknown passkey, and for a passkey " +
			"whose signature counter went back, which indicates a copy; 30 of these from one IP address within 15 " +
			"minutes are 429 `rate_limited`. An account without a password logs in through its provider, and a passkey " +
			"is its second factor.",
	})
	op.Get(a, "/api/v1/auth/passkeys", h.passkeys, op.Spec{
		ID: "list_passkeys", Summary: "List your passkeys", Tag: tag, On: op.Anywhere,
		Description: "Lists the caller's passkeys, oldest first; at most 20.",
	})
	op.Post(a, "/api/v1/auth/passkeys/begin", h.beginPasskey, op.Spec{
		ID: "begin_passkey", Summary: "Begin to create a passkey", Tag: tag, Secret: true, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.passkey_begin"},
		Description: "Returns `options` for `navigator.credentials.create`, in the format of " +
			"`PublicKeyCredential.parseCreationOptionsFromJSON`, and `ceremony`, which must be sent with the result " +
			"within 5 minutes and in the same session. It requires the password if the account has one. A wrong password " +
			"is a 422 at `password`; ten of them within 15 minutes are 429 `rate_limited`. 409 `invalid_state` with an " +
			"API key, with 20 passkeys, and if the service has no domain name (`HOSTLER_BASE_URL`).",
	})
	op.Post(a, "/api/v1/auth/passkeys", h.addPasskey, op.Spec{
		ID: "add_passkey", Summary: "Add a passkey", Tag: tag, Secret: true, On: op.Anywhere, Status: http.StatusCreated,
		Audit: op.Audit{Action: "auth.passkey_add"}, Replay: h.madePasskey,
		Description: "Accepts the response of the authenticator. Log-ins by password then require a second factor, " +
			"and each passkey counts as one. If the account had no second factor before, the response contains ten " +
			"recovery codes, which are shown only once; each can be used once as a second factor. An invalid " +
			"response is a 422 at `credential`; one to an expired request, or to a request of another session, is a " +
			"422 at `ceremony`.",
	})
	op.Patch(a, "/api/v1/auth/passkeys/:passkey_id", h.renamePasskey, op.Spec{
		ID: "rename_passkey", Summary: "Rename a passkey", Tag: tag, On: op.Anywhere,
		Audit: op.Audit{Action: "auth.passkey_rename"},
		Description: "Renames one of the caller's passkeys. A passkey of another user is 404, like one that does not " +
			"exist.",
	})
	op.Delete(a, "/api/v1/auth/passkeys/:passkey_id", h.deletePasskey, op.Spec{
		ID: "delete_passkey", Summary: "Delete a passkey", Tag: tag, On: op.Anywhere, Status: http.StatusNoContent,
		Audit: op.Audit{Action: "auth.passkey_delete"},
		Description: "Requires the password in the body if the account has one. Log-ins that wait for a second factor " +
			"end, and deleting the last second factor deletes the recovery codes. Sessions stay active. A wrong password " +
			"is a 422 at `password`; ten of them within 15 minutes are 429 `rate_limited`. A passkey of another user is " +
			"404, like one that does not exist. 409 `invalid_state` with an API key, because it requires a session.",
	})
}

// Passkey is a passkey of the caller.
type Passkey struct {
	ID         int64      `json:"id" example:"4"`
	Name       string     `json:"name" example:"Laptop"`
	Transports []string   `json:"transports" example:"[\"internal\"]" doc:"Transports that its authenticator reported"`
	Synced     bool       `json:"synced" example:"true" doc:"true if the passkey is synced between devices"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"When it was last used; null if never"`
}

func passkeyOf(p *identity.Passkey) Passkey {
	out := Passkey{ID: p.ID, Name: p.Name, Transports: append([]string{}, p.Transports...), Synced: p.BackedUp, CreatedAt: p.CreatedAt.UTC()}
	if p.LastUsedAt != nil {
		out.LastUsedAt = new(p.LastUsedAt.UTC())
	}
	return out
}

type beginPasskeyOutput struct {
	Ceremony string    `json:"ceremony" doc:"Token to send with the result"`
	Options  op.Object `json:"options" doc:"Options for navigator.credentials in the browser"`
}

func begun(b *passkey.CeremonyStart, err error) (*op.Body[beginPasskeyOutput], error) {
	if err != nil {
		return nil, err
	}
	return &op.Body[beginPasskeyOutput]{Body: beginPasskeyOutput{Ceremony: b.Ceremony, Options: op.Object(b.Options)}}, nil
}

type beginPasskeyLogInInput struct {
	Body struct {
		Pending string `json:"pending,omitempty" maxLength:"64" doc:"Token from the log-in that requires a second factor; empty to log in with a passkey alone"`
	}
}

func (h handlers) beginPasskeyLogIn(ctx context.Context, in *beginPasskeyLogInInput) (*op.Body[beginPasskeyOutput], error) {
	return begun(h.ceremonies.BeginLogIn(ctx, in.Body.Pending))
}

type logInPasskeyInput struct {
	Client
	Body struct {
		Pending    string    `json:"pending,omitempty" maxLength:"64" doc:"Same value as in the first step"`
		Ceremony   string    `json:"ceremony" maxLength:"2048" doc:"Value of ceremony from the response to the first step"`
		Credential op.Object `json:"credential" doc:"Result of navigator.credentials.get, converted by toJSON"`
	}
}

func (h handlers) logInPasskey(ctx context.Context, in *logInPasskeyInput) (*logInOutput, error) {
	answer := passkey.Response{Ceremony: in.Body.Ceremony, Credential: json.RawMessage(in.Body.Credential)}
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

// Proof has the password of the caller, if the account has one. It proves that
// the caller has more than the session.
type Proof struct {
	Password string `json:"password,omitempty" maxLength:"1024" example:"seven-yellow-donkeys" doc:"Current password, if the account has one"`
}

func (h handlers) beginPasskey(ctx context.Context, in *struct{ Body Proof }) (*op.Body[beginPasskeyOutput], error) {
	return begun(h.ceremonies.BeginAdd(ctx, identity.FromContext(ctx), in.Body.Password))
}

type addPasskeyInput struct {
	Body struct {
		Name       string    `json:"name" minLength:"1" maxLength:"100" example:"Laptop" doc:"Name of the passkey"`
		Ceremony   string    `json:"ceremony" maxLength:"2048" doc:"Value of ceremony from the response to the first step"`
		Credential op.Object `json:"credential" doc:"Result of navigator.credentials.create, converted by toJSON"`
	}
}

type addPasskeyOutput struct {
	Passkey       Passkey  `json:"passkey"`
	RecoveryCodes []string `json:"recovery_codes" doc:"Ten recovery codes if it is the first second factor, shown only once; otherwise empty"`
}

func (h handlers) addPasskey(ctx context.Context, in *addPasskeyInput) (*op.Body[addPasskeyOutput], error) {
	p, codes, err := h.ceremonies.Add(ctx, identity.FromContext(ctx), in.Body.Name,
		passkey.Response{Ceremony: in.Body.Ceremony, Credential: json.RawMessage(in.Body.Credential)})
	if err != nil {
		return nil, err
	}
	return &op.Body[addPasskeyOutput]{Body: addPasskeyOutput{Passkey: passkeyOf(p), RecoveryCodes: append([]string{}, codes...)}}, nil
}

// madePasskey rebuilds the answer of addPasskey for a repeated Idempotency-Key.
func (h handlers) madePasskey(_ context.Context, made idempotency.Result) (any, error) {
	var kept identity.AddPasskeyResult
	if err := made.Decode(&kept); err != nil {
		return nil, err
	}
	return addPasskeyOutput{Passkey: passkeyOf(&kept.Passkey), RecoveryCodes: append([]string{}, kept.Codes...)}, nil
}

// PasskeyPath has the path parameter of a passkey.
type PasskeyPath struct {
	ID int64 `path:"passkey_id" minimum:"1" doc:"ID of the passkey"`
}

type renamePasskeyInput struct {
	PasskeyPath
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"100" example:"Old laptop" doc:"New name of the passkey"`
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
	PasskeyPath
	Body Proof
}

func (h handlers) deletePasskey(ctx context.Context, in *deletePasskeyInput) (*op.Empty, error) {
	return &op.Empty{}, h.users.DeletePasskey(ctx, identity.FromContext(ctx), in.ID, in.Body.Password)
}
