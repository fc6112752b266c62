//! Bottlerocket settings in every form that TOML has for them.

use proptest::prelude::*;

use crate::drawn::one_of;

/// Bottlerocket settings: values of `settings.kubernetes` and their labels, written in one of TOML's forms.
pub(crate) fn settings() -> impl Strategy<Value = (String, &'static str)> {
    let labels = proptest::sample::subsequence(
        vec![
            ("team", "a"),
            ("k8s.amazonaws.com/eniConfig", "old"),
            ("eks.amazonaws.com/sourceLaunchTemplateVersion", "1"),
            ("eks.amazonaws.com/nodegroup", "web"),
        ],
        0..4,
    );
    let numbers =
        proptest::sample::subsequence(vec![("max-pods", "110"), ("max-pods", "8"), ("pod-pids-limit", "1024")], 0..2);
    let form = one_of(&["headers", "dotted", "inline", "inline in settings", "label header only", "header and dotted"]);
    (labels, numbers, form, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(labels, numbers, form, other, is_crlf, ends)| {
            let label_lines = |prefix: &str| -> String {
                labels.iter().map(|(key, value)| format!("{prefix}\"{key}\" = \"{value}\" # {value}\n")).collect()
            };
            let number_lines = |prefix: &str| -> String {
                numbers.iter().map(|(key, value)| format!("{prefix}{key} = {value}\n")).collect()
            };
            let inline_labels: Vec<String> =
                labels.iter().map(|(key, value)| format!("\"{key}\" = '{value}'")).collect();
            let mut inline: Vec<String> = numbers.iter().map(|(key, value)| format!("{key}={value}")).collect();
            inline.push(format!("node-labels = {{ {} }}", inline_labels.join(", ")));
            let inline = inline.join(", ");
            let mut text = match form {
                "headers" => format!(
                    "# mine\n[settings.kubernetes]\n{}\n[settings.kubernetes.node-labels]\n{}",
                    number_lines(""),
                    label_lines("")
                ),
                "dotted" => format!(
                    "settings.motd = \"hi\"\n{}{}",
                    label_lines("settings.kubernetes.node-labels."),
                    number_lines("settings.kubernetes.")
                ),
                "inline" => format!("settings.kubernetes = {{ {inline} }}\n"),
                "inline in settings" => format!("[settings]\nkubernetes = {{{inline}}}\n"),
                "label header only" => format!("[settings.kubernetes.node-labels]\n{}", label_lines("")),
                _ => format!("[settings.kubernetes]\n{}{}", number_lines(""), label_lines("node-labels.")),
            };
            if other {
                text.push_str("\n[settings.host-containers.admin] # mine\nenabled = true\n");
            }
            if is_crlf {
                text = text.replace('\n', "\r\n");
            }
            if !ends {
                text = text.trim_end().to_owned();
            }
            (text, form)
        },
    )
}
