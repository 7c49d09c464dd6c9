-- +goose Up
-- A storage that holds backups, once for its cluster where it is shared and else once for each node that has it.
CREATE TABLE backup_storages (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    host_id    bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    -- Empty for a storage that all nodes share.
    node       text NOT NULL,
    name       text NOT NULL,
    -- When its backups were last listed, and when that was last tried.
    as_of      timestamptz,
    tried_at   timestamptz,
    -- Why the last try failed: the code of a problem and a sentence; empty after a good one.
    error_code text NOT NULL DEFAULT '',
    error      text NOT NULL DEFAULT '',
    UNIQUE (cluster_id, node, name)
);
CREATE INDEX backup_storages_host ON backup_storages (host_id);
CREATE INDEX backup_storages_tried ON backup_storages (tried_at NULLS FIRST);

-- Every backup that the hypervisors list: a cache, replaced by each listing of its storage.
CREATE TABLE backups (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    storage_id bigint NOT NULL REFERENCES backup_storages ON DELETE CASCADE,
    -- Its id at the hypervisor, and a node that sees it.
    ref        text NOT NULL,
    node       text NOT NULL,
    -- The guest that was backed up, as the hypervisor names it; guest_id is that guest's row while there is one.
    kind       text NOT NULL CHECK (kind IN ('vm', 'container')),
    guest_ref  text NOT NULL,
    uid        text,
    guest_id   bigint REFERENCES guests ON DELETE SET NULL,
    -- The guest's name, which stays when the guest is gone; empty where it was never known.
    name       text NOT NULL DEFAULT '',
    taken_at   timestamptz,
    size       bigint,
    format     text NOT NULL DEFAULT '',
    protected  boolean NOT NULL DEFAULT false,
    encrypted  boolean NOT NULL DEFAULT false,
    notes      text NOT NULL DEFAULT '',
    verified   text NOT NULL DEFAULT '' CHECK (verified IN ('', 'ok', 'failed')),
    UNIQUE (storage_id, ref)
);
CREATE INDEX backups_guest ON backups (guest_id, taken_at DESC NULLS LAST);
CREATE INDEX backups_taken ON backups (taken_at DESC NULLS LAST, id DESC);
CREATE INDEX backups_unlinked ON backups (cluster_id, guest_ref) WHERE guest_id IS NULL;

-- What a schedule has made and keeps a number of: snapshots by their name, backups by the hypervisor's id.
CREATE TABLE schedule_made (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_id bigint NOT NULL REFERENCES schedules ON DELETE CASCADE,
    guest_id    bigint NOT NULL REFERENCES guests ON DELETE CASCADE,
    kind        text NOT NULL CHECK (kind IN ('snapshot', 'backup')),
    name        text NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now(),
    -- The job that deletes it, and when that was asked for.
    delete_job  bigint,
    deleting_at timestamptz,
    UNIQUE (schedule_id, guest_id, kind, name)
);
CREATE INDEX schedule_made_guest ON schedule_made (guest_id);

-- +goose Down
DROP TABLE schedule_made, backups, backup_storages;
