//! What runs on a node, run: bash is the judge of every rendered shell part.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "node/al2.rs"]
mod al2;
#[path = "node/boot.rs"]
mod boot;
#[path = "node/bottlerocket.rs"]
mod bottlerocket;
#[path = "node/choice.rs"]
mod choice;
#[path = "node/fixtures.rs"]
mod fixtures;
#[path = "node/go_multipart.rs"]
mod go_multipart;
#[path = "node/images.rs"]
mod images;
#[path = "node/imds.rs"]
mod imds;
#[path = "node/lint.rs"]
mod lint;
#[path = "node/machine.rs"]
mod machine;
#[path = "node/mime.rs"]
mod mime;
#[path = "node/nodeadm.rs"]
mod nodeadm;
#[path = "node/plans.rs"]
mod plans;
#[path = "node/steps.rs"]
mod steps;
#[path = "node/tools.rs"]
mod tools;
