//! Names become types here, and only here.

use crate::estimators::{DesignedRidge, Estimator, Ridge, RidgeError, SampleMean, Spread};
use crate::rules::{Apt, Pivot, PivotError, Rule, UcbE, UcbEError, Uniform};
use crate::{Arms, AskTell, Budget, BudgetError, Learner, LearnerError, Question};
use thiserror::Error;

/// Every algorithm that has a name. A new one is one more entry; all listings and all surfaces derive from this.
pub static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear-apt",
        about: "pulls the arm whose side is least certain by its own pulls; the means are linear in the features",
        paper: "Wu, Tsai & Lin 2024, LinearAPT",
        rule: "apt",
        estimator: Estimate::Ridge,
        rule_parameters: &[],
        build: |seat, _| seat.any(Apt),
    },
    Algorithm {
        name: "apt",
        about: "the same rule with each arm on its own; needs no features",
        paper: "Locatelli, Gutzeit & Carpentier 2016, APT",
        rule: "apt",
        estimator: Estimate::SampleMean,
        rule_parameters: &[],
        build: |seat, _| seat.any(Apt),
    },
    Algorithm {
        name: "random",
        about: "every arm once, then arms at random; the baseline to beat",
        paper: "Wu, Tsai & Lin 2024, LinearAPT",
        rule: "uniform",
        estimator: Estimate::Ridge,
        rule_parameters: &[],
        build: |seat, _| seat.any(Uniform),
    },
    Algorithm {
        name: "ucbe",
        about: "gap less exploration bonus; its exploration can only be set by who knows the truth",
        paper: "Audibert, Bubeck & Munos 2010, UCB-E; Locatelli et al. 2016",
        rule: "ucb-e",
        estimator: Estimate::Ridge,
        rule_parameters: &[Parameter {
            name: "exploration",
            default: None,
            about: "a in Δ̂ᵢ − √(a/Tᵢ)",
            range: Range { least: 0.0, most: f64::MAX },
        }],
        build: |seat, parameters| seat.any(UcbE::new(parameters[0], seat.arms.n_arms())?),
    },
    Algorithm {
        name: "pivot",
        about: "pulls the arm that tells most about the most doubtful arm; needs no opening, so T < K works",
        paper: "Cutline's own; unpublished, no fixed-budget guarantee",
        rule: "pivot",
        estimator: Estimate::Ridge,
        rule_parameters: &[Parameter {
            name: "noise",
            default: Some(1.0),
            about: "σ, the standard deviation of a reward",
            range: Range { least: 1e-100, most: 1e100 },
        }],
        build: |seat, parameters| seat.spread(Pivot::new(parameters[0])?),
    },
];

/// An algorithm that has a name: rule × estimator × stop, and what to say about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Algorithm {
    /// What it is called everywhere.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// The name of its rule.
    pub rule: &'static str,
    /// Its estimator, unless a spec says otherwise.
    pub estimator: Estimate,
    rule_parameters: &'static [Parameter],
    build: Build,
}

/// Seats a rule, made from its parameters.
type Build = fn(&Seat<'_>, &[f64]) -> Result<Box<dyn AskTell>, SpecError>;

/// The estimators, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Estimate {
    /// Each arm's own [sample mean](SampleMean).
    SampleMean,
    /// [Ridge](Ridge) regression on the features.
    Ridge,
}

/// A number that an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// What it is called everywhere.
    pub name: &'static str,
    /// Its value if none is given; without one it has to be given.
    pub default: Option<f64>,
    /// What it means, in one line.
    pub about: &'static str,
    /// What values it takes.
    pub range: Range,
}

/// Finite numbers from `least` to `most`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Range {
    /// The least value allowed.
    pub least: f64,
    /// The greatest value allowed.
    pub most: f64,
}

/// A named algorithm with its parameters, ready to build learners.
///
/// ```
/// use cutline::{Arms, Question, Spec};
///
/// let spec = Spec::named("linear-apt")?.with("lambda", 0.1)?;
/// let arms = Arms::from_rows(&[[1.0], [-1.0]])?;
/// let mut learner = spec.learner(&arms, Question::new(0.0, 0.01)?, 10, 0)?;
/// assert_eq!(learner.ask(), Some(0));
/// assert!(Spec::named("linear-apt")?.with("exploration", 1.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    algorithm: &'static Algorithm,
    estimator: Estimate,
    /// One an entry of [`Spec::parameters`], in its order.
    values: Vec<Option<f64>>,
}

/// Why a spec was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no algorithm of that name.
    #[error("there is no algorithm `{0}`; there are {names}", names = listed(ALGORITHMS.iter().map(|a| a.name)))]
    Unknown(String),
    /// There is no estimator of that name.
    #[error("there is no estimator `{0}`; there are {names}", names = listed(Estimate::ALL.iter().map(|e| e.name())))]
    UnknownEstimator(String),
    /// The algorithm does not take that parameter.
    #[error("`{algorithm}` takes no parameter `{parameter}`; it takes {takes}")]
    UnknownParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// What was given.
        parameter: String,
        /// What it takes.
        takes: String,
    },
    /// A parameter's value is out of range.
    #[error("`{}` must be a finite number {}, not {value}", parameter.name, parameter.range)]
    OutOfRange {
        /// The parameter.
        parameter: Parameter,
        /// What was given.
        value: f64,
    },
    /// A parameter without a default was not given.
    #[error("`{algorithm}` needs the parameter `{}` ({})", parameter.name, parameter.about)]
    Missing {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        parameter: Parameter,
    },
    /// The rule looks at variances, and the estimator has none.
    #[error("the rule `{rule}` needs variances, which the estimator `{}` does not have; use `ridge`", estimator.name())]
    NeedsSpread {
        /// The rule.
        rule: &'static str,
        /// The estimator.
        estimator: Estimate,
    },
    /// The arms have no features and the estimator needs them.
    #[error("`{algorithm}` needs arms with features, and these have none; `apt` works without")]
    NeedsFeatures {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The estimator was refused.
    #[error(transparent)]
    Ridge(#[from] RidgeError),
    /// The rule was refused.
    #[error(transparent)]
    UcbE(#[from] UcbEError),
    /// The rule was refused.
    #[error(transparent)]
    Pivot(#[from] PivotError),
    /// The budget was refused.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The learner was refused.
    #[error(transparent)]
    Learner(#[from] LearnerError),
}

/// The algorithm of that name, if there is one.
#[must_use]
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name)
}

impl Algorithm {
    /// The name of its stop.
    #[must_use]
    pub fn stop(&self) -> &'static str {
        "budget"
    }

    /// What it takes with its own estimator.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.rule_parameters.iter().chain(self.estimator.parameters())
    }
}

impl Spec {
    /// The algorithm `name` with its default parameters.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let algorithm = algorithm(name).ok_or_else(|| SpecError::Unknown(name.into()))?;
        Ok(Self::of(algorithm, algorithm.estimator))
    }

    fn of(algorithm: &'static Algorithm, estimator: Estimate) -> Self {
        let values = algorithm.rule_parameters.iter().chain(estimator.parameters()).map(|p| p.default).collect();
        Self { algorithm, estimator, values }
    }

    /// The same with another estimator, by name, and the parameters back at their defaults.
    ///
    /// # Errors
    /// If there is no such estimator or the rule cannot work with it.
    pub fn with_estimator(self, name: &str) -> Result<Self, SpecError> {
        let estimator =
            *Estimate::ALL.iter().find(|e| e.name() == name).ok_or_else(|| SpecError::UnknownEstimator(name.into()))?;
        let spec = Self::of(self.algorithm, estimator);
        spec.try_on_a_small_problem()?;
        Ok(spec)
    }

    /// The same with `parameter` set to `value`.
    ///
    /// # Errors
    /// If the algorithm takes no such parameter, or not that value.
    pub fn with(mut self, parameter: &str, value: f64) -> Result<Self, SpecError> {
        let Some((position, known)) = self.parameters().enumerate().find(|(_, p)| p.name == parameter) else {
            return Err(SpecError::UnknownParameter {
                algorithm: self.algorithm.name,
                parameter: parameter.into(),
                takes: listed(self.parameters().map(|p| p.name)),
            });
        };
        if !(known.range.least..=known.range.most).contains(&value) {
            return Err(SpecError::OutOfRange { parameter: *known, value });
        }
        self.values[position] = Some(value);
        Ok(self)
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// What it takes.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.algorithm.rule_parameters.iter().chain(self.estimator.parameters())
    }

    /// The parameters that have a value, by name.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.parameters().zip(&self.values).filter_map(|(p, value)| Some((p.name, (*value)?)))
    }

    /// A learner that knows nothing yet.
    ///
    /// # Errors
    /// If a parameter is missing, the algorithm needs features and the arms have none, the budget is 0, or it is below the
    /// number of arms and the rule opens with every arm.
    pub fn learner(
        &self,
        arms: &Arms,
        question: Question,
        budget: u32,
        seed: u64,
    ) -> Result<Box<dyn AskTell>, SpecError> {
        let algorithm = self.algorithm;
        if self.estimator == Estimate::Ridge && arms.dimension().is_none() {
            return Err(SpecError::NeedsFeatures { algorithm: algorithm.name });
        }
        let mut values = Vec::with_capacity(self.values.len());
        for (parameter, value) in self.parameters().zip(&self.values) {
            values.push(value.ok_or(SpecError::Missing { algorithm: algorithm.name, parameter: *parameter })?);
        }
        let (rule, estimator) = values.split_at(algorithm.rule_parameters.len());
        let stop = Budget::new(budget)?;
        let seat = Seat { arms, question, stop, seed, algorithm, estimate: self.estimator, parameters: estimator };
        (algorithm.build)(&seat, rule)
    }

    /// Whether rule and estimator fit is known to the compiler alone, so ask it by building one.
    fn try_on_a_small_problem(&self) -> Result<(), SpecError> {
        let arms = Arms::from_slice(&[1.0], 1).expect("one arm with one feature");
        let question = Question::new(0.0, 0.0).expect("a threshold of 0");
        match self.learner(&arms, question, 1, 0) {
            Err(error @ SpecError::NeedsSpread { .. }) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Estimate {
    /// All of them.
    pub const ALL: &[Self] = &[Self::SampleMean, Self::Ridge];

    /// What it is called everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SampleMean => "sample-mean",
            Self::Ridge => "ridge",
        }
    }

    /// What it takes.
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::SampleMean => &[],
            Self::Ridge => &[Parameter {
                name: "lambda",
                default: Some(1.0),
                about: "λ, the regularisation of ridge",
                range: Range { least: 1e-12, most: f64::MAX },
            }],
        }
    }
}

/// Where a rule is to be seated: everything else a learner is made of.
struct Seat<'a> {
    arms: &'a Arms,
    question: Question,
    stop: Budget,
    seed: u64,
    algorithm: &'static Algorithm,
    estimate: Estimate,
    parameters: &'a [f64],
}

impl Seat<'_> {
    /// For a rule that works with any estimator.
    fn any<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<SampleMean> + Rule<Ridge> + Send + 'static,
    {
        match self.estimate {
            Estimate::SampleMean => self.learner(rule, SampleMean::new(self.arms)),
            Estimate::Ridge => self.learner(rule, Ridge::new(self.arms, self.parameters[0])?),
        }
    }

    /// For a rule that looks at variances.
    fn spread<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<DesignedRidge> + Send + 'static,
        DesignedRidge: Spread,
    {
        match self.estimate {
            Estimate::Ridge => self.learner(rule, DesignedRidge::new(self.arms, self.parameters[0])?),
            estimator => Err(SpecError::NeedsSpread { rule: self.algorithm.rule, estimator }),
        }
    }

    fn learner<R, E>(&self, rule: R, estimator: E) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<E> + Send + 'static,
        E: Estimator + Send + 'static,
    {
        Ok(Box::new(Learner::new(rule, estimator, self.stop, self.question, self.seed)?))
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.most == f64::MAX {
            write!(f, "of at least {:?}", self.least)
        } else {
            write!(f, "between {:?} and {:?}", self.least, self.most)
        }
    }
}

/// Names as a list in a sentence.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
