-- +goose Up
-- The receiver of samples, such as a Prometheus, and how far it has them: one row, or none.
CREATE TABLE remote_write (
    id          smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    url         text NOT NULL,
    fingerprint text NOT NULL DEFAULT '',
    -- Empty with a secret: that is a bearer token, and no password.
    username    text NOT NULL DEFAULT '',
    -- Sealed by core/secret, bound to this table, column and row; null for none.
    secret      bytea,
    -- Another one with each change: what is sent to the receiver of before is not noted.
    version     bigint NOT NULL DEFAULT 1,
    -- Every sample up to this one was sent, by time, kind and id.
    sent_at     timestamptz NOT NULL DEFAULT now(),
    sent_kind   text NOT NULL DEFAULT '',
    sent_id     bigint NOT NULL DEFAULT 0,
    -- How many values were taken, and how many the receiver refused.
    sent        bigint NOT NULL DEFAULT 0,
    refused     bigint NOT NULL DEFAULT 0,
    ok_at       timestamptz,
    -- The last failure, and how many there were since the last success.
    error       text NOT NULL DEFAULT '',
    error_at    timestamptz,
    failures    integer NOT NULL DEFAULT 0,
    next_at     timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50); -- it changes with every request that is sent

-- +goose Down
DROP TABLE remote_write;
