//! Tokens: who may use a store over a network, and what for. A store holds their hashes only.

use crate::{Store, StoreError};
use cutline_campaign::Time;
use cutline_campaign::now;

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// May read everything.
    Viewer,
    /// May also ask for measurements and tell their rewards.
    Worker,
    /// May also begin, change and delete campaigns.
    Admin,
}

impl Role {
    /// Every role; each allows what the ones before it allow.
    pub const ALL: &[Self] = &[Self::Viewer, Self::Worker, Self::Admin];

    /// The word for it in stores and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Worker => "worker",
            Self::Admin => "admin",
        }
    }

    /// The role with this [name](Role::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

/// A token, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The name under which it is revoked, and recorded as the author of changes.
    pub name: String,
    /// The hash of the secret, in hexadecimal digits.
    pub hash: String,
    /// What its holder may do.
    pub role: Role,
    /// The names of the campaigns that it is for; `None` for all.
    pub campaigns: Option<Vec<String>>,
    /// When it was created, in milliseconds since 1970.
    pub created: Time,
    /// When it was revoked; `None` while it is valid.
    pub revoked: Option<Time>,
}

impl Token {
    /// A token that begins now.
    #[must_use]
    pub fn new(name: &str, hash: String, role: Role, campaigns: Option<Vec<String>>) -> Self {
        Self { name: name.into(), hash, role, campaigns, created: now(), revoked: None }
    }
}

impl Store {
    /// All tokens, revoked ones included, in the order they were created.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.with_connection(|journal| journal.tokens())
    }

    /// Adds a token.
    ///
    /// # Errors
    /// If its name is taken or not allowed, or the store cannot be written to.
    pub fn add_token(&self, token: &Token) -> Result<(), StoreError> {
        cutline_campaign::check_name(&token.name)?;
        self.with_connection(|journal| journal.add_token(token))
    }

    /// Revokes a token for good. Its name stays taken, because it stands in the records of changes.
    ///
    /// # Errors
    /// If there is no such token, or the store cannot be written to.
    pub fn revoke_token(&self, name: &str) -> Result<(), StoreError> {
        self.with_connection(|journal| journal.revoke_token(name, now()))
    }
}
