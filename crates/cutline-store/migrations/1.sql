-- The same for SQLite and PostgreSQL, except for {clustered}, which makes SQLite store rows in the order of their key.
CREATE TABLE cutline_campaigns (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- Milliseconds since 1970.
    created BIGINT NOT NULL,
    -- The settings and the names of the features, as JSON.
    settings TEXT NOT NULL,
    n_arms BIGINT NOT NULL,
    -- Of all columns above.
    checksum BIGINT NOT NULL
);
-- The arms in parts, so that no value is large and single arms can be looked up.
CREATE TABLE cutline_arms (
    campaign BIGINT NOT NULL REFERENCES cutline_campaigns (id),
    -- The first arm of the part, from 0.
    first BIGINT NOT NULL,
    -- One line per arm.
    names TEXT NOT NULL,
    -- Row after row, each number as eight bytes, little-endian.
    features BYTEA NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (campaign, first)
);
-- The events in order. Rows are only ever added, except for one row per campaign of the kind `head`. It comes after all others, and
-- its ticket is the number of the last event, so that missing events at the end are noticed. It is in this table so that it lies in the
-- same page as the last events.
CREATE TABLE cutline_events (
    campaign BIGINT NOT NULL REFERENCES cutline_campaigns (id),
    -- From 1, without gaps.
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- `asked`, `told`, `failed`, `expired` or `observed`.
    kind TEXT NOT NULL,
    ticket BIGINT,
    arm BIGINT,
    reward DOUBLE PRECISION,
    worker TEXT,
    -- When the lease ends.
    until BIGINT,
    -- Why a ticket failed.
    reason TEXT,
    -- Whether an observation counts towards the budget: 0 or 1.
    counted BIGINT,
    -- Of this event and all before it.
    checksum BIGINT NOT NULL,
    PRIMARY KEY (campaign, number)
) {clustered};
