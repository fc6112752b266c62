//! What people meet before a cluster is read: regions, profiles, credentials, certificates, proxies.

use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Bench, fixture};
use crate::proxy::Proxy;
use crate::reader::Reading;

const FIXTURE: &str = "three-zones";

fn seeded() -> (Bench, Value) {
    let seed = fixture(FIXTURE);
    (Bench::with(&seed), seed)
}

/// A home folder with AWS configuration.
fn home(config: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".aws/config"), config);
    home
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn at_home(reading: Reading, home: &Path) -> Reading {
    reading
        .environment("HOME", home.to_str().unwrap())
        .environment("AWS_CONFIG_FILE", home.join(".aws/config").to_str().unwrap())
}

fn without_credentials(reading: Reading) -> Reading {
    reading.without_environment("AWS_ACCESS_KEY_ID").without_environment("AWS_SECRET_ACCESS_KEY")
}

#[test]
fn no_region_is_its_own_error() {
    let (bench, _) = seeded();
    insta::assert_snapshot!(Reading::of(&bench, "prod-platform").run().error(), @r"
    error: no region: neither a flag, eniplan.yaml, the environment nor the profile names one
    help: pass --region, set metadata.region in eniplan.yaml, or set AWS_REGION
    ");
}

#[test]
fn the_region_comes_from_the_environment_or_the_profile() {
    let (bench, _) = seeded();
    let reading = Reading::of(&bench, "prod-platform").environment("AWS_REGION", "us-west-2");
    assert_eq!(reading.run().value()["region"], "us-west-2");
    let home = home("[profile west]\nregion = us-west-2\n");
    let reading = at_home(Reading::of(&bench, "prod-platform"), home.path()).with("profile", "west");
    assert_eq!(reading.run().value()["region"], "us-west-2");
}

#[test]
fn a_cluster_of_another_region_is_missed_where_it_was_looked_for() {
    let (bench, mut seed) = seeded();
    seed["cluster"]["name"] = "other".into();
    seed["region"] = "eu-west-1".into();
    bench.seed(&json!({"inventory": seed, "keep": true}));
    bench.settings(&json!({"page_sizes": {"ListClusters": 1}}));
    let home = home("[profile dev]\nregion = eu-west-1\n");
    let reading = at_home(Reading::of(&bench, "prod-platform"), home.path()).with("profile", "dev");
    insta::assert_snapshot!(reading.run().error(), @r"
    error: no EKS cluster `prod-platform` in region eu-west-1 (profile `dev`, account 111122223333)
    help: clusters there: other; for another one pass --region or --profile
    ");
    let reading = Reading::of(&bench, "prod-platform").with("region", "ap-south-1");
    insta::assert_snapshot!(reading.run().error(), @r"
    error: no EKS cluster `prod-platform` in region ap-south-1 (account 111122223333)
    help: there is no cluster at all in ap-south-1; pass another --region or --profile
    ");
    bench.faults(&json!([{"action": "ListClusters", "kind": "deny"}]));
    insta::assert_snapshot!(reading.run().error(), @r"
    error: no EKS cluster `prod-platform` in region ap-south-1 (account 111122223333)
    help: check the name, --region and --profile; the clusters there could not be listed
    ");
}

#[test]
fn a_profile_that_is_not_there_is_named_with_those_that_are() {
    let (bench, _) = seeded();
    let home = home("[profile dev]\nregion = us-west-2\n[profile prod]\nregion = us-west-2\n");
    let reading = at_home(Reading::of(&bench, "prod-platform"), home.path());
    insta::assert_snapshot!(reading.with("profile", "pord").run().error(), @r"
    error: no profile `pord` in the AWS configuration
    help: there are: dev, prod
    ");
    let reading = at_home(Reading::of(&bench, "prod-platform"), home.path()).environment("AWS_PROFILE", "staging");
    insta::assert_snapshot!(reading.run().error(), @r"
    error: no profile `staging` in the AWS configuration
    help: there are: dev, prod
    ");
}

#[test]
fn missing_credentials_are_said_before_anything_is_asked() {
    let (bench, seed) = seeded();
    bench.forget_calls();
    let outcome = without_credentials(Reading::of_seed(&bench, &seed)).run();
    insta::assert_snapshot!(outcome.error());
    assert_eq!(bench.calls(), Vec::<Value>::new());
}

#[test]
fn an_expired_identity_center_login_says_how_to_log_in() {
    let (bench, _) = seeded();
    let home = home(
        "[profile dev]\nregion = us-west-2\nsso_session = corp\nsso_account_id = 111122223333\n\
         sso_role_name = platform\n[sso-session corp]\nsso_region = us-west-2\n\
         sso_start_url = https://corp.example/start\nsso_registration_scopes = sso:account:access\n",
    );
    // The cache file is named by the SHA-1 of the session's name.
    let token = json!({"accessToken": "gone", "expiresAt": "2020-01-01T00:00:00Z", "region": "us-west-2",
        "startUrl": "https://corp.example/start"});
    write(&home.path().join(".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json"), &token.to_string());
    let reading =
        without_credentials(at_home(Reading::of(&bench, "prod-platform"), home.path())).with("profile", "dev");
    insta::assert_snapshot!("identity_center_expired", reading.run().error());
    std::fs::remove_dir_all(home.path().join(".aws/sso")).unwrap();
    insta::assert_snapshot!("identity_center_never_logged_in", reading.run().error());
}

#[test]
fn expired_credentials_are_told_from_refused_ones() {
    let (bench, seed) = seeded();
    bench.faults(&json!([{"action": "DescribeCluster", "kind": "expired"}]));
    insta::assert_snapshot!("expired", Reading::of_seed(&bench, &seed).run().error());
    bench.faults(&json!([]));
    let reading = Reading::of_seed(&bench, &seed).environment("AWS_SECRET_ACCESS_KEY", "wrong");
    insta::assert_snapshot!("refused", reading.run().error());
}

#[test]
fn a_certificate_bundle_that_cannot_be_used_is_named() {
    let (bench, seed) = seeded();
    let reading = Reading::of_seed(&bench, &seed).environment("AWS_CA_BUNDLE", "/nonexistent/bundle.pem");
    insta::assert_snapshot!("no_bundle", reading.run().error());
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.pem");
    write(&bundle, "not a certificate\n");
    let reading = Reading::of_seed(&bench, &seed).environment("AWS_CA_BUNDLE", bundle.to_str().unwrap());
    let error = reading.run().error().replace(folder.path().to_str().unwrap(), "[folder]");
    insta::assert_snapshot!("bundle_without_certificates", error);
}

/// The bench's API server stands in for an AWS endpoint behind a proxy that signs with an authority of its own.
#[test]
fn a_certificate_bundle_decides_whom_aws_clients_trust() {
    use base64::Engine as _;

    let (bench, seed) = seeded();
    let reading = || {
        Reading::of_seed(&bench, &seed)
            .environment("AWS_ENDPOINT_URL", bench.ports["kube_endpoint"].as_str().unwrap())
            .environment("AWS_MAX_ATTEMPTS", "1")
    };
    let error = reading().run().error().to_owned();
    assert!(error.contains("invalid peer certificate: UnknownIssuer"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.pem");
    let authority = bench.ports["certificate_authority"].as_str().unwrap();
    std::fs::write(&bundle, base64::engine::general_purpose::STANDARD.decode(authority).unwrap()).unwrap();
    let bundle = bundle.to_str().unwrap();
    let error = reading().environment("AWS_CA_BUNDLE", bundle).run().error().to_owned();
    assert!(error.contains("HTTP status 401"), "{error}");

    let config = folder.path().join("config");
    let text = format!("[default]\nca_bundle = /nonexistent\n[profile behind-proxy]\nca_bundle = {bundle}\n");
    std::fs::write(&config, text).unwrap();
    let reading = || reading().environment("AWS_CONFIG_FILE", config.to_str().unwrap());
    let of_profile = reading().with("profile", "behind-proxy").run();
    assert!(of_profile.error().contains("HTTP status 401"), "{:?}", of_profile.error);
    let of_environment = reading().environment("AWS_PROFILE", "behind-proxy").run();
    assert!(of_environment.error().contains("HTTP status 401"), "{:?}", of_environment.error);
    let of_default = reading().run();
    assert!(of_default.error().contains("/nonexistent"), "{:?}", of_default.error);
    // The environment goes first, as in the AWS CLI.
    let both = reading().environment("AWS_CA_BUNDLE", bundle).run();
    assert!(both.error().contains("HTTP status 401"), "{:?}", both.error);
}

#[test]
fn aws_that_cannot_be_reached_is_said_to_be_so() {
    let (bench, seed) = seeded();
    let reading = Reading::of_seed(&bench, &seed).environment("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    insta::assert_snapshot!(reading.run().error());
}

/// Without an endpoint of the environment, the region decides whom to ask; a proxy that refuses hears the name.
#[test]
fn every_partition_has_its_own_hosts() {
    let bench = Bench::start();
    for (region, host) in [
        ("eu-west-1", "eks.eu-west-1.amazonaws.com"),
        ("us-gov-west-1", "eks.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "eks.cn-north-1.amazonaws.com.cn"),
    ] {
        let proxy = Proxy::start(false);
        let outcome = Reading::of(&bench, "demo")
            .with("region", region)
            .without_environment("AWS_ENDPOINT_URL")
            .environment("AWS_MAX_ATTEMPTS", "1")
            .environment("HTTPS_PROXY", &proxy.url)
            .run();
        assert!(outcome.error().contains(&format!("cannot reach EKS in region {region}")), "{}", outcome.error());
        let asked = proxy.asked();
        assert!(!asked.is_empty());
        assert!(asked.iter().all(|head| head.starts_with(&format!("CONNECT {host}:443 "))), "{asked:#?}");
    }
}

#[test]
fn a_proxy_is_used_for_both_halves_unless_it_is_excluded() {
    let (bench, seed) = seeded();
    let proxy = Proxy::start(true);
    let login = proxy.url.replace("http://", "http://user:pa%40ss@");
    let reading = Reading::of_seed(&bench, &seed).environment("HTTPS_PROXY", &login);
    let outcome = reading.run();
    assert_eq!(outcome.value()["gaps"], json!([]));
    let kubernetes = format!("CONNECT 127.0.0.1:{} ", bench.ports["kube_port"]);
    let asked = proxy.asked();
    assert!(!asked.is_empty());
    for head in asked {
        assert!(head.starts_with(&kubernetes), "{head}");
        // user:pa@ss
        assert!(head.to_ascii_lowercase().contains("proxy-authorization: basic dxnlcjpwyubzcw=="), "{head}");
    }
    let outcome = reading.environment("NO_PROXY", "127.0.0.1").run();
    assert_eq!(outcome.value()["gaps"], json!([]));
    assert_eq!(proxy.asked(), Vec::<String>::new());

    let refusing = Proxy::start(false);
    let outcome = Reading::of_seed(&bench, &seed)
        .environment("HTTP_PROXY", &refusing.url)
        .environment("AWS_MAX_ATTEMPTS", "1")
        .run();
    assert!(outcome.inventory.is_none());
    let asked = refusing.asked();
    assert!(asked.iter().any(|head| head.contains("/clusters/prod-platform")), "{asked:#?}");
}

#[test]
fn an_interrupt_ends_the_reading_at_once() {
    let (bench, seed) = seeded();
    bench.faults(&json!([{"action": "DescribeCluster", "kind": "withhold_before"}]));
    let outcome = Reading::of_seed(&bench, &seed).interrupted_when(|| {
        bench.control("GET", "held?at_least=1&timeout=20", &Value::Null);
    });
    insta::assert_snapshot!(outcome.error(), @r"
    error: interrupted
    help: nothing was written
    ");
}
