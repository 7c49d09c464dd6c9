-- +goose Up
-- Named sets of rules that scopes of firewalls are filled with.
CREATE TABLE firewall_templates (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Like hosts, those of a team that is deleted fall to the default team.
    team_id     bigint NOT NULL DEFAULT 1 REFERENCES teams ON DELETE SET DEFAULT,
    -- Whether all teams may use it; only those of the default team are.
    shared      boolean NOT NULL DEFAULT false CHECK (NOT shared OR team_id = 1),
    name        text NOT NULL,
    description text NOT NULL DEFAULT '',
    version     bigint NOT NULL DEFAULT 1,
    content     jsonb NOT NULL,
    created_by  text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX firewall_templates_team ON firewall_templates (team_id);

-- +goose Down
DROP TABLE firewall_templates;
