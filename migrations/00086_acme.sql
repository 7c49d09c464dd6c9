-- +goose Up
-- What the certificates of the listener need: the account's key, certificates with their keys, and challenges that are under way. All
-- instances have the same, so that any of them answers the authority's question.
CREATE TABLE acme_cache (
    name       text PRIMARY KEY,
    -- Sealed by core/secret, bound to this table, column and row.
    data       bytea NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Which instance asks for a domain's first certificate: one at a time.
CREATE TABLE acme_turns (
    domain text PRIMARY KEY,
    until  timestamptz NOT NULL
);

-- +goose Down
DROP TABLE acme_turns;
DROP TABLE acme_cache;
