-- +goose Up
-- The short history of what the live feed tells: which object changed, in which of its columns, and never to what. Triggers write it, so
-- that every path is caught, SQL typed by hand included. Rows are read by snapshots of transactions (core/feed says how), and deleted
-- after a quarter of an hour.
CREATE TABLE feed_changes (
    id     bigint GENERATED ALWAYS AS IDENTITY,
    -- The transaction that wrote it: a reader has seen it when the transaction is visible in the reader's snapshot.
    xid    xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- guest, host, node, job, alert, task; figures with a cluster for object; scope with a host that went to another team.
    kind   text NOT NULL,
    object bigint NOT NULL,
    -- moved: another team sees it from now on.
    what   text NOT NULL CHECK (what IN ('new', 'changed', 'moved', 'gone')),
    -- Who saw it before, of what is moved and gone: null is the people with a role in the default team.
    team   bigint,
    -- The columns that changed. Of a node that is gone its cluster and its name, of a scope the team that it went to.
    fields text[] NOT NULL DEFAULT '{}'
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX feed_changes_xid ON feed_changes (xid);

-- Where this history is from: the ids of transactions mean nothing in a copy of the database. Rows of transactions before floor were
-- deleted.
CREATE TABLE feed_state (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    origin text NOT NULL DEFAULT '',
    floor  xid8 NOT NULL DEFAULT '0'
);
INSERT INTO feed_state DEFAULT VALUES;

-- Which transactions everybody saw at a time: what those wrote may be deleted a quarter of an hour later.
CREATE TABLE feed_marks (
    at   timestamptz PRIMARY KEY,
    floor xid8 NOT NULL
);

CREATE SEQUENCE feed_version;

-- Tasks of hypervisors that others started, while somebody looks: a cache of what polls listed last. An hour after its end a task goes.
CREATE TABLE hypervisor_tasks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    host_id    bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    -- The hypervisor's own id of it.
    ref        text NOT NULL,
    node       text NOT NULL,
    type       text NOT NULL,
    guest_ref  text,
    by_user    text NOT NULL,
    token_id   text,
    status     text NOT NULL,
    error      text,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz,
    seen_at    timestamptz NOT NULL,
    UNIQUE (cluster_id, ref)
);
CREATE INDEX hypervisor_tasks_host ON hypervisor_tasks (host_id);

-- Until when somebody looks.
CREATE TABLE task_watch (
    one   boolean PRIMARY KEY DEFAULT true CHECK (one),
    until timestamptz NOT NULL DEFAULT 'epoch'
);
INSERT INTO task_watch DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION feed_origin() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    own text;
BEGIN
    SELECT d.oid::text INTO own FROM pg_database d WHERE d.datname = current_database();
    BEGIN
        SELECT own || '.' || s.system_identifier || '.' || c.timeline_id INTO own FROM pg_control_system() s, pg_control_checkpoint() c;
    EXCEPTION WHEN insufficient_privilege THEN
        NULL; -- the database alone has to do
    END;
    RETURN to_hex(hashtextextended(own, 0));
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION feed_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM fresh) THEN -- a statement may have written nothing, as most of a poll
        PERFORM pg_notify('feed', ''); -- many times in a transaction is once
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_notify AFTER INSERT ON feed_changes REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION feed_notify();

-- Guests, of a whole statement at once: the poll writes the figures of every running guest each time, which says nothing here, and
-- sometimes the state of them all. For ten thousand this takes a third of what triggers of rows take.
-- +goose StatementBegin
CREATE FUNCTION feed_guests_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team, fields)
    SELECT 'guest', n.id, CASE WHEN o.host_id <> n.host_id THEN 'moved' ELSE 'changed' END, h.team_id,
        array_remove(ARRAY[
            CASE WHEN o.cluster_id <> n.cluster_id THEN 'cluster_id' END,
            CASE WHEN o.host_id <> n.host_id THEN 'host_id' END,
            CASE WHEN o.node <> n.node THEN 'node' END,
            CASE WHEN o.name <> n.name THEN 'name' END,
            CASE WHEN o.status <> n.status THEN 'status' END,
            CASE WHEN o.ref <> n.ref THEN 'ref' END,
            CASE WHEN o.vmid IS DISTINCT FROM n.vmid THEN 'vmid' END,
            CASE WHEN o.template <> n.template THEN 'template' END,
            CASE WHEN o.lock <> n.lock THEN 'lock' END,
            CASE WHEN o.pool <> n.pool THEN 'pool' END,
            CASE WHEN o.tags <> n.tags THEN 'tags' END,
            CASE WHEN o.cpus IS DISTINCT FROM n.cpus THEN 'cpus' END,
            CASE WHEN o.memory_total IS DISTINCT FROM n.memory_total THEN 'memory_total' END,
            CASE WHEN o.disk_total IS DISTINCT FROM n.disk_total THEN 'disk_total' END,
            CASE WHEN o.addresses IS DISTINCT FROM n.addresses THEN 'addresses' END], NULL)
    FROM past o JOIN fresh n ON n.id = o.id LEFT JOIN hosts h ON h.id = o.host_id AND o.host_id <> n.host_id
    WHERE o.status <> n.status OR o.cluster_id <> n.cluster_id OR o.host_id <> n.host_id OR o.template <> n.template
        OR o.vmid IS DISTINCT FROM n.vmid OR o.cpus IS DISTINCT FROM n.cpus OR o.memory_total IS DISTINCT FROM n.memory_total
        OR o.disk_total IS DISTINCT FROM n.disk_total OR o.node <> n.node OR o.name <> n.name OR o.ref <> n.ref
        OR o.lock <> n.lock OR o.pool <> n.pool OR o.tags <> n.tags OR o.addresses IS DISTINCT FROM n.addresses
    ORDER BY n.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_changed AFTER UPDATE ON guests REFERENCING OLD TABLE AS past NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION feed_guests_changed();

-- What goes with its host was told by that.
-- +goose StatementBegin
CREATE FUNCTION feed_guests_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what) SELECT 'guest', id, 'new' FROM fresh ORDER BY id;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_guests_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team)
        SELECT 'guest', g.id, 'gone', h.team_id FROM past g JOIN hosts h ON h.id = g.host_id ORDER BY g.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_new AFTER INSERT ON guests REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION feed_guests_new();
CREATE TRIGGER feed_gone AFTER DELETE ON guests REFERENCING OLD TABLE AS past FOR EACH STATEMENT EXECUTE FUNCTION feed_guests_gone();

-- The app that a container is.
-- +goose StatementBegin
CREATE FUNCTION feed_app() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, fields) SELECT DISTINCT 'guest', id, 'changed', '{app}'::text[]
        FROM unnest(ARRAY[CASE WHEN TG_OP <> 'INSERT' THEN OLD.guest_id END, CASE WHEN TG_OP <> 'DELETE' THEN NEW.guest_id END]) AS id
        WHERE id IS NOT NULL;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_app AFTER INSERT OR DELETE ON apps FOR EACH ROW EXECUTE FUNCTION feed_app();
CREATE TRIGGER feed_app_changed AFTER UPDATE ON apps FOR EACH ROW
    WHEN (OLD.guest_id IS DISTINCT FROM NEW.guest_id OR OLD.name <> NEW.name) EXECUTE FUNCTION feed_app();

-- The newest backup of a guest.
-- +goose StatementBegin
CREATE FUNCTION feed_backups() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, fields) SELECT DISTINCT 'guest', guest_id, 'changed', '{backup}'::text[]
        FROM concerned WHERE guest_id IS NOT NULL;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_backups_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, fields) SELECT DISTINCT 'guest', g.id, 'changed', '{backup}'::text[]
        FROM past o JOIN fresh n ON n.id = o.id, unnest(ARRAY[o.guest_id, n.guest_id]) AS g (id)
        WHERE g.id IS NOT NULL AND (o.guest_id IS DISTINCT FROM n.guest_id OR o.taken_at IS DISTINCT FROM n.taken_at
            OR o.verified <> n.verified);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_new AFTER INSERT ON backups REFERENCING NEW TABLE AS concerned FOR EACH STATEMENT EXECUTE FUNCTION feed_backups();
CREATE TRIGGER feed_gone AFTER DELETE ON backups REFERENCING OLD TABLE AS concerned FOR EACH STATEMENT EXECUTE FUNCTION feed_backups();
CREATE TRIGGER feed_changed AFTER UPDATE ON backups REFERENCING OLD TABLE AS past NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION feed_backups_changed();

-- Hosts. With a host goes what stands at it, before that is deleted; with its team the same changes hands.
-- +goose StatementBegin
CREATE FUNCTION feed_host_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team, fields) VALUES ('host', NEW.id,
        CASE WHEN OLD.team_id <> NEW.team_id THEN 'moved' ELSE 'changed' END,
        CASE WHEN OLD.team_id <> NEW.team_id THEN OLD.team_id END,
        array_remove(ARRAY[
            CASE WHEN OLD.name <> NEW.name THEN 'name' END,
            CASE WHEN OLD.address <> NEW.address THEN 'address' END,
            CASE WHEN OLD.team_id <> NEW.team_id THEN 'team_id' END,
            CASE WHEN OLD.status <> NEW.status THEN 'status' END,
            CASE WHEN OLD.error_reason <> NEW.error_reason THEN 'error_reason' END,
            CASE WHEN OLD.error <> NEW.error THEN 'error' END,
            CASE WHEN OLD.version <> NEW.version THEN 'version' END,
            CASE WHEN OLD.cluster_id IS DISTINCT FROM NEW.cluster_id THEN 'cluster_id' END,
            CASE WHEN OLD.entry_node <> NEW.entry_node THEN 'entry_node' END,
            CASE WHEN OLD.tls_fingerprint IS DISTINCT FROM NEW.tls_fingerprint THEN 'tls_fingerprint' END,
            CASE WHEN OLD.verify_tls <> NEW.verify_tls THEN 'verify_tls' END,
            CASE WHEN OLD.node_shell_enabled <> NEW.node_shell_enabled THEN 'node_shell_enabled' END,
            CASE WHEN OLD.ssh_host_key_fingerprint IS DISTINCT FROM NEW.ssh_host_key_fingerprint THEN 'ssh_host_key_fingerprint' END],
            NULL));
    IF OLD.team_id <> NEW.team_id THEN
        INSERT INTO feed_changes (kind, object, what, team, fields)
            VALUES ('scope', NEW.id, 'moved', OLD.team_id, ARRAY[NEW.team_id::text]);
        INSERT INTO feed_changes (kind, object, what, fields)
            SELECT 'guest', id, 'changed', '{team_id}'::text[] FROM guests WHERE host_id = NEW.id ORDER BY id;
        INSERT INTO feed_changes (kind, object, what, fields)
            SELECT 'node', id, 'changed', '{team_id}'::text[] FROM nodes WHERE host_id = NEW.id ORDER BY id;
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_host_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what) VALUES ('host', NEW.id, 'new');
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_host_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team)
        SELECT 'guest', id, 'gone', OLD.team_id FROM guests WHERE host_id = OLD.id ORDER BY id;
    INSERT INTO feed_changes (kind, object, what, team, fields)
        SELECT 'node', id, 'gone', OLD.team_id, ARRAY[cluster_id::text, name] FROM nodes WHERE host_id = OLD.id ORDER BY id;
    INSERT INTO feed_changes (kind, object, what, team)
        SELECT 'task', id, 'gone', OLD.team_id FROM hypervisor_tasks WHERE host_id = OLD.id ORDER BY id;
    INSERT INTO feed_changes (kind, object, what, team) VALUES ('host', OLD.id, 'gone', OLD.team_id);
    RETURN OLD;
END
$$;
CREATE FUNCTION feed_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, fields)
        VALUES ('host', CASE WHEN TG_OP = 'DELETE' THEN OLD.host_id ELSE NEW.host_id END, 'changed', '{capabilities}');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_changed AFTER UPDATE ON hosts FOR EACH ROW
    WHEN (OLD.name <> NEW.name OR OLD.address <> NEW.address OR OLD.team_id <> NEW.team_id OR OLD.status <> NEW.status
        OR OLD.error_reason <> NEW.error_reason OR OLD.error <> NEW.error OR OLD.version <> NEW.version
        OR OLD.cluster_id IS DISTINCT FROM NEW.cluster_id OR OLD.entry_node <> NEW.entry_node
        OR OLD.tls_fingerprint IS DISTINCT FROM NEW.tls_fingerprint OR OLD.verify_tls <> NEW.verify_tls
        OR OLD.node_shell_enabled <> NEW.node_shell_enabled
        OR OLD.ssh_host_key_fingerprint IS DISTINCT FROM NEW.ssh_host_key_fingerprint)
    EXECUTE FUNCTION feed_host_changed();
CREATE TRIGGER feed_new AFTER INSERT ON hosts FOR EACH ROW EXECUTE FUNCTION feed_host_new();
CREATE TRIGGER feed_gone BEFORE DELETE ON hosts FOR EACH ROW EXECUTE FUNCTION feed_host_gone();
CREATE TRIGGER feed_credential AFTER INSERT OR DELETE ON host_credentials FOR EACH ROW EXECUTE FUNCTION feed_credential();
CREATE TRIGGER feed_credential_changed AFTER UPDATE ON host_credentials FOR EACH ROW
    WHEN (OLD.token_id <> NEW.token_id OR OLD.form <> NEW.form OR OLD.missing <> NEW.missing OR OLD.extra <> NEW.extra
        OR OLD.recommended <> NEW.recommended OR OLD.console_limits IS DISTINCT FROM NEW.console_limits) EXECUTE FUNCTION feed_credential();

-- Clusters: that figures were measured, once in each poll, and a new name.
-- +goose StatementBegin
CREATE FUNCTION feed_cluster() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.figures_at IS DISTINCT FROM NEW.figures_at THEN
        INSERT INTO feed_changes (kind, object, what) VALUES ('figures', NEW.id, 'changed');
    END IF;
    IF OLD.name <> NEW.name THEN
        INSERT INTO feed_changes (kind, object, what, fields)
            SELECT 'host', id, 'changed', '{cluster_id}'::text[] FROM hosts WHERE cluster_id = NEW.id ORDER BY id;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_cluster AFTER UPDATE ON clusters FOR EACH ROW
    WHEN (OLD.figures_at IS DISTINCT FROM NEW.figures_at OR OLD.name <> NEW.name) EXECUTE FUNCTION feed_cluster();

-- Nodes.
-- +goose StatementBegin
CREATE FUNCTION feed_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO feed_changes (kind, object, what) VALUES ('node', NEW.id, 'new');
        RETURN NULL;
    END IF;
    INSERT INTO feed_changes (kind, object, what, team, fields) VALUES ('node', NEW.id,
        CASE WHEN OLD.host_id <> NEW.host_id THEN 'moved' ELSE 'changed' END,
        CASE WHEN OLD.host_id <> NEW.host_id THEN (SELECT team_id FROM hosts WHERE id = OLD.host_id) END,
        array_remove(ARRAY[
            CASE WHEN OLD.host_id <> NEW.host_id THEN 'host_id' END,
            CASE WHEN OLD.status <> NEW.status THEN 'status' END,
            CASE WHEN OLD.address <> NEW.address THEN 'address' END,
            CASE WHEN OLD.cpus IS DISTINCT FROM NEW.cpus THEN 'cpus' END,
            CASE WHEN OLD.memory_total IS DISTINCT FROM NEW.memory_total THEN 'memory_total' END], NULL));
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_nodes_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team, fields)
        SELECT 'node', n.id, 'gone', h.team_id, ARRAY[n.cluster_id::text, n.name]
        FROM past n JOIN hosts h ON h.id = n.host_id ORDER BY n.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_new AFTER INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION feed_node();
CREATE TRIGGER feed_changed AFTER UPDATE ON nodes FOR EACH ROW
    WHEN (OLD.host_id <> NEW.host_id OR OLD.status <> NEW.status OR OLD.address <> NEW.address OR OLD.cpus IS DISTINCT FROM NEW.cpus
        OR OLD.memory_total IS DISTINCT FROM NEW.memory_total) EXECUTE FUNCTION feed_node();
CREATE TRIGGER feed_gone AFTER DELETE ON nodes REFERENCING OLD TABLE AS past FOR EACH STATEMENT EXECUTE FUNCTION feed_nodes_gone();

-- Jobs. While one is not finished, the guest that it holds is pending.
-- +goose StatementBegin
CREATE FUNCTION feed_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO feed_changes (kind, object, what) VALUES ('job', NEW.id, 'new');
        IF NEW.exclusive ~ '^guest:[0-9]{1,18}$' THEN
            INSERT INTO feed_changes (kind, object, what, fields)
                VALUES ('guest', substr(NEW.exclusive, 7)::bigint, 'changed', '{job}');
        END IF;
        RETURN NULL;
    END IF;
    INSERT INTO feed_changes (kind, object, what, team, fields) VALUES ('job', NEW.id,
        CASE WHEN OLD.team_id IS DISTINCT FROM NEW.team_id THEN 'moved' ELSE 'changed' END, OLD.team_id,
        array_remove(ARRAY[
            CASE WHEN OLD.status <> NEW.status THEN 'status' END,
            CASE WHEN OLD.share IS DISTINCT FROM NEW.share THEN 'share' END,
            CASE WHEN OLD.last_line <> NEW.last_line THEN 'last_line' END,
            CASE WHEN OLD.task_id <> NEW.task_id THEN 'task_id' END,
            CASE WHEN OLD.error <> NEW.error THEN 'error' END,
            CASE WHEN OLD.cancel_requested_at IS DISTINCT FROM NEW.cancel_requested_at THEN 'cancel_requested_at' END,
            CASE WHEN OLD.runs <> NEW.runs THEN 'runs' END,
            CASE WHEN OLD.started_at IS DISTINCT FROM NEW.started_at THEN 'started_at' END,
            CASE WHEN OLD.finished_at IS DISTINCT FROM NEW.finished_at THEN 'finished_at' END,
            CASE WHEN OLD.host_id IS DISTINCT FROM NEW.host_id THEN 'host_id' END,
            CASE WHEN OLD.target_id <> NEW.target_id OR OLD.target_name <> NEW.target_name THEN 'target_id' END,
            CASE WHEN OLD.requested_by IS DISTINCT FROM NEW.requested_by OR OLD.requested_by_email <> NEW.requested_by_email
                THEN 'requested_by' END,
            CASE WHEN OLD.schedule_id IS DISTINCT FROM NEW.schedule_id THEN 'schedule_id' END,
            CASE WHEN OLD.asked <> NEW.asked THEN 'asked' END], NULL));
    IF OLD.status <> NEW.status OR OLD.exclusive IS DISTINCT FROM NEW.exclusive THEN
        INSERT INTO feed_changes (kind, object, what, fields)
            SELECT DISTINCT 'guest', substr(held, 7)::bigint, 'changed', '{job}'::text[]
            FROM unnest(ARRAY[OLD.exclusive, NEW.exclusive]) AS held WHERE held ~ '^guest:[0-9]{1,18}$'
            AND (OLD.exclusive IS DISTINCT FROM NEW.exclusive
                OR (OLD.status IN ('queued', 'running')) <> (NEW.status IN ('queued', 'running')));
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_jobs_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team) SELECT 'job', id, 'gone', team_id FROM past ORDER BY id;
    INSERT INTO feed_changes (kind, object, what, fields) SELECT 'guest', substr(exclusive, 7)::bigint, 'changed', '{job}'::text[]
        FROM past WHERE status IN ('queued', 'running') AND exclusive ~ '^guest:[0-9]{1,18}$';
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_new AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION feed_job();
CREATE TRIGGER feed_changed AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.share IS DISTINCT FROM NEW.share OR OLD.last_line <> NEW.last_line
        OR OLD.task_id <> NEW.task_id OR OLD.error <> NEW.error OR OLD.cancel_requested_at IS DISTINCT FROM NEW.cancel_requested_at OR OLD.runs <> NEW.runs
        OR OLD.started_at IS DISTINCT FROM NEW.started_at OR OLD.finished_at IS DISTINCT FROM NEW.finished_at
        OR OLD.team_id IS DISTINCT FROM NEW.team_id OR OLD.host_id IS DISTINCT FROM NEW.host_id OR OLD.target_id <> NEW.target_id
        OR OLD.target_name <> NEW.target_name OR OLD.exclusive IS DISTINCT FROM NEW.exclusive
        OR OLD.requested_by IS DISTINCT FROM NEW.requested_by OR OLD.requested_by_email <> NEW.requested_by_email
        OR OLD.schedule_id IS DISTINCT FROM NEW.schedule_id OR OLD.asked <> NEW.asked)
    EXECUTE FUNCTION feed_job();
CREATE TRIGGER feed_gone AFTER DELETE ON jobs REFERENCING OLD TABLE AS past FOR EACH STATEMENT EXECUTE FUNCTION feed_jobs_gone();

-- Alerts. Whatever columns they have: they are few.
-- +goose StatementBegin
CREATE FUNCTION feed_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO feed_changes (kind, object, what) VALUES ('alert', NEW.id, 'new');
        RETURN NULL;
    END IF;
    INSERT INTO feed_changes (kind, object, what, team, fields) SELECT 'alert', NEW.id,
        CASE WHEN OLD.team_id IS DISTINCT FROM NEW.team_id THEN 'moved' ELSE 'changed' END, OLD.team_id, array_agg(n.key)
        FROM jsonb_each(to_jsonb(NEW)) n WHERE n.value IS DISTINCT FROM to_jsonb(OLD) -> n.key;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_alerts_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team) SELECT 'alert', id, 'gone', team_id FROM past ORDER BY id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_new AFTER INSERT ON alerts FOR EACH ROW EXECUTE FUNCTION feed_alert();
CREATE TRIGGER feed_changed AFTER UPDATE ON alerts FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION feed_alert();
CREATE TRIGGER feed_gone AFTER DELETE ON alerts REFERENCING OLD TABLE AS past FOR EACH STATEMENT EXECUTE FUNCTION feed_alerts_gone();

-- Tasks of others.
-- +goose StatementBegin
CREATE FUNCTION feed_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO feed_changes (kind, object, what) VALUES ('task', NEW.id, 'new');
    ELSE
        INSERT INTO feed_changes (kind, object, what, fields) VALUES ('task', NEW.id, 'changed', '{status}');
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_tasks_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team)
        SELECT 'task', t.id, 'gone', h.team_id FROM past t JOIN hosts h ON h.id = t.host_id ORDER BY t.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_new AFTER INSERT ON hypervisor_tasks FOR EACH ROW EXECUTE FUNCTION feed_task();
CREATE TRIGGER feed_changed AFTER UPDATE ON hypervisor_tasks FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.error IS DISTINCT FROM NEW.error OR OLD.ended_at IS DISTINCT FROM NEW.ended_at)
    EXECUTE FUNCTION feed_task();
CREATE TRIGGER feed_gone AFTER DELETE ON hypervisor_tasks REFERENCING OLD TABLE AS past
    FOR EACH STATEMENT EXECUTE FUNCTION feed_tasks_gone();

-- +goose Down
DROP TABLE hypervisor_tasks, task_watch;
DROP FUNCTION feed_task(), feed_tasks_gone();
DROP TRIGGER feed_new ON alerts;
DROP TRIGGER feed_changed ON alerts;
DROP TRIGGER feed_gone ON alerts;
DROP TRIGGER feed_new ON jobs;
DROP TRIGGER feed_changed ON jobs;
DROP TRIGGER feed_gone ON jobs;
DROP TRIGGER feed_new ON nodes;
DROP TRIGGER feed_changed ON nodes;
DROP TRIGGER feed_gone ON nodes;
DROP TRIGGER feed_cluster ON clusters;
DROP TRIGGER feed_credential ON host_credentials;
DROP TRIGGER feed_credential_changed ON host_credentials;
DROP TRIGGER feed_new ON hosts;
DROP TRIGGER feed_changed ON hosts;
DROP TRIGGER feed_gone ON hosts;
DROP TRIGGER feed_new ON backups;
DROP TRIGGER feed_gone ON backups;
DROP TRIGGER feed_changed ON backups;
DROP TRIGGER feed_app ON apps;
DROP TRIGGER feed_app_changed ON apps;
DROP TRIGGER feed_new ON guests;
DROP TRIGGER feed_changed ON guests;
DROP TRIGGER feed_gone ON guests;
DROP FUNCTION feed_alert(), feed_alerts_gone(), feed_job(), feed_jobs_gone(), feed_node(), feed_nodes_gone(), feed_cluster(),
    feed_credential(), feed_host_changed(), feed_host_new(), feed_host_gone(), feed_app(), feed_backups(), feed_backups_changed(),
    feed_guests_changed(), feed_guests_new(), feed_guests_gone();
DROP TABLE feed_changes, feed_state, feed_marks;
DROP SEQUENCE feed_version;
DROP FUNCTION feed_notify(), feed_origin();
