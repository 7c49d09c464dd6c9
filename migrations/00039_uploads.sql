-- +goose Up
-- A file that is being received, or was: its row tells from any instance how far it has come. Rows are kept for some days.
CREATE TABLE uploads (
    id         text PRIMARY KEY,
    host_id    bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    storage    text NOT NULL,
    -- Empty until the file's part has begun.
    name       text NOT NULL DEFAULT '',
    -- The folder that the file is in.
    place      text NOT NULL,
    user_id    bigint REFERENCES users ON DELETE SET NULL,
    status     text NOT NULL DEFAULT 'receiving' CHECK (status IN ('receiving', 'received', 'failed')),
    received   bigint NOT NULL DEFAULT 0,
    -- What the request is long in all, where its sender says; more than the file by the form around it.
    size       bigint,
    sha256     text NOT NULL DEFAULT '',
    job_id     bigint REFERENCES jobs ON DELETE SET NULL,
    -- The code of a problem and a sentence; empty unless it failed.
    error_code text NOT NULL DEFAULT '',
    error      text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX uploads_place ON uploads (place) WHERE status = 'receiving';
CREATE INDEX uploads_changed ON uploads (changed_at);
CREATE INDEX uploads_host ON uploads (host_id);
CREATE INDEX uploads_job ON uploads (job_id);

-- +goose Down
DROP TABLE uploads;
