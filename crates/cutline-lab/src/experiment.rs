//! An experiment: instances, budgets, noise, and the algorithms that compete.

use crate::monte_carlo::RunError;
use crate::{Entrant, Instance, Instances, Noise, NoiseKind, Source, SourceKind};
use cutline::rules::NamedRule;
use cutline::{Arm, AskTell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// An experiment, checked: every algorithm fits the instances and the budgets.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub(crate) name: String,
    pub(crate) runs: u64,
    pub(crate) seed: u64,
    pub(crate) budgets: Vec<u32>,
    pub(crate) noise: Noise,
    pub(crate) baseline: Option<usize>,
    pub(crate) source: Source,
    pub(crate) entrants: Vec<Entrant>,
    pub(crate) published: Vec<Published>,
}

/// A curve that somebody published, to be compared with ours.
#[derive(Clone, Debug)]
pub struct Published {
    pub(crate) curve: String,
    pub(crate) entrant: usize,
    pub(crate) runs: u64,
    pub(crate) success: Vec<f64>,
}

/// What to change in an experiment's file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// The number of runs.
    pub runs: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Whether instances are redrawn in every run, whatever the file says; published curves then do not apply.
    pub redraw: bool,
}

/// What an experiment may be given that a file cannot hold.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Rules of one's own: `name`s of algorithms.
    pub rules: Vec<NamedRule>,
    /// Instances of one's own: the `kind` called `own`.
    pub instances: Option<Arc<dyn Instances>>,
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
        /// What the system says.
        error: std::io::Error,
    },
    /// The file says something that is not allowed.
    #[error("{}:{error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What and where.
        error: crate::FileError,
    },
}

impl Experiment {
    /// Reads an experiment from a TOML file.
    ///
    /// # Errors
    /// If the file cannot be read, or says something that is not allowed.
    pub fn load(path: &Path, overrides: Overrides) -> Result<Self, ExperimentError> {
        let read = |error| ExperimentError::Read { path: path.into(), error };
        let bytes = std::fs::read(path).map_err(read)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace(char::is_control, "-");
        let directory = path.parent().unwrap_or(Path::new(""));
        crate::keys::utf8(&bytes)
            .and_then(|text| Self::read(text, &stem, directory, overrides, &Extensions::default()))
            .map_err(|error| ExperimentError::File { path: path.into(), error })
    }

    /// Reads an experiment from the text of a TOML file; files it names are relative to `directory`.
    ///
    /// # Errors
    /// If the text says something that is not allowed.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, crate::FileError> {
        Self::read(text, "experiment", directory, Overrides::default(), &Extensions::default())
    }

    /// As [`Experiment::parse`], with what to change, what was brought, and what it is called if it does not say.
    ///
    /// # Errors
    /// If the text says something that is not allowed.
    pub fn read(
        text: &str,
        name: &str,
        directory: &Path,
        overrides: Overrides,
        brought: &Extensions,
    ) -> Result<Self, crate::FileError> {
        crate::file::experiment(text, name, directory, overrides, brought)
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many runs it asks for.
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
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// The position of the entrant that all are compared with.
    #[must_use]
    pub fn baseline(&self) -> Option<usize> {
        self.baseline
    }

    /// Where its instances come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The algorithms that compete.
    #[must_use]
    pub fn entrants(&self) -> &[Entrant] {
        &self.entrants
    }

    /// The published curves to compare with.
    #[must_use]
    pub fn published(&self) -> &[Published] {
        &self.published
    }

    /// The measurements that every learner is told before it is asked; budgets do not count them.
    #[must_use]
    pub fn pilot(&self) -> &[(Arm, f64)] {
        if let SourceKind::Features(_, prior) = self.source.kind() { prior.pilot() } else { &[] }
    }

    /// A learner of `entrant` for `budget` pulls on `instance`, told the pilot.
    pub(crate) fn learner(
        &self,
        entrant: &Entrant,
        instance: &Instance,
        budget: u32,
        seed: u64,
    ) -> Result<Box<dyn AskTell>, RunError> {
        let pilot = self.pilot();
        // A reward that comes unasked counts as a pull, so the pilot needs room beside the budget.
        let budget = budget.saturating_add(u32::try_from(pilot.len()).unwrap_or(u32::MAX));
        let learner = entrant.learner(instance, budget, seed);
        let mut learner = learner.map_err(|error| RunError::Algorithm { label: entrant.label().into(), error })?;
        for &(arm, reward) in pilot {
            learner.tell(arm, reward);
        }
        Ok(learner)
    }

    /// How many pulls a run takes, over all entrants and budgets.
    #[must_use]
    pub fn pulls_per_run(&self) -> u64 {
        let most = self.budgets.last().copied().map_or(0, u64::from);
        let all = self.budgets.iter().copied().map(u64::from).sum();
        self.entrants.iter().map(|entrant| if entrant.is_anytime() { most } else { all }).sum()
    }

    /// Checks that Bernoulli rewards have means that are probabilities.
    pub(crate) fn check_probabilities(&self, instance: &Instance, run: u64) -> Result<(), RunError> {
        if self.noise.kind() == NoiseKind::Bernoulli {
            let bad = instance.means().iter().enumerate().find(|(_, mean)| !(0.0..=1.0).contains(*mean));
            if let Some((arm, &mean)) = bad {
                return Err(RunError::NoProbability { run, arm, mean });
            }
        }
        Ok(())
    }

    /// Builds every learner of the first run once, so that what does not fit is known before the work starts.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let instance = self.source.instance(0).map_err(|error| RunError::Instance { run: 0, error })?;
        self.check_probabilities(&instance, 0)?;
        for entrant in &self.entrants {
            let budgets =
                if entrant.is_anytime() { &self.budgets[self.budgets.len() - 1..] } else { &self.budgets[..] };
            for &budget in budgets {
                self.learner(entrant, &instance, budget, 0)?;
            }
        }
        Ok(())
    }
}

impl Published {
    /// What the curve is called where it was published.
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

    /// The success rates, one a budget, to the decimals published.
    #[must_use]
    pub fn success(&self) -> &[f64] {
        &self.success
    }
}
