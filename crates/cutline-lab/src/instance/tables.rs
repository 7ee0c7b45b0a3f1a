//! The tables of the paper, as arms.

use cutline::Arms;
use cutline_data::dataset::features;

/// Iris: 150 arms, 4 features, unscaled.
///
/// # Panics
/// Never: the file is part of the program.
#[must_use]
pub fn iris() -> Arms {
    features(include_str!("../../data/iris.csv").as_bytes()).expect("the file is part of the program")
}

/// Wine: 178 arms, 13 features, unscaled.
///
/// # Panics
/// Never: the file is part of the program.
#[must_use]
pub fn wine() -> Arms {
    features(include_str!("../../data/wine.csv").as_bytes()).expect("the file is part of the program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_are_those_of_the_paper() {
        assert_eq!((iris().n_arms(), iris().dimension()), (150, Some(4)));
        assert_eq!((wine().n_arms(), wine().dimension()), (178, Some(13)));
        assert_eq!(wine().row(0).unwrap()[12], 1065.0);
    }
}
