//! How a store is opened.

use crate::location::Location;
use crate::{Interrupt, Store, StoreError};

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

    /// Opens the store at an address, as [`Store::open`] describes it.
    ///
    /// # Errors
    /// If there is no store and none may be created, it cannot be opened, or the address leads to something that is not a Cutline store.
    pub fn open(&self, address: &str) -> Result<Store, StoreError> {
        let mut location = Location::parse(address)?;
        if let (Location::Http(address), Some(token)) = (&mut location, &self.token) {
            **address = address.as_ref().clone().with_token(token);
        }
        Store::connected(location, self.interrupt.clone(), self.may_create)
    }
}

/// Without the token.
impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions").field("may_create", &self.may_create).finish_non_exhaustive()
    }
}
