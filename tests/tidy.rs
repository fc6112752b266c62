//! The structure of the source tree: who imports whom, where SDKs and features may be named, how long a file may be,
//! and that rules and templates are all used.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::use_debug)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// A file imports only from rows above its own; files of one row never import each other.
const ROWS: &[&[&str]] = &[
    &["net", "error", "finding", "launch_template"],
    &["inventory", "config", "user_data"],
    &["max_pods", "resolve", "choose"],
    &["plan"],
    &["capacity", "render"],
    &["advise", "check", "diff"],
    &["verify"],
    &["report", "live"],
    &["cli"],
    &["commands"],
    &["main"],
];

/// What only `live/` may name.
const NETWORK_CRATES: &[&str] = &["kube", "k8s_openapi", "tokio"];

/// The only files that may look at the feature `live`.
const FILES_THAT_KNOW_THE_FEATURE: &[&str] = &["src/lib.rs", "src/commands/load.rs", "src/commands/apply.rs"];

/// Longest source file, in lines.
const LONGEST_FILE: usize = 450;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn sources() -> Vec<(String, String)> {
    let root = root();
    files_below(&root.join("src"), "rs")
        .into_iter()
        .map(|path| (path.strip_prefix(&root).unwrap().display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// Module path of a file below the crate: `src/plan/label.rs` → `["plan", "label"]`.
fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_start_matches("src/").trim_end_matches(".rs");
    path.split('/').filter(|name| *name != "mod").map(str::to_owned).collect()
}

/// Collects the absolute paths that a file names, whichever way it spells them.
struct Paths {
    module: Vec<String>,
    found: BTreeSet<Vec<String>>,
    features: usize,
}

impl Paths {
    fn of(file: &str, text: &str) -> Self {
        let module = match file {
            "src/main.rs" => vec!["main".to_owned()],
            "src/lib.rs" => Vec::new(),
            _ => module_of(file),
        };
        let mut paths = Self { module, found: BTreeSet::new(), features: 0 };
        paths.visit_file(&syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}")));
        paths
    }

    fn note(&mut self, segments: &[String]) {
        let mut at = self.module.clone();
        let mut rest = segments;
        match rest.first().map(String::as_str) {
            Some("crate") => {
                at.clear();
                rest = &rest[1..];
            }
            // The binary names its library from outside.
            Some("eniplan") if self.module.first().is_some_and(|first| first == "main") => {
                at.clear();
                rest = &rest[1..];
            }
            Some("super") => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            Some("self") => rest = &rest[1..],
            Some(_) => {
                self.found.insert([vec!["::".to_owned()], segments.to_vec()].concat());
                return;
            }
            None => return,
        }
        at.extend(rest.iter().cloned());
        self.found.insert(at);
    }

    fn use_tree(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.use_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.note(&with(&name.ident)),
            syn::UseTree::Rename(rename) => self.note(&with(&rename.ident)),
            syn::UseTree::Glob(_) => self.note(prefix),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(prefix, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.use_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.note(&segments);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            syn::visit::visit_item_mod(self, item);
            self.module.pop();
        } else {
            item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            let tokens = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
            self.features += usize::from(tokens.contains("\"live\""));
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        // Arguments of format macros and the like are expressions; paths in them count too.
        if let Ok(arguments) =
            item.parse_body_with(syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated)
        {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
        if item.path.is_ident("cfg") {
            self.features += usize::from(item.tokens.to_string().contains("\"live\""));
        }
    }
}

fn row(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

#[test]
fn every_file_imports_only_from_rows_above_its_own() {
    let mut broken = Vec::new();
    for (file, text) in sources() {
        if file == "src/lib.rs" {
            continue;
        }
        let paths = Paths::of(&file, &text);
        let own = paths.module.first().cloned().unwrap();
        let own_row = row(&own).unwrap_or_else(|| panic!("{file}: module `{own}` stands in no row"));
        for path in &paths.found {
            let Some(other) = path.first().filter(|first| **first != own && **first != "::") else { continue };
            if let Some(other_row) = row(other)
                && other_row >= own_row
            {
                broken.push(format!("{file} ({own}, row {own_row}) names {} (row {other_row})", path.join("::")));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_import_check_sees_what_grep_would_not() {
    for text in [
        "use crate::{report as r, net};",
        "fn f() -> crate::report::X { todo!() }",
        "mod inner { fn f() { super::super::report::x() } }",
        "fn f() { println!(\"{}\", crate::report::x()) }",
    ] {
        let found = Paths::of("src/plan.rs", text).found;
        assert!(found.iter().any(|path| path[0] == "report"), "{text}: {found:?}");
    }
    let harmless = "mod tests { use super::*; } // crate::report\nconst TEXT: &str = \"crate::report\";";
    assert!(Paths::of("src/plan.rs", harmless).found.iter().all(|path| path[0] != "report"));
}

#[test]
fn only_live_talks_to_a_network() {
    let mut broken = Vec::new();
    for (file, text) in sources().into_iter().filter(|(file, _)| !file.starts_with("src/live")) {
        for path in Paths::of(&file, &text).found {
            let Some(name) = (path[0] == "::").then(|| path[1].as_str()) else { continue };
            if name.starts_with("aws_") || NETWORK_CRATES.contains(&name) {
                broken.push(format!("{file} names {}", path[1..].join("::")));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_feature_is_known_in_three_files_only() {
    for (file, text) in sources() {
        let count = Paths::of(&file, &text).features;
        assert!(
            count == 0 || file.starts_with("src/live") || FILES_THAT_KNOW_THE_FEATURE.contains(&file.as_str()),
            "{file} looks at the feature `live`"
        );
    }
}

#[test]
fn files_stay_short() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|(file, text)| (text.lines().count(), file))
        .filter(|(lines, _)| *lines > LONGEST_FILE)
        .map(|(lines, file)| format!("{file}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn every_rule_that_is_stated_is_in_the_table_and_the_other_way_round() {
    let mut stated: BTreeMap<String, String> = BTreeMap::new();
    for (file, text) in sources() {
        let mut strings = Strings::default();
        strings.visit_file(&syn::parse_file(&text).unwrap());
        for id in strings.rule_ids {
            stated.insert(id, file.clone());
        }
    }
    let table: BTreeSet<&str> = eniplan::check::RULES.iter().map(|rule| rule.id).collect();
    let unknown: Vec<_> = stated.iter().filter(|(id, _)| !table.contains(id.as_str())).collect();
    assert!(unknown.is_empty(), "rules that the table does not have: {unknown:?}");
    let unused: Vec<_> = table.iter().filter(|id| !stated.contains_key(**id)).collect();
    assert!(unused.is_empty(), "rules that nobody states: {unused:?}");
}

/// First arguments of `Problem::new` and of `problem`, and of helpers that take a rule's id first.
#[derive(Default)]
struct Strings {
    rule_ids: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Strings {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func {
            let name = path.path.segments.last().unwrap().ident.to_string();
            let is_problem = path.path.segments.iter().any(|segment| segment.ident == "Problem") && name == "new";
            if is_problem || name == "gap_problem" || name == "problem" {
                self.note(call.args.first());
            }
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "problem" {
            self.note(call.args.first());
        }
        syn::visit::visit_expr_method_call(self, call);
    }
}

impl Strings {
    fn note(&mut self, argument: Option<&syn::Expr>) {
        match argument {
            Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => {
                self.rule_ids.insert(text.value());
            }
            Some(syn::Expr::If(choice)) => {
                let otherwise = choice.else_branch.as_ref().map(|(_, branch)| &**branch);
                for block in [Some(&choice.then_branch), otherwise.and_then(block_of)].into_iter().flatten() {
                    if let [syn::Stmt::Expr(value, None)] = block.stmts.as_slice() {
                        self.note(Some(value));
                    }
                }
            }
            _ => {}
        }
    }
}

fn block_of(branch: &syn::Expr) -> Option<&syn::Block> {
    match branch {
        syn::Expr::Block(block) => Some(&block.block),
        _ => None,
    }
}

#[test]
fn every_template_is_used() {
    let all = sources().into_iter().map(|(_, text)| text).collect::<String>();
    for template in files_below(&root().join("templates"), "hbs") {
        let name = template.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(all.contains(&format!("templates/{name}")), "templates/{name} is used nowhere");
    }
}

#[test]
fn the_pages_of_rules_and_checks_are_made_from_the_tables() {
    for (name, page) in [("rules", eniplan::check::rules_page()), ("checks", eniplan::check::checks_page())] {
        let path = root().join(format!("docs/{name}.md"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let file = std::fs::read_to_string(path).unwrap();
        assert!(file == page, "docs/{name}.md differs from the tables; UPDATE_DOCS=1 writes it anew");
    }
}

#[test]
fn the_schemas_are_those_of_the_program() {
    for what in ["config", "inventory", "plan", "report"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_eniplan")).args(["schema", what]).output().unwrap();
        let path = root().join(format!("docs/schema/{what}.json"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &output.stdout).unwrap();
        }
        let file = std::fs::read(&path).unwrap();
        assert!(
            file == output.stdout,
            "docs/schema/{what}.json differs from `eniplan schema {what}`; UPDATE_DOCS=1 writes it anew"
        );
    }
}
