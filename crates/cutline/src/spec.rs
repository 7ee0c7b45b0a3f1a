//! Names become types here, and only here.

mod builder;
mod error;
mod parameter;

pub use error::SpecError;
pub use parameter::{EstimatorKind, Parameter, ParameterRole, Range};

use crate::estimators::Ridge;
use crate::quartet::BatchLearner;
use crate::rules::{Apt, Clucb, LinGame, NamedRule, Pivot, Straddle, UcbE, Uniform};
use crate::{Arms, AskTell, Budget, ConfidenceStop, Question};
use builder::{Four, LearnerBuilder, ridge_parameters};
use error::listed;
use parameter::NOISE;

/// Every algorithm that has a name. A new one is one more entry; all listings and all surfaces derive from this.
pub static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear-apt",
        about: "pulls the arm whose side is least certain by its own pulls; the means are linear in the features",
        paper: "Wu, Tsai & Lin 2024, LinearAPT",
        rule: "apt",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[],
        build: |builder, _| builder.index(Apt),
        in_step: Some(|four, _| four.index([Apt; 4])),
    },
    Algorithm {
        name: "apt",
        about: "the same rule with each arm on its own; needs no features",
        paper: "Locatelli, Gutzeit & Carpentier 2016, APT",
        rule: "apt",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[],
        build: |builder, _| builder.index(Apt),
        in_step: Some(|four, _| four.index([Apt; 4])),
    },
    Algorithm {
        name: "random",
        about: "every arm once, then arms at random; the baseline to beat",
        paper: "Wu, Tsai & Lin 2024, LinearAPT",
        rule: "uniform",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[],
        build: |builder, _| builder.any(Uniform),
        in_step: None,
    },
    Algorithm {
        name: "ucbe",
        about: "gap less exploration bonus; its exploration can only be set by who knows the truth",
        paper: "Audibert, Bubeck & Munos 2010, UCB-E; Locatelli et al. 2016",
        rule: "ucb-e",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[Parameter {
            name: "exploration",
            default: None,
            about: "a in Δ̂ᵢ − √(a/Tᵢ)",
            range: Range { least: 0.0, most: f64::MAX },
            role: ParameterRole::OracleExploration,
        }],
        build: |builder, parameters| builder.index(UcbE::new(parameters[0])?),
        in_step: Some(|four, [a, b, c, d]| {
            four.index([UcbE::new(a[0]).ok()?, UcbE::new(b[0]).ok()?, UcbE::new(c[0]).ok()?, UcbE::new(d[0]).ok()?])
        }),
    },
    Algorithm {
        name: "pivot",
        about: "pulls the arm that tells most about the most doubtful arm; needs no opening, so T < K works",
        paper: "Cutline's own; unpublished, no fixed-budget guarantee",
        rule: "pivot",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.spread(Pivot::new(parameters[0])?),
        in_step: Some(|four, [a, b, c, d]| {
            four.pivot([Pivot::new(a[0]).ok()?, Pivot::new(b[0]).ok()?, Pivot::new(c[0]).ok()?, Pivot::new(d[0]).ok()?])
        }),
    },
    Algorithm {
        name: "straddle",
        about: "pulls the arm whose interval reaches furthest across the threshold; needs no opening",
        paper: "Bryan, Schneider, Nichol, Miller, Genovese & Wasserman 2005, straddle",
        rule: "straddle",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.spread(Straddle::new(parameters[0])?),
        in_step: None,
    },
    Algorithm {
        name: "clucb",
        about: "pulls the undecided arms in turn, each on its own; made for a confidence stop",
        paper: "Chen, Lin, King, Lyu & Chen 2014, CLUCB",
        rule: "clucb",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[
            NOISE,
            Parameter {
                name: "delta",
                default: Some(0.05),
                about: "δ, the probability that any interval ever fails",
                range: Range { least: 1e-100, most: 0.5 },
                role: ParameterRole::Confidence,
            },
        ],
        build: |builder, parameters| builder.any(Clucb::new(parameters[0], parameters[1])?),
        in_step: None,
    },
    Algorithm {
        name: "lingame",
        about: "learns the proportions in which a sequential test should pull the arms; made for a confidence stop",
        paper: "Degenne, Ménard, Shang & Valko 2020, LinGame",
        rule: "lingame",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.spread(LinGame::new(parameters[0], builder.arms.n_arms())?),
        in_step: None,
    },
];

/// What a spec of a rule of one's own is, but for the rule. It is not listed.
static OWN: Algorithm = Algorithm {
    name: "own",
    about: "a rule of one's own",
    paper: "one's own",
    rule: "own",
    estimator: EstimatorKind::Ridge,
    rule_parameters: &[NOISE],
    build: |builder, parameters| builder.own(parameters[0]),
    in_step: None,
};

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
    pub estimator: EstimatorKind,
    rule_parameters: &'static [Parameter],
    build: Build,
    in_step: Option<BuildInStep>,
}

/// Seats a rule, made from its parameters.
type Build = fn(&LearnerBuilder<'_>, &[f64]) -> Result<Box<dyn AskTell>, SpecError>;

/// Seats four rules, made from their parameters, in step; `None` if that cannot be.
type BuildInStep = fn(&Four<'_>, [&[f64]; 4]) -> Option<Box<dyn BatchLearner>>;

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
    estimator: EstimatorKind,
    /// One an entry of [`Spec::parameters`], in its order.
    values: Vec<Option<f64>>,
    sure: Option<ConfidenceStop>,
    own: Option<NamedRule>,
}

/// The algorithm of that name, if there is one.
#[must_use]
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name)
}

impl Algorithm {
    /// The name of its stop, unless a spec has [another](Spec::until_sure).
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

    fn of(algorithm: &'static Algorithm, estimator: EstimatorKind) -> Self {
        let values = algorithm.rule_parameters.iter().chain(estimator.parameters()).map(|p| p.default).collect();
        Self { algorithm, estimator, values, sure: None, own: None }
    }

    /// A rule of one's own with ridge, or with [sample means](Spec::with_estimator). It takes a `noise`, and what its estimator takes.
    ///
    /// ```
    /// use cutline::rules::{RuleContext, NamedRule, CustomRule};
    /// use cutline::{Arm, Arms, Question, Rng, Spec};
    /// use std::sync::Arc;
    ///
    /// struct LeastPulled;
    ///
    /// impl CustomRule for LeastPulled {
    ///     fn choose(&self, context: &mut dyn RuleContext, _: &mut Rng) -> Arm {
    ///         (0..context.pulls().len()).min_by_key(|&arm| context.pulls()[arm]).unwrap()
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec = Spec::custom(NamedRule::new("least-pulled", Arc::new(LeastPulled))?);
    /// let arms = Arms::from_rows(&[[1.0], [-1.0]])?;
    /// let mut learner = spec.learner(&arms, Question::new(0.0, 0.01)?, 10, 0)?;
    /// assert_eq!([learner.ask(), learner.ask(), learner.ask()], [Some(0), Some(1), Some(0)]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn custom(rule: NamedRule) -> Self {
        Self { own: Some(rule), ..Self::of(&OWN, OWN.estimator) }
    }

    /// What it is called: the name of its algorithm or of one's own rule.
    #[must_use]
    pub fn name(&self) -> &str {
        self.own.as_ref().map_or(self.algorithm.name, NamedRule::name)
    }

    /// The same with another estimator, by name; the estimator's own parameters are at their defaults.
    ///
    /// # Errors
    /// If there is no such estimator or the rule cannot work with it.
    pub fn with_estimator(self, name: &str) -> Result<Self, SpecError> {
        let estimator = *EstimatorKind::ALL
            .iter()
            .find(|e| e.name() == name)
            .ok_or_else(|| SpecError::UnknownEstimator(name.into()))?;
        let mut spec = Self::of(self.algorithm, estimator);
        let n_rule = self.algorithm.rule_parameters.len();
        spec.values[..n_rule].copy_from_slice(&self.values[..n_rule]);
        (spec.sure, spec.own) = (self.sure, self.own);
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

    /// The same with σ = `noise` if the algorithm takes it, otherwise unchanged.
    ///
    /// # Errors
    /// If σ is out of range.
    pub fn with_noise_scale(self, noise: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::NoiseScale, noise)
    }

    /// The same with δ = `delta` if the algorithm takes it, otherwise unchanged.
    ///
    /// # Errors
    /// If δ is out of range.
    pub fn with_delta(self, delta: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::Confidence, delta)
    }

    /// The same with UCB-E's a = `exploration` if the algorithm takes it, otherwise unchanged.
    ///
    /// # Errors
    /// If a is out of range.
    pub fn with_oracle_exploration(self, exploration: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::OracleExploration, exploration)
    }

    /// The same with means drawn towards `centre` times τ if the estimator is ridge, otherwise unchanged.
    ///
    /// # Errors
    /// If `centre` is out of range.
    pub fn with_centre(self, centre: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::Centre, centre)
    }

    /// Whether it takes a parameter of that role.
    #[must_use]
    pub fn takes(&self, role: ParameterRole) -> bool {
        self.parameters().any(|parameter| parameter.role == role)
    }

    fn with_role(self, role: ParameterRole, value: f64) -> Result<Self, SpecError> {
        match self.parameters().find(|parameter| parameter.role == role) {
            Some(parameter) => self.with(parameter.name, value),
            None => Ok(self),
        }
    }

    /// The same with a stop that ends before the budget is used up if it is `sure`: the stop `confidence`.
    #[must_use]
    pub fn until_sure(self, sure: ConfidenceStop) -> Self {
        Self { sure: Some(sure), ..self }
    }

    /// The stop that may end before the budget is used up, if there is one.
    #[must_use]
    pub fn sure(&self) -> Option<ConfidenceStop> {
        self.sure
    }

    /// The name of its stop.
    #[must_use]
    pub fn stop(&self) -> &'static str {
        if self.sure.is_some() { "confidence or budget" } else { self.algorithm.stop() }
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The estimator.
    #[must_use]
    pub fn estimator(&self) -> EstimatorKind {
        self.estimator
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
        if self.estimator == EstimatorKind::Ridge && arms.dimension().is_none() {
            return Err(SpecError::NeedsFeatures { algorithm: algorithm.name });
        }
        let values = self.complete()?;
        let (rule, estimator) = values.split_at(algorithm.rule_parameters.len());
        let (budget, sure) = (Budget::new(budget)?, self.sure);
        let estimate = self.estimator;
        let own = self.own.as_ref();
        let builder =
            LearnerBuilder { arms, question, budget, sure, seed, algorithm, own, estimate, parameters: estimator };
        (algorithm.build)(&builder, rule)
    }

    /// Four learners in step, each with its own arms and question and with its own parameters of one algorithm: they pull
    /// what [`Spec::learner`]s would pull, one by one, to the last bit, and faster. A budget is the caller's to keep.
    ///
    /// `None` where the algorithm has no such form, the four do not fit together, or one may end before the others because it
    /// is sure; single learners then do, or say why not.
    #[must_use]
    pub fn in_step(specs: [&Spec; 4], arms: [&Arms; 4], questions: [Question; 4]) -> Option<Box<dyn BatchLearner>> {
        let algorithm = specs[0].algorithm;
        let build = algorithm.in_step?;
        let is_alike = |spec: &&Spec| {
            std::ptr::eq(spec.algorithm, algorithm) && spec.estimator == EstimatorKind::Ridge && spec.sure.is_none()
        };
        if !specs.iter().all(is_alike) {
            return None;
        }
        let [a, b, c, d] = specs.map(|spec| spec.complete().ok());
        let values = [a?, b?, c?, d?];
        let n_rule = algorithm.rule_parameters.len();
        let lambda = values[0][n_rule];
        for (values, arms) in values.iter().zip(arms) {
            // What is centred or has an intercept plays alone.
            if *ridge_parameters(&values[n_rule..]) != [lambda, 0.0, 0.0] || Ridge::check(arms, lambda).is_err() {
                return None;
            }
        }
        let four = Four { arms, questions, lambda };
        build(&four, values.each_ref().map(|values| &values[..n_rule]))
    }

    /// Every parameter's value, the rule's first.
    fn complete(&self) -> Result<Vec<f64>, SpecError> {
        let value = |(parameter, value): (&Parameter, &Option<f64>)| {
            value.ok_or(SpecError::Missing { algorithm: self.algorithm.name, parameter: *parameter })
        };
        self.parameters().zip(&self.values).map(value).collect()
    }

    /// Whether rule and estimator fit is known to the compiler alone, so ask it by building one.
    fn try_on_a_small_problem(&self) -> Result<(), SpecError> {
        let arms = Arms::from_slice(&[1.0], 1).expect("one arm with one feature");
        let question = Question::new(0.0, 0.0).expect("a threshold of 0");
        match self.learner(&arms, question, 1, 0) {
            Err(error @ SpecError::NeedsVariances { .. }) => Err(error),
            _ => Ok(()),
        }
    }
}
