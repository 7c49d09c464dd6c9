-- +goose Up
-- Public keys of WebAuthn by which people log in. Nothing in them is secret.
CREATE TABLE passkeys (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id       bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    name          text NOT NULL,
    credential_id bytea NOT NULL CONSTRAINT passkeys_credential UNIQUE,
    public_key    bytea NOT NULL,
    -- How often it was used, as the authenticator says; those that keep copies of a passkey on several devices say 0 for ever.
    sign_count    bigint NOT NULL,
    transports    text[] NOT NULL,
    -- It has asked for a finger, a face or a PIN when it was made.
    user_verified   boolean NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up       boolean NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    last_used_at  timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- passkey_handle is by what authenticators know the account: random, and the same for all its passkeys. passkeys is how many there are.
ALTER TABLE users
    ADD COLUMN passkey_handle bytea CONSTRAINT users_passkey_handle UNIQUE,
    ADD COLUMN passkeys integer NOT NULL DEFAULT 0 CHECK (passkeys >= 0),
    ADD COLUMN second_factor boolean NOT NULL GENERATED ALWAYS AS (totp_confirmed_at IS NOT NULL OR passkeys > 0) STORED;

-- by_passkey: by a passkey alone, without a password.
ALTER TABLE sessions
    ADD COLUMN by_passkey boolean NOT NULL DEFAULT false,
    DROP CONSTRAINT sessions_second_factor_check,
    ADD CONSTRAINT sessions_second_factor_check CHECK (second_factor IN ('totp', 'recovery_code', 'provider', 'passkey'));

-- +goose Down
-- An account whose only second factor was a passkey would be open to its password alone: what waits and what came in by one ends.
DELETE FROM sessions WHERE by_passkey OR second_factor = 'passkey';
DELETE FROM pending_logins WHERE user_id IN (SELECT id FROM users WHERE passkeys > 0 AND totp_confirmed_at IS NULL);
ALTER TABLE sessions
    DROP COLUMN by_passkey,
    DROP CONSTRAINT sessions_second_factor_check,
    ADD CONSTRAINT sessions_second_factor_check CHECK (second_factor IN ('totp', 'recovery_code', 'provider'));
ALTER TABLE users DROP COLUMN second_factor, DROP COLUMN passkeys, DROP COLUMN passkey_handle;
DROP TABLE passkeys;
