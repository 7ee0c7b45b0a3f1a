//! Rules that are here because papers have them, to compare with: the command line and experiment files offer all of them.

mod clucb;
mod csar;
mod fws;
mod fwt;
mod g_allocation;
mod grapl;
mod hdoc;
mod hedge;
mod lingame;
mod lingape;
mod lsa;
mod lse;
mod lucb;
mod lucb_g;
mod t_adaptive;
mod ucb_e;

pub use clucb::Clucb;
pub use csar::Csar;
pub use fws::Fws;
pub use fwt::Fwt;
pub use g_allocation::GAllocation;
pub use grapl::Grapl;
pub use hdoc::Hdoc;
pub use lingame::LinGame;
pub use lingape::LinGapE;
pub use lsa::Lsa;
pub use lse::Lse;
pub use lucb::Lucb;
pub use lucb_g::LucbG;
pub use t_adaptive::TAdaptive;
pub use ucb_e::UcbE;
