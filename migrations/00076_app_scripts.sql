-- +goose Up
-- The script of an app in all of its versions. Rows are added and never changed; the newest one counts.
CREATE TABLE app_script_versions (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id        bigint NOT NULL REFERENCES apps ON DELETE CASCADE,
    number        integer NOT NULL CHECK (number > 0),
    origin        text NOT NULL CHECK (origin IN ('upstream', 'edited')),
    reason        text NOT NULL CHECK (reason IN ('install', 'edit', 'revert', 'update')),
    -- SHA-256 and size in bytes of the text. That of an upstream version is among bundle_files, which stays while the row is there.
    sha256        text NOT NULL,
    size          bigint NOT NULL,
    content       text,
    -- The bundle that an upstream version is of, the file in it, and the states of the source: of everything, and of the entry's own files.
    source        text,
    slug          text,
    bundle        text,
    path          text,
    pin           text,
    app_commit    text,
    job_id        bigint REFERENCES jobs ON DELETE SET NULL,
    created_by    bigint REFERENCES users ON DELETE SET NULL,
    created_email text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (app_id, number),
    CHECK ((origin = 'edited') = (content IS NOT NULL)),
    CHECK ((origin = 'upstream') = (num_nonnulls(source, slug, bundle, path, pin, app_commit) = 6)),
    CHECK (origin = 'upstream' OR num_nulls(source, slug, bundle, path, pin, app_commit) = 6)
);
CREATE INDEX app_script_versions_bundle ON app_script_versions (bundle) WHERE bundle IS NOT NULL;
CREATE INDEX app_script_versions_job ON app_script_versions (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX app_script_versions_created_by ON app_script_versions (created_by) WHERE created_by IS NOT NULL;

-- Updates of apps: what was asked for, and what came of it.
CREATE TABLE app_updates (
    job_id         bigint PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    app_id         bigint NOT NULL REFERENCES apps ON DELETE CASCADE,
    source         text NOT NULL,
    slug           text NOT NULL,
    bundle         text NOT NULL,
    pin            text NOT NULL,
    app_commit     text NOT NULL,
    -- Several that were asked for at once: the id of the first job, and after how many failures the others are not begun.
    batch          bigint,
    stop_after     integer,
    -- Null while it is not over, and where nothing of it was begun.
    outcome        text CHECK (outcome IN ('updated', 'nothing_to_do', 'rolled_back', 'needs_human')),
    text           text NOT NULL DEFAULT '',
    version_before text,
    version_after  text,
    exit_code      integer,
    -- The snapshot that is left, to go back to by hand.
    snapshot       text,
    ended_at       timestamptz
);
CREATE INDEX app_updates_app ON app_updates (app_id, job_id DESC);
CREATE INDEX app_updates_batch ON app_updates (batch) WHERE batch IS NOT NULL;
CREATE INDEX app_updates_bundle ON app_updates (bundle);

-- +goose Down
DROP TABLE app_updates, app_script_versions;
