-- +goose Up
-- The chain of hashes over the trail, see core/audit/chain.go. The trail's own rows are never written again: a row's place
-- in the chain is a row of its own.
CREATE TABLE audit_chain (
    id   smallint PRIMARY KEY CHECK (id = 1),
    -- The key of all hashes here, sealed by core/secret, bound to this table, column and row.
    key  bytea NOT NULL,
    -- The last place that was given, its hash, and the proof that both were written by who has the key.
    seq  bigint NOT NULL,
    hash bytea NOT NULL,
    mac  bytea NOT NULL
);

-- Places have no gap but for those that an anchor spans.
CREATE TABLE audit_links (
    seq      bigint PRIMARY KEY,
    audit_id bigint NOT NULL UNIQUE,
    -- The hash of the place before.
    previous bytea NOT NULL,
    hash     bytea NOT NULL
);

-- Rows that have no place yet.
CREATE TABLE audit_pending (
    audit_id bigint PRIMARY KEY
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What was cleared: a run of places and the hash of the last of them. mac is null only while a clearing is under way.
CREATE TABLE audit_anchors (
    first bigint PRIMARY KEY,
    last  bigint NOT NULL CHECK (last >= first),
    hash  bytea NOT NULL,
    mac   bytea
);

-- +goose StatementBegin
CREATE FUNCTION audit_pend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_pending (audit_id) VALUES (NEW.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_pend AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_pend();
INSERT INTO audit_pending (audit_id) SELECT id FROM audit;

-- +goose Down
DROP TRIGGER audit_pend ON audit;
DROP FUNCTION audit_pend();
DROP TABLE audit_anchors, audit_pending, audit_links, audit_chain;
