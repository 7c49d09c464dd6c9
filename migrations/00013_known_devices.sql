-- +goose Up
-- Browsers that have logged in to an account, and networks from which one has: each has wrong tries of its own there, so
-- that strangers who use theirs up lock nobody out.
CREATE TABLE login_devices (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    -- SHA-256 of the token in the browser's cookie; the token itself is nowhere.
    token_hash bytea NOT NULL UNIQUE,
    -- Whether the browser came with an earlier token of the account: it keeps cookies and is worth remembering longer than
    -- what logs in anew each time.
    returned   boolean NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX login_devices_user ON login_devices (user_id, returned, id);
CREATE INDEX login_devices_expiry ON login_devices (expires_at);

CREATE TABLE login_addresses (
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    -- An IPv4 address or an IPv6 /64, as counters of log-in tries name it.
    network text NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, network)
);
CREATE INDEX login_addresses_seen ON login_addresses (seen_at);

-- Where the password was given: '' for strangers, else the counter of the device or network. Log-ins that strangers leave
-- waiting push no other out.
ALTER TABLE pending_logins ADD COLUMN origin text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE pending_logins DROP COLUMN origin;
DROP TABLE login_addresses, login_devices;
