//! Reading clusters over real HTTP, from the stand-ins of `tests/bench`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

#[path = "live/apply.rs"]
mod apply;
#[path = "live/apply_cluster.rs"]
mod apply_cluster;
#[path = "live/apply_cni.rs"]
mod apply_cni;
#[path = "live/apply_faults.rs"]
mod apply_faults;
#[path = "live/apply_groups.rs"]
mod apply_groups;
#[path = "live/apply_large.rs"]
mod apply_large;
#[path = "live/apply_lock.rs"]
mod apply_lock;
#[path = "live/apply_plain.rs"]
mod apply_plain;
#[path = "live/apply_question.rs"]
mod apply_question;
#[path = "live/apply_switch.rs"]
mod apply_switch;
#[path = "live/apply_templates.rs"]
mod apply_templates;
#[path = "live/apply_walk.rs"]
mod apply_walk;
#[path = "live/bench.rs"]
mod bench;
#[path = "live/calls.rs"]
mod calls;
#[path = "live/commands.rs"]
mod commands;
#[path = "live/errors.rs"]
mod errors;
#[path = "live/faults.rs"]
mod faults;
#[path = "live/kubernetes.rs"]
mod kubernetes;
#[path = "live/observed.rs"]
mod observed;
#[path = "live/pages.rs"]
mod pages;
#[path = "live/proxy.rs"]
mod proxy;
#[path = "live/reader.rs"]
mod reader;
#[path = "live/seeds.rs"]
mod seeds;
#[path = "live/verification.rs"]
mod verification;
#[path = "live/verify_cluster.rs"]
mod verify_cluster;
