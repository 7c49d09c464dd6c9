--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: river_job_state; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);


--
-- Name: audit_pend(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.audit_pend() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO audit_pending (audit_id) VALUES (NEW.id);
    RETURN NULL;
END $$;


--
-- Name: notify_identity(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.notify_identity() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    -- The column that holds the user's id: id in users, user_id in every other table.
    own text := TG_ARGV[0];
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM pg_notify('identity', '');
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM pg_notify('identity', to_jsonb(OLD) ->> own);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM pg_notify('identity', to_jsonb(NEW) ->> own); -- the same text twice in a transaction is sent once
    END IF;
    RETURN NULL;
END
$$;


--
-- Name: notify_secret_key(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.notify_secret_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('secret_key', '');
    RETURN NULL;
END
$$;


--
-- Name: river_job_state_in_bitmask(bit, public.river_job_state); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.river_job_state_in_bitmask(bitmask bit, state public.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alerts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alerts (
    id bigint NOT NULL,
    team_id bigint,
    host_id bigint,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    target_name text NOT NULL,
    rule text NOT NULL,
    metric text DEFAULT ''::text NOT NULL,
    severity text NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    raised_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone,
    acknowledged_at timestamp with time zone,
    acknowledged_by bigint,
    CONSTRAINT alerts_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text])))
);


--
-- Name: alerts_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.alerts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.alerts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: api_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_keys (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL,
    key_hash bytea NOT NULL,
    prefix text NOT NULL,
    scopes text[],
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0))
);


--
-- Name: api_keys_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.api_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.api_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: apps; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.apps (
    id bigint NOT NULL,
    host_id bigint,
    cluster_id bigint,
    vmid bigint NOT NULL,
    name text NOT NULL,
    slug text,
    web_port integer,
    web_path text,
    web_protocol text,
    adopted_at timestamp with time zone DEFAULT now() NOT NULL,
    adopted_by bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: apps_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.apps ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.apps_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor_type text NOT NULL,
    actor_id bigint,
    actor_email text DEFAULT ''::text NOT NULL,
    action text NOT NULL,
    target_kind text DEFAULT ''::text NOT NULL,
    target_id text DEFAULT ''::text NOT NULL,
    target_name text DEFAULT ''::text NOT NULL,
    team_id bigint,
    host_id bigint,
    job_id bigint,
    result text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    request_id text DEFAULT ''::text NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT audit_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'api_key'::text, 'system'::text, 'anonymous'::text]))),
    CONSTRAINT audit_result_check CHECK ((result = ANY (ARRAY['ok'::text, 'refused'::text, 'failed'::text])))
);


--
-- Name: audit_anchors; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_anchors (
    first bigint NOT NULL,
    last bigint NOT NULL,
    hash bytea NOT NULL,
    mac bytea,
    CONSTRAINT audit_anchors_check CHECK ((last >= first))
);


--
-- Name: audit_chain; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_chain (
    id smallint NOT NULL,
    key bytea NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    mac bytea NOT NULL,
    CONSTRAINT audit_chain_id_check CHECK ((id = 1))
);


--
-- Name: audit_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: audit_links; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_links (
    seq bigint NOT NULL,
    audit_id bigint NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: audit_pending; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_pending (
    audit_id bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');


--
-- Name: clusters; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clusters (
    id bigint NOT NULL,
    team_id bigint NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    quorate boolean,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone,
    detail_at timestamp with time zone,
    next_poll_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: clusters_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.clusters ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.clusters_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: goose_db_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.goose_db_version (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);


--
-- Name: goose_db_version_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.goose_db_version ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.goose_db_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: guests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.guests (
    id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    host_id bigint NOT NULL,
    kind text NOT NULL,
    vmid bigint NOT NULL,
    node text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    template boolean DEFAULT false NOT NULL,
    lock text DEFAULT ''::text NOT NULL,
    pool text DEFAULT ''::text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    cpu double precision,
    cpus double precision,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint,
    uptime bigint,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    read_at timestamp with time zone,
    listed_at timestamp with time zone,
    CONSTRAINT guests_kind_check CHECK ((kind = ANY (ARRAY['vm'::text, 'container'::text])))
)
WITH (fillfactor='60');


--
-- Name: guests_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.guests ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.guests_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: host_credentials; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.host_credentials (
    id bigint NOT NULL,
    host_id bigint NOT NULL,
    capability text NOT NULL,
    token_id text NOT NULL,
    secret bytea NOT NULL,
    missing text[] DEFAULT '{}'::text[] NOT NULL,
    extra text[] DEFAULT '{}'::text[] NOT NULL,
    recommended text[] DEFAULT '{}'::text[] NOT NULL,
    verified_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: host_credentials_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.host_credentials ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.host_credentials_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: hosts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hosts (
    id bigint NOT NULL,
    team_id bigint DEFAULT 1 NOT NULL,
    cluster_id bigint,
    driver text NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    tls_fingerprint text,
    verify_tls boolean DEFAULT true NOT NULL,
    node_shell_enabled boolean DEFAULT false NOT NULL,
    ssh_consent boolean DEFAULT false NOT NULL,
    ssh_enroll boolean DEFAULT false NOT NULL,
    ssh_host_key_fingerprint text,
    version text DEFAULT ''::text NOT NULL,
    entry_node text DEFAULT ''::text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    error_reason text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    polled_at timestamp with time zone,
    ok_at timestamp with time zone,
    next_poll_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    partial boolean DEFAULT false NOT NULL,
    server_fingerprint text,
    server_cluster text,
    server_address text,
    CONSTRAINT hosts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'online'::text, 'unreachable'::text])))
);


--
-- Name: hosts_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.hosts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.hosts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: idempotency_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency_keys (
    caller text NOT NULL,
    key text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: job_events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.job_events (
    job_id bigint NOT NULL,
    seq integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    CONSTRAINT job_events_kind_check CHECK ((kind = ANY (ARRAY['log'::text, 'note'::text, 'status'::text])))
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id bigint NOT NULL,
    kind text NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    team_id bigint,
    host_id bigint,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    target_name text NOT NULL,
    exclusive text,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    progress jsonb DEFAULT '{}'::jsonb NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    requested_by bigint,
    requested_by_email text DEFAULT ''::text NOT NULL,
    cancel_requested_at timestamp with time zone,
    river_id bigint,
    runs integer DEFAULT 0 NOT NULL,
    event_count integer DEFAULT 0 NOT NULL,
    task_lines integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    schedule_id bigint,
    sealed bytea,
    CONSTRAINT jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text, 'unknown'::text])))
);


--
-- Name: jobs_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.jobs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: login_addresses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_addresses (
    user_id bigint NOT NULL,
    network text NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: login_devices; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_devices (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    token_hash bytea NOT NULL,
    returned boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


--
-- Name: login_devices_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.login_devices ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.login_devices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: login_failures; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_failures (
    bucket text NOT NULL,
    failures integer NOT NULL,
    window_ends timestamp with time zone NOT NULL
);


--
-- Name: metric_1h; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_1h (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
)
PARTITION BY RANGE (at);


--
-- Name: metric_1h_202611; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_1h_202611 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_5m; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_5m (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
)
PARTITION BY RANGE (at);


--
-- Name: metric_5m_20261121; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_5m_20261121 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_5m_20261122; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_5m_20261122 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_5m_20261123; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_5m_20261123 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_5m_20261124; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_5m_20261124 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    samples integer NOT NULL,
    cpu_avg real,
    cpu_max real,
    memory_avg bigint,
    memory_max bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_late; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_late (
    id bigint NOT NULL,
    hour timestamp with time zone NOT NULL
);


--
-- Name: metric_late_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.metric_late ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.metric_late_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: metric_rollups; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_rollups (
    resolution text NOT NULL,
    rolled_to timestamp with time zone NOT NULL,
    CONSTRAINT metric_rollups_resolution_check CHECK ((resolution = ANY (ARRAY['5m'::text, '1h'::text])))
);


--
-- Name: metric_samples; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_samples (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    cpu real,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
)
PARTITION BY RANGE (at);


--
-- Name: metric_samples_20261121; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_samples_20261121 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    cpu real,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_samples_20261122; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_samples_20261122 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    cpu real,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_samples_20261123; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_samples_20261123 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    cpu real,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: metric_samples_20261124; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.metric_samples_20261124 (
    at timestamp with time zone NOT NULL,
    target_kind text NOT NULL,
    target_id bigint NOT NULL,
    cpu real,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    net_in bigint,
    net_out bigint,
    disk_read bigint,
    disk_write bigint
);


--
-- Name: nodes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.nodes (
    id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    host_id bigint NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    fingerprint text DEFAULT ''::text NOT NULL,
    level text DEFAULT ''::text NOT NULL,
    cpu double precision,
    cpus double precision,
    memory bigint,
    memory_total bigint,
    disk bigint,
    disk_total bigint,
    uptime bigint,
    seen_at timestamp with time zone NOT NULL
);


--
-- Name: nodes_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.nodes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.nodes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: pending_logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pending_logins (
    token_hash bytea NOT NULL,
    user_id bigint NOT NULL,
    password_mark bytea NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    origin text DEFAULT ''::text NOT NULL
);


--
-- Name: plugins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.plugins (
    kind text NOT NULL,
    name text NOT NULL,
    file text NOT NULL,
    version text NOT NULL,
    sha256 text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    pinned_at timestamp with time zone DEFAULT now() NOT NULL,
    pinned_by text DEFAULT ''::text NOT NULL
);


--
-- Name: recovery_codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.recovery_codes (
    user_id bigint NOT NULL,
    code_hash bytea NOT NULL
);


--
-- Name: river_job; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.river_job (
    id bigint NOT NULL,
    state public.river_job_state DEFAULT 'available'::public.river_job_state NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone DEFAULT now() NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL,
    tags character varying(255)[] DEFAULT '{}'::character varying[] NOT NULL,
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::public.river_job_state, 'completed'::public.river_job_state, 'discarded'::public.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::public.river_job_state, 'completed'::public.river_job_state, 'discarded'::public.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);


--
-- Name: river_job_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.river_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: river_job_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.river_job_id_seq OWNED BY public.river_job.id;


--
-- Name: river_leader; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);


--
-- Name: river_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.river_migration (
    line text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT line_length CHECK (((char_length(line) > 0) AND (char_length(line) < 128))),
    CONSTRAINT version_gte_1 CHECK ((version >= 1))
);


--
-- Name: river_notification; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.river_notification (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (((length(topic) > 0) AND (length(topic) < 128)))
);


--
-- Name: river_notification_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.river_notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: river_notification_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.river_notification_id_seq OWNED BY public.river_notification.id;


--
-- Name: river_queue; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);


--
-- Name: schedules; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schedules (
    id bigint NOT NULL,
    name text NOT NULL,
    cron text NOT NULL,
    timezone text DEFAULT 'UTC'::text NOT NULL,
    job_kind text NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    next_run_at timestamp with time zone,
    last_run_at timestamp with time zone,
    last_job_id bigint,
    last_error text DEFAULT ''::text NOT NULL,
    disabled_reason text DEFAULT ''::text NOT NULL,
    writer_id bigint,
    writer_email text DEFAULT ''::text NOT NULL,
    seeded boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schedules_check CHECK ((enabled OR (next_run_at IS NULL)))
);


--
-- Name: schedules_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.schedules ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.schedules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: secret_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret_key (
    one boolean DEFAULT true NOT NULL,
    id text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT secret_key_one_check CHECK (one)
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    token_hash bytea NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    user_agent text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


--
-- Name: sessions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: settings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.settings (
    key text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_by bigint
);


--
-- Name: setup_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.setup_tokens (
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: storages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.storages (
    id bigint NOT NULL,
    cluster_id bigint NOT NULL,
    host_id bigint NOT NULL,
    node text NOT NULL,
    name text NOT NULL,
    type text DEFAULT ''::text NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    status text NOT NULL,
    content text[] DEFAULT '{}'::text[] NOT NULL,
    used bigint,
    total bigint,
    seen_at timestamp with time zone NOT NULL
);


--
-- Name: storages_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.storages ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.storages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: team_members; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.team_members (
    team_id bigint NOT NULL,
    user_id bigint NOT NULL,
    role text NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT team_members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text, 'owner'::text])))
);


--
-- Name: teams; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.teams (
    id bigint NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    description text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: teams_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.teams ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.teams_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: update_check; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.update_check (
    one boolean DEFAULT true NOT NULL,
    checked_at timestamp with time zone,
    error text DEFAULT ''::text NOT NULL,
    manifest bytea,
    found_at timestamp with time zone,
    seen jsonb DEFAULT '{}'::jsonb NOT NULL,
    followed boolean DEFAULT false NOT NULL,
    schedule_id bigint,
    CONSTRAINT update_check_one_check CHECK (one)
);


--
-- Name: update_reports; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.update_reports (
    run text NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: update_requests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.update_requests (
    id text NOT NULL,
    version_from text NOT NULL,
    version_to text NOT NULL,
    machine text NOT NULL,
    actor_type text NOT NULL,
    actor_id bigint,
    actor_email text NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    display_name text,
    password_hash text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    last_login_at timestamp with time zone,
    totp_secret bytea,
    totp_confirmed_at timestamp with time zone,
    totp_last_step bigint,
    totp_enabled boolean GENERATED ALWAYS AS ((totp_confirmed_at IS NOT NULL)) STORED NOT NULL,
    CONSTRAINT users_totp CHECK (((totp_confirmed_at IS NULL) OR (totp_secret IS NOT NULL)))
);


--
-- Name: users_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.users ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: metric_1h_202611; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_1h ATTACH PARTITION public.metric_1h_202611 FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');


--
-- Name: metric_5m_20261121; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m ATTACH PARTITION public.metric_5m_20261121 FOR VALUES FROM ('2026-11-21 00:00:00+00') TO ('2026-11-22 00:00:00+00');


--
-- Name: metric_5m_20261122; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m ATTACH PARTITION public.metric_5m_20261122 FOR VALUES FROM ('2026-11-22 00:00:00+00') TO ('2026-11-23 00:00:00+00');


--
-- Name: metric_5m_20261123; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m ATTACH PARTITION public.metric_5m_20261123 FOR VALUES FROM ('2026-11-23 00:00:00+00') TO ('2026-11-24 00:00:00+00');


--
-- Name: metric_5m_20261124; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m ATTACH PARTITION public.metric_5m_20261124 FOR VALUES FROM ('2026-11-24 00:00:00+00') TO ('2026-11-25 00:00:00+00');


--
-- Name: metric_samples_20261121; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_samples ATTACH PARTITION public.metric_samples_20261121 FOR VALUES FROM ('2026-11-21 00:00:00+00') TO ('2026-11-22 00:00:00+00');


--
-- Name: metric_samples_20261122; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_samples ATTACH PARTITION public.metric_samples_20261122 FOR VALUES FROM ('2026-11-22 00:00:00+00') TO ('2026-11-23 00:00:00+00');


--
-- Name: metric_samples_20261123; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_samples ATTACH PARTITION public.metric_samples_20261123 FOR VALUES FROM ('2026-11-23 00:00:00+00') TO ('2026-11-24 00:00:00+00');


--
-- Name: metric_samples_20261124; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_samples ATTACH PARTITION public.metric_samples_20261124 FOR VALUES FROM ('2026-11-24 00:00:00+00') TO ('2026-11-25 00:00:00+00');


--
-- Name: river_job id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_job ALTER COLUMN id SET DEFAULT nextval('public.river_job_id_seq'::regclass);


--
-- Name: river_notification id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_notification ALTER COLUMN id SET DEFAULT nextval('public.river_notification_id_seq'::regclass);


--
-- Data for Name: alerts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_keys OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'backup script', '\x85953de36f093476efd0d30f9c2739969b0c1d6b07df4c0f624e21643c6fcda4', 'svc_K9Ss7w', NULL, NULL, NULL, '2026-11-22 21:38:43.551187+00');


--
-- Data for Name: apps; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.apps OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 102, 'schema24', NULL, NULL, NULL, NULL, '2026-11-22 21:38:43.843238+00', 1, '2026-11-22 21:38:43.843238+00', '2026-11-22 21:38:43.843238+00');


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES
	(1, '2026-11-22 21:38:42.290581+00', 'system', NULL, 'first start', 'plugin.pin', 'plugin', '', 'pve', NULL, NULL, NULL, 'ok', '', '', '', '{"file": "hostler-plugin-pve", "kind": "hypervisor", "sha256": "5f456e220cad99726e79c859b4f5559d8995d365983abcbb0e2d7593757d4a3a", "enabled": true, "version": "dev"}'),
	(2, '2026-11-22 21:38:42.296543+00', 'system', NULL, 'first start', 'plugin.pin', 'plugin', '', 'pve', NULL, NULL, NULL, 'ok', '', '', '', '{"file": "hostler-plugin-pve", "kind": "firewall", "sha256": "5f456e220cad99726e79c859b4f5559d8995d365983abcbb0e2d7593757d4a3a", "enabled": true, "version": "dev"}'),
	(3, '2026-11-22 21:38:42.68063+00', 'user', 1, 'owner@example.com', 'setup.complete', 'user', '1', 'owner@example.com', NULL, NULL, NULL, 'ok', '', '127.0.0.1', '6BQWR54WYKNRUFZ2RP7GM446TU', '{}'),
	(4, '2026-11-22 21:38:42.921104+00', 'user', 1, 'owner@example.com', 'auth.login', 'user', '1', 'owner@example.com', NULL, NULL, NULL, 'ok', '', '127.0.0.1', 'YJBNNFLDJSCZICYK4KGXSATULY', '{}'),
	(5, '2026-11-22 21:38:42.939338+00', 'user', 1, 'owner@example.com', 'team.create', 'team', '2', 'Web shop', 2, NULL, NULL, 'ok', '', '127.0.0.1', 'GSL2NG4QADMR46FHE32Z3MMMVH', '{"slug": "web-shop"}'),
	(6, '2026-11-22 21:38:42.963958+00', 'user', 1, 'owner@example.com', 'host.create', 'host', '1', 'lab', NULL, 1, NULL, 'ok', '', '127.0.0.1', 'NBL4XIT7SLWJNRZVLDQE4PXCSR', '{"address": "127.0.0.1:34489", "token_id": "service@pve!monitoring"}'),
	(7, '2026-11-22 21:38:42.981903+00', 'user', 1, 'owner@example.com', 'host.rotate_credentials', 'host', '1', 'lab', 1, 1, NULL, 'ok', '', '127.0.0.1', 'I5SNZD5VDEKZUNY6SUW5KXMSQ2', '{"token_id": "service@pve!lifecycle", "capability": "lifecycle"}'),
	(8, '2026-11-22 21:38:43.002233+00', 'user', 1, 'owner@example.com', 'host.update', 'host', '1', 'lab', 1, 1, NULL, 'ok', '', '127.0.0.1', 'AR6CB3UQIFWTA72ZETTEWHR2QV', '{"changed": ["team_id"]}'),
	(9, '2026-11-22 21:38:43.049084+00', 'user', 1, 'owner@example.com', 'host.sync', 'host', '1', 'lab', 1, 1, NULL, 'ok', '', '127.0.0.1', 'DARF2QVJW3C542WDQQFY3Q77M4', '{}'),
	(10, '2026-11-22 21:38:43.069768+00', 'user', 1, 'owner@example.com', 'host.sync', 'host', '1', 'lab', 1, 1, NULL, 'ok', '', '127.0.0.1', 'VUDRFOAMWVB2BA5U3NFUBWUVHD', '{}'),
	(11, '2026-11-22 21:38:43.081927+00', 'user', 1, 'owner@example.com', 'host.create', 'host', '2', 'shop', NULL, 2, NULL, 'ok', '', '127.0.0.1', 'F2DQVFKKAOU44EOBNG7K5O6QI6', '{"address": "127.0.0.1:42321", "token_id": "service@pve!monitoring"}'),
	(12, '2026-11-22 21:38:43.096051+00', 'user', 1, 'owner@example.com', 'host.rotate_credentials', 'host', '2', 'shop', 1, 2, NULL, 'ok', '', '127.0.0.1', '3ABLVGVJ3J7ACLIQUPQH2NU53Z', '{"token_id": "service@pve!lifecycle", "capability": "lifecycle"}'),
	(13, '2026-11-22 21:38:43.103179+00', 'user', 1, 'owner@example.com', 'host.update', 'host', '2', 'shop', 1, 2, NULL, 'ok', '', '127.0.0.1', 'AJHUZEEPSSYP766UOHKLOY65OR', '{"changed": ["team_id"]}'),
	(14, '2026-11-22 21:38:43.200139+00', 'user', 1, 'owner@example.com', 'host.sync', 'host', '2', 'shop', 2, 2, NULL, 'ok', '', '127.0.0.1', 'EEQI72FNX2LOWBZBKJLSDB4LIN', '{}'),
	(15, '2026-11-22 21:38:43.219004+00', 'user', 1, 'owner@example.com', 'host.sync', 'host', '2', 'shop', 2, 2, NULL, 'ok', '', '127.0.0.1', 'Q7FKQQ6SYFLET4WCZP4XQS6ULK', '{}'),
	(16, '2026-11-22 21:38:43.538903+00', 'user', 1, 'owner@example.com', 'user.create', 'user', '2', 'operator@example.com', NULL, NULL, NULL, 'ok', '', '127.0.0.1', 'VIJXOXEZRQJQQCB54A7YY23KAO', '{"role": "viewer"}'),
	(17, '2026-11-22 21:38:43.545727+00', 'user', 1, 'owner@example.com', 'team.member_set', 'team', '2', 'Web shop', 2, NULL, NULL, 'ok', '', '127.0.0.1', 'LJ6JCIB7T2V7C6XGLTNQFR2NFJ', '{"user_id": 2, "new_role": "operator", "old_role": null, "user_email": "operator@example.com"}'),
	(18, '2026-11-22 21:38:43.551187+00', 'user', 1, 'owner@example.com', 'api_key.create', 'key', '1', 'backup script', NULL, NULL, NULL, 'ok', '', '127.0.0.1', 'DC5M36VWZWDR3B753LWUVSBLEK', '{"prefix": "svc_K9Ss7w", "scopes": null}'),
	(19, '2026-11-22 21:38:43.833915+00', 'user', 2, 'operator@example.com', 'auth.login', 'user', '2', 'operator@example.com', NULL, NULL, NULL, 'ok', '', '127.0.0.1', 'F2YJZ55P3WTE6565WU225BF6ZX', '{}'),
	(20, '2026-11-22 21:38:43.843238+00', 'user', 1, 'owner@example.com', 'app.adopt', 'app', '', '', NULL, NULL, NULL, 'ok', '', '127.0.0.1', 'CFVRIPEWLXPRZCANMELOZLRZWW', '{"apps": ["schema24"]}'),
	(21, '2026-11-22 21:38:43.857783+00', 'user', 1, 'owner@example.com', 'vm.snapshot_create', 'vm', '2', 'proxy-101', 1, 1, 1, 'ok', '', '127.0.0.1', 'APCXXDTRH4OZLEBTLNSVRSA5FW', '{"snapshot": "before"}'),
	(22, '2026-11-22 21:38:44.122297+00', 'user', 1, 'owner@example.com', 'vm.snapshot_delete', 'vm', '2', 'proxy-101', 1, 1, 2, 'ok', '', '127.0.0.1', '6BVBHJCIZ33GVVWKKHXLC5HD6H', '{"name": "before"}'),
	(23, '2026-11-22 21:38:44.229204+00', 'user', 1, 'owner@example.com', 'app.snapshot_create', 'app', '1', 'schema24', 1, 1, 3, 'ok', '', '127.0.0.1', 'CAS6CIU2GL6TY24LJ7URI4BWHR', '{"snapshot": "before"}'),
	(24, '2026-11-22 21:38:44.357876+00', 'user', 1, 'owner@example.com', 'app.snapshot_delete', 'app', '1', 'schema24', 1, 1, 4, 'ok', '', '127.0.0.1', 'MBVXWTEY6GGQZF3XJ2LKNI476B', '{"name": "before"}'),
	(25, '2026-11-22 21:38:44.57314+00', 'user', 1, 'owner@example.com', 'app.restart', 'app', '1', 'schema24', 1, 1, 5, 'ok', '', '127.0.0.1', '75OBIAVANRPC75NHPJCYQSMTX6', '{}'),
	(26, '2026-11-22 21:38:44.629439+00', 'user', 1, 'owner@example.com', 'vm.start', 'vm', '2', 'proxy-101', 1, 1, 6, 'ok', '', '127.0.0.1', '24BJHGRQFDWZ3WSTYYFY6EKONH', '{}'),
	(27, '2026-11-22 21:38:44.8456+00', 'user', 1, 'owner@example.com', 'vm.stop', 'vm', '2', 'proxy-101', 1, 1, 7, 'ok', '', '127.0.0.1', 'S4HS73FQG25OYA2SELH5PPE6OD', '{}'),
	(28, '2026-11-22 21:38:45.061286+00', 'user', 1, 'owner@example.com', 'schedule.create', 'schedule', '6', 'test vm.start', NULL, NULL, NULL, 'ok', '', '127.0.0.1', '3TXX2CDAC3GZPUGHRYFPXSQ7GW', '{"cron": "0 0 1 1 *", "enabled": true, "job_kind": "vm.start", "timezone": "UTC"}'),
	(29, '2026-11-22 21:38:45.069249+00', 'user', 1, 'owner@example.com', 'schedule.create', 'schedule', '7', 'test app.restart', NULL, NULL, NULL, 'ok', '', '127.0.0.1', '46NQRZNVWEJT243SQAYQZK2DA4', '{"cron": "0 0 1 1 *", "enabled": true, "job_kind": "app.restart", "timezone": "UTC"}'),
	(30, '2026-11-22 21:38:45.074015+00', 'user', 1, 'owner@example.com', 'schedule.create', 'schedule', '8', 'test vm.start', NULL, NULL, NULL, 'ok', '', '127.0.0.1', 'UYO55XDRGYWQCNHSB7QFOGVSY2', '{"cron": "0 0 1 1 *", "enabled": true, "job_kind": "vm.start", "timezone": "UTC"}'),
	(31, '2026-11-22 21:38:45.079915+00', 'user', 1, 'owner@example.com', 'schedule.run', 'schedule', '8', 'test vm.start', 1, 1, 8, 'ok', '', '127.0.0.1', 'IBP3ZWJO4PQCZ4E2T7PSLJZFUS', '{"writer": "owner@example.com", "job_kind": "vm.start"}'),
	(32, '2026-11-22 21:38:45.293833+00', 'user', 1, 'owner@example.com', 'vm.stop', 'vm', '2', 'proxy-101', 1, 1, 9, 'ok', '', '127.0.0.1', 'JLNP3XKHXJOYOZJ5GOIMBXRMMM', '{}'),
	(33, '2026-11-22 21:38:45.507871+00', 'user', 1, 'owner@example.com', 'vm.start', 'vm', '2', 'proxy-101', 1, 1, 10, 'ok', '', '127.0.0.1', 'XMGPN4W2PDVHE5FAAY6AMTXGWX', '{}');


--
-- Data for Name: audit_anchors; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: audit_chain; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_chain VALUES
	(1, '\x01fb8e42570000004301fb8e4257eaf72968b0be30d8bde92ac7a366ad266a3dc35b13c11fd03b90565351e9351e8e3d390235c883070a4c1500434b014b359a5f7e71835be959f20d1417886372fbc53d8a1a36e06d573155d23e1c9279a47e822efca13dac0901f683a90aa9cb240b659e6153253c98bd57403bbdb1ae5e9a55f42325c1aaa19ca82d8eb49317256b41f43fc4e43b1fce0362a78f5ac40ba3ba7c325734e7b96d', 33, '\xd3b7b08a79f7b7f5f9b886946759bb52e7817f28ecb12496df2b13d0644ea7e6', '\x966dbc4127ac073b0452365b360137128536656427e475433bdc8ed183cf3c7b');


--
-- Data for Name: audit_links; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_links VALUES
	(1, 1, '\x0000000000000000000000000000000000000000000000000000000000000000', '\x7721eb8755acb94aacb44dfc6143a7cbe037bc0442469359531f0d0353e41ba4'),
	(2, 2, '\x7721eb8755acb94aacb44dfc6143a7cbe037bc0442469359531f0d0353e41ba4', '\x7051c79734a664bb64f7eeff870f30fbde81b6a364e3b067e4abb2e6a5923970'),
	(3, 3, '\x7051c79734a664bb64f7eeff870f30fbde81b6a364e3b067e4abb2e6a5923970', '\xce247ac91137f3f2ae970f56324e55636773d581f3b3b9d1b64ce479f74250b6'),
	(4, 4, '\xce247ac91137f3f2ae970f56324e55636773d581f3b3b9d1b64ce479f74250b6', '\x20923e10fabe460cf9d0c46f5a24aba6fa0f81f6cd453150748458825881b0a7'),
	(5, 5, '\x20923e10fabe460cf9d0c46f5a24aba6fa0f81f6cd453150748458825881b0a7', '\x54e2540181c92f50faf6718646517a7bcd7ed1192c896289289bb55f84670cb5'),
	(6, 6, '\x54e2540181c92f50faf6718646517a7bcd7ed1192c896289289bb55f84670cb5', '\x84afdf500ee3a9a9fe4f3618c2117ac63d2aa5317b99cf2fb18b0ff479ff4da0'),
	(7, 7, '\x84afdf500ee3a9a9fe4f3618c2117ac63d2aa5317b99cf2fb18b0ff479ff4da0', '\x27ab6f68bb1001d35b06a9898a1939cc3e6093ebb6df6b119c0ebe7de6f0b1e6'),
	(8, 8, '\x27ab6f68bb1001d35b06a9898a1939cc3e6093ebb6df6b119c0ebe7de6f0b1e6', '\xa424bd289fca7216b901a58cf6a1044c9bb80a71f8abcfa7f5d2b3e44f03277a'),
	(9, 9, '\xa424bd289fca7216b901a58cf6a1044c9bb80a71f8abcfa7f5d2b3e44f03277a', '\xe55c0b7e231ae6f6989657e461c8e18641f0c18a704069df1bf996ea23435670'),
	(10, 10, '\xe55c0b7e231ae6f6989657e461c8e18641f0c18a704069df1bf996ea23435670', '\xecc8471f28c3e2bc87c98c6799a46bdd3c05c0b37d4decddf0e33439e9ce3349'),
	(11, 11, '\xecc8471f28c3e2bc87c98c6799a46bdd3c05c0b37d4decddf0e33439e9ce3349', '\xeef0cc5378be479f211be0e811c1841f50692e416959692d66a33bf4ccc6a3d7'),
	(12, 12, '\xeef0cc5378be479f211be0e811c1841f50692e416959692d66a33bf4ccc6a3d7', '\xf4522ea671f3f1a1ba1360fba062cff6e7f10a79af11738cbd12da352836b403'),
	(13, 13, '\xf4522ea671f3f1a1ba1360fba062cff6e7f10a79af11738cbd12da352836b403', '\x4f64fb66ce3555968a22591454c430d5232330bf149d664b6b4e9a67e8afd038'),
	(14, 14, '\x4f64fb66ce3555968a22591454c430d5232330bf149d664b6b4e9a67e8afd038', '\xa7814b5da8842dd137716969703b256719c26aeec33a7c58d9ab6a831cb41c13'),
	(15, 15, '\xa7814b5da8842dd137716969703b256719c26aeec33a7c58d9ab6a831cb41c13', '\x873fdca07ccfa8c2e36788cf105e7468dda0f9a25d3b6c0a1f52fea69cafb51d'),
	(16, 16, '\x873fdca07ccfa8c2e36788cf105e7468dda0f9a25d3b6c0a1f52fea69cafb51d', '\xce4ae1863426e71fb7b35b00e56377ca254b062f7bf12cb9ba63fcfcca536117'),
	(17, 17, '\xce4ae1863426e71fb7b35b00e56377ca254b062f7bf12cb9ba63fcfcca536117', '\xaeabd52556faf1606cefbf245598eb77a240e5685c2999f7d9fdffbb0356b830'),
	(18, 18, '\xaeabd52556faf1606cefbf245598eb77a240e5685c2999f7d9fdffbb0356b830', '\xe416ebfa6755e61b4d39d2aa7370c79dcd278a44f3d5d2fe732e538734efd3b4'),
	(19, 19, '\xe416ebfa6755e61b4d39d2aa7370c79dcd278a44f3d5d2fe732e538734efd3b4', '\x871848731851c8b0c3adf5cea9b4e821790039affc4a37fec0e55bb753677eee'),
	(20, 20, '\x871848731851c8b0c3adf5cea9b4e821790039affc4a37fec0e55bb753677eee', '\xb00bc07463519a8f5c7d43741786bd0d7a905c2a9ca4a4b4d3396259c2af4ada'),
	(21, 21, '\xb00bc07463519a8f5c7d43741786bd0d7a905c2a9ca4a4b4d3396259c2af4ada', '\xe7b0b279fc509ed49b7c32240b172465166e62f02584f399144f5378f6ca46e6'),
	(22, 22, '\xe7b0b279fc509ed49b7c32240b172465166e62f02584f399144f5378f6ca46e6', '\x6dcde5523f0b6b7ceaf949598ef58e4b8e535fa49cbdecc135dd114b8f84db72'),
	(23, 23, '\x6dcde5523f0b6b7ceaf949598ef58e4b8e535fa49cbdecc135dd114b8f84db72', '\xa53a317b6dce96ee17442450723799acd1deee10bcb2327ddab77b802ee7b7a2'),
	(24, 24, '\xa53a317b6dce96ee17442450723799acd1deee10bcb2327ddab77b802ee7b7a2', '\x02b13a7e0171dfcd3e8d67823ad6756dfe526d5801012445cdb0582037b74950'),
	(25, 25, '\x02b13a7e0171dfcd3e8d67823ad6756dfe526d5801012445cdb0582037b74950', '\x9dcd9d4b01b43440b5d47f691be5da955a0fa6fcf131422b9a09eb1901ee64b6'),
	(26, 26, '\x9dcd9d4b01b43440b5d47f691be5da955a0fa6fcf131422b9a09eb1901ee64b6', '\x70d59d55601360663604dab1cae3244eb847fa4c0975d69fa893d1a948635d2d'),
	(27, 27, '\x70d59d55601360663604dab1cae3244eb847fa4c0975d69fa893d1a948635d2d', '\xfdcd7a7ef7c03af4f1442c2180ca5b253e5328b1a163177db5808a805b0e5dc2'),
	(28, 28, '\xfdcd7a7ef7c03af4f1442c2180ca5b253e5328b1a163177db5808a805b0e5dc2', '\x40db4ad8b93edc51ea96fe007b4d53b7b09c7badc9326efce36664ae3bcfe196'),
	(29, 29, '\x40db4ad8b93edc51ea96fe007b4d53b7b09c7badc9326efce36664ae3bcfe196', '\x55855af3064e7094ed2960c9eeae90a6f3fd02802b7ae363e95dc94fe2b3d7d3'),
	(30, 30, '\x55855af3064e7094ed2960c9eeae90a6f3fd02802b7ae363e95dc94fe2b3d7d3', '\xcc12152efcf9795b2ccfcd3bc387ab4ec13990dc4a22365b328ab62d819eea0c'),
	(31, 31, '\xcc12152efcf9795b2ccfcd3bc387ab4ec13990dc4a22365b328ab62d819eea0c', '\xcd223ec379264a91b2fbeba24e81d51b887db086663ccd2b715425cc13fc11e2'),
	(32, 32, '\xcd223ec379264a91b2fbeba24e81d51b887db086663ccd2b715425cc13fc11e2', '\x11d6fb4338ef16052c5b759e722ffa26356be45930cc325bab8de6c99ae81f69'),
	(33, 33, '\x11d6fb4338ef16052c5b759e722ffa26356be45930cc325bab8de6c99ae81f69', '\xd3b7b08a79f7b7f5f9b886946759bb52e7817f28ecb12496df2b13d0644ea7e6');


--
-- Data for Name: audit_pending; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: clusters; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.clusters OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'sim1', true, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:43.061785+00', '2026-11-22 21:38:43.038435+00', '2026-11-22 21:39:11.895455+00'),
	(2, 2, '', true, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.210023+00', '2026-11-22 21:38:43.136038+00', '2026-11-22 21:39:12.53945+00');


--
-- Data for Name: goose_db_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.goose_db_version VALUES
	(1, 0, true, '2026-11-22 21:38:41.876618'),
	(2, 1, true, '2026-11-22 21:38:41.945483'),
	(3, 2, true, '2026-11-22 21:38:41.964423'),
	(4, 3, true, '2026-11-22 21:38:41.990533'),
	(5, 4, true, '2026-11-22 21:38:42.004448'),
	(6, 5, true, '2026-11-22 21:38:42.006169'),
	(7, 6, true, '2026-11-22 21:38:42.017112'),
	(8, 7, true, '2026-11-22 21:38:42.023819'),
	(9, 8, true, '2026-11-22 21:38:42.031648'),
	(10, 9, true, '2026-11-22 21:38:42.037714'),
	(11, 10, true, '2026-11-22 21:38:42.04565'),
	(12, 11, true, '2026-11-22 21:38:42.047776'),
	(13, 12, true, '2026-11-22 21:38:42.053414'),
	(14, 13, true, '2026-11-22 21:38:42.062095'),
	(15, 15, true, '2026-11-22 21:38:42.070534'),
	(16, 16, true, '2026-11-22 21:38:42.073122'),
	(17, 18, true, '2026-11-22 21:38:42.07503'),
	(18, 20, true, '2026-11-22 21:38:42.077671'),
	(19, 21, true, '2026-11-22 21:38:42.080574'),
	(20, 24, true, '2026-11-22 21:38:42.082154');


--
-- Data for Name: guests; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.guests OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 'vm', 100, 'pve1', 'dns-100', 'running', false, '', '', '{}', 0.2272887684112021, 2, 509072002, 1073741824, 0, 65498251264, 1004443776, 458451252, 1582694064, 3002470128, 108612, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(4, 1, 1, 'vm', 103, 'pve1', 'dns-103', 'running', false, '', '', '{test}', 0.0946889645777459, 1, 2269845243, 4294967296, 0, 38654705664, 1214973565, 554233682, 1910337372, 3632626693, 125449, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(5, 1, 1, 'container', 104, 'pve2', 'mail-104', 'stopped', false, '', '', '{}', 0, 8, 0, 8589934592, 0, 55834574848, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(6, 1, 1, 'vm', 105, 'pve3', 'monitor-105', 'stopped', false, '', '', '{}', 0, 4, 0, 8589934592, 0, 51539607552, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(7, 1, 1, 'vm', 106, 'pve1', 'build-106', 'running', false, '', '', '{}', 0.08037351525317779, 1, 350563727, 1073741824, 0, 31138512896, 51726600, 24251400, 88938000, 153576000, 16200, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(8, 1, 1, 'container', 107, 'pve2', 'build-107', 'stopped', false, '', '', '{}', 0, 4, 0, 2147483648, 0, 44023414784, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(9, 1, 1, 'vm', 108, 'pve3', 'backup-108', 'stopped', false, '', '', '{prod,web}', 0, 1, 0, 4294967296, 0, 28991029248, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(10, 1, 1, 'container', 109, 'pve1', 'dns-109', 'stopped', false, '', '', '{}', 0, 4, 0, 1073741824, 0, 62277025792, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(11, 1, 1, 'vm', 110, 'pve2', 'git-110', 'running', false, '', '', '{}', 0.13356518720919033, 1, 866381258, 2147483648, 0, 5368709120, 918636641, 424640307, 1510336152, 2737200804, 188981, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(12, 1, 1, 'vm', 111, 'pve3', 'media-111', 'stopped', false, '', '', '{}', 0, 4, 0, 536870912, 0, 56908316672, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(13, 1, 1, 'container', 112, 'pve1', 'backup-112', 'running', false, '', 'production', '{}', 0.06414533061622199, 1, 1494779269, 4294967296, 6661187440, 35433480192, 316630379, 148461547, 545639137, 939784837, 101063, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(14, 1, 1, 'vm', 113, 'pve2', 'db-113', 'running', false, '', 'production', '{}', 0.06636023448187492, 4, 2918162062, 8589934592, 0, 60129542144, 605678700, 283983315, 1042034015, 1798370530, 190465, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(15, 1, 1, 'container', 114, 'pve3', 'backup-114', 'running', false, '', 'production', '{}', 0.5063668644241603, 4, 783935196, 1073741824, 12091266766, 19327352832, 472627840, 214282848, 727612160, 1415216320, 26672, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(16, 1, 1, 'vm', 115, 'pve1', 'queue-115', 'stopped', false, '', '', '{}', 0, 4, 0, 2147483648, 0, 53687091200, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(17, 1, 1, 'vm', 116, 'pve2', 'build-116', 'running', false, '', 'production', '{test}', 0.40871912259245463, 2, 5008687123, 8589934592, 0, 25769803776, 150121755, 68203863, 232729119, 449309511, 10773, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(18, 1, 1, 'container', 117, 'pve3', 'vpn-117', 'stopped', false, '', '', '{}', 0, 2, 0, 4294967296, 0, 7516192768, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:42.999142+00', NULL, NULL),
	(19, 2, 2, 'vm', 100, 'pve1', 'chat-100', 'running', false, '', '', '{}', 0.0505213645736792, 8, 3186577218, 4294967296, 0, 51539607552, 938414090, 425309810, 1443067836, 2810232672, 50602, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.101427+00', NULL, NULL),
	(20, 2, 2, 'vm', 101, 'pve1', 'web-101', 'stopped', false, '', '', '{}', 0, 1, 0, 8589934592, 0, 10737418240, 0, 0, 0, 0, 0, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.101427+00', NULL, NULL),
	(21, 2, 2, 'container', 102, 'pve1', 'mail-102', 'running', false, '', '', '{test}', 0.39438676215458235, 4, 5859216840, 8589934592, 31682799397, 47244640256, 2201362700, 997485315, 3382218550, 6592749135, 114535, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.101427+00', NULL, NULL),
	(3, 1, 1, 'container', 102, 'pve3', 'media-102', 'running', false, '', '', '{}', 0.42420942901753655, 1, 365916899, 536870912, 17636339381, 31138512896, 868171456, 393946720, 1340852384, 2599000768, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:44.614529+00', '2026-11-22 21:38:44.614529+00', NULL),
	(2, 1, 1, 'vm', 101, 'pve2', 'proxy-101', 'stopped', false, '', '', '{}', 0, 4, 0, 4294967296, 0, 67645734912, 0, 0, 0, 0, 0, '2026-11-22 21:38:42.999142+00', '2026-11-22 21:38:45.491534+00', '2026-11-22 21:38:45.491534+00', NULL),
	(22, 2, 2, 'vm', 103, 'pve1', 'dns-103', 'running', false, '', 'production', '{}', 0.1056717899391473, 8, 183122147, 536870912, 0, 12884901888, 203112980, 94293780, 338699760, 604529520, 48580, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.101427+00', NULL, NULL),
	(23, 2, 2, 'container', 104, 'pve1', 'dns-104', 'stopped', false, '', '', '{}', 0, 2, 0, 8589934592, 0, 16106127360, 0, 0, 0, 0, 0, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.101427+00', NULL, NULL),
	(24, 2, 2, 'vm', 105, 'pve1', 'files-105', 'running', false, '', '', '{}', 0.025009322092386783, 2, 288669103, 1073741824, 0, 32212254720, 93954060, 49597020, 226294020, 269919900, 121860, '2026-11-22 21:38:43.101427+00', '2026-11-22 21:38:43.101427+00', NULL, NULL);


--
-- Data for Name: host_credentials; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.host_credentials OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 'monitoring', 'service@pve!monitoring', '\x01fb8e42570000004301fb8e42571875141f9ab5f864ecbb60109c3f17abe3e704b8184db60cfd653aeec39423c4238c8afa1e0c38e540c16948ebfa8c322fe9e6cdc591d391fcc14f5318fa94294ed7652c72375f7ad4f0d10b23a270e5b0840eb9ba73d0095cea38d8b4d2af8eb36a045e07a135931c45fabe82ab42bc8b61975659e391f0b1ddfb710bd6', '{}', '{}', '{VM.GuestAgent.Audit}', '2026-11-22 21:38:42.963958+00', '2026-11-22 21:38:42.963958+00', '2026-11-22 21:38:42.963958+00'),
	(2, 1, 'lifecycle', 'service@pve!lifecycle', '\x01fb8e42570000004301fb8e4257af9ebf78163155a57f8b42456b8e6924c0cc8de7c71784ac5fb38aa9bada8d1555de3995f147c6a07cb1e15efec8a02b0441874fb9313a1993f097254e4889583892aa4ba1125cc124ed31ac3e45d3c0b13509d7aab0a4d78b3ccf51c0bc26ba8ce82ad3539f6def3de6576dcc4835267bf447c15655313073561b287b2c', '{}', '{}', '{Datastore.AllocateTemplate,SDN.Use,VM.Config.CDROM,VM.Config.HWType}', '2026-11-22 21:38:42.981903+00', '2026-11-22 21:38:42.981903+00', '2026-11-22 21:38:42.981903+00'),
	(3, 2, 'monitoring', 'service@pve!monitoring', '\x01fb8e42570000004301fb8e4257e8a85de37dfe01f0bacc11cccd157f48516791f9c1d065c748f796c05f092574a226a64c6ce50a5117ae32351c0d4b42c3d4f1d1e8d60a815f8d31655d91566944726b0e538748f267e044f07775a2c8982fe73e05b40f7d37e9667387632230aa3462ad42992477dd6d634ec84c6bc274e7d7fe9bac2d1f8827350a2594', '{}', '{}', '{VM.GuestAgent.Audit}', '2026-11-22 21:38:43.081927+00', '2026-11-22 21:38:43.081927+00', '2026-11-22 21:38:43.081927+00'),
	(4, 2, 'lifecycle', 'service@pve!lifecycle', '\x01fb8e42570000004301fb8e4257db0733eae5f765f637b967cfc9afe86b95e5701ecc1a2aff69d02cd14d0b3bb1c495fe08d0c941547131e0afaf28d17229eb885a2ed9fb330fc2d9ddfd342c97e37d1aaefea06a75094bc270b4aa0aa66d4a12a6ad142b01387f7ef2c791fc869f3d370c20d7dc6cb1f48f9130aad6b6a2c426be4cae9c0da4daecf30333', '{}', '{}', '{Datastore.AllocateTemplate,SDN.Use,VM.Config.CDROM,VM.Config.HWType}', '2026-11-22 21:38:43.096051+00', '2026-11-22 21:38:43.096051+00', '2026-11-22 21:38:43.096051+00');


--
-- Data for Name: hosts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.hosts OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 'pve', 'lab', '127.0.0.1:34489', '9D:09:BB:3C:AD:57:A2:76:B5:F1:9F:7D:F9:00:4F:08:CB:F1:0B:23:D8:49:A1:5E:4C:5A:D7:2B:9B:A5:EF:4D', true, false, false, false, NULL, '9.2.11', 'pve1', 'online', '', '', 0, '2026-11-22 21:38:43.062796+00', '2026-11-22 21:38:43.062796+00', '2026-11-22 21:39:14.069269+00', '2026-11-22 21:38:42.963958+00', '2026-11-22 21:38:43.002233+00', false, '9D:09:BB:3C:AD:57:A2:76:B5:F1:9F:7D:F9:00:4F:08:CB:F1:0B:23:D8:49:A1:5E:4C:5A:D7:2B:9B:A5:EF:4D', 'sim1', '10.99.0.10'),
	(2, 2, 2, 'pve', 'shop', '127.0.0.1:42321', '72:01:04:30:4C:74:BE:26:39:CD:AE:F2:3A:91:46:02:35:8F:BF:0E:8D:2F:A9:B2:4E:46:E2:C0:AA:7C:58:C0', true, false, false, false, NULL, '9.2.11', 'pve1', 'online', '', '', 0, '2026-11-22 21:38:43.210873+00', '2026-11-22 21:38:43.210873+00', '2026-11-22 21:39:13.11671+00', '2026-11-22 21:38:43.081927+00', '2026-11-22 21:38:43.103179+00', false, '72:01:04:30:4C:74:BE:26:39:CD:AE:F2:3A:91:46:02:35:8F:BF:0E:8D:2F:A9:B2:4E:46:E2:C0:AA:7C:58:C0', '', '10.99.0.10');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: job_events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.job_events VALUES
	(1, 1, '2026-11-22 21:38:43.857783+00', 'status', 'queued'),
	(1, 2, '2026-11-22 21:38:43.872062+00', 'status', 'running'),
	(1, 3, '2026-11-22 21:38:43.885925+00', 'note', 'taking the snapshot before'),
	(1, 4, '2026-11-22 21:38:44.058823+00', 'log', 'snapshotting ''drive-scsi0'' (local-lvm:vm-101-disk-0)'),
	(1, 5, '2026-11-22 21:38:44.058834+00', 'log', '  Logical volume "snap_vm-101-disk-0_before" created.'),
	(1, 6, '2026-11-22 21:38:44.058837+00', 'log', 'TASK OK'),
	(1, 7, '2026-11-22 21:38:44.083824+00', 'status', 'succeeded'),
	(2, 1, '2026-11-22 21:38:44.122297+00', 'status', 'queued'),
	(2, 2, '2026-11-22 21:38:44.13379+00', 'status', 'running'),
	(2, 3, '2026-11-22 21:38:44.150923+00', 'note', 'deleting the snapshot before'),
	(2, 4, '2026-11-22 21:38:44.176981+00', 'log', 'TASK OK'),
	(2, 5, '2026-11-22 21:38:44.192698+00', 'status', 'succeeded'),
	(3, 1, '2026-11-22 21:38:44.229204+00', 'status', 'queued'),
	(3, 2, '2026-11-22 21:38:44.248901+00', 'status', 'running'),
	(3, 3, '2026-11-22 21:38:44.274164+00', 'note', 'taking the snapshot before'),
	(3, 4, '2026-11-22 21:38:44.306902+00', 'log', '  Logical volume "snap_vm-102-disk-0_before" created.'),
	(3, 5, '2026-11-22 21:38:44.306911+00', 'log', 'TASK OK'),
	(3, 6, '2026-11-22 21:38:44.328313+00', 'status', 'succeeded'),
	(4, 1, '2026-11-22 21:38:44.357876+00', 'status', 'queued'),
	(4, 2, '2026-11-22 21:38:44.365812+00', 'status', 'running'),
	(4, 3, '2026-11-22 21:38:44.376488+00', 'note', 'deleting the snapshot before'),
	(4, 4, '2026-11-22 21:38:44.54337+00', 'log', 'TASK OK'),
	(4, 5, '2026-11-22 21:38:44.563409+00', 'status', 'succeeded'),
	(5, 1, '2026-11-22 21:38:44.57314+00', 'status', 'queued'),
	(5, 2, '2026-11-22 21:38:44.58158+00', 'status', 'running'),
	(5, 3, '2026-11-22 21:38:44.60906+00', 'log', 'TASK OK'),
	(5, 4, '2026-11-22 21:38:44.615079+00', 'status', 'succeeded'),
	(6, 1, '2026-11-22 21:38:44.629439+00', 'status', 'queued'),
	(6, 2, '2026-11-22 21:38:44.637923+00', 'status', 'running'),
	(6, 3, '2026-11-22 21:38:44.8189+00', 'log', 'TASK OK'),
	(6, 4, '2026-11-22 21:38:44.830637+00', 'status', 'succeeded'),
	(7, 1, '2026-11-22 21:38:44.8456+00', 'status', 'queued'),
	(7, 2, '2026-11-22 21:38:44.855337+00', 'status', 'running'),
	(7, 3, '2026-11-22 21:38:45.03002+00', 'log', 'TASK OK'),
	(7, 4, '2026-11-22 21:38:45.041426+00', 'status', 'succeeded'),
	(8, 1, '2026-11-22 21:38:45.079915+00', 'status', 'queued'),
	(8, 2, '2026-11-22 21:38:45.086972+00', 'status', 'running'),
	(8, 3, '2026-11-22 21:38:45.260327+00', 'log', 'TASK OK'),
	(8, 4, '2026-11-22 21:38:45.272062+00', 'status', 'succeeded'),
	(9, 1, '2026-11-22 21:38:45.293833+00', 'status', 'queued'),
	(9, 2, '2026-11-22 21:38:45.299652+00', 'status', 'running'),
	(9, 3, '2026-11-22 21:38:45.482043+00', 'log', 'TASK OK'),
	(9, 4, '2026-11-22 21:38:45.492037+00', 'status', 'succeeded'),
	(10, 1, '2026-11-22 21:38:45.507871+00', 'status', 'queued'),
	(10, 2, '2026-11-22 21:38:45.515329+00', 'status', 'running');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs OVERRIDING SYSTEM VALUE VALUES
	(3, 'app.snapshot_create', 'succeeded', 1, 1, 'app', 1, 'schema24', 'guest:3', '{"kind": "container", "name": "media-102", "spec": {"Name": "before", "Memory": false, "Description": "before the change"}, "vmid": 102, "guest_id": 3}', '{"work": {"node": "pve3", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"take": {"mark": "2026-11-22T21:38:44Z", "task": "UPID:pve3:0000047E:018BB214:6B0360E4:vzsnapshot:102:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve3:0000047E:018BB214:6B0360E4:vzsnapshot:102:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 3, 1, 6, 2, '2026-11-22 21:38:44.229204+00', '2026-11-22 21:38:44.248901+00', '2026-11-22 21:38:44.328313+00', NULL, NULL),
	(4, 'app.snapshot_delete', 'succeeded', 1, 1, 'app', 1, 'schema24', 'guest:3', '{"kind": "container", "name": "media-102", "spec": "before", "vmid": 102, "guest_id": 3}', '{"work": {"node": "pve3", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"delete": {"mark": "2026-11-22T21:38:44Z", "task": "UPID:pve3:0000049F:018BB21D:6B0360E4:vzdelsnapshot:102:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve3:0000049F:018BB21D:6B0360E4:vzdelsnapshot:102:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 4, 1, 5, 1, '2026-11-22 21:38:44.357876+00', '2026-11-22 21:38:44.365812+00', '2026-11-22 21:38:44.563409+00', NULL, NULL),
	(1, 'vm.snapshot_create', 'succeeded', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "spec": {"Name": "before", "Memory": false, "Description": "before the change"}, "vmid": 101, "guest_id": 2}', '{"work": {"node": "pve2", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"take": {"mark": "2026-11-22T21:38:43Z", "task": "UPID:pve2:0000052E:018B9A7C:6B0360E3:qmsnapshot:101:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve2:0000052E:018B9A7C:6B0360E3:qmsnapshot:101:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 1, 1, 7, 3, '2026-11-22 21:38:43.857783+00', '2026-11-22 21:38:43.872062+00', '2026-11-22 21:38:44.083824+00', NULL, NULL),
	(2, 'vm.snapshot_delete', 'succeeded', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "spec": "before", "vmid": 101, "guest_id": 2}', '{"work": {"node": "pve2", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"delete": {"mark": "2026-11-22T21:38:44Z", "task": "UPID:pve2:0000054B:018B9A96:6B0360E4:qmdelsnapshot:101:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve2:0000054B:018B9A96:6B0360E4:qmdelsnapshot:101:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 2, 1, 5, 1, '2026-11-22 21:38:44.122297+00', '2026-11-22 21:38:44.13379+00', '2026-11-22 21:38:44.192698+00', NULL, NULL),
	(6, 'vm.start', 'succeeded', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "vmid": 101, "guest_id": 2}', '{"work": {"node": "pve2", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"act": {"mark": "2026-11-22T21:38:44Z", "task": "UPID:pve2:0000054D:018B9AC8:6B0360E4:qmstart:101:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve2:0000054D:018B9AC8:6B0360E4:qmstart:101:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 6, 1, 4, 1, '2026-11-22 21:38:44.629439+00', '2026-11-22 21:38:44.637923+00', '2026-11-22 21:38:44.830637+00', NULL, NULL),
	(5, 'app.restart', 'succeeded', 1, 1, 'app', 1, 'schema24', 'guest:3', '{"kind": "container", "name": "media-102", "vmid": 102, "guest_id": 3}', '{"work": {"node": "pve3", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"act": {"mark": "2026-11-22T21:38:44Z", "task": "UPID:pve3:000004BE:018BB232:6B0360E4:vzreboot:102:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve3:000004BE:018BB232:6B0360E4:vzreboot:102:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 5, 1, 4, 1, '2026-11-22 21:38:44.57314+00', '2026-11-22 21:38:44.58158+00', '2026-11-22 21:38:44.615079+00', NULL, NULL),
	(7, 'vm.stop', 'succeeded', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "vmid": 101, "guest_id": 2}', '{"work": {"node": "pve2", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"act": {"mark": "2026-11-22T21:38:44Z", "task": "UPID:pve2:00000563:018B9ADD:6B0360E4:qmstop:101:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve2:00000563:018B9ADD:6B0360E4:qmstop:101:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 7, 1, 4, 1, '2026-11-22 21:38:44.8456+00', '2026-11-22 21:38:44.855337+00', '2026-11-22 21:38:45.041426+00', NULL, NULL),
	(8, 'vm.start', 'succeeded', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "vmid": 101, "guest_id": 2}', '{"work": {"node": "pve2", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"act": {"mark": "2026-11-22T21:38:45Z", "task": "UPID:pve2:00000575:018B9AF4:6B0360E5:qmstart:101:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve2:00000575:018B9AF4:6B0360E5:qmstart:101:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 8, 1, 4, 1, '2026-11-22 21:38:45.079915+00', '2026-11-22 21:38:45.086972+00', '2026-11-22 21:38:45.272062+00', 8, NULL),
	(9, 'vm.stop', 'succeeded', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "vmid": 101, "guest_id": 2}', '{"work": {"node": "pve2", "host_id": 1, "token_id": "service@pve!lifecycle"}, "steps": {"act": {"mark": "2026-11-22T21:38:45Z", "task": "UPID:pve2:0000059C:018B9B0A:6B0360E5:qmstop:101:service@pve!lifecycle:", "sends": 1, "state": "done", "status": "ok", "message": "OK"}}}', 'UPID:pve2:0000059C:018B9B0A:6B0360E5:qmstop:101:service@pve!lifecycle:', '', 1, 'owner@example.com', NULL, 9, 1, 4, 1, '2026-11-22 21:38:45.293833+00', '2026-11-22 21:38:45.299652+00', '2026-11-22 21:38:45.492037+00', NULL, NULL),
	(10, 'vm.start', 'running', 1, 1, 'vm', 2, 'proxy-101', 'guest:2', '{"kind": "vm", "name": "proxy-101", "vmid": 101, "guest_id": 2}', '{}', '', '', 1, 'owner@example.com', NULL, 10, 1, 2, 0, '2026-11-22 21:38:45.507871+00', '2026-11-22 21:38:45.515329+00', NULL, NULL, NULL);


--
-- Data for Name: login_addresses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.login_addresses VALUES
	(1, '127.0.0.1', '2026-11-22 21:38:42.921104+00'),
	(2, '127.0.0.1', '2026-11-22 21:38:43.833915+00');


--
-- Data for Name: login_devices; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.login_devices OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '\xeeefed6fed10567ae59652d155997f4dd160ab21b1040a981713cfe98246f01a', false, '2027-02-20 21:38:42.921104+00'),
	(2, 2, '\xde1c1f37a65a0d01597d28ede98ab9f3333ab16589e33d320ef480c6aeb61837', false, '2027-02-20 21:38:43.833915+00');


--
-- Data for Name: login_failures; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_1h_202611; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_5m_20261121; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_5m_20261122; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_5m_20261123; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_5m_20261124; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_late; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_rollups; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_samples_20261121; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_samples_20261122; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.metric_samples_20261122 VALUES
	('2026-11-22 21:38:42.999142+00', 'guest', 1, 0.22728877, 509072002, 1073741824, 0, 65498251264, 1004443776, 458451252, 1582694064, 3002470128),
	('2026-11-22 21:38:42.999142+00', 'guest', 3, 0.42420942, 365916899, 536870912, 17636339381, 31138512896, 868171456, 393946720, 1340852384, 2599000768),
	('2026-11-22 21:38:42.999142+00', 'guest', 4, 0.09468897, 2269845243, 4294967296, 0, 38654705664, 1214973565, 554233682, 1910337372, 3632626693),
	('2026-11-22 21:38:42.999142+00', 'guest', 7, 0.08037352, 350563727, 1073741824, 0, 31138512896, 51726600, 24251400, 88938000, 153576000),
	('2026-11-22 21:38:42.999142+00', 'guest', 11, 0.13356519, 866381258, 2147483648, 0, 5368709120, 918636641, 424640307, 1510336152, 2737200804),
	('2026-11-22 21:38:42.999142+00', 'guest', 13, 0.064145334, 1494779269, 4294967296, 6661187440, 35433480192, 316630379, 148461547, 545639137, 939784837),
	('2026-11-22 21:38:42.999142+00', 'guest', 14, 0.066360235, 2918162062, 8589934592, 0, 60129542144, 605678700, 283983315, 1042034015, 1798370530),
	('2026-11-22 21:38:42.999142+00', 'guest', 15, 0.50636685, 783935196, 1073741824, 12091266766, 19327352832, 472627840, 214282848, 727612160, 1415216320),
	('2026-11-22 21:38:42.999142+00', 'guest', 17, 0.40871912, 5008687123, 8589934592, 0, 25769803776, 150121755, 68203863, 232729119, 449309511),
	('2026-11-22 21:38:42.999142+00', 'node', 1, 0.35827804, 20756097751, 68719476736, 85505708490, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'node', 2, 0.28476053, 24736463768, 68719476736, 78096264419, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'node', 3, 0.33443683, 31586770913, 68719476736, 116639280142, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 1, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 2, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 3, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 4, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 5, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 6, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 7, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 8, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'storage', 9, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:42.999142+00', 'host', 1, 0.32582512, 77079332432, 206158430208, 280241253051, 1288490188800, 5603010712, 2570454934, 8981172403, 16727555591),
	('2026-11-22 21:38:43.038435+00', 'guest', 1, 0.22728877, 509072002, 1073741824, 0, 65498251264, 1004443776, 458451252, 1582694064, 3002470128),
	('2026-11-22 21:38:43.038435+00', 'guest', 3, 0.42420942, 365916899, 536870912, 17636339381, 31138512896, 868171456, 393946720, 1340852384, 2599000768),
	('2026-11-22 21:38:43.038435+00', 'guest', 4, 0.09468897, 2269845243, 4294967296, 0, 38654705664, 1214973565, 554233682, 1910337372, 3632626693),
	('2026-11-22 21:38:43.038435+00', 'guest', 7, 0.08037352, 350563727, 1073741824, 0, 31138512896, 51726600, 24251400, 88938000, 153576000),
	('2026-11-22 21:38:43.038435+00', 'guest', 11, 0.13356519, 866381258, 2147483648, 0, 5368709120, 918636641, 424640307, 1510336152, 2737200804),
	('2026-11-22 21:38:43.038435+00', 'guest', 13, 0.064145334, 1494779269, 4294967296, 6661187440, 35433480192, 316630379, 148461547, 545639137, 939784837),
	('2026-11-22 21:38:43.038435+00', 'guest', 14, 0.066360235, 2918162062, 8589934592, 0, 60129542144, 605678700, 283983315, 1042034015, 1798370530),
	('2026-11-22 21:38:43.038435+00', 'guest', 15, 0.50636685, 783935196, 1073741824, 12091266766, 19327352832, 472627840, 214282848, 727612160, 1415216320),
	('2026-11-22 21:38:43.038435+00', 'guest', 17, 0.40871912, 5008687123, 8589934592, 0, 25769803776, 150121755, 68203863, 232729119, 449309511),
	('2026-11-22 21:38:43.038435+00', 'node', 1, 0.35827804, 20756097751, 68719476736, 85505708490, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'node', 2, 0.28476053, 24736463768, 68719476736, 78096264419, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'node', 3, 0.33443683, 31586770913, 68719476736, 116639280142, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 1, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 2, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 3, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 4, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 5, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 6, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 7, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 8, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'storage', 9, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.038435+00', 'host', 1, 0.32582512, 77079332432, 206158430208, 280241253051, 1288490188800, 5603010712, 2570454934, 8981172403, 16727555591),
	('2026-11-22 21:38:30+00', 'node', 1, 0.35827804, 20756097751, 68719476736, 85505708490, 429496729600, 31103760000, 23327820000, NULL, NULL),
	('2026-11-22 21:38:30+00', 'node', 2, 0.28476053, 24736463768, 68719476736, 78096264419, 429496729600, 31110960000, 23333220000, NULL, NULL),
	('2026-11-22 21:38:30+00', 'node', 3, 0.33443683, 31586770913, 68719476736, 116639280142, 429496729600, 31118160000, 23338620000, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'guest', 1, 0.22728877, 509072002, 1073741824, 0, 65498251264, 1004443776, 458451252, 1582694064, 3002470128),
	('2026-11-22 21:38:43.061785+00', 'guest', 3, 0.42420942, 365916899, 536870912, 17636339381, 31138512896, 868171456, 393946720, 1340852384, 2599000768),
	('2026-11-22 21:38:43.061785+00', 'guest', 4, 0.09468897, 2269845243, 4294967296, 0, 38654705664, 1214973565, 554233682, 1910337372, 3632626693),
	('2026-11-22 21:38:43.061785+00', 'guest', 7, 0.08037352, 350563727, 1073741824, 0, 31138512896, 51726600, 24251400, 88938000, 153576000),
	('2026-11-22 21:38:43.061785+00', 'guest', 11, 0.13356519, 866381258, 2147483648, 0, 5368709120, 918636641, 424640307, 1510336152, 2737200804),
	('2026-11-22 21:38:43.061785+00', 'guest', 13, 0.064145334, 1494779269, 4294967296, 6661187440, 35433480192, 316630379, 148461547, 545639137, 939784837),
	('2026-11-22 21:38:43.061785+00', 'guest', 14, 0.066360235, 2918162062, 8589934592, 0, 60129542144, 605678700, 283983315, 1042034015, 1798370530),
	('2026-11-22 21:38:43.061785+00', 'guest', 15, 0.50636685, 783935196, 1073741824, 12091266766, 19327352832, 472627840, 214282848, 727612160, 1415216320),
	('2026-11-22 21:38:43.061785+00', 'guest', 17, 0.40871912, 5008687123, 8589934592, 0, 25769803776, 150121755, 68203863, 232729119, 449309511),
	('2026-11-22 21:38:43.061785+00', 'node', 1, 0.35827804, 20756097751, 68719476736, 85505708490, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'node', 2, 0.28476053, 24736463768, 68719476736, 78096264419, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'node', 3, 0.33443683, 31586770913, 68719476736, 116639280142, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 1, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 2, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 3, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 4, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 5, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 6, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 7, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 8, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'storage', 9, NULL, NULL, NULL, 3166465982547, 8796093022208, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.061785+00', 'host', 1, 0.32582512, 77079332432, 206158430208, 280241253051, 1288490188800, 5603010712, 2570454934, 8981172403, 16727555591),
	('2026-11-22 21:38:43.101427+00', 'guest', 19, 0.050521366, 3186577218, 4294967296, 0, 51539607552, 938414090, 425309810, 1443067836, 2810232672),
	('2026-11-22 21:38:43.101427+00', 'guest', 21, 0.39438677, 5859216840, 8589934592, 31682799397, 47244640256, 2201362700, 997485315, 3382218550, 6592749135),
	('2026-11-22 21:38:43.101427+00', 'guest', 22, 0.10567179, 183122147, 536870912, 0, 12884901888, 203112980, 94293780, 338699760, 604529520),
	('2026-11-22 21:38:43.101427+00', 'guest', 24, 0.025009323, 288669103, 1073741824, 0, 32212254720, 93954060, 49597020, 226294020, 269919900),
	('2026-11-22 21:38:43.101427+00', 'node', 10, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.101427+00', 'storage', 28, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.101427+00', 'storage', 29, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.101427+00', 'host', 2, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, 3436843830, 1566685925, 5390280166, 10277431227),
	('2026-11-22 21:38:43.136038+00', 'guest', 19, 0.050521366, 3186577218, 4294967296, 0, 51539607552, 938414090, 425309810, 1443067836, 2810232672),
	('2026-11-22 21:38:43.136038+00', 'guest', 21, 0.39438677, 5859216840, 8589934592, 31682799397, 47244640256, 2201362700, 997485315, 3382218550, 6592749135),
	('2026-11-22 21:38:43.136038+00', 'guest', 22, 0.10567179, 183122147, 536870912, 0, 12884901888, 203112980, 94293780, 338699760, 604529520),
	('2026-11-22 21:38:43.136038+00', 'guest', 24, 0.025009323, 288669103, 1073741824, 0, 32212254720, 93954060, 49597020, 226294020, 269919900),
	('2026-11-22 21:38:43.136038+00', 'node', 10, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.136038+00', 'storage', 28, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.136038+00', 'storage', 29, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.136038+00', 'host', 2, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, 3436843830, 1566685925, 5390280166, 10277431227),
	('2026-11-22 21:38:30+00', 'node', 10, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, 31103760000, 23327820000, NULL, NULL),
	('2026-11-22 21:38:43.190939+00', 'guest', 19, 0.050521366, 3186577218, 4294967296, 0, 51539607552, 938414090, 425309810, 1443067836, 2810232672),
	('2026-11-22 21:38:43.190939+00', 'guest', 21, 0.39438677, 5859216840, 8589934592, 31682799397, 47244640256, 2201362700, 997485315, 3382218550, 6592749135),
	('2026-11-22 21:38:43.190939+00', 'guest', 22, 0.10567179, 183122147, 536870912, 0, 12884901888, 203112980, 94293780, 338699760, 604529520),
	('2026-11-22 21:38:43.190939+00', 'guest', 24, 0.025009323, 288669103, 1073741824, 0, 32212254720, 93954060, 49597020, 226294020, 269919900),
	('2026-11-22 21:38:43.190939+00', 'node', 10, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.190939+00', 'storage', 28, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.190939+00', 'storage', 29, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.190939+00', 'host', 2, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, 3436843830, 1566685925, 5390280166, 10277431227),
	('2026-11-22 21:38:43.210023+00', 'guest', 19, 0.050521366, 3186577218, 4294967296, 0, 51539607552, 938414090, 425309810, 1443067836, 2810232672),
	('2026-11-22 21:38:43.210023+00', 'guest', 21, 0.39438677, 5859216840, 8589934592, 31682799397, 47244640256, 2201362700, 997485315, 3382218550, 6592749135),
	('2026-11-22 21:38:43.210023+00', 'guest', 22, 0.10567179, 183122147, 536870912, 0, 12884901888, 203112980, 94293780, 338699760, 604529520),
	('2026-11-22 21:38:43.210023+00', 'guest', 24, 0.025009323, 288669103, 1073741824, 0, 32212254720, 93954060, 49597020, 226294020, 269919900),
	('2026-11-22 21:38:43.210023+00', 'node', 10, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.210023+00', 'storage', 28, NULL, NULL, NULL, 24357709368, 96636764160, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.210023+00', 'storage', 29, NULL, NULL, NULL, 197126086170, 858993459200, NULL, NULL, NULL, NULL),
	('2026-11-22 21:38:43.210023+00', 'host', 2, 0.29306024, 32878102185, 68719476736, 62547289360, 429496729600, 3436843830, 1566685925, 5390280166, 10277431227);


--
-- Data for Name: metric_samples_20261123; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: metric_samples_20261124; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: nodes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.nodes OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 'pve1', 'online', '10.99.0.10', '', '', 0.3582780318886848, 16, 20756097751, 68719476736, 85505708490, 429496729600, 259201, '2026-11-22 21:38:43.061785+00'),
	(2, 1, 1, 'pve2', 'online', '10.99.0.11', '', '', 0.2847605263071752, 16, 24736463768, 68719476736, 78096264419, 429496729600, 259261, '2026-11-22 21:38:43.061785+00'),
	(3, 1, 1, 'pve3', 'online', '10.99.0.12', '', '', 0.33443682309714773, 16, 31586770913, 68719476736, 116639280142, 429496729600, 259321, '2026-11-22 21:38:43.061785+00'),
	(10, 2, 2, 'pve1', 'online', '10.99.0.10', '', '', 0.2930602450443278, 16, 32878102185, 68719476736, 62547289360, 429496729600, 259201, '2026-11-22 21:38:43.210023+00');


--
-- Data for Name: pending_logins; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: plugins; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.plugins VALUES
	('hypervisor', 'pve', 'hostler-plugin-pve', 'dev', '5f456e220cad99726e79c859b4f5559d8995d365983abcbb0e2d7593757d4a3a', true, '2026-11-22 21:38:42.290544+00', 'first start'),
	('firewall', 'pve', 'hostler-plugin-pve', 'dev', '5f456e220cad99726e79c859b4f5559d8995d365983abcbb0e2d7593757d4a3a', true, '2026-11-22 21:38:42.296477+00', 'first start');


--
-- Data for Name: recovery_codes; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: river_job; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.river_job VALUES
	(1, 'completed', 1, 1, '2026-11-22 21:38:43.86656+00', '2026-11-22 21:38:43.859597+00', '2026-11-22 21:38:44.083824+00', '2026-11-22 21:38:43.859597+00', 2, '{"job_id": 1}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(2, 'completed', 1, 1, '2026-11-22 21:38:44.128247+00', '2026-11-22 21:38:44.123839+00', '2026-11-22 21:38:44.192698+00', '2026-11-22 21:38:44.123839+00', 2, '{"job_id": 2}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(3, 'completed', 1, 1, '2026-11-22 21:38:44.243177+00', '2026-11-22 21:38:44.231687+00', '2026-11-22 21:38:44.328313+00', '2026-11-22 21:38:44.231687+00', 2, '{"job_id": 3}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(4, 'completed', 1, 1, '2026-11-22 21:38:44.362869+00', '2026-11-22 21:38:44.358636+00', '2026-11-22 21:38:44.563409+00', '2026-11-22 21:38:44.358636+00', 2, '{"job_id": 4}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(5, 'completed', 1, 1, '2026-11-22 21:38:44.578322+00', '2026-11-22 21:38:44.574348+00', '2026-11-22 21:38:44.615079+00', '2026-11-22 21:38:44.574348+00', 2, '{"job_id": 5}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(6, 'completed', 1, 1, '2026-11-22 21:38:44.633834+00', '2026-11-22 21:38:44.630318+00', '2026-11-22 21:38:44.830637+00', '2026-11-22 21:38:44.630318+00', 2, '{"job_id": 6}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(7, 'completed', 1, 1, '2026-11-22 21:38:44.851983+00', '2026-11-22 21:38:44.847078+00', '2026-11-22 21:38:45.041426+00', '2026-11-22 21:38:44.847078+00', 2, '{"job_id": 7}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(8, 'completed', 1, 1, '2026-11-22 21:38:45.084398+00', '2026-11-22 21:38:45.081174+00', '2026-11-22 21:38:45.272062+00', '2026-11-22 21:38:45.081174+00', 2, '{"job_id": 8}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(9, 'completed', 1, 1, '2026-11-22 21:38:45.297289+00', '2026-11-22 21:38:45.294501+00', '2026-11-22 21:38:45.492037+00', '2026-11-22 21:38:45.294501+00', 2, '{"job_id": 9}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL),
	(10, 'running', 1, 1, '2026-11-22 21:38:45.512272+00', '2026-11-22 21:38:45.508806+00', NULL, '2026-11-22 21:38:45.508806+00', 2, '{"job_id": 10}', '{vm_2026_11_22T21_38_42_302898}', NULL, 'job', '{}', 'jobs', '{}', NULL, NULL);


--
-- Data for Name: river_leader; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.river_leader VALUES
	('2026-11-22 21:38:42.4468+00', '2026-11-22 21:38:57.4468+00', 'vm_2026_11_22T21_38_42_302898', 'default');


--
-- Data for Name: river_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.river_migration VALUES
	('main', 1, '2026-11-22 21:38:41.889775+00'),
	('main', 2, '2026-11-22 21:38:41.896462+00'),
	('main', 3, '2026-11-22 21:38:41.911735+00'),
	('main', 4, '2026-11-22 21:38:41.913632+00'),
	('main', 5, '2026-11-22 21:38:41.918642+00'),
	('main', 6, '2026-11-22 21:38:41.927797+00'),
	('main', 7, '2026-11-22 21:38:41.930229+00'),
	('main', 8, '2026-11-22 21:38:41.936481+00');


--
-- Data for Name: river_notification; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: river_queue; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.river_queue VALUES
	('jobs', '2026-11-22 21:38:42.430593+00', '{}', NULL, '2026-11-22 21:38:42.430593+00');


--
-- Data for Name: schedules; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schedules OVERRIDING SYSTEM VALUE VALUES
	(5, 'Look for a new release', '0 4 * * *', 'UTC', 'update.check', '{}', false, NULL, NULL, NULL, '', 'no source and channel of releases are configured', NULL, '', true, '2026-11-22 21:38:42.053414+00', '2026-11-22 21:38:42.053414+00'),
	(1, 'Prune ended sessions', '20 2 * * *', 'UTC', 'sessions.prune', '{}', true, '2026-11-23 02:20:00+00', NULL, NULL, '', '', NULL, '', true, '2026-11-22 21:38:42.04565+00', '2026-11-22 21:38:42.04565+00'),
	(2, 'Prune old jobs', '40 2 * * *', 'UTC', 'jobs.prune', '{}', true, '2026-11-23 02:40:00+00', NULL, NULL, '', '', NULL, '', true, '2026-11-22 21:38:42.04565+00', '2026-11-22 21:38:42.04565+00'),
	(3, 'Prune the audit trail', '10 3 * * *', 'UTC', 'audit.prune', '{}', true, '2026-11-23 03:10:00+00', NULL, NULL, '', '', NULL, '', true, '2026-11-22 21:38:42.04565+00', '2026-11-22 21:38:42.04565+00'),
	(4, 'Roll up metrics', '7 * * * *', 'UTC', 'metrics.maintain', '{}', true, '2026-11-22 22:07:00+00', NULL, NULL, '', '', NULL, '', true, '2026-11-22 21:38:42.04565+00', '2026-11-22 21:38:42.04565+00'),
	(6, 'test vm.start', '0 0 1 1 *', 'UTC', 'vm.start', '{"vm_id": 2}', true, '2027-01-01 00:00:00+00', NULL, NULL, '', '', 1, 'owner@example.com', false, '2026-11-22 21:38:45.061286+00', '2026-11-22 21:38:45.061286+00'),
	(7, 'test app.restart', '0 0 1 1 *', 'UTC', 'app.restart', '{"app_id": 1}', true, '2027-01-01 00:00:00+00', NULL, NULL, '', '', 1, 'owner@example.com', false, '2026-11-22 21:38:45.069249+00', '2026-11-22 21:38:45.069249+00'),
	(8, 'test vm.start', '0 0 1 1 *', 'UTC', 'vm.start', '{"vm_id": 2}', true, '2027-01-01 00:00:00+00', NULL, NULL, '', '', 1, 'owner@example.com', false, '2026-11-22 21:38:45.074015+00', '2026-11-22 21:38:45.074015+00');


--
-- Data for Name: secret_key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret_key VALUES
	(true, 'fb8e4257', '2026-11-22 21:38:42.418774+00');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions OVERRIDING SYSTEM VALUE VALUES
	(1, 1, '\xe6d1058baacd85a709c1c461155d85316e0ed0d2d63af4888ad2a4e7bc2df08d', '127.0.0.1', 'Go-http-client/1.1', '2026-11-22 21:38:42.921104+00', '2026-11-22 21:38:42.921104+00', '2026-11-29 21:38:42.921104+00'),
	(2, 2, '\x3038d2bdcf37b75b9ae37366ffa94d2c2703f282b428f6f75e135fd6ddfa9c79', '127.0.0.1', 'Go-http-client/1.1', '2026-11-22 21:38:43.833915+00', '2026-11-22 21:38:43.833915+00', '2026-11-29 21:38:43.833915+00');


--
-- Data for Name: settings; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: setup_tokens; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: storages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.storages OVERRIDING SYSTEM VALUE VALUES
	(1, 1, 1, 'pve1', 'local', 'dir', false, 'available', '{backup,iso,vztmpl}', 24357709368, 96636764160, '2026-11-22 21:38:43.061785+00'),
	(2, 1, 1, 'pve1', 'local-lvm', 'lvmthin', false, 'available', '{images,rootdir}', 197126086170, 858993459200, '2026-11-22 21:38:43.061785+00'),
	(3, 1, 1, 'pve1', 'nas', 'nfs', true, 'available', '{backup,images,iso,rootdir,snippets,vztmpl}', 3166465982547, 8796093022208, '2026-11-22 21:38:43.061785+00'),
	(4, 1, 1, 'pve2', 'local', 'dir', false, 'available', '{backup,iso,vztmpl}', 24357709368, 96636764160, '2026-11-22 21:38:43.061785+00'),
	(5, 1, 1, 'pve2', 'local-lvm', 'lvmthin', false, 'available', '{images,rootdir}', 197126086170, 858993459200, '2026-11-22 21:38:43.061785+00'),
	(6, 1, 1, 'pve2', 'nas', 'nfs', true, 'available', '{backup,images,iso,rootdir,snippets,vztmpl}', 3166465982547, 8796093022208, '2026-11-22 21:38:43.061785+00'),
	(7, 1, 1, 'pve3', 'local', 'dir', false, 'available', '{backup,iso,vztmpl}', 24357709368, 96636764160, '2026-11-22 21:38:43.061785+00'),
	(8, 1, 1, 'pve3', 'local-lvm', 'lvmthin', false, 'available', '{images,rootdir}', 197126086170, 858993459200, '2026-11-22 21:38:43.061785+00'),
	(9, 1, 1, 'pve3', 'nas', 'nfs', true, 'available', '{backup,images,iso,rootdir,snippets,vztmpl}', 3166465982547, 8796093022208, '2026-11-22 21:38:43.061785+00'),
	(28, 2, 2, 'pve1', 'local', 'dir', false, 'available', '{backup,iso,vztmpl}', 24357709368, 96636764160, '2026-11-22 21:38:43.210023+00'),
	(29, 2, 2, 'pve1', 'local-lvm', 'lvmthin', false, 'available', '{images,rootdir}', 197126086170, 858993459200, '2026-11-22 21:38:43.210023+00');


--
-- Data for Name: team_members; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.team_members VALUES
	(1, 1, 'owner', '2026-11-22 21:38:42.68063+00'),
	(1, 2, 'viewer', '2026-11-22 21:38:43.538903+00'),
	(2, 2, 'operator', '2026-11-22 21:38:43.545727+00');


--
-- Data for Name: teams; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.teams VALUES
	(1, 'Default', 'default', 'The instance''s own team: a role here holds everywhere', '2026-11-22 21:38:41.945483+00'),
	(2, 'Web shop', 'web-shop', NULL, '2026-11-22 21:38:42.939338+00');


--
-- Data for Name: update_check; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.update_check VALUES
	(true, NULL, '', NULL, NULL, '{}', false, 5);


--
-- Data for Name: update_reports; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: update_requests; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.users OVERRIDING SYSTEM VALUE VALUES
	(1, 'owner@example.com', 'owner@example.com', NULL, '$argon2id$v=19$m=65536,t=3,p=1$PcpoGc10Vsuj4+eqCmp9Jg$27ye1oLsK8iLRmlMb4uFGvj3int6nxvPKhnQhthLuX8', true, '2026-11-22 21:38:42.682358+00', '2026-11-22 21:38:42.682358+00', '2026-11-22 21:38:42.921104+00', NULL, NULL, NULL, DEFAULT),
	(2, 'operator@example.com', 'operator@example.com', NULL, '$argon2id$v=19$m=65536,t=3,p=1$XZ8pkmm3+4CGWzDqVAcuoQ$3/56GHBrv2lBoKm1eMSRqCUBJ0ACmL5Q0XMBJjmfWnw', true, '2026-11-22 21:38:43.540614+00', '2026-11-22 21:38:43.540614+00', '2026-11-22 21:38:43.833915+00', NULL, NULL, NULL, DEFAULT);


--
-- Name: alerts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.alerts_id_seq', 1, false);


--
-- Name: api_keys_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.api_keys_id_seq', 1, true);


--
-- Name: apps_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.apps_id_seq', 1, true);


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_id_seq', 33, true);


--
-- Name: clusters_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.clusters_id_seq', 2, true);


--
-- Name: goose_db_version_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.goose_db_version_id_seq', 20, true);


--
-- Name: guests_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.guests_id_seq', 24, true);


--
-- Name: host_credentials_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.host_credentials_id_seq', 4, true);


--
-- Name: hosts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.hosts_id_seq', 2, true);


--
-- Name: jobs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.jobs_id_seq', 10, true);


--
-- Name: login_devices_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.login_devices_id_seq', 2, true);


--
-- Name: metric_late_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.metric_late_id_seq', 1, false);


--
-- Name: nodes_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.nodes_id_seq', 13, true);


--
-- Name: river_job_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.river_job_id_seq', 10, true);


--
-- Name: river_notification_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.river_notification_id_seq', 1, false);


--
-- Name: schedules_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.schedules_id_seq', 8, true);


--
-- Name: sessions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.sessions_id_seq', 2, true);


--
-- Name: storages_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.storages_id_seq', 35, true);


--
-- Name: teams_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.teams_id_seq', 2, true);


--
-- Name: users_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.users_id_seq', 2, true);


--
-- Name: alerts alerts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);


--
-- Name: api_keys api_keys_key_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);


--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


--
-- Name: apps apps_cluster_id_vmid_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_cluster_id_vmid_key UNIQUE (cluster_id, vmid);


--
-- Name: apps apps_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (id);


--
-- Name: audit_anchors audit_anchors_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_anchors
    ADD CONSTRAINT audit_anchors_pkey PRIMARY KEY (first);


--
-- Name: audit_chain audit_chain_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_chain
    ADD CONSTRAINT audit_chain_pkey PRIMARY KEY (id);


--
-- Name: audit_links audit_links_audit_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_links
    ADD CONSTRAINT audit_links_audit_id_key UNIQUE (audit_id);


--
-- Name: audit_links audit_links_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_links
    ADD CONSTRAINT audit_links_pkey PRIMARY KEY (seq);


--
-- Name: audit_pending audit_pending_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_pending
    ADD CONSTRAINT audit_pending_pkey PRIMARY KEY (audit_id);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: clusters clusters_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_pkey PRIMARY KEY (id);


--
-- Name: goose_db_version goose_db_version_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.goose_db_version
    ADD CONSTRAINT goose_db_version_pkey PRIMARY KEY (id);


--
-- Name: guests guests_cluster_id_vmid_kind_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guests
    ADD CONSTRAINT guests_cluster_id_vmid_kind_key UNIQUE (cluster_id, vmid, kind);


--
-- Name: guests guests_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guests
    ADD CONSTRAINT guests_pkey PRIMARY KEY (id);


--
-- Name: host_credentials host_credentials_host_id_capability_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.host_credentials
    ADD CONSTRAINT host_credentials_host_id_capability_key UNIQUE (host_id, capability);


--
-- Name: host_credentials host_credentials_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.host_credentials
    ADD CONSTRAINT host_credentials_pkey PRIMARY KEY (id);


--
-- Name: hosts hosts_address_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_address_key UNIQUE (address);


--
-- Name: hosts hosts_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_name_key UNIQUE (name);


--
-- Name: hosts hosts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_pkey PRIMARY KEY (id);


--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, key);


--
-- Name: job_events job_events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_events
    ADD CONSTRAINT job_events_pkey PRIMARY KEY (job_id, seq);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: login_addresses login_addresses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_addresses
    ADD CONSTRAINT login_addresses_pkey PRIMARY KEY (user_id, network);


--
-- Name: login_devices login_devices_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_devices
    ADD CONSTRAINT login_devices_pkey PRIMARY KEY (id);


--
-- Name: login_devices login_devices_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_devices
    ADD CONSTRAINT login_devices_token_hash_key UNIQUE (token_hash);


--
-- Name: login_failures login_failures_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_failures
    ADD CONSTRAINT login_failures_pkey PRIMARY KEY (bucket);


--
-- Name: metric_1h metric_1h_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_1h
    ADD CONSTRAINT metric_1h_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_1h_202611 metric_1h_202611_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_1h_202611
    ADD CONSTRAINT metric_1h_202611_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_5m metric_5m_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m
    ADD CONSTRAINT metric_5m_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_5m_20261121 metric_5m_20261121_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m_20261121
    ADD CONSTRAINT metric_5m_20261121_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_5m_20261122 metric_5m_20261122_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m_20261122
    ADD CONSTRAINT metric_5m_20261122_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_5m_20261123 metric_5m_20261123_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m_20261123
    ADD CONSTRAINT metric_5m_20261123_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_5m_20261124 metric_5m_20261124_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_5m_20261124
    ADD CONSTRAINT metric_5m_20261124_pkey PRIMARY KEY (target_kind, target_id, at);


--
-- Name: metric_late metric_late_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_late
    ADD CONSTRAINT metric_late_pkey PRIMARY KEY (id);


--
-- Name: metric_rollups metric_rollups_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metric_rollups
    ADD CONSTRAINT metric_rollups_pkey PRIMARY KEY (resolution);


--
-- Name: nodes nodes_cluster_id_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_cluster_id_name_key UNIQUE (cluster_id, name);


--
-- Name: nodes nodes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);


--
-- Name: pending_logins pending_logins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pending_logins
    ADD CONSTRAINT pending_logins_pkey PRIMARY KEY (token_hash);


--
-- Name: plugins plugins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.plugins
    ADD CONSTRAINT plugins_pkey PRIMARY KEY (kind, name);


--
-- Name: recovery_codes recovery_codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash);


--
-- Name: river_job river_job_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_job
    ADD CONSTRAINT river_job_pkey PRIMARY KEY (id);


--
-- Name: river_leader river_leader_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_leader
    ADD CONSTRAINT river_leader_pkey PRIMARY KEY (name);


--
-- Name: river_migration river_migration_pkey1; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_migration
    ADD CONSTRAINT river_migration_pkey1 PRIMARY KEY (line, version);


--
-- Name: river_notification river_notification_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_notification
    ADD CONSTRAINT river_notification_pkey PRIMARY KEY (id);


--
-- Name: river_queue river_queue_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.river_queue
    ADD CONSTRAINT river_queue_pkey PRIMARY KEY (name);


--
-- Name: schedules schedules_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);


--
-- Name: secret_key secret_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_key
    ADD CONSTRAINT secret_key_pkey PRIMARY KEY (one);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: sessions sessions_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_hash_key UNIQUE (token_hash);


--
-- Name: settings settings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);


--
-- Name: setup_tokens setup_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.setup_tokens
    ADD CONSTRAINT setup_tokens_pkey PRIMARY KEY (token_hash);


--
-- Name: storages storages_cluster_id_node_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.storages
    ADD CONSTRAINT storages_cluster_id_node_name_key UNIQUE (cluster_id, node, name);


--
-- Name: storages storages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.storages
    ADD CONSTRAINT storages_pkey PRIMARY KEY (id);


--
-- Name: team_members team_members_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_pkey PRIMARY KEY (team_id, user_id);


--
-- Name: teams teams_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_pkey PRIMARY KEY (id);


--
-- Name: teams teams_slug_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_slug_key UNIQUE (slug);


--
-- Name: update_check update_check_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.update_check
    ADD CONSTRAINT update_check_pkey PRIMARY KEY (one);


--
-- Name: update_reports update_reports_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.update_reports
    ADD CONSTRAINT update_reports_pkey PRIMARY KEY (run);


--
-- Name: update_requests update_requests_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.update_requests
    ADD CONSTRAINT update_requests_pkey PRIMARY KEY (id);


--
-- Name: users users_email_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key_key UNIQUE (email_key);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: alerts_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_host ON public.alerts USING btree (host_id);


--
-- Name: alerts_raised; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_raised ON public.alerts USING btree (raised_at DESC, id DESC);


--
-- Name: alerts_team; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_team ON public.alerts USING btree (team_id, raised_at DESC, id DESC);


--
-- Name: api_keys_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_user ON public.api_keys USING btree (user_id);


--
-- Name: apps_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX apps_host ON public.apps USING btree (host_id);


--
-- Name: audit_action; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_action ON public.audit USING btree (action, at DESC);


--
-- Name: audit_activity; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_activity ON public.audit USING btree (at DESC, id DESC) WHERE ((job_id IS NULL) OR (result <> 'ok'::text));


--
-- Name: audit_activity_team; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_activity_team ON public.audit USING btree (team_id, at DESC, id DESC) WHERE ((job_id IS NULL) OR (result <> 'ok'::text));


--
-- Name: audit_actor; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_actor ON public.audit USING btree (actor_id, at DESC);


--
-- Name: audit_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_at ON public.audit USING btree (at DESC, id DESC);


--
-- Name: clusters_team; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX clusters_team ON public.clusters USING btree (team_id, name);


--
-- Name: guests_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX guests_host ON public.guests USING btree (host_id, kind);


--
-- Name: guests_left_out; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX guests_left_out ON public.guests USING btree (cluster_id) WHERE (listed_at IS NOT NULL);


--
-- Name: hosts_cluster; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hosts_cluster ON public.hosts USING btree (cluster_id);


--
-- Name: hosts_entry_node; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hosts_entry_node ON public.hosts USING btree (entry_node);


--
-- Name: hosts_team; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX hosts_team ON public.hosts USING btree (team_id);


--
-- Name: idempotency_keys_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_keys_created ON public.idempotency_keys USING btree (created_at);


--
-- Name: jobs_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_created ON public.jobs USING btree (created_at DESC, id DESC);


--
-- Name: jobs_exclusive; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX jobs_exclusive ON public.jobs USING btree (exclusive) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));


--
-- Name: jobs_finished; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_finished ON public.jobs USING btree (finished_at, id) WHERE (finished_at IS NOT NULL);


--
-- Name: jobs_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_host ON public.jobs USING btree (host_id);


--
-- Name: jobs_schedule; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_schedule ON public.jobs USING btree (schedule_id) WHERE (schedule_id IS NOT NULL);


--
-- Name: jobs_target; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_target ON public.jobs USING btree (target_kind, target_id);


--
-- Name: jobs_team; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_team ON public.jobs USING btree (team_id, created_at DESC, id DESC);


--
-- Name: jobs_unfinished; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_unfinished ON public.jobs USING btree (id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));


--
-- Name: login_addresses_seen; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_addresses_seen ON public.login_addresses USING btree (seen_at);


--
-- Name: login_devices_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_devices_expiry ON public.login_devices USING btree (expires_at);


--
-- Name: login_devices_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_devices_user ON public.login_devices USING btree (user_id, returned, id);


--
-- Name: metric_5m_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_5m_at ON ONLY public.metric_5m USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_5m_20261121_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_5m_20261121_at_idx ON public.metric_5m_20261121 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_5m_20261122_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_5m_20261122_at_idx ON public.metric_5m_20261122 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_5m_20261123_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_5m_20261123_at_idx ON public.metric_5m_20261123 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_5m_20261124_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_5m_20261124_at_idx ON public.metric_5m_20261124 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_samples_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_at ON ONLY public.metric_samples USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_samples_20261121_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261121_at_idx ON public.metric_samples_20261121 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_samples_target; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_target ON ONLY public.metric_samples USING btree (target_kind, target_id, at);


--
-- Name: metric_samples_20261121_target_kind_target_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261121_target_kind_target_id_at_idx ON public.metric_samples_20261121 USING btree (target_kind, target_id, at);


--
-- Name: metric_samples_20261122_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261122_at_idx ON public.metric_samples_20261122 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_samples_20261122_target_kind_target_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261122_target_kind_target_id_at_idx ON public.metric_samples_20261122 USING btree (target_kind, target_id, at);


--
-- Name: metric_samples_20261123_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261123_at_idx ON public.metric_samples_20261123 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_samples_20261123_target_kind_target_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261123_target_kind_target_id_at_idx ON public.metric_samples_20261123 USING btree (target_kind, target_id, at);


--
-- Name: metric_samples_20261124_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261124_at_idx ON public.metric_samples_20261124 USING brin (at) WITH (pages_per_range='32', autosummarize='on');


--
-- Name: metric_samples_20261124_target_kind_target_id_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX metric_samples_20261124_target_kind_target_id_at_idx ON public.metric_samples_20261124 USING btree (target_kind, target_id, at);


--
-- Name: nodes_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX nodes_host ON public.nodes USING btree (host_id);


--
-- Name: pending_logins_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX pending_logins_user ON public.pending_logins USING btree (user_id);


--
-- Name: river_job_args_index; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_job_args_index ON public.river_job USING gin (args);


--
-- Name: river_job_kind; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_job_kind ON public.river_job USING btree (kind);


--
-- Name: river_job_metadata_index; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_job_metadata_index ON public.river_job USING gin (metadata);


--
-- Name: river_job_prioritized_fetching_index; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_job_prioritized_fetching_index ON public.river_job USING btree (state, queue, priority, scheduled_at, id);


--
-- Name: river_job_state_and_finalized_at_index; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_job_state_and_finalized_at_index ON public.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);


--
-- Name: river_job_unique_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX river_job_unique_idx ON public.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND public.river_job_state_in_bitmask(unique_states, state));


--
-- Name: river_notification_created_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_notification_created_at_idx ON public.river_notification USING btree (created_at);


--
-- Name: river_notification_topic_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX river_notification_topic_id_idx ON public.river_notification USING btree (topic, id);


--
-- Name: schedules_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX schedules_due ON public.schedules USING btree (next_run_at) WHERE enabled;


--
-- Name: schedules_last_job; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX schedules_last_job ON public.schedules USING btree (last_job_id);


--
-- Name: sessions_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_user ON public.sessions USING btree (user_id);


--
-- Name: team_members_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX team_members_user ON public.team_members USING btree (user_id);


--
-- Name: update_requests_latest; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX update_requests_latest ON public.update_requests USING btree (machine, requested_at DESC);


--
-- Name: metric_1h_202611_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_1h_pkey ATTACH PARTITION public.metric_1h_202611_pkey;


--
-- Name: metric_5m_20261121_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_at ATTACH PARTITION public.metric_5m_20261121_at_idx;


--
-- Name: metric_5m_20261121_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_pkey ATTACH PARTITION public.metric_5m_20261121_pkey;


--
-- Name: metric_5m_20261122_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_at ATTACH PARTITION public.metric_5m_20261122_at_idx;


--
-- Name: metric_5m_20261122_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_pkey ATTACH PARTITION public.metric_5m_20261122_pkey;


--
-- Name: metric_5m_20261123_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_at ATTACH PARTITION public.metric_5m_20261123_at_idx;


--
-- Name: metric_5m_20261123_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_pkey ATTACH PARTITION public.metric_5m_20261123_pkey;


--
-- Name: metric_5m_20261124_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_at ATTACH PARTITION public.metric_5m_20261124_at_idx;


--
-- Name: metric_5m_20261124_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_5m_pkey ATTACH PARTITION public.metric_5m_20261124_pkey;


--
-- Name: metric_samples_20261121_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_at ATTACH PARTITION public.metric_samples_20261121_at_idx;


--
-- Name: metric_samples_20261121_target_kind_target_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_target ATTACH PARTITION public.metric_samples_20261121_target_kind_target_id_at_idx;


--
-- Name: metric_samples_20261122_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_at ATTACH PARTITION public.metric_samples_20261122_at_idx;


--
-- Name: metric_samples_20261122_target_kind_target_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_target ATTACH PARTITION public.metric_samples_20261122_target_kind_target_id_at_idx;


--
-- Name: metric_samples_20261123_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_at ATTACH PARTITION public.metric_samples_20261123_at_idx;


--
-- Name: metric_samples_20261123_target_kind_target_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_target ATTACH PARTITION public.metric_samples_20261123_target_kind_target_id_at_idx;


--
-- Name: metric_samples_20261124_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_at ATTACH PARTITION public.metric_samples_20261124_at_idx;


--
-- Name: metric_samples_20261124_target_kind_target_id_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.metric_samples_target ATTACH PARTITION public.metric_samples_20261124_target_kind_target_id_at_idx;


--
-- Name: api_keys api_keys_notify; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER api_keys_notify AFTER UPDATE OF user_id, key_hash, scopes, expires_at ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.notify_identity('user_id');


--
-- Name: api_keys api_keys_notify_delete; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER api_keys_notify_delete AFTER DELETE ON public.api_keys FOR EACH ROW WHEN (((old.expires_at IS NULL) OR (old.expires_at > now()))) EXECUTE FUNCTION public.notify_identity('user_id');


--
-- Name: api_keys api_keys_notify_truncate; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER api_keys_notify_truncate AFTER TRUNCATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identity();


--
-- Name: audit audit_pend; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER audit_pend AFTER INSERT ON public.audit FOR EACH ROW EXECUTE FUNCTION public.audit_pend();


--
-- Name: secret_key secret_key_notify; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER secret_key_notify AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.secret_key FOR EACH STATEMENT EXECUTE FUNCTION public.notify_secret_key();


--
-- Name: sessions sessions_notify; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER sessions_notify AFTER UPDATE OF user_id, token_hash, expires_at ON public.sessions FOR EACH ROW EXECUTE FUNCTION public.notify_identity('user_id');


--
-- Name: sessions sessions_notify_delete; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER sessions_notify_delete AFTER DELETE ON public.sessions FOR EACH ROW WHEN (((old.expires_at > now()) AND (old.last_seen_at > (now() - '12:00:00'::interval)))) EXECUTE FUNCTION public.notify_identity('user_id');


--
-- Name: sessions sessions_notify_truncate; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER sessions_notify_truncate AFTER TRUNCATE ON public.sessions FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identity();


--
-- Name: team_members team_members_notify; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER team_members_notify AFTER INSERT OR DELETE OR UPDATE ON public.team_members FOR EACH ROW EXECUTE FUNCTION public.notify_identity('user_id');


--
-- Name: team_members team_members_notify_truncate; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER team_members_notify_truncate AFTER TRUNCATE ON public.team_members FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identity();


--
-- Name: users users_notify; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER users_notify AFTER UPDATE OF is_active, password_hash ON public.users FOR EACH ROW WHEN (((old.is_active IS DISTINCT FROM new.is_active) OR (old.password_hash IS DISTINCT FROM new.password_hash))) EXECUTE FUNCTION public.notify_identity('id');


--
-- Name: users users_notify_delete; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER users_notify_delete AFTER DELETE ON public.users FOR EACH ROW EXECUTE FUNCTION public.notify_identity('id');


--
-- Name: users users_notify_truncate; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER users_notify_truncate AFTER TRUNCATE ON public.users FOR EACH STATEMENT EXECUTE FUNCTION public.notify_identity();


--
-- Name: alerts alerts_acknowledged_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_acknowledged_by_fkey FOREIGN KEY (acknowledged_by) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: alerts alerts_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE SET NULL;


--
-- Name: alerts alerts_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE SET NULL;


--
-- Name: api_keys api_keys_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: apps apps_adopted_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_adopted_by_fkey FOREIGN KEY (adopted_by) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: apps apps_cluster_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE SET NULL;


--
-- Name: apps apps_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE SET NULL;


--
-- Name: clusters clusters_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);


--
-- Name: guests guests_cluster_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guests
    ADD CONSTRAINT guests_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;


--
-- Name: guests guests_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.guests
    ADD CONSTRAINT guests_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE CASCADE;


--
-- Name: host_credentials host_credentials_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.host_credentials
    ADD CONSTRAINT host_credentials_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE CASCADE;


--
-- Name: hosts hosts_cluster_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);


--
-- Name: hosts hosts_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hosts
    ADD CONSTRAINT hosts_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id);


--
-- Name: job_events job_events_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_events
    ADD CONSTRAINT job_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;


--
-- Name: jobs jobs_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE SET NULL;


--
-- Name: jobs jobs_requested_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: jobs jobs_schedule_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES public.schedules(id) ON DELETE SET NULL;


--
-- Name: jobs jobs_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE SET NULL;


--
-- Name: login_addresses login_addresses_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_addresses
    ADD CONSTRAINT login_addresses_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: login_devices login_devices_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_devices
    ADD CONSTRAINT login_devices_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: nodes nodes_cluster_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;


--
-- Name: nodes nodes_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE CASCADE;


--
-- Name: pending_logins pending_logins_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pending_logins
    ADD CONSTRAINT pending_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: recovery_codes recovery_codes_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: schedules schedules_last_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_last_job_id_fkey FOREIGN KEY (last_job_id) REFERENCES public.jobs(id) ON DELETE SET NULL;


--
-- Name: schedules schedules_writer_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_writer_id_fkey FOREIGN KEY (writer_id) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: settings settings_updated_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: storages storages_cluster_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.storages
    ADD CONSTRAINT storages_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;


--
-- Name: storages storages_host_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.storages
    ADD CONSTRAINT storages_host_id_fkey FOREIGN KEY (host_id) REFERENCES public.hosts(id) ON DELETE CASCADE;


--
-- Name: team_members team_members_team_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;


--
-- Name: team_members team_members_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.team_members
    ADD CONSTRAINT team_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: update_check update_check_schedule_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.update_check
    ADD CONSTRAINT update_check_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES public.schedules(id) ON DELETE SET NULL;


--
-- PostgreSQL database dump complete
--


