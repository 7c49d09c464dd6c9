-- +goose Up
CREATE TABLE jobs (
    id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind               text NOT NULL,
    status             text NOT NULL DEFAULT 'queued'
                       CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled', 'unknown')),
    team_id            bigint REFERENCES teams ON DELETE SET NULL,
    host_id            bigint REFERENCES hosts ON DELETE SET NULL,
    target_kind        text NOT NULL,
    target_id          bigint NOT NULL,
    target_name        text NOT NULL,
    -- What only one unfinished job may hold, such as "guest:12".
    exclusive          text,
    params             jsonb NOT NULL DEFAULT '{}',
    -- The worker's checkpoints, so that a second run continues where a killed one stood.
    progress           jsonb NOT NULL DEFAULT '{}',
    task_id            text NOT NULL DEFAULT '',
    error              text NOT NULL DEFAULT '',
    requested_by       bigint REFERENCES users ON DELETE SET NULL,
    requested_by_email text NOT NULL DEFAULT '',
    cancel_requested_at timestamptz,
    -- The queue's row that may run this job; another one for the same job is void.
    river_id           bigint,
    -- How often a worker began it: once, and once more after each death of its process.
    runs               integer NOT NULL DEFAULT 0,
    -- How many events there are, so that their numbers have no gap, and how many lines of the task's log are among them.
    event_count        integer NOT NULL DEFAULT 0,
    task_lines         integer NOT NULL DEFAULT 0,
    created_at         timestamptz NOT NULL DEFAULT now(),
    started_at         timestamptz,
    finished_at        timestamptz
);
CREATE UNIQUE INDEX jobs_exclusive ON jobs (exclusive) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_created ON jobs (created_at DESC, id DESC);
CREATE INDEX jobs_unfinished ON jobs (id) WHERE status IN ('queued', 'running');
CREATE INDEX jobs_target ON jobs (target_kind, target_id);
CREATE INDEX jobs_host ON jobs (host_id);

CREATE TABLE job_events (
    job_id bigint NOT NULL REFERENCES jobs ON DELETE CASCADE,
    seq    integer NOT NULL,
    at     timestamptz NOT NULL DEFAULT now(),
    -- log is a line of the hypervisor's task, note one of ours, status a change of the job's status.
    kind   text NOT NULL CHECK (kind IN ('log', 'note', 'status')),
    text   text NOT NULL,
    PRIMARY KEY (job_id, seq)
);

CREATE TABLE audit (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    actor_type  text NOT NULL CHECK (actor_type IN ('user', 'api_key', 'system', 'anonymous')),
    -- No foreign key: the row stays as it was when the user goes.
    actor_id    bigint,
    actor_email text NOT NULL DEFAULT '',
    action      text NOT NULL,
    target_kind text NOT NULL DEFAULT '',
    target_id   text NOT NULL DEFAULT '',
    target_name text NOT NULL DEFAULT '',
    team_id     bigint,
    host_id     bigint,
    job_id      bigint,
    result      text NOT NULL CHECK (result IN ('ok', 'refused', 'failed')),
    error       text NOT NULL DEFAULT '',
    address     text NOT NULL DEFAULT '',
    request_id  text NOT NULL DEFAULT '',
    details     jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_at ON audit (at DESC, id DESC);
CREATE INDEX audit_action ON audit (action, at DESC);
CREATE INDEX audit_actor ON audit (actor_id, at DESC);

-- +goose Down
DROP TABLE audit, job_events, jobs;
