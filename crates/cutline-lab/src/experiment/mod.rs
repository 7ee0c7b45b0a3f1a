//! An experiment: instances, budgets, noise, and the algorithms that compete.

mod file;
pub(crate) mod fingerprint;
pub(crate) mod keys;
pub(crate) mod noise;

use crate::experiment::keys::FileError;
use crate::run::monte_carlo::RunError;
use crate::{
    ArmScales, CustomInstances, CustomNoise, Entrant, ExperimentNoise, Fingerprint, Instance, InstanceSource,
    PublishedMeans,
};
use cutline::estimators::NamedEstimator;
use cutline::rules::NamedRule;
use cutline::{NamedDecision, NamedStop};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// An experiment, checked: every algorithm fits the instances and the budgets.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub(crate) name: String,
    pub(crate) runs: u64,
    pub(crate) seed: u64,
    pub(crate) budgets: Vec<u32>,
    pub(crate) noise: ExperimentNoise,
    pub(crate) baseline: Option<usize>,
    pub(crate) source: InstanceSource,
    pub(crate) entrants: Vec<Entrant>,
    pub(crate) published: Vec<PublishedCurve>,
    pub(crate) published_means: Vec<PublishedMeans>,
    /// Set by [`Experiment::check`].
    pub(crate) fingerprint: OnceLock<Fingerprint>,
}

/// A published curve to compare the results with.
#[derive(Clone, Debug)]
pub struct PublishedCurve {
    pub(crate) curve: String,
    pub(crate) entrant: usize,
    pub(crate) runs: u64,
    pub(crate) success: Vec<f64>,
}

/// Settings that replace those of an experiment file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// The number of runs.
    pub runs: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Whether instances are redrawn in every run, whatever the file says; published curves are then dropped.
    pub redraw: bool,
}

/// Code that an experiment file can refer to but not contain. Build it with `..Extensions::default()`.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Custom rules, by the `name` that an `[[algorithm]]` gives.
    pub rules: Vec<NamedRule>,
    /// Custom estimators, by the `estimator` that an `[[algorithm]]` gives.
    pub estimators: Vec<NamedEstimator>,
    /// Custom stops, by the name that `stop` gives.
    pub stops: Vec<NamedStop>,
    /// Custom decisions which arms are above, by the `decision` that an `[[algorithm]]` gives.
    pub decisions: Vec<NamedDecision>,
    /// Custom instances, for `kind = "own"` in `[instance]`.
    pub instances: Option<Arc<dyn CustomInstances>>,
    /// Custom noise, for `kind = "own"` in `noise`.
    pub noise: Option<Arc<dyn CustomNoise>>,
}

/// Why an experiment was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file is not a valid experiment.
    #[error("{}:{error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and on which line.
        error: FileError,
    },
}

impl Experiment {
    /// Reads the experiment of a TOML file.
    ///
    /// # Errors
    /// If the file cannot be read, is not valid, or holds variants.
    pub fn load(path: &Path, overrides: Overrides) -> Result<Self, ExperimentError> {
        one(Self::load_all(path, overrides)?).map_err(|error| ExperimentError::File { path: path.into(), error })
    }

    /// Reads the experiments of a TOML file: one, or one per variant, in their order.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid.
    pub fn load_all(path: &Path, overrides: Overrides) -> Result<Vec<Self>, ExperimentError> {
        let bytes =
            cutline_data::input::read(path).map_err(|error| ExperimentError::Read { path: path.into(), error })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace(char::is_control, "-");
        let directory = path.parent().unwrap_or(Path::new(""));
        keys::utf8(&bytes)
            .and_then(|text| Self::read_all(text, &stem, directory, overrides, &Extensions::default()))
            .map_err(|error| ExperimentError::File { path: path.into(), error })
    }

    /// Reads an experiment from the text of a TOML file; the files that it names are relative to `directory`.
    ///
    /// # Errors
    /// If the text is not valid, or holds variants.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, FileError> {
        Self::read(text, "experiment", directory, Overrides::default(), &Extensions::default())
    }

    /// As [`Experiment::parse`], with overrides and extensions; `name` is its name if the text gives none.
    ///
    /// # Errors
    /// If the text is not valid, or holds variants.
    pub fn read(
        text: &str,
        name: &str,
        directory: &Path,
        overrides: Overrides,
        extensions: &Extensions,
    ) -> Result<Self, FileError> {
        one(Self::read_all(text, name, directory, overrides, extensions)?)
    }

    /// As [`Experiment::read`], for a text that may hold variants: one experiment, or one per variant, in their order.
    ///
    /// # Errors
    /// If the text is not valid.
    pub fn read_all(
        text: &str,
        name: &str,
        directory: &Path,
        overrides: Overrides,
        extensions: &Extensions,
    ) -> Result<Vec<Self>, FileError> {
        file::experiments(text, name, directory, overrides, extensions)
    }

    /// The name of its results.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The seed that everything random derives from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The budgets, ascending.
    #[must_use]
    pub fn budgets(&self) -> &[u32] {
        &self.budgets
    }

    /// The noise of a measurement.
    #[must_use]
    pub fn noise(&self) -> &ExperimentNoise {
        &self.noise
    }

    /// The position of the entrant that all others are compared with.
    #[must_use]
    pub fn baseline(&self) -> Option<usize> {
        self.baseline
    }

    /// Where the instance of each run comes from.
    #[must_use]
    pub fn source(&self) -> &InstanceSource {
        &self.source
    }

    /// The algorithms that compete.
    #[must_use]
    pub fn entrants(&self) -> &[Entrant] {
        &self.entrants
    }

    /// The published curves to compare with.
    #[must_use]
    pub fn published(&self) -> &[PublishedCurve] {
        &self.published
    }

    /// The published means to compare with, other than success rates.
    #[must_use]
    pub fn published_means(&self) -> &[PublishedMeans] {
        &self.published_means
    }

    /// A hash of everything that determines its runs.
    ///
    /// # Panics
    /// Never: it is computed when the experiment is read.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        *self.fingerprint.get().expect("computed when the experiment was read")
    }

    /// The number of pulls per run, over all entrants and budgets.
    #[must_use]
    pub fn pulls_per_run(&self) -> u64 {
        let most = self.budgets.last().copied().map_or(0, u64::from);
        let all = self.budgets.iter().copied().map(u64::from).sum();
        self.entrants.iter().map(|entrant| if entrant.is_anytime() { most } else { all }).sum()
    }

    /// Checks that the noise fits the arms: Bernoulli rewards need means that are probabilities, and given scales one per arm.
    pub(crate) fn check_noise(&self, instance: &Instance, run: u64) -> Result<(), RunError> {
        if self.noise.is_bernoulli() {
            let bad = instance.means().iter().enumerate().find(|(_, mean)| !(0.0..=1.0).contains(*mean));
            if let Some((arm, &mean)) = bad {
                return Err(RunError::NoProbability { run, arm, mean });
            }
        }
        match self.noise.scales() {
            ArmScales::Given(given) if given.len() != instance.means().len() => {
                Err(RunError::Scales { run, expected: instance.means().len(), found: given.len() })
            }
            _ => Ok(()),
        }
    }

    /// Builds every learner of the first run once, so that anything that does not fit is reported before the work starts, and
    /// computes the fingerprint.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let instance = self.source.instance(0).map_err(|error| RunError::Instance { run: 0, error })?;
        self.check_noise(&instance, 0)?;
        for entrant in &self.entrants {
            let budgets =
                if entrant.is_anytime() { &self.budgets[self.budgets.len() - 1..] } else { &self.budgets[..] };
            for &budget in budgets {
                entrant.run_learner(&instance, budget, 0)?;
            }
        }
        self.fingerprint.get_or_init(|| Fingerprint::new(self, &instance));
        Ok(())
    }
}

/// The experiment of a file without variants.
fn one(mut experiments: Vec<Experiment>) -> Result<Experiment, FileError> {
    if experiments.len() == 1 {
        return Ok(experiments.swap_remove(0));
    }
    let names: Vec<String> = experiments.iter().map(|experiment| format!("`{}`", experiment.name)).collect();
    let message = format!("the file holds several variants, not one experiment: {}", names.join(", "));
    Err(FileError { line: 1, message })
}

impl PublishedCurve {
    /// The name of the curve in the publication.
    #[must_use]
    pub fn curve(&self) -> &str {
        &self.curve
    }

    /// The position of the entrant it is compared with.
    #[must_use]
    pub fn entrant(&self) -> usize {
        self.entrant
    }

    /// The number of runs behind it.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The success rates, one per budget, to the decimals published.
    #[must_use]
    pub fn success(&self) -> &[f64] {
        &self.success
    }
}
