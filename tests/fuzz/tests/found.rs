//! What a campaign found runs again, and a campaign finds what is wrong.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_fuzz::campaign::{Campaign, replay};
use mcp_fuzz::target::{ALL, Target};

/// All files of a folder and below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn what_was_found_once_is_mended() {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let faults: Vec<String> = (files(&found).iter())
        .filter(|file| file.extension().is_none())
        .filter_map(|file| {
            replay(file)
                .unwrap()
                .err()
                .map(|fault| format!("{}: {fault}", file.display()))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_short_campaign_runs_every_target_and_finds_nothing() {
    let found = std::env::temp_dir().join(format!("mcp-fuzz-{}", std::process::id()));
    let campaign = Campaign {
        targets: ALL.iter().collect(),
        time: Duration::from_secs(600),
        most_runs: 40 * ALL.len() as u64,
        seed: 1,
        threads: 1,
        found: found.clone(),
    };
    let summary = campaign.run().unwrap();
    assert_eq!(summary.faults(), 0, "{summary}");
    for target in ALL {
        assert_eq!(summary.runs(target.name), 40, "{summary}");
    }
    assert!(
        !found.exists(),
        "nothing failed, so nothing is written down"
    );
}

#[test]
fn a_panic_and_a_broken_law_are_written_down_and_fail_again() {
    static BROKEN: Target = Target {
        name: "json",
        corpus: || vec![b"{\"a\":1}".to_vec()],
        run: |input| match input.len() % 3 {
            0 => panic!("on purpose"),
            1 => Err("on purpose".to_owned()),
            _ => Ok(0),
        },
    };
    let found = std::env::temp_dir().join(format!("mcp-fuzz-broken-{}", std::process::id()));
    let campaign = Campaign {
        targets: vec![&BROKEN],
        time: Duration::from_secs(600),
        most_runs: 60,
        seed: 3,
        threads: 1,
        found: found.clone(),
    };
    let summary = campaign.run().unwrap();
    let written = files(&found.join("json"));
    std::fs::remove_dir_all(&found).unwrap();
    assert!(summary.faults() > 1, "{summary}");
    assert!(
        !written.is_empty() && written.len() <= summary.faults(),
        "{summary}"
    );
    assert!(
        summary.to_string().contains("panic: on purpose"),
        "{summary}"
    );
}
