//! The mixed model: features where they help, each arm's own rewards where they do not.
//!
//! ```text
//! μᵢ = τ + zᵢᵀθ + uᵢ        θⱼ ~ N(0, σ²Vₗ) for the linear columns and N(0, σ²Vₛ) for the smooth ones,  uᵢ ~ N(0, σ²ρᵢ)
//! ```
//!
//! The linear columns are the standardised features and a level, the smooth ones a Gaussian process by landmarks or products
//! of two features, and uᵢ is what the
//! features do not explain of an arm. With n rewards of mean ȳ (from τ) per arm, gᵢ = 1/(1 + ρᵢnᵢ), wᵢ = nᵢgᵢ, A = Λ + Σ wᵢzᵢzᵢᵀ and
//! b = Σ wᵢȳᵢzᵢ, the posterior is
//!
//! ```text
//! mean τ + gᵢzᵢᵀA⁻¹b + (1 − gᵢ)ȳᵢ      variance σ²(ρᵢgᵢ + gᵢ²zᵢᵀA⁻¹zᵢ)      covariance σ²(gᵢgⱼzᵢᵀA⁻¹zⱼ + [i = j]ρᵢgᵢ)
//! ```
//!
//! ρ = 0 gives ridge, V = 0 gives shrunken sample means. The variances and σ are learnt from the rewards by their marginal likelihood on
//! a grid: see `evidence` and `grid`.

mod columns;
mod conjugate;
mod draws;
mod elimination;
mod estimator;
mod evidence;
mod grid;
mod judgement;
mod matrices;
mod own;
mod products;
mod rewards;
mod settings;
mod surprises;
#[cfg(test)]
mod tests;
mod unequal;

pub use estimator::Mixed;
pub use rewards::FitHistory;
pub use settings::{MixedError, MixedSettings};
