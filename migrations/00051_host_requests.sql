-- +goose Up
-- The requests that the service has sent to each host in each minute, and how long they kept it busy, over all instances. A host without
-- rows is one of a plugin that does not count. Rows are kept for two hours.
CREATE TABLE host_requests (
    host_id  bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    minute   timestamptz NOT NULL,
    requests bigint NOT NULL,
    seconds  double precision NOT NULL,
    PRIMARY KEY (host_id, minute)
) WITH (fillfactor = 70); -- several instances add to one row
CREATE INDEX host_requests_minute ON host_requests (minute);

-- +goose Down
DROP TABLE host_requests;
