//! The names of settings: libpq's, with the variables of the environment that set them, and Cutline's own.

/// What Cutline does with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    Used,
    /// It changes nothing that matters here.
    Ignored,
    /// Ignoring it might make a connection less safe than its owner expects.
    Refused,
}

use Support::{Ignored, Refused, Used};

/// Names, variables of the environment, and what is done with them.
const KEYWORDS: &[(&str, &str, Support)] = &[
    ("application_name", "PGAPPNAME", Used),
    ("channel_binding", "PGCHANNELBINDING", Used),
    ("client_encoding", "", Ignored),
    ("connect_timeout", "PGCONNECT_TIMEOUT", Used),
    ("dbname", "PGDATABASE", Used),
    ("durability", "", Used),
    ("fallback_application_name", "", Ignored),
    ("gssdelegation", "", Ignored),
    ("gssencmode", "", Ignored),
    ("gsslib", "", Ignored),
    ("host", "PGHOST", Used),
    ("hostaddr", "PGHOSTADDR", Used),
    ("keepalives", "", Used),
    ("keepalives_count", "", Used),
    ("keepalives_idle", "", Used),
    ("keepalives_interval", "", Used),
    ("krbsrvname", "", Ignored),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", Ignored),
    ("lock_timeout", "", Used),
    ("options", "PGOPTIONS", Used),
    ("passfile", "PGPASSFILE", Used),
    ("password", "PGPASSWORD", Used),
    ("port", "PGPORT", Used),
    ("replication", "", Refused),
    ("require_auth", "PGREQUIREAUTH", Refused),
    ("requirepeer", "PGREQUIREPEER", Refused),
    ("service", "PGSERVICE", Used),
    ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", Refused),
    ("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", Refused),
    ("sslcert", "PGSSLCERT", Used),
    ("sslcertmode", "PGSSLCERTMODE", Refused),
    ("sslcompression", "", Ignored),
    ("sslcrl", "PGSSLCRL", Refused),
    ("sslcrldir", "PGSSLCRLDIR", Refused),
    ("sslkey", "PGSSLKEY", Used),
    ("sslmode", "PGSSLMODE", Used),
    ("sslnegotiation", "PGSSLNEGOTIATION", Used),
    ("sslpassword", "", Refused),
    ("sslrootcert", "PGSSLROOTCERT", Used),
    ("sslsni", "", Ignored),
    ("statement_timeout", "", Used),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", Used),
    ("tcp_user_timeout", "", Used),
    ("user", "PGUSER", Used),
];

/// Whether this is the name of a setting.
pub(super) fn is_keyword(name: &str) -> bool {
    support(name).is_some()
}

/// What is done with a setting; `None` if there is no such setting.
pub(super) fn support(name: &str) -> Option<Support> {
    KEYWORDS.iter().find(|(keyword, ..)| *keyword == name).map(|&(.., support)| support)
}

/// The settings that variables of the environment can give.
pub(super) fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYWORDS.iter().filter(|(_, variable, _)| !variable.is_empty()).map(|&(name, variable, _)| (name, variable))
}
