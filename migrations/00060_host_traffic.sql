-- +goose Up
-- What passed through the guests of a host while it was looked at, in bytes: it only ever grows, whichever guests come, go or begin anew.
CREATE TABLE host_traffic (
    host_id    bigint PRIMARY KEY REFERENCES hosts ON DELETE CASCADE,
    net_in     bigint,
    net_out    bigint,
    disk_read  bigint,
    disk_write bigint
);

-- +goose Down
DROP TABLE host_traffic;
