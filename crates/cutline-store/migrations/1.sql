-- One text for SQLite and PostgreSQL; {clustered} makes SQLite keep rows by their key, as PostgreSQL has no need to.
CREATE TABLE cutline_campaigns (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- Milliseconds since 1970.
    created BIGINT NOT NULL,
    -- What it is about, as JSON.
    settings TEXT NOT NULL,
    n_arms BIGINT NOT NULL,
    -- Of all of the above.
    checksum BIGINT NOT NULL
);
-- The arms in parts, so that no value is large and one arm can be looked up alone.
CREATE TABLE cutline_arms (
    campaign BIGINT NOT NULL REFERENCES cutline_campaigns (id),
    -- The first arm of the part, from 0.
    first BIGINT NOT NULL,
    -- A line each.
    names TEXT NOT NULL,
    -- Row after row, each number as eight bytes, the lowest first.
    features BYTEA NOT NULL,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (campaign, first)
);
-- What happened, in order. Rows are only ever added, but for one a campaign: after all others, of the kind `head`, with the number of
-- the last event as its ticket, so that it is noticed if the last ones are gone. It is there to lie in the same page as they do.
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
    -- When the lease runs out.
    until BIGINT,
    -- Why a ticket failed.
    reason TEXT,
    -- Whether an observation counts towards the budget: 0 or 1.
    counted BIGINT,
    -- Of this event and all before it.
    checksum BIGINT NOT NULL,
    PRIMARY KEY (campaign, number)
) {clustered};
