-- +goose Up
CREATE TABLE api_keys (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id      bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    name         text NOT NULL,
    -- SHA-256 of the key; the key itself is nowhere. The prefix is shown, and is no part of the 256 bits that protect it.
    key_hash     bytea NOT NULL UNIQUE,
    prefix       text NOT NULL,
    -- NULL means all that the user may.
    scopes       text[] CHECK (cardinality(scopes) > 0),
    expires_at   timestamptz,
    last_used_at timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_user ON api_keys (user_id);

-- The second factor is on when it is confirmed. totp_secret is sealed; totp_last_step is the 30 s step of the last code
-- that was used, so that each is good once.
ALTER TABLE users
    ADD COLUMN totp_secret bytea,
    ADD COLUMN totp_confirmed_at timestamptz,
    ADD COLUMN totp_last_step bigint,
    ADD COLUMN totp_enabled boolean NOT NULL GENERATED ALWAYS AS (totp_confirmed_at IS NOT NULL) STORED,
    ADD CONSTRAINT users_totp CHECK (totp_confirmed_at IS NULL OR totp_secret IS NOT NULL);

-- A row is a code that is still good.
CREATE TABLE recovery_codes (
    user_id   bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

-- Log-ins whose password was right and whose second factor is due.
CREATE TABLE pending_logins (
    token_hash    bytea PRIMARY KEY,
    user_id       bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    -- SHA-256 of the password's hash: a new password ends the log-in.
    password_mark bytea NOT NULL,
    tries         integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL
);
CREATE INDEX pending_logins_user ON pending_logins (user_id);

-- +goose Down
DROP TABLE pending_logins, recovery_codes, api_keys;
ALTER TABLE users DROP COLUMN totp_enabled, DROP COLUMN totp_secret, DROP COLUMN totp_confirmed_at, DROP COLUMN totp_last_step;
