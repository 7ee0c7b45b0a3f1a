//! The instances of an experiment and how they are drawn.

use crate::instance::graphs::GraphPrior;
use crate::published::numpy::RandomState;
use crate::{Instance, InstanceError, Threshold, tables};
use cutline::{Arms, CovarianceKind, Purpose, Rng, stream};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::borrow::Cow;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How an instance is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum InstanceKind {
    /// θ and then the arms from U([−1, 1]^d).
    Uniform {
        /// K.
        n_arms: usize,
        /// The number of features d.
        dimension: usize,
    },
    /// These features, with θ from U([−1, 1]^d).
    Features(Arms),
    /// These features and this θ, or these means: nothing is drawn.
    Fixed(Truth),
    /// Drawn by the caller's code.
    Custom(Arc<dyn CustomInstances>),
}

/// Instances drawn by the caller's code, for example in Python.
pub trait CustomInstances: Debug + Send + Sync {
    /// The instance for a seed, always the same for the same seed. To report an error, panic.
    fn draw(&self, seed: u64) -> Truth;
}

/// The arms of an instance, with their true means or the θ that determines them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Truth {
    /// Features and θ.
    Linear(Arms, Vec<f64>),
    /// Arms, with features or without, and their means.
    Means(Arms, Vec<f64>),
    /// The nodes of a graph, and their means.
    Graph(Arc<GraphPrior>, Vec<f64>),
}

impl Truth {
    /// The canonical hard case of Soare, Lazaric & Munos (2014): the d basis vectors and cos ω e₁ + sin ω e₂, θ = 2e₁.
    ///
    /// # Panics
    /// If `dimension` is below 2 or ω is not finite.
    #[must_use]
    pub fn soare(dimension: usize, omega: f64) -> Self {
        let mut rows = vec![vec![0.0; dimension]; dimension + 1];
        for (i, row) in rows.iter_mut().take(dimension).enumerate() {
            row[i] = 1.0;
        }
        rows[dimension][0] = omega.cos();
        rows[dimension][1] = omega.sin();
        let mut theta = vec![0.0; dimension];
        theta[0] = 2.0;
        Self::Linear(Arms::from_rows(&rows).expect("finite rows of one length"), theta)
    }
}

/// A random number generator: a stream of the engine, or NumPy's, which the paper's authors used.
pub(crate) trait RandomNumbers {
    /// Uniform on [−1, 1).
    fn uniform(&mut self) -> f64;

    /// Standard normal.
    fn normal(&mut self) -> f64;
}

impl RandomNumbers for Rng {
    fn uniform(&mut self) -> f64 {
        2.0 * self.random::<f64>() - 1.0
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }
}

impl RandomNumbers for RandomState {
    fn uniform(&mut self) -> f64 {
        2.0 * self.double() - 1.0
    }

    fn normal(&mut self) -> f64 {
        self.normal()
    }
}

/// When instances are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawSchedule {
    /// Once, as the authors of the paper drew theirs: by NumPy's `RandomState(0)`.
    AsPublished,
    /// Once, from the experiment's seed.
    Once,
    /// In every run, from the experiment's seed and the run's number.
    EveryRun,
}

/// The instances of an experiment: one for all runs, or one per run.
#[derive(Clone, Debug)]
pub struct InstanceSource {
    kind: InstanceKind,
    seed: u64,
    threshold: Threshold,
    precision: f64,
    /// A number added to every mean.
    offset: f64,
    /// Whether algorithms see the features standardised.
    is_standardised: bool,
    /// How algorithms take the means to be related, if the instance itself does not say it.
    covariance: Option<CovarianceKind>,
    /// The one instance of all runs; `None` if every run has its own.
    fixed: Option<Instance>,
    /// The authors' generator in its state after the published instance was drawn.
    published: Option<RandomState>,
    /// The file that the arms were read from.
    file: Option<PathBuf>,
}

impl InstanceSource {
    /// Instances of this kind, drawn on this schedule.
    ///
    /// # Errors
    /// If the instance of run 0 is refused.
    pub fn new(
        kind: InstanceKind,
        draw: DrawSchedule,
        seed: u64,
        threshold: Threshold,
        precision: f64,
    ) -> Result<Self, InstanceError> {
        let mut source = Self {
            kind,
            seed,
            threshold,
            precision,
            offset: 0.0,
            is_standardised: false,
            covariance: None,
            fixed: None,
            published: None,
            file: None,
        };
        let first = match draw {
            DrawSchedule::AsPublished => {
                let mut state = RandomState::new(0);
                let instance = source.draw(&mut state)?;
                source.published = Some(state);
                instance
            }
            DrawSchedule::Once | DrawSchedule::EveryRun => source.instance(0)?.into_owned(),
        };
        if draw != DrawSchedule::EveryRun || matches!(source.kind, InstanceKind::Fixed(_)) {
            source.fixed = Some(first);
        }
        Ok(source)
    }

    /// The same instances with `offset` added to every mean.
    ///
    /// # Errors
    /// If the instance of run 0 is refused.
    pub fn with_offset(self, offset: f64) -> Result<Self, InstanceError> {
        if offset == 0.0 {
            return Ok(self);
        }
        let fixed = self.fixed.clone().map(|instance| instance.raised(offset, self.threshold)).transpose()?;
        let source = Self { offset, fixed, ..self };
        source.instance(0)?;
        Ok(source)
    }

    /// The same instances with the same means; algorithms see their features [standardised](Arms::standardised).
    #[must_use]
    pub fn standardised(self) -> Self {
        let fixed = self.fixed.map(Instance::standardised);
        Self { is_standardised: true, fixed, ..self }
    }

    /// The same instances with the same means; algorithms take them to be related in this way. To be called after
    /// [`standardised`](InstanceSource::standardised).
    ///
    /// # Errors
    /// If the kernel or the graph does not fit the arms.
    pub fn related(self, kind: CovarianceKind) -> Result<Self, InstanceError> {
        let fixed = self.fixed.map(|instance| instance.related(&kind)).transpose()?;
        let source = Self { covariance: Some(kind), fixed, ..self };
        source.instance(0)?;
        Ok(source)
    }

    /// How algorithms take the means to be related, if the instance itself does not say it.
    #[must_use]
    pub fn covariance(&self) -> Option<&CovarianceKind> {
        self.covariance.as_ref()
    }

    /// The same instances, with the file that their arms were read from.
    #[must_use]
    pub(crate) fn with_file(self, file: Option<PathBuf>) -> Self {
        Self { file, ..self }
    }

    /// The file that the arms were read from, if any.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether algorithms see the features standardised.
    #[must_use]
    pub fn is_standardised(&self) -> bool {
        self.is_standardised
    }

    /// How an instance is made.
    #[must_use]
    pub fn kind(&self) -> &InstanceKind {
        &self.kind
    }

    /// The threshold τ.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// The precision ε.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.precision
    }

    /// The instance of all runs, if there is one.
    #[must_use]
    pub fn fixed(&self) -> Option<&Instance> {
        self.fixed.as_ref()
    }

    /// The authors' random stream after the published instance was drawn from it, if this is the published instance.
    #[must_use]
    pub fn published_stream(&self) -> Option<&RandomState> {
        self.published.as_ref()
    }

    /// The instance of one run.
    ///
    /// # Errors
    /// If the instance that was drawn is refused.
    pub fn instance(&self, run: u64) -> Result<Cow<'_, Instance>, InstanceError> {
        if let Some(fixed) = &self.fixed {
            return Ok(Cow::Borrowed(fixed));
        }
        let mut instance = self.draw(&mut stream(self.seed, Purpose::Instance, run))?;
        if self.offset != 0.0 {
            instance = instance.raised(self.offset, self.threshold)?;
        }
        if self.is_standardised {
            instance = instance.standardised();
        }
        Ok(Cow::Owned(match &self.covariance {
            Some(kind) => instance.related(kind)?,
            None => instance,
        }))
    }

    /// An instance from random numbers: first θ, then the arms row by row.
    fn draw(&self, numbers: &mut impl RandomNumbers) -> Result<Instance, InstanceError> {
        let mut theta = |dimension: usize| -> Vec<f64> { (0..dimension).map(|_| numbers.uniform()).collect() };
        let (arms, theta) = match &self.kind {
            InstanceKind::Uniform { n_arms, dimension } => {
                let theta = theta(*dimension);
                let features: Vec<f64> = (0..n_arms * dimension).map(|_| numbers.uniform()).collect();
                (Arms::from_slice(&features, *dimension)?, theta)
            }
            InstanceKind::Features(arms) => (arms.clone(), theta(arms.dimension().unwrap_or(0))),
            InstanceKind::Fixed(truth) => return self.instance_with(truth.clone()),
            InstanceKind::Custom(instances) => return self.instance_with(instances.draw(numbers.uniform().to_bits())),
        };
        Instance::linear(arms, theta, self.threshold, self.precision)
    }

    fn instance_with(&self, truth: Truth) -> Result<Instance, InstanceError> {
        match truth {
            Truth::Linear(arms, theta) => Instance::linear(arms, theta, self.threshold, self.precision),
            Truth::Means(arms, means) => Instance::with_means(arms, means, self.threshold, self.precision),
            Truth::Graph(prior, means) => Instance::on_graph(prior, means, self.threshold, self.precision),
        }
    }
}

impl InstanceKind {
    /// Iris with θ drawn, as in the paper.
    #[must_use]
    pub fn iris() -> Self {
        Self::Features(tables::iris())
    }

    /// Wine with θ drawn, as in the paper.
    #[must_use]
    pub fn wine() -> Self {
        Self::Features(tables::wine())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Theorem1, complexity, complexity_as_published};

    fn published(kind: InstanceKind, threshold: Threshold, precision: f64) -> Instance {
        let source = InstanceSource::new(kind, DrawSchedule::AsPublished, 0, threshold, precision).unwrap();
        source.fixed().unwrap().clone()
    }

    /// θ, μ₀, τ, H and H′ of the authors' instances, as computed by NumPy from their recipe.
    #[test]
    fn published_instances_are_those_of_the_authors() {
        let d5 = published(InstanceKind::Uniform { n_arms: 20, dimension: 5 }, Threshold::Value(0.0), 0.01);
        let theta =
            [0.0976270078546495, 0.43037873274483895, 0.20552675214328775, 0.08976636599379373, -0.15269040132219058];
        assert_eq!(d5.theta().unwrap(), theta);
        assert!((d5.means()[0] - 0.254641167102935).abs() < 1e-15);
        assert!((complexity(&d5) - 1943.97).abs() < 0.005);
        assert!((complexity_as_published(&d5) - 0.314).abs() < 0.0005);

        let d20 = published(InstanceKind::Uniform { n_arms: 20, dimension: 20 }, Threshold::Value(0.0), 0.01);
        assert!((d20.means()[0] - 2.6461119387976986).abs() < 1e-14);
        assert!((complexity(&d20) - 494.87).abs() < 0.005);

        let iris = published(InstanceKind::iris(), Threshold::Mean, 0.1);
        assert!((iris.question().threshold() - 2.766307724312256).abs() < 1e-13);
        assert!((complexity(&iris) - 1480.55).abs() < 0.005);
        let within = iris.means().iter().filter(|&&mean| (mean - iris.question().threshold()).abs() < 0.1);
        assert_eq!(within.count(), 14);

        let wine = published(InstanceKind::wine(), Threshold::Mean, 0.1);
        assert!((wine.question().threshold() - 92.63118455438183).abs() < 1e-11);
        assert!((complexity(&wine) - 27.76).abs() < 0.005);
        for instance in [d5, d20, iris, wine] {
            assert_eq!(Theorem1::new(&instance, 1.0).unwrap().bound(400), None, "the condition fails on all four");
        }
    }

    #[test]
    fn redrawn_instances_differ_and_fixed_ones_do_not() {
        let kind = InstanceKind::Uniform { n_arms: 4, dimension: 2 };
        let redrawn = InstanceSource::new(kind.clone(), DrawSchedule::EveryRun, 1, Threshold::Mean, 0.0).unwrap();
        let fixed = InstanceSource::new(kind, DrawSchedule::Once, 1, Threshold::Mean, 0.0).unwrap();
        let theta = |source: &InstanceSource, run| source.instance(run).unwrap().theta().unwrap().to_vec();
        assert_ne!(theta(&redrawn, 0), theta(&redrawn, 1));
        assert_eq!(theta(&fixed, 0), theta(&fixed, 1));
        assert_eq!(theta(&redrawn, 0), theta(&fixed, 0));
    }

    #[test]
    fn soare_is_as_published() {
        let Truth::Linear(arms, theta) = Truth::soare(3, 0.1) else { unreachable!() };
        assert_eq!(arms.row(3), Some(vec![0.1_f64.cos(), 0.1_f64.sin(), 0.0]));
        assert_eq!(arms.times(&theta).unwrap(), [2.0, 0.0, 0.0, 2.0 * 0.1_f64.cos()]);
    }
}
