-- +goose Up
-- Which job may run scripts on a node: one at a time. A row whose job has ended is nobody's.
CREATE TABLE script_leases (
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    node       text NOT NULL,
    job_id     bigint NOT NULL,
    taken_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (cluster_id, node)
);

-- What an app was installed by, as it was then. Rows are added with their app, and go with it.
CREATE TABLE app_installs (
    app_id          bigint PRIMARY KEY REFERENCES apps ON DELETE CASCADE,
    -- The job may be gone.
    job_id          bigint NOT NULL,
    source          text NOT NULL,
    slug            text NOT NULL,
    pin             text NOT NULL,
    -- The last state that changed the entry's own files.
    app_pin         text NOT NULL,
    bundle          text NOT NULL REFERENCES bundles,
    -- What was set, and the environment of the scripts, without what is secret: its value is null.
    overrides       jsonb NOT NULL,
    environment     jsonb NOT NULL,
    -- Where the container keeps the app's version; empty for nowhere.
    version_file    text NOT NULL,
    -- The tag by which the container was found.
    mark            text NOT NULL,
    -- How the scripts ended, and what has shown that they have succeeded.
    evidence        jsonb NOT NULL,
    installed_by    bigint REFERENCES users ON DELETE SET NULL,
    installed_email text NOT NULL,
    installed_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX app_installs_bundle ON app_installs (bundle);
CREATE INDEX app_installs_installed_by ON app_installs (installed_by) WHERE installed_by IS NOT NULL;

-- +goose Down
DROP TABLE app_installs, script_leases;
