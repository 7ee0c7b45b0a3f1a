//! Custom rules behave as the rules of the engine do.

use crate::common::{Problem, arms_of, spec};
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{Arm, Arms, LearnerError, NameError, Purpose, Question, Rng, Spec, SpecError, stream};
use cutline_campaign::{CampaignState, EarlyStop, Event, Record, Terms};
use rand_core::Rng as _;

/// The same as `straddle`, written as a custom rule.
#[derive(Clone)]
struct Straddle;

impl CustomRule for Straddle {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let threshold = context.question().threshold();
        let mut index: Vec<f64> = context.variances().iter().map(|variance| 1.96 * variance.sqrt()).collect();
        index.iter_mut().zip(context.means()).for_each(|(index, mean)| *index -= (mean - threshold).abs());
        first_largest(&index).into()
    }
}

/// The rule of `apt`, which pulls every arm once first.
#[derive(Clone)]
struct Apt;

impl CustomRule for Apt {
    fn opens_with_every_arm(&self) -> bool {
        true
    }

    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let (question, pulls) = (context.question(), context.pulls().to_vec());
        let means = context.means().iter();
        let index = means.zip(pulls).map(|(&mean, pulls)| -question.gap(mean) * f64::from(pulls).sqrt());
        first_largest(&index.collect::<Vec<_>>()).into()
    }
}

fn first_largest(index: &[f64]) -> Arm {
    (1..index.len()).fold(0, |best, arm| if index[arm] > index[best] { arm } else { best })
}

fn custom(rule: impl CustomRule + Clone + Sync + 'static) -> Spec {
    Spec::custom(NamedRule::new("mine", move || Box::new(rule.clone())).unwrap())
}

#[test]
fn chooses_as_the_named_algorithm_does() {
    let problem = Problem::uniform(12, 4, 5);
    for noise in [1.0, 0.3] {
        for centre in [0.0, 1.0] {
            let play = |spec: Spec| {
                let spec = spec.with("noise", noise).unwrap().with("centre", centre).unwrap();
                arms_of(spec.learner(&problem.arms(), problem.question, 60, 0).unwrap().as_mut(), &problem, 3)
            };
            assert_eq!(play(custom(Straddle)), play(spec("straddle")), "noise {noise}, centre {centre}");
        }
    }
    let play = |spec: Spec| {
        let spec = spec.with_estimator("sample-mean").unwrap();
        arms_of(spec.learner(&problem.arms(), problem.question, 60, 0).unwrap().as_mut(), &problem, 3)
    };
    assert_eq!(play(custom(Apt)), play(spec("apt")));
}

#[test]
fn opens_with_every_arm_if_declared() {
    let question = Question::new(0.0, 0.1).unwrap();
    let arms = Arms::from_rows(&[[1.0], [2.0], [3.0]]).unwrap();
    let refused = custom(Apt).learner(&arms, question, 2, 0).err();
    assert_eq!(refused, Some(SpecError::Learner(LearnerError::BudgetBelowArms { budget: 2, n_arms: 3 })));
    assert!(custom(Straddle).learner(&arms, question, 2, 0).is_ok());
}

/// σ²xᵢᵀV⁻¹xⱼ with V = I + Σ xxᵀ for ridge on one feature, σ²/Tᵢ for sample means; `rng` is a function of seed and pull.
#[test]
fn receives_variances_and_covariances() {
    #[derive(Clone)]
    struct Checks;
    impl CustomRule for Checks {
        fn choose(&mut self, context: &mut dyn RuleContext, rng: &mut Rng) -> Choice {
            assert_eq!(
                rng.next_u64(),
                stream(9, Purpose::Rule, context.pulls().iter().map(|&n| u64::from(n)).sum()).next_u64()
            );
            assert_eq!(context.noise(), 2.0);
            let pulls: Vec<f64> = context.pulls().iter().map(|&n| f64::from(n)).collect();
            let expected = if context.variances().len() == 2 {
                // Ridge, features 1 and 3.
                let v = 1.0 + pulls[0] + 9.0 * pulls[1];
                [[4.0 / v, 36.0 / v], [4.0 / v, 12.0 / v]].map(Vec::from)
            } else {
                [pulls.iter().map(|n| 4.0 / n).collect(), vec![4.0 / pulls[0], 0.0, 0.0]]
            };
            for (got, expected) in context.variances().iter().zip(&expected[0]) {
                assert!(got == expected || (got - expected).abs() < 1e-12, "{got}, not {expected}");
            }
            for (got, expected) in context.covariances_with(0).iter().zip(&expected[1]) {
                assert!(got == expected || (got - expected).abs() < 1e-12, "{got}, not {expected}");
            }
            Choice::Pull(context.pulls().iter().sum::<u32>() as usize % context.pulls().len())
        }
    }
    let spec = custom(Checks).with("noise", 2.0).unwrap();
    let question = Question::new(0.0, 0.0).unwrap();
    let ridge = spec.learner(&Arms::from_rows(&[[1.0], [3.0]]).unwrap(), question, 7, 9);
    let mean = spec.with_estimator("sample-mean").unwrap().learner(&Arms::without_features(3).unwrap(), question, 7, 9);
    for mut learner in [ridge.unwrap(), mean.unwrap()] {
        while let Some(arm) = learner.ask() {
            learner.tell(arm, 1.0).unwrap();
        }
        assert_eq!(learner.beliefs().total_pulls, 7);
    }
}

#[test]
fn works_in_a_campaign() {
    let problem = Problem::uniform(6, 3, 2);
    let play = |spec: Spec| {
        let terms = Terms { rewards: None, ..Terms::new(problem.question, spec, 150) };
        let mut campaign = CampaignState::new(problem.arms(), terms).unwrap();
        let mut rng = stream(1, Purpose::Noise, 0);
        let mut arms = Vec::new();
        while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "me", 0, 1)[..] {
            campaign.tell(ticket, problem.reward(arm, &mut rng), 0).unwrap();
            arms.push(arm);
        }
        arms
    };
    assert_eq!(play(custom(Straddle)), play(spec("straddle")));
}

/// Its choices depend on all rewards so far and their order.
#[derive(Clone, Default)]
struct Momentum {
    level: f64,
    n_rewards: usize,
}

impl CustomRule for Momentum {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let n_arms = context.pulls().len();
        if self.n_rewards < n_arms {
            return Choice::Pull(self.n_rewards);
        }
        let index: Vec<f64> = context.means().iter().map(|mean| -(mean - self.level).abs()).collect();
        Choice::Pull((first_largest(&index) + self.n_rewards) % n_arms)
    }

    fn learns(&self) -> bool {
        true
    }

    fn learn(&mut self, context: &mut dyn RuleContext, arm: Arm, reward: f64) {
        self.level += 0.2 * (reward - self.level) * context.noise().min(1.0) * f64::from(context.pulls()[arm]).sqrt();
        self.level = self.level.clamp(-3.0, 3.0);
        self.n_rewards += 1;
    }
}

/// A campaign is rebuilt from its events after any of them, and goes on as if it had not been: on every estimator, and with a stop that
/// needs verdicts by earlier rewards.
#[test]
fn what_a_rule_has_learnt_is_a_function_of_the_events() {
    let problem = Problem::uniform(6, 3, 2);
    for (estimator, until_sure) in
        [("ridge", None), ("sample-mean", None), ("mixed", None), ("mixed", Some(EarlyStop::ExpectedErrors(1e-9)))]
    {
        let terms = Terms {
            rewards: None,
            noise: Some(0.5),
            until_sure,
            ..Terms::new(problem.question, custom(Momentum::default()).with_estimator(estimator).unwrap(), 150)
        };
        let begin = || CampaignState::new(problem.arms(), terms.clone()).unwrap();
        let play = |rebuild_every: usize| {
            let (mut campaign, mut records, mut arms) = (begin(), Vec::new(), Vec::new());
            let mut rng = stream(1, Purpose::Noise, 0);
            while let [ref asked @ Event::Asked { ticket, arm, .. }] = campaign.ask(1, "me", 0, 1)[..] {
                let told = campaign.tell(ticket, problem.reward(arm, &mut rng), 0).unwrap().unwrap();
                for event in [asked.clone(), told] {
                    records.push(Record { number: records.len() as u64 + 1, at: 0, event });
                }
                arms.push(arm);
                if arms.len() % rebuild_every == 0 {
                    campaign = begin();
                    campaign.extend(&records).unwrap();
                }
            }
            arms
        };
        let whole = play(1000);
        assert_eq!(whole.len(), 150, "{estimator}");
        for every in [1, 37] {
            assert_eq!(play(every), whole, "{estimator}, rebuilt every {every} rewards");
        }
    }
}

#[test]
fn has_a_valid_and_unused_name() {
    assert_eq!(custom(Apt).name(), "mine");
    assert_eq!(spec("apt").name(), "apt");
    assert!(matches!(NamedRule::new("pivot", || Box::new(Apt)), Err(NameError::Taken { part: "rule", .. })));
    assert!(matches!(NamedRule::new("", || Box::new(Apt)), Err(NameError::Invalid { .. })));
    assert!(matches!(NamedRule::new("a\nb", || Box::new(Apt)), Err(NameError::Invalid { .. })));
}
