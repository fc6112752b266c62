//! Pseudonyms that keep the shape of what they stand for: length, digits, case, separators, the prefix of an id.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use sha2::{Digest, Sha256};

/// Words that are nobody's secret: those of AWS, Kubernetes, the field, and of this program's own names.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "AL2", "AL2023", "Helm", "Mozilla", "Name", "Terraform", "al2023", "amazon", "amazonaws", "amd64", "ami", "app",
    "application", "apply", "argocd", "arm64", "arn", "aws", "bottlerocket", "by", "client", "cluster", "cn", "cni",
    "com", "compute", "controller", "default", "dev", "dkr", "ebs", "ec2", "ecr", "eks", "eksctl", "elb", "eni",
    "eniConfig", "eniconfig", "eniplan", "false", "flux", "fluxcd", "gov", "gpu", "group", "helm", "iam",
    "i", "instance", "internal", "io", "ip", "k8s", "karpenter", "kubectl", "kubernetes", "kustomize", "linux",
    "managed", "manager", "match", "minimal", "no", "node", "nodegroup", "nvidia", "os", "owned", "pod", "pods",
    "pool", "private", "public", "role", "set", "sg", "shared", "side", "standard", "sts", "subnet", "svc",
    "terraform", "true", "ubuntu", "vpc", "windows", "x86", "zone",
];

/// The account that holds AWS's images for EKS in most Regions.
/// Source: EKS user guide, "View Amazon container image registries for Amazon EKS add-ons".
const IMAGES_OF_AWS: &str = "602401143452";

/// Hexadecimal digits of an id. Source: Amazon EC2 user guide, "Resource IDs".
const LENGTH_OF_ID: usize = 17;

/// What every name, id and account is replaced by.
#[derive(Debug, Clone)]
pub struct Pseudonyms {
    key: Vec<u8>,
    words: BTreeMap<String, String>,
    /// Zones and Regions, the longest first; what they say is needed.
    kept: Vec<String>,
    certificate_authority: Option<(String, String)>,
}

impl Pseudonyms {
    /// Pseudonyms for the words of these names. `key` decides which; nobody without it can tell what they stand for.
    pub fn new(
        key: &[u8],
        names: &BTreeSet<String>,
        kept: impl IntoIterator<Item = String>,
        certificate_authority: Option<&str>,
    ) -> Self {
        let mut kept: Vec<String> = kept.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        kept.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let mut pseudonyms = Self {
            key: key.to_vec(),
            words: BTreeMap::new(),
            kept,
            certificate_authority: certificate_authority
                .map(|authority| (authority.to_owned(), certificate(key, authority))),
        };
        pseudonyms.learn(names);
        pseudonyms
    }

    /// The same pseudonyms, and more for the words of further names.
    pub(super) fn widened(&self, names: &BTreeSet<String>) -> Self {
        let mut wider = self.clone();
        wider.learn(names);
        wider
    }

    fn learn(&mut self, names: &BTreeSet<String>) {
        let mut words = BTreeSet::new();
        for name in names {
            self.each_piece(name, |piece| {
                if let Piece::Word(word) = piece
                    && is_telling(word)
                    && !self.words.contains_key(word)
                {
                    words.insert(word.to_owned());
                }
            });
        }
        let mut taken: BTreeSet<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
        taken.extend(self.words.values().cloned());
        for word in words {
            let pseudonym = (0_u32..)
                .map(|attempt| word_like(&self.key, &word, attempt))
                .find(|candidate| !taken.contains(candidate));
            if let Some(pseudonym) = pseudonym {
                taken.insert(pseudonym.clone());
                self.words.insert(word, pseudonym);
            }
        }
    }

    /// A text with every name, id and account in it replaced.
    pub fn text(&self, text: &str) -> String {
        if let Some((authority, replacement)) = &self.certificate_authority
            && text.contains(authority.as_str())
        {
            return text.split(authority.as_str()).map(|rest| self.text(rest)).collect::<Vec<_>>().join(replacement);
        }
        let mut replaced = String::with_capacity(text.len());
        self.each_piece(text, |piece| match piece {
            Piece::Kept(piece) => replaced.push_str(piece),
            Piece::Word(word) => replaced.push_str(self.words.get(word).map_or(word, String::as_str)),
            Piece::Id(id) => replaced.push_str(&hexadecimal_like(&self.key, id)),
            Piece::Account(account) => replaced.push_str(&digits_like(&self.key, account)),
        });
        replaced
    }

    /// Takes a text apart.
    fn each_piece<'a>(&self, text: &'a str, mut each: impl FnMut(Piece<'a>)) {
        let mut rest = text;
        let mut after_word = false;
        while let Some(first) = rest.chars().next() {
            let kept =
                self.kept.iter().find(|kept| !after_word && rest.starts_with(kept.as_str()) && ends(rest, kept.len()));
            let length = match kept {
                Some(kept) => kept.len(),
                None => rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()).max(first.len_utf8()),
            };
            let (piece, remaining) = rest.split_at(length);
            each(match kept {
                Some(_) => Piece::Kept(piece),
                None => Piece::of(piece),
            });
            after_word = piece.ends_with(|c: char| c.is_ascii_alphanumeric());
            rest = remaining;
        }
    }
}

/// Whether a word can be anybody's: not of the field, no number, and no version such as `v1` or `v20260124`.
fn is_telling(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    !WORDS.contains(&word) && !number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word ends at that place.
fn ends(text: &str, at: usize) -> bool {
    !text.get(at..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

enum Piece<'a> {
    Kept(&'a str),
    Word(&'a str),
    /// The hexadecimal end of an id.
    Id(&'a str),
    Account(&'a str),
}

impl<'a> Piece<'a> {
    fn of(piece: &'a str) -> Self {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        if digits == piece.len() && digits == IMAGES_OF_AWS.len() && piece != IMAGES_OF_AWS {
            return Self::Account(piece);
        }
        let hexadecimal = piece.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Mixed digits and letters, or the length of an id: a date has eight digits, and a word has no digits.
        if hexadecimal && (piece.len() == LENGTH_OF_ID || piece.len() >= 8 && (1..piece.len()).contains(&digits)) {
            return Self::Id(piece);
        }
        if piece.starts_with(|c: char| c.is_ascii_alphanumeric()) { Self::Word(piece) } else { Self::Kept(piece) }
    }
}

/// Bytes without end that depend on key, text and attempt.
fn stream(key: &[u8], text: &str, attempt: u32) -> impl Iterator<Item = u8> {
    let seed = [key, text.as_bytes(), &attempt.to_be_bytes()].concat();
    (0_u32..).flat_map(move |block| Sha256::digest([seed.as_slice(), &block.to_be_bytes()].concat()).to_vec())
}

fn word_like(key: &[u8], word: &str, attempt: u32) -> String {
    word.bytes()
        .zip(stream(key, word, attempt))
        .map(|(byte, random)| match byte {
            b'a'..=b'z' => char::from(b'a' + random % 26),
            b'A'..=b'Z' => char::from(b'A' + random % 26),
            other => char::from(other),
        })
        .collect()
}

fn hexadecimal_like(key: &[u8], id: &str) -> String {
    let upper = id.bytes().any(|byte| byte.is_ascii_uppercase());
    let digits: &[u8] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut replaced: String = stream(key, id, 0)
        .take(id.len())
        .filter_map(|random| digits.get(usize::from(random % 16)).copied().map(char::from))
        .collect();
    // Both a digit and a letter stay in it, or it would not be known for an id again.
    let last = if upper { "0A" } else { "0a" };
    replaced.replace_range(replaced.len().saturating_sub(2).., last);
    replaced
}

fn digits_like(key: &[u8], account: &str) -> String {
    account.bytes().zip(stream(key, account, 0)).map(|(_, random)| char::from(b'0' + random % 10)).collect()
}

/// PEM in base64 with other bytes in it.
fn certificate(key: &[u8], authority: &str) -> String {
    let engine = base64::engine::general_purpose::STANDARD;
    let body: Vec<u8> = stream(key, authority, 0).take(48).collect();
    engine.encode(format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", engine.encode(body)))
}
