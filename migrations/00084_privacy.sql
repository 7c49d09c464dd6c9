-- +goose Up
-- Log-ins that succeeded, for the account's own history. Those that did not are in the audit trail.
CREATE TABLE logins (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    at         timestamptz NOT NULL DEFAULT now(),
    -- What proved who it is: password, totp, recovery_code, provider.
    method     text NOT NULL,
    address    text NOT NULL,
    user_agent text NOT NULL,
    -- Neither the browser nor the network was known to the account.
    new_place  boolean NOT NULL
);
CREATE INDEX logins_user ON logins (user_id, id DESC);
CREATE INDEX logins_at ON logins (at);

-- Rows of the audit trail whose addresses were taken out when they were old enough. mac proves that who has the chain's key did it, to a
-- row that was whole, and did nothing else: see core/audit/blank.go.
CREATE TABLE audit_blanked (
    audit_id bigint PRIMARY KEY,
    mac      bytea NOT NULL
);

-- +goose Down
-- Rows whose addresses were taken out do not verify without it.
DROP TABLE audit_blanked;
DROP TABLE logins;
