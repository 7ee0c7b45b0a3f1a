//! Tokens: 256 random bits, of which a store keeps the SHA-256 hash. A secret of so many bits needs no slow hash.

use cutline_store::{Role, Store, StoreError, Token};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// The beginning of every token, by which programs that look for leaked secrets recognise one.
const PREFIX: &str = "cutline_";

/// How long the tokens of a store are remembered: the longest time that a revoked token still works.
const REMEMBERED: Duration = Duration::from_secs(2);

/// Makes a new token and adds it to a store. Returns the secret, which is not stored and cannot be shown again.
///
/// # Errors
/// If the name is taken, the store cannot be written to, or the system has no random numbers.
pub fn create_token(
    store: &Store,
    name: &str,
    role: Role,
    campaigns: Option<Vec<String>>,
) -> Result<String, CreateTokenError> {
    let secret = new_secret()?;
    store.add_token(&Token::new(name, hash(secret.as_bytes()), role, campaigns))?;
    Ok(secret)
}

/// A token of 256 random bits.
pub(crate) fn new_secret() -> Result<String, CreateTokenError> {
    random_secret(PREFIX)
}

/// A secret of 256 random bits after a prefix.
pub(crate) fn random_secret(prefix: &str) -> Result<String, CreateTokenError> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).map_err(|error| CreateTokenError::Random(error.to_string()))?;
    Ok(format!("{prefix}{}", hexadecimal(&bits)))
}

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateTokenError {
    /// The store refused it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// The SHA-256 hash in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("writing to a string does not fail");
    }
    digits
}

/// The tokens of a store, read again from time to time.
pub(crate) struct Tokens {
    known: Mutex<(Instant, Arc<Vec<Token>>)>,
}

impl Tokens {
    pub(crate) fn new(store: &Store) -> Result<Self, StoreError> {
        Ok(Self { known: Mutex::new((Instant::now(), Arc::new(store.tokens()?))) })
    }

    /// All tokens of the store, at most a moment old.
    pub(crate) async fn all(&self, store: &Store) -> Result<Arc<Vec<Token>>, StoreError> {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.0.elapsed() < REMEMBERED {
                return Ok(Arc::clone(&known.1));
            }
            // Others use what is known until it is read again.
            known.0 = Instant::now();
        }
        let store = store.clone();
        let read = tokio::task::spawn_blocking(move || store.tokens()).await;
        let read = read.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(tokens) => {
                *known = (Instant::now(), Arc::new(tokens));
                Ok(Arc::clone(&known.1))
            }
            Err(error) => {
                // Nobody goes on with tokens that may have been revoked long ago.
                known.0 = Instant::now().checked_sub(REMEMBERED).unwrap_or(known.0);
                Err(error)
            }
        }
    }
}

/// The token with this secret, if it was not revoked. Every hash is compared, each in constant time.
pub(crate) fn find<'a>(tokens: &'a [Token], secret: &str) -> Option<&'a Token> {
    let hash = hash(secret.as_bytes());
    let mut found = None;
    for token in tokens {
        let is_equal = bool::from(token.hash.as_bytes().ct_eq(hash.as_bytes()));
        if is_equal && token.revoked.is_none() {
            found = Some(token);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_secret_until_it_is_revoked() {
        let store = Store::memory();
        let ada = create_token(&store, "ada", Role::Admin, None).unwrap();
        let bob = create_token(&store, "bob", Role::Viewer, Some(vec!["a".into()])).unwrap();
        assert!(ada.len() == 72 && ada != bob && ada.starts_with("cutline_"));
        let tokens = store.tokens().unwrap();
        assert!(!tokens[0].hash.contains(&ada[8..]));
        assert_eq!(find(&tokens, &bob).unwrap().name, "bob");
        assert!(find(&tokens, &bob[..71]).is_none() && find(&tokens, "").is_none());
        store.revoke_token("bob").unwrap();
        assert!(find(&store.tokens().unwrap(), &bob).is_none());
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(hash(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
