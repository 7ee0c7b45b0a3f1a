//! Who asks for a change, and how a repetition of the request is recognised.

/// Who asks for a change, and how a repetition of the request is recognised. The default is an unknown author who does not repeat
/// requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The author, who is recorded with the events; `None` if unknown.
    pub author: Option<String>,
    /// The key of the request; `None` if it will not be repeated.
    pub key: Option<RequestKey>,
}

/// The key of a request. It is stored together with the events that the request causes, so that a repetition is answered with them and
/// changes nothing, by any process and after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The key, which is the same for all repetitions.
    pub key: String,
    /// What is asked for. A request with a known key and another fingerprint is refused.
    pub fingerprint: String,
}

impl RequestKey {
    /// The key under which the events of a later slice of the request are stored; the first is slice 0.
    #[must_use]
    pub fn of_slice(&self, slice: u64) -> Self {
        let key = if slice == 0 { self.key.clone() } else { format!("{}\n{slice}", self.key) };
        Self { key, fingerprint: self.fingerprint.clone() }
    }
}
