//! The one place where the names in settings become types of the engine, and types become names again.

use crate::{CampaignModel, EarlyStop, SettingsError, TermsError};
use cutline::{EstimatorKind, Guarantee, IntervalKind, Kernel, RewardKind};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

/// A choice that settings have by its name.
pub(crate) trait Named: Sized {
    /// The choice with this name.
    fn named(name: &str) -> Result<Self, SettingsError>;

    /// Its name.
    fn name(&self) -> String;
}

impl Named for IntervalKind {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name).map_err(TermsError::from)?)
    }

    fn name(&self) -> String {
        Self::name(*self).into()
    }
}

impl Named for RewardKind {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name).ok_or_else(|| TermsError::UnknownRewards(name.into()))?)
    }

    fn name(&self) -> String {
        Self::name(*self).into()
    }
}

impl Named for Guarantee {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name).ok_or_else(|| TermsError::UnknownGuarantee(name.into()))?)
    }

    fn name(&self) -> String {
        Self::name(*self).into()
    }
}

impl Named for EstimatorKind {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name).map_err(TermsError::from)?)
    }

    fn name(&self) -> String {
        Self::name(*self).into()
    }
}

impl Named for Kernel {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name)?)
    }

    fn name(&self) -> String {
        Self::name(*self).into()
    }
}

impl Named for EarlyStop {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name)?)
    }

    fn name(&self) -> String {
        self.to_string()
    }
}

impl Named for CampaignModel {
    fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::named(name)?)
    }

    fn name(&self) -> String {
        Self::name(*self).into()
    }
}

pub(crate) fn serialize<S: Serializer>(choice: &impl Named, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&choice.name())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Named>(deserializer: D) -> Result<T, D::Error> {
    T::named(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The same for a choice that may be left open.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Error, Named, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub(crate) fn serialize<S: Serializer>(choice: &Option<impl Named>, serializer: S) -> Result<S::Ok, S::Error> {
        choice.as_ref().map(Named::name).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Named>(deserializer: D) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        name.map(|name| T::named(&name)).transpose().map_err(D::Error::custom)
    }
}
