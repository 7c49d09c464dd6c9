-- +goose Up
-- What a change under an Idempotency-Key was, and what it answered. The row is written in the transaction of the change, so that
-- one is there with the other or not at all. The key is the caller's own. What is sealed may hold a secret that is shown once.
CREATE TABLE idempotency_keys (
    caller     text NOT NULL,
    key        text NOT NULL,
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- +goose Down
DROP TABLE idempotency_keys;
