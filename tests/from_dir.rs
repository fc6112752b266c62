//! Folders of what `aws` and `kubectl` print, instead of a cluster.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

#[path = "live/bench.rs"]
#[allow(dead_code)]
mod bench;
#[path = "from_dir/broken.rs"]
mod broken;
#[path = "from_dir/dump.rs"]
mod dump;
#[path = "live/observed.rs"]
mod observed;
#[path = "from_dir/others.rs"]
mod others;
#[path = "from_dir/same.rs"]
mod same;
