-- +goose Up
-- The right to open one console once, within half a minute.
CREATE TABLE console_tickets (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of the ticket; the ticket itself is nowhere.
    hash        bytea NOT NULL UNIQUE,
    user_id     bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    -- Whom it was given to: one of the two.
    session_id  bigint REFERENCES sessions ON DELETE CASCADE,
    key_id      bigint REFERENCES api_keys ON DELETE CASCADE,
    target_kind text NOT NULL CHECK (target_kind IN ('app', 'vm', 'host')),
    target_id   bigint NOT NULL,
    -- The node of a shell; empty for guests.
    node        text NOT NULL DEFAULT '',
    -- What the console carries; empty until it is open at the hypervisor, and the ticket is good for nothing before.
    kind        text NOT NULL DEFAULT '' CHECK (kind IN ('', 'terminal', 'graphical')),
    columns     integer NOT NULL DEFAULT 0,
    rows        integer NOT NULL DEFAULT 0,
    -- The process that holds the open console.
    instance    text NOT NULL,
    expires_at  timestamptz NOT NULL
);
CREATE INDEX console_tickets_user ON console_tickets (user_id);
CREATE INDEX console_tickets_session ON console_tickets (session_id);
CREATE INDEX console_tickets_key ON console_tickets (key_id);
CREATE INDEX console_tickets_expires ON console_tickets (expires_at);

-- What terminals showed, where that is kept. It outlives what it is of.
CREATE TABLE console_recordings (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- That of the host at the beginning. Like hosts, those of a team that is deleted fall to the default team.
    team_id      bigint NOT NULL DEFAULT 1 REFERENCES teams ON DELETE SET DEFAULT,
    host_id      bigint REFERENCES hosts ON DELETE SET NULL,
    target_kind  text NOT NULL,
    target_id    bigint NOT NULL,
    target_name  text NOT NULL,
    node         text NOT NULL,
    user_id      bigint REFERENCES users ON DELETE SET NULL,
    user_email   text NOT NULL,
    address      text NOT NULL,
    -- What its chunks are encrypted with, sealed.
    data_key     bytea,
    started_at   timestamptz NOT NULL DEFAULT now(),
    -- Moves while it is being written.
    seen_at      timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    -- As the terminal showed it, in bytes, and how much of the database that takes.
    output_bytes bigint NOT NULL DEFAULT 0,
    stored_bytes bigint NOT NULL DEFAULT 0,
    -- The rest of it was longer than what is kept.
    truncated    boolean NOT NULL DEFAULT false
);
CREATE INDEX console_recordings_team ON console_recordings (team_id, id DESC);
CREATE INDEX console_recordings_host ON console_recordings (host_id);
CREATE INDEX console_recordings_user ON console_recordings (user_id);
CREATE INDEX console_recordings_started ON console_recordings (started_at);

CREATE TABLE console_recording_chunks (
    recording_id bigint NOT NULL REFERENCES console_recordings ON DELETE CASCADE,
    number       integer NOT NULL,
    content      bytea NOT NULL,
    PRIMARY KEY (recording_id, number)
);
-- They are encrypted: compressing them again would find nothing.
ALTER TABLE console_recording_chunks ALTER COLUMN content SET STORAGE EXTERNAL;

-- Consoles that the host's release cannot give with this token, as the last check found.
ALTER TABLE host_credentials ADD COLUMN console_limits jsonb NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE host_credentials DROP COLUMN console_limits;
DROP TABLE console_recording_chunks, console_recordings, console_tickets;
