//! Kinds and ranges of rewards, and what a campaign says about what its verdicts rest on.

use cutline::{Arms, Basis, Question, RewardKind, Side, Spec};
use cutline_campaign::{CampaignError, CampaignState, Settings, Standing, Terms, TermsError};

fn terms(threshold: f64) -> Terms {
    Terms::new(Question::new(threshold, 0.0).unwrap(), Spec::named("apt").unwrap(), 100)
}

fn begin(terms: Terms) -> Result<CampaignState, TermsError> {
    CampaignState::new(Arms::without_features(4).unwrap(), terms)
}

#[test]
fn the_threshold_lies_within_the_range() {
    let ranged = |min, max| begin(Terms { range: (min, max), ..terms(0.5) }).map(drop);
    let (none, infinite) = (f64::NEG_INFINITY, f64::INFINITY);
    for range in [(0.0, 1.0), (0.0, infinite), (none, 1.0), (none, infinite), (0.49, 0.51)] {
        assert_eq!(ranged(range.0, range.1), Ok(()), "{range:?}");
    }
    for (min, max) in [(1.0, 0.0), (0.5, 0.5), (f64::NAN, 1.0), (0.0, f64::NAN), (-1e81, 1.0), (0.0, 1e81)] {
        assert!(matches!(ranged(min, max), Err(TermsError::RangeEnds { .. })), "{min} {max}");
    }
    for (min, max) in [(0.5, 1.0), (0.0, 0.5), (0.6, infinite), (none, 0.4)] {
        let threshold = 0.5;
        assert_eq!(ranged(min, max), Err(TermsError::ThresholdOutsideRange { threshold, min, max }));
    }
    for kind in [RewardKind::Bernoulli, RewardKind::Count] {
        let refused = begin(Terms { rewards: Some(kind), range: (0.0, 1.0), ..terms(0.5) }).unwrap_err();
        assert_eq!(refused, TermsError::RangeOfKind(kind));
    }
    let counts = |terms: Terms| begin(Terms { rewards: Some(RewardKind::Count), ..terms }).map(drop);
    assert_eq!(counts(terms(2.5)), Ok(()));
    assert_eq!(counts(terms(0.0)), Err(TermsError::CountThreshold(0.0)));
    assert_eq!(counts(Terms { noise: Some(1.0), ..terms(2.5) }), Err(TermsError::CountNoise));
}

/// Rewards at the ends are in the range; means and intervals lie in it, too.
#[test]
fn rewards_are_in_their_range() {
    let mut state = begin(Terms { range: (0.0, 1.0), noise: Some(5.0), ..terms(0.5) }).unwrap();
    let ticket = 1;
    state.ask(1, "me", 0, 9);
    let below = CampaignError::BelowMin { reward: -0.25, min: 0.0 };
    let above = CampaignError::AboveMax { reward: 1.25, max: 1.0 };
    assert_eq!((state.tell(ticket, -0.25, 0), state.tell(ticket, 1.25, 0)), (Err(below), Err(above)));
    assert_eq!(state.tell_events(&[(ticket, 1.25)]), Err(above));
    assert_eq!(state.observe(0, -0.25, true, 0), Err(below));
    state.tell(ticket, 1.0, 0).unwrap();
    assert_eq!(state.amend(ticket, 1.25, "", 0), Err(above));
    assert_eq!(state.progress().events, 2, "nothing else was recorded");
    state.observe(0, 0.0, true, 0).unwrap();
    assert!(state.verdicts().iter().all(|verdict| verdict.lower >= 0.0 && verdict.upper <= 1.0));
}

#[test]
fn counts_are_whole_numbers() {
    let mut state = begin(Terms { rewards: Some(RewardKind::Count), ..terms(2.5) }).unwrap();
    for reward in [-1.0, 0.5, 1e-9] {
        assert_eq!(state.observe(0, reward, true, 0), Err(CampaignError::NotACount { reward }));
    }
    for reward in [0.0, -0.0, 7.0, 1e9] {
        state.observe(0, reward, true, 0).unwrap();
    }
    assert!(state.verdicts().iter().all(|verdict| verdict.lower >= 0.0));
}

/// With a precision of 0, doubt and probability say the same; a verdict has a basis iff it is decided.
#[test]
fn a_verdict_says_what_it_rests_on() {
    let mut state = begin(Terms { noise: Some(1.0), ..terms(0.5) }).unwrap();
    for (arm, rewards) in [(0, vec![2.6]), (1, vec![-3.5; 20]), (2, vec![0.4, 0.7])] {
        for reward in rewards {
            state.observe(arm, reward, true, 0).unwrap();
        }
    }
    let verdicts = state.verdicts();
    let said: Vec<_> = verdicts.iter().map(|verdict| (verdict.side, verdict.basis)).collect();
    let undecided = (Side::Undecided, None);
    assert_eq!(
        said,
        [(Side::Above, Some(Basis::Likely)), (Side::Below, Some(Basis::Proved)), undecided, undecided],
        "no bet on one reward 2.1 σ above the bar wins more than e^2.2 = 9.1"
    );
    for verdict in &verdicts {
        let expected = if verdict.mean >= 0.5 { 1.0 - verdict.doubt } else { verdict.doubt };
        assert_eq!(verdict.probability_above(), expected, "{verdict:?}");
    }
    assert_eq!(verdicts[3].evidence, 1.0, "no rewards");
    let standing = Standing::new("c", &Settings::new(0.5, 100), &mut state, &verdicts, 0);
    assert_eq!((standing.above, standing.above_proved, standing.below, standing.below_proved), (1, 0, 1, 1));
    assert_eq!((standing.repeats, standing.undecided), (20, 2));
}

/// Nothing is forecast from nine rewards, and from ten on it is.
#[test]
fn ten_rewards_make_a_forecast() {
    let mut state = begin(terms(0.5)).unwrap();
    for number in 0..10_u32 {
        let verdicts = state.verdicts();
        let standing = Standing::new("c", &Settings::new(0.5, 100), &mut state, &verdicts, 0);
        assert_eq!((standing.wrong_calls, standing.may_forecast(), standing.has_rewards()), (None, false, number > 0));
        let standing = standing.with_rest(&mut state, Arms::without_features(4).unwrap());
        assert_eq!(standing.rest, None, "{number} rewards");
        state.observe((number % 4) as usize, f64::from(number % 3), true, 0).unwrap();
    }
    let verdicts = state.verdicts();
    let standing = Standing::new("c", &Settings::new(0.5, 100), &mut state, &verdicts, 0);
    assert!(standing.wrong_calls.is_some());
    assert!(standing.with_rest(&mut state, Arms::without_features(4).unwrap()).rest.is_some());
}
