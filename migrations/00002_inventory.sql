-- +goose Up
-- A cluster is a group of nodes that know the same guests. A machine alone is a cluster of its own with an empty name.
CREATE TABLE clusters (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id    bigint NOT NULL REFERENCES teams,
    name       text NOT NULL DEFAULT '',
    quorate    boolean,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When its inventory was last written, and last written with detail.
    seen_at    timestamptz,
    detail_at  timestamptz,
    next_poll_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX clusters_team ON clusters (team_id, name);

CREATE TABLE hosts (
    id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id            bigint NOT NULL DEFAULT 1 REFERENCES teams,
    cluster_id         bigint REFERENCES clusters,
    driver             text NOT NULL,
    name               text NOT NULL UNIQUE,
    address            text NOT NULL UNIQUE,
    tls_fingerprint    text,
    verify_tls         boolean NOT NULL DEFAULT true,
    node_shell_enabled boolean NOT NULL DEFAULT false,
    ssh_consent        boolean NOT NULL DEFAULT false,
    ssh_enroll         boolean NOT NULL DEFAULT false,
    ssh_host_key_fingerprint text,
    version            text NOT NULL DEFAULT '',
    entry_node         text NOT NULL DEFAULT '',
    -- pending until the first poll, then online or unreachable.
    status             text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'online', 'unreachable')),
    -- Why the last poll failed: a reason of the hypervisor_error problem and a sentence; empty after a good poll.
    error_reason       text NOT NULL DEFAULT '',
    error              text NOT NULL DEFAULT '',
    failures           integer NOT NULL DEFAULT 0,
    polled_at          timestamptz,
    ok_at              timestamptz,
    next_poll_at       timestamptz NOT NULL DEFAULT now(),
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX hosts_team ON hosts (team_id);
CREATE INDEX hosts_cluster ON hosts (cluster_id);

CREATE TABLE host_credentials (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_id     bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    capability  text NOT NULL,
    token_id    text NOT NULL,
    -- Sealed by core/secret, bound to this table, column and row.
    secret      bytea NOT NULL,
    missing     text[] NOT NULL DEFAULT '{}',
    extra       text[] NOT NULL DEFAULT '{}',
    recommended text[] NOT NULL DEFAULT '{}',
    verified_at timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (host_id, capability)
);

CREATE TABLE nodes (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id   bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    host_id      bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    name         text NOT NULL,
    status       text NOT NULL,
    address      text NOT NULL DEFAULT '',
    fingerprint  text NOT NULL DEFAULT '',
    level        text NOT NULL DEFAULT '',
    cpu          double precision,
    cpus         double precision,
    memory       bigint,
    memory_total bigint,
    disk         bigint,
    disk_total   bigint,
    uptime       bigint,
    seen_at      timestamptz NOT NULL,
    UNIQUE (cluster_id, name)
);
CREATE INDEX nodes_host ON nodes (host_id);

-- Every guest that the hypervisors report, VM or container: a cache, replaced by polls. vms are its rows of kind vm.
CREATE TABLE guests (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id   bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    -- The host registered at the guest's node, or else the cluster's first.
    host_id      bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('vm', 'container')),
    vmid         bigint NOT NULL,
    node         text NOT NULL,
    name         text NOT NULL,
    status       text NOT NULL,
    template     boolean NOT NULL DEFAULT false,
    lock         text NOT NULL DEFAULT '',
    pool         text NOT NULL DEFAULT '',
    tags         text[] NOT NULL DEFAULT '{}',
    cpu          double precision,
    cpus         double precision,
    memory       bigint,
    memory_total bigint,
    disk         bigint,
    disk_total   bigint,
    net_in       bigint,
    net_out      bigint,
    disk_read    bigint,
    disk_write   bigint,
    uptime       bigint,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    -- When a poll last found anything different. What a poll found the same is not written again: clusters.seen_at
    -- says when that was.
    changed_at   timestamptz NOT NULL DEFAULT now(),
    -- When a job last read its state past the hypervisor's list, which lags by some ten seconds.
    read_at      timestamptz,
    UNIQUE (cluster_id, vmid, kind)
) WITH (fillfactor = 60); -- room for the new version of a row on its own page: figures change with every poll
CREATE INDEX guests_host ON guests (host_id, kind);

CREATE TABLE storages (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    host_id    bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    node       text NOT NULL,
    name       text NOT NULL,
    type       text NOT NULL DEFAULT '',
    shared     boolean NOT NULL DEFAULT false,
    status     text NOT NULL,
    content    text[] NOT NULL DEFAULT '{}',
    used       bigint,
    total      bigint,
    seen_at    timestamptz NOT NULL,
    UNIQUE (cluster_id, node, name)
);

-- An app is a container that was adopted or installed. It outlives the cache row of its container.
CREATE TABLE apps (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Null when its host was removed with forget_apps refused elsewhere, or the host is gone.
    host_id      bigint REFERENCES hosts ON DELETE SET NULL,
    cluster_id   bigint REFERENCES clusters ON DELETE SET NULL,
    vmid         bigint NOT NULL,
    name         text NOT NULL,
    slug         text,
    web_port     integer,
    web_path     text,
    web_protocol text,
    adopted_at   timestamptz NOT NULL DEFAULT now(),
    adopted_by   bigint REFERENCES users ON DELETE SET NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (cluster_id, vmid)
);
CREATE INDEX apps_host ON apps (host_id);

-- +goose Down
DROP TABLE apps, storages, guests, nodes, host_credentials, hosts, clusters;
