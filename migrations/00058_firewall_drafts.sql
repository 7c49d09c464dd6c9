-- +goose Up
-- Changes of firewalls that are tried out together, and put back unless somebody confirms them in time.
CREATE TABLE firewall_drafts (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_id        bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    cluster_id     bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    name           text NOT NULL,
    version        bigint NOT NULL DEFAULT 1,
    -- What was asked for, and what it makes of each scope: the state before and the one after.
    changes        jsonb NOT NULL,
    scopes         jsonb NOT NULL,
    -- The least role of who may work on it: the highest that one of its scopes needs.
    role           text NOT NULL CHECK (role IN ('operator', 'admin')),
    status         text NOT NULL DEFAULT 'open'
                   CHECK (status IN ('open', 'committing', 'waiting', 'undoing', 'applied', 'undone', 'unknown')),
    job_id         bigint REFERENCES jobs ON DELETE SET NULL,
    window_seconds integer,
    -- When the changes are put back, from the moment on at which all of them were made.
    deadline       timestamptz,
    confirmed_at   timestamptz,
    confirmed_by   text NOT NULL DEFAULT '',
    outcome        text NOT NULL DEFAULT '',
    created_by     text NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX firewall_drafts_host ON firewall_drafts (host_id);
CREATE INDEX firewall_drafts_cluster ON firewall_drafts (cluster_id);
CREATE INDEX firewall_drafts_job ON firewall_drafts (job_id);

-- The scopes that a draft holds from its commit to its end: one at a time.
CREATE TABLE firewall_draft_locks (
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    scope      text NOT NULL,
    draft_id   bigint NOT NULL REFERENCES firewall_drafts ON DELETE CASCADE,
    PRIMARY KEY (cluster_id, scope)
);
CREATE INDEX firewall_draft_locks_draft ON firewall_draft_locks (draft_id);

-- +goose Down
DROP TABLE firewall_draft_locks, firewall_drafts;
