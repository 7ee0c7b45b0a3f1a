//! How a store is opened.

use crate::Store;
use crate::location::Location;
use cutline::rules::NamedRule;
use cutline_campaign::{CampaignHost, Interrupt, StoreError};
use cutline_client::Client;

/// How to open a store, for callers that need more than [`Store::open`] and [`Store::create`].
///
/// ```
/// use cutline_store::{Interrupt, OpenOptions};
///
/// # fn main() -> Result<(), cutline_store::StoreError> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let address = directory.path().join("screen.db").display().to_string();
/// let interrupt = Interrupt::new();
/// let store = OpenOptions::new().create(true).interrupt(&interrupt).open(&address)?;
/// assert!(store.campaigns()?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct OpenOptions {
    may_create: bool,
    interrupt: Interrupt,
    token: Option<String>,
    rule: Option<NamedRule>,
}

impl OpenOptions {
    /// The options of [`Store::open`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether to create the store if there is none.
    #[must_use]
    pub fn create(self, may_create: bool) -> Self {
        Self { may_create, ..self }
    }

    /// Lets this interrupt shorten the waits of the store and of its campaigns.
    #[must_use]
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        Self { interrupt: interrupt.clone(), ..self }
    }

    /// The token for a Cutline server; `None` for that in the variable `CUTLINE_TOKEN`. Other stores need none.
    #[must_use]
    pub fn token(self, token: Option<&str>) -> Self {
        Self { token: token.map(str::to_owned), ..self }
    }

    /// The custom rule of the campaigns that are opened: a store holds only its name. Campaigns with another algorithm are refused, and so are
    /// those on a Cutline server, which cannot have the rule.
    #[must_use]
    pub fn rule(self, rule: Option<NamedRule>) -> Self {
        Self { rule, ..self }
    }

    /// Opens the store at an address, as [`Store::open`] describes it.
    ///
    /// # Errors
    /// If there is no store and none may be created, it cannot be opened, or the address leads to something that is not a Cutline store.
    pub fn open(&self, address: &str) -> Result<Store, StoreError> {
        self.store(Location::parse(address)?)
    }

    /// The campaigns at an address: that of a store, or that of a Cutline server.
    ///
    /// | address | campaigns |
    /// |---|---|
    /// | as for [`Store::open`] | those of that store |
    /// | `http://host:8080`, `https://…` | all of a Cutline server |
    /// | `http://host:8080/v1/campaigns/NAME` | that one of a Cutline server |
    ///
    /// # Errors
    /// As [`OpenOptions::open`]. A server is not asked for anything yet.
    pub fn host(&self, address: &str) -> Result<Box<dyn CampaignHost>, StoreError> {
        let address = match Location::parse(address)? {
            Location::Http(address) => *address,
            location => return Ok(Box::new(self.store(location)?)),
        };
        if self.rule.is_some() {
            return Err(StoreError::CustomRuleOverHttp);
        }
        let address = match &self.token {
            Some(token) => address.with_token(token),
            None => address,
        };
        Ok(Box::new(Client::new(address, self.interrupt.clone())))
    }

    fn store(&self, location: Location) -> Result<Store, StoreError> {
        let store = Store::connected(location, self.interrupt.clone(), self.may_create)?;
        Ok(match self.rule.clone() {
            Some(rule) => store.with_rule(rule),
            None => store,
        })
    }
}

/// Without the token.
impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions").field("may_create", &self.may_create).finish_non_exhaustive()
    }
}
