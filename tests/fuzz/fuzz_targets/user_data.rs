//! Any bytes as user data: reading, merging, linting and comparing come to an end without a panic, and what is merged
//! obeys the laws of merging.

#![no_main]

use eniplan::check::lint::{Context, lint};
use eniplan::user_data::compare::equivalent;
use eniplan::user_data::{Family, Part, Target, is_ours, merge, read, without_ours};
use libfuzzer_sys::fuzz_target;

const SHELL: &[u8] = b"#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho ours\n";
const CALL: &[u8] = b"#!/bin/bash\n# eniplan.dev/part: al2-bootstrap\n/etc/eks/bootstrap.sh demo --kubelet-extra-args \"--max-pods=$max_pods\"\n";
const SETTINGS: &[u8] = b"# eniplan.dev/part: bottlerocket\nsettings.kubernetes.node-labels.\"k8s.amazonaws.com/eniConfig\" = \"pod-1a\"\nsettings.kubernetes.max-pods = 20\n";

fuzz_target!(|bytes: &[u8]| {
    let context = Context { file: "-", family: None, has_image: false, kubernetes_minor: Some(33) };
    let _ = lint(bytes, &context);
    let Ok(document) = read(bytes) else { return };
    assert_eq!(document.parts.len(), document.places.len());
    assert!(equivalent(&document, &document));
    for (family, ours) in [
        (Family::Al2023, Part::new("text/x-shellscript", SHELL.to_vec())),
        (Family::Al2, Part::new("text/x-shellscript", CALL.to_vec())),
        (Family::Bottlerocket, Part::new("application/toml", SETTINGS.to_vec())),
    ] {
        let target = Target {
            family,
            eks_merges: family != Family::Al2,
            label_key: Some("k8s.amazonaws.com/eniConfig"),
            max_pods: Some(20),
            kubernetes_minor: Some(33),
        };
        let ours = [ours];
        let Ok(merged) = merge(&document, &ours, &target) else { continue };
        let again = read(&merged.text).unwrap();
        assert_eq!(again.parts, merged.parts);
        if family != Family::Bottlerocket {
            assert_eq!(again.parts.iter().filter(|part| is_ours(part)).count(), 1);
        }
        let twice = merge(&again, &ours, &target).unwrap();
        assert_eq!(twice.text, merged.text);
        assert!(without_ours(&again).is_ok());
    }
});
