//! The tests of the API: one program, so that it is linked once.

#[macro_use]
mod common;

mod api;
mod document;
mod hostile;
mod listener;
mod notify;
mod page;
mod repeated;
mod security;
mod stream;
