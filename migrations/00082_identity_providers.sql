-- +goose Up
-- Providers of OpenID Connect by which people log in.
CREATE TABLE identity_providers (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL,
    issuer        text NOT NULL,
    client_id     text NOT NULL,
    -- Sealed; NULL for a client without one.
    client_secret bytea,
    scopes        text[] NOT NULL,
    groups_claim  text NOT NULL,
    -- create: an account is made at the first log-in; invited: only who has one comes in.
    accounts      text NOT NULL CHECK (accounts IN ('create', 'invited')),
    trust_email   boolean NOT NULL,
    allow_private boolean NOT NULL,
    fingerprint   text NOT NULL,
    enabled       boolean NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX identity_providers_name ON identity_providers (lower(name));

-- What members of a group get.
CREATE TABLE identity_provider_rules (
    provider_id bigint NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
    position    integer NOT NULL,
    group_name  text NOT NULL,
    team_id     bigint NOT NULL REFERENCES teams ON DELETE CASCADE,
    role        text NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'owner')),
    PRIMARY KEY (provider_id, position)
);
CREATE INDEX identity_provider_rules_team ON identity_provider_rules (team_id);

-- Who an account is at a provider: one person there is one account here.
CREATE TABLE user_identities (
    provider_id   bigint NOT NULL REFERENCES identity_providers ON DELETE CASCADE,
    subject       text NOT NULL,
    user_id       bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now(),
    last_login_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider_id, subject),
    CONSTRAINT user_identities_user UNIQUE (user_id, provider_id)
);

-- SHA-256 of the states whose answer has come: none is taken twice.
CREATE TABLE sign_on_states (
    state_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
);

-- An account of a provider has no password, and its hash is empty.
ALTER TABLE users ADD COLUMN has_password boolean NOT NULL GENERATED ALWAYS AS (password_hash <> '') STORED;

-- How one came in: by a provider, which ends with it, or by the password; and what came besides.
ALTER TABLE sessions
    ADD COLUMN provider_id bigint REFERENCES identity_providers ON DELETE CASCADE,
    ADD COLUMN second_factor text CHECK (second_factor IN ('totp', 'recovery_code', 'provider'));
CREATE INDEX sessions_provider ON sessions (provider_id) WHERE provider_id IS NOT NULL;

-- What the provider said of a log-in that waits for its second factor; NULL after a password.
ALTER TABLE pending_logins ADD COLUMN external jsonb;

-- +goose Down
-- Without its provider nobody has proven who came in or is about to.
DELETE FROM sessions WHERE provider_id IS NOT NULL;
DELETE FROM pending_logins WHERE external IS NOT NULL;
ALTER TABLE pending_logins DROP COLUMN external;
ALTER TABLE sessions DROP COLUMN second_factor, DROP COLUMN provider_id;
ALTER TABLE users DROP COLUMN has_password;
DROP TABLE sign_on_states, user_identities, identity_provider_rules, identity_providers;
