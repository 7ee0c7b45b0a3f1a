//! The store's tests, one program: the crate and its dependencies are linked once.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod changes;
mod contract;
mod costs;
mod damage;
mod group;
mod leases;
mod managing;
mod old_stores;
mod schedules;
mod server;
mod slices;
mod vanished;
