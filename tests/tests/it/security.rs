//! The sentences of SECURITY.md, and the tests that fail where one of them is broken.

use std::path::Path;

/// A sentence, or a part of one, the file of a test, and the name of the test.
const KEPT: &str = r"
causes a panic, a hang | tests/fuzz/tests/found.rs | a_short_campaign_runs_every_target_and_finds_nothing
causes a panic, a hang | tests/fuzz/tests/found.rs | what_was_found_once_is_mended
causes a panic, a hang | runtime/tests/it/http/replicas.rs | replicas_of_the_build_before_and_of_this_one_work_for_each_other
causes a panic, a hang | runtime/bridge/tests/it/start.rs | requests_that_wait_for_one_start_fail_together_and_the_next_one_starts_again
time out of proportion to its size | runtime/tests/it/hostile.rs | what_is_nested_deeply_or_very_long_takes_linear_time
time out of proportion to its size | codegen/tests/it/diff/compared.rs | many_references_in_a_row_are_followed_in_linear_time
memory or time out of proportion | codegen/tests/it/diff/hostile.rs | texts_and_schemas_of_many_changes_of_one_message_are_cut_and_said_to_be
reaches the wrong client | runtime/tests/it/http/replicas.rs | another_principal_finds_no_session_at_any_replica
reaches the wrong client | tests/fuzz/tests/found.rs | a_short_campaign_runs_every_target_and_finds_nothing
reaches the wrong client | runtime/bridge/tests/it/gateway.rs | a_hostile_server_takes_no_name_and_no_resource_of_another
without recording a loss | tests/tests/it/shims_laws.rs | what_is_lost_is_said_and_nothing_else_is_lost
without recording a loss | tests/tests/it/oracle.rs | what_arrives_is_valid_for_its_receiver_and_what_is_exact_comes_back
version confusion | runtime/tests/it/hostile.rs | duplicate_keys_do_not_hide_a_claim_or_a_name
`requestState` that was changed | runtime/sansio/src/input_required/server/seal.rs | a_state_is_good_for_its_request_its_principal_and_its_time_alone
Unsafe code is forbidden in every crate | tests/tests/it/security.rs | every_crate_forbids_unsafe_code
to a depth of 128 | runtime/wire/tests/it/wire/grammar.rs | nesting_ends_at_the_limit
to a depth of 128 | runtime/wire/tests/it/wire/grammar.rs | typed_nesting_ends_at_the_limit
docs/deploy.md#set-limits | tests/tests/it/pages.rs | the_guide_has_every_limit
mode 0600 | runtime/cli/tests/it/tap.rs | a_record_is_for_its_owner_only
without `MCP_REV_BACKPLANE` | runtime/cli/tests/it/bridge/logs.rs | the_password_of_the_backplane_reaches_no_server
only the `Host` names of its address | runtime/tests/it/http/refusals.rs | a_host_that_is_not_served_is_refused_and_the_error_says_how_to_serve_it
share one server behind the bridge | runtime/cli/tests/it/bridge/http/servers.rs | each_client_has_a_server_of_its_own
Sessions of 2025-11-25 and older do not | runtime/cli/tests/it/bridge/http/servers.rs | each_client_has_a_server_of_its_own
a quarter of the budgets of a server | runtime/src/transport/serve/budget.rs | one_owner_takes_its_share_and_all_take_the_budget
of all servers of a bridge's listener | runtime/tests/it/http/budgets.rs | services_that_share_budgets_have_one_between_them
four addresses together | runtime/tests/it/http/budgets.rs | four_addresses_take_all_and_a_fifth_is_refused
256 MiB of requests that stall for 60 seconds | runtime/src/transport/http/options.rs | options_are_by_default_what_their_docs_say
stall for 60 seconds | runtime/tests/it/http/listener.rs | a_head_and_a_body_that_stall_are_given_up
256 MiB of responses that they do not | runtime/tests/it/http/budgets.rs | a_client_that_reads_no_answers_leaves_room_for_those_of_others
10,000 connections with calls at work | runtime/tests/it/http/listener.rs | connections_from_one_address_leave_room_for_those_from_another
refused with status 503 | runtime/tests/it/http/budgets.rs | requests_that_are_worked_on_count_against_the_bytes_of_all
make room: the longest idle one | runtime/tests/it/http/listener.rs | idle_connections_and_streams_of_changes_make_room_and_calls_do_not
in equal parts | runtime/tests/it/http/redis/store.rs | replicas_divide_the_room_for_events_of_one_client_among_them
of which one client has a quarter (64 MiB) | runtime/tests/it/http/redis/store.rs | the_events_of_one_client_take_a_share_of_redis_and_leave_room_for_those_of_another
64 MiB of tasks | runtime/tests/it/http/redis/store.rs | a_share_of_the_tasks_in_redis_has_an_end_and_what_expires_leaves_room
for 10 minutes | runtime/tests/it/bounds.rs | limits_are_by_default_what_their_docs_say
for 10 minutes | runtime/sansio/src/input_required/server/seal.rs | a_state_expires_by_the_clock_on_the_wall_and_not_by_the_time_that_a_process_has_run
for 10 minutes, by its principal and for the same request | runtime/sansio/src/input_required/server/seal.rs | a_state_is_good_for_its_request_its_principal_and_its_time_alone
good for one retry | runtime/tests/it/service/stateless.rs | a_state_that_is_good_for_one_retry_is_refused_the_second_time
";

/// A sentence, and the line that sets its number, or checks it in each build.
const LINES: &str = r#"
does not match `spec/` | .ci/run | step cargo xtask generate --check
256 MiB of events in Redis | runtime/src/backplane/redis/events.rs | const ALL_BYTES: usize = 256 << 20;
Clients of 2026-07-28 with one address | spec/revisions.toml | id = "2026-07-28"
"#;

/// Returns the three cells of each line of a table.
fn rows(table: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    let lines = table.trim().lines();
    lines.map(|line| line.split(" | ").collect::<Vec<_>>().try_into().unwrap())
}

/// Sentences about what programs of their user may do, which no test can break.
const SAID: &[&str] = &[
    "start the command that they are given",
    "run it as another user",
    "Put a reverse proxy with authentication before it",
    "Put a proxy with limits per network before a server",
    "Set `maxmemory` of Redis above that",
];

/// Returns the bullets of the page, and its paragraph about all crates, each in one line.
fn sentences() -> Vec<String> {
    let page = std::fs::read_to_string(mcp_tests::root().join("SECURITY.md")).unwrap();
    let (_, promises) = page.split_once("## What counts").unwrap();
    let mut found: Vec<String> = Vec::new();
    for line in promises.lines() {
        match (line.strip_prefix("- "), found.last_mut()) {
            (Some(bullet), _) => found.push(bullet.to_owned()),
            (None, Some(last)) if line.starts_with("  ") => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ if line.starts_with("Unsafe") => found.push(line.to_owned()),
            (None, Some(last)) if last.starts_with("Unsafe") && !line.is_empty() => {
                last.push(' ');
                last.push_str(line);
            }
            _ => {}
        }
    }
    found
}

/// A sentence that goes, or says something else, is missed here; one that comes is in no row.
#[test]
fn each_sentence_has_a_test_and_each_test_a_sentence() {
    let sentences = sentences();
    assert!(sentences.len() >= 15, "{sentences:#?}");
    let parts = rows(KEPT).chain(rows(LINES)).map(|[part, ..]| part);
    let parts: Vec<&str> = parts.chain(SAID.iter().copied()).collect();
    for part in &parts {
        let is_said = sentences.iter().any(|sentence| sentence.contains(part));
        assert!(is_said, "SECURITY.md does not say: {part}");
    }
    for sentence in &sentences {
        let is_kept = parts.iter().any(|part| sentence.contains(part));
        assert!(is_kept, "no test keeps: {sentence}");
        // A number is a promise by itself.
        for number in sentence
            .split_whitespace()
            .filter(|word| word.ends_with("MiB"))
        {
            let is_kept = parts
                .iter()
                .any(|part| part.contains(number) && sentence.contains(part));
            assert!(is_kept, "no test keeps {number}: {sentence}");
        }
    }
    let root = mcp_tests::root();
    let has = |file: &str, text: &str| {
        let source = std::fs::read_to_string(root.join(file));
        source.is_ok_and(|source| source.contains(text))
    };
    for [part, file, test] in rows(KEPT) {
        assert!(
            has(file, &format!("fn {test}(")),
            "{part}: no test {test} in {file}"
        );
    }
    for [part, file, line] in rows(LINES) {
        assert!(has(file, line), "{part}: {file} has no line {line}");
    }
}

#[test]
fn every_crate_forbids_unsafe_code() {
    let root = mcp_tests::root();
    let manifests = manifests(&root);
    assert!(manifests.len() > 30, "{manifests:?}");
    for (path, text) in manifests {
        let own = text.contains("unsafe_code = \"forbid\"");
        let inherited = text.contains("[lints]\nworkspace = true");
        assert!(own || inherited, "{path}: no line forbids unsafe code");
    }
}

/// The manifests of all packages, by their path; those of other SDKs' programs are workspaces of their own.
fn manifests(folder: &Path) -> Vec<(String, String)> {
    let others = ["target", "node_modules", "interop", "peers"];
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (
            entry.path(),
            entry.file_name().to_string_lossy().into_owned(),
        );
        if entry.file_type().unwrap().is_dir() {
            if !others.contains(&&*name) && !name.starts_with('.') {
                found.extend(manifests(&path));
            }
        } else if name == "Cargo.toml" {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("[package]") {
                found.push((path.display().to_string(), text));
            }
        }
    }
    found
}
