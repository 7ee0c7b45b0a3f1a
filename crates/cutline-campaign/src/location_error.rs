//! Why an address of a store was refused.

use thiserror::Error;

/// Why an address of a store was refused. The messages quote no values, because any part of an address may belong to a password.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocationError {
    /// The scheme is not supported.
    #[error("unsupported store scheme `{0}://`; give a path, `sqlite:///path`, `postgresql://…` or `http://…`")]
    Scheme(String),
    /// The address has no path.
    #[error("the address of the store has no path; give one, as in `sqlite:///screen.db`")]
    NoPath,
    /// A setting is unknown.
    #[error("unknown store setting `{0}`")]
    Setting(String),
    /// A setting has an invalid value.
    #[error("invalid value of the store setting `{name}`; give {expected}")]
    Value {
        /// The name of the setting.
        name: &'static str,
        /// What its value must be.
        expected: &'static str,
    },
    /// The address of a server cannot be understood.
    #[error("cannot read the address of the PostgreSQL server: {0}")]
    Malformed(String),
    /// An address is neither that of a Cutline server nor that of a campaign on it.
    #[error(
        "the address of a server has the form `http://HOST:PORT`, and that of a campaign on it `http://HOST:PORT/v1/campaigns/NAME`"
    )]
    NoCampaignInUrl,
    /// An address on a Cutline server contains a user or a password.
    #[error(
        "the address of a server contains an `@`; servers know their users by tokens, which are not part of addresses"
    )]
    LoginInUrl,
    /// The server's certificate is to be verified, and no authority is given.
    #[error(
        "`sslmode` asks to verify the server's certificate, and no authority is given; use `sslrootcert=FILE`, or `sslrootcert=system` for \
         those of the operating system"
    )]
    NoRoots,
    /// The authorities of the operating system are to be trusted, and the server's name is not to be verified.
    #[error("`sslrootcert=system` needs `sslmode=verify-full`")]
    WeakMode,
}
