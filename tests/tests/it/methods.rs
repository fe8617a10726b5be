//! The methods of each revision, against lists written by hand from the pages of the specification.
//!
//! A line: who sends it (`C` the client, `S` the server), how, the method, its params (`!` if they must be there), its result.
//! `Result` is what the schemas also call `EmptyResult`.

use std::collections::BTreeSet;

use mcp_revisions_core::Revision;
use mcp_wire::{Direction, MethodInfo, MethodKind};
use serde_json::Value;

/// 2024-11-05 and 2025-03-26 have the same methods.
const FIRST: &str = "
    C request completion/complete CompleteRequestParams! CompleteResult
    C request initialize InitializeRequestParams! InitializeResult
    C request logging/setLevel SetLevelRequestParams! Result
    C request ping PingRequestParams Result
    C request prompts/get GetPromptRequestParams! GetPromptResult
    C request prompts/list ListPromptsRequestParams ListPromptsResult
    C request resources/list ListResourcesRequestParams ListResourcesResult
    C request resources/read ReadResourceRequestParams! ReadResourceResult
    C request resources/subscribe SubscribeRequestParams! Result
    C request resources/templates/list ListResourceTemplatesRequestParams ListResourceTemplatesResult
    C request resources/unsubscribe UnsubscribeRequestParams! Result
    C request tools/call CallToolRequestParams! CallToolResult
    C request tools/list ListToolsRequestParams ListToolsResult
    C notification notifications/cancelled CancelledNotificationParams!
    C notification notifications/initialized InitializedNotificationParams
    C notification notifications/progress ProgressNotificationParams!
    C notification notifications/roots/list_changed RootsListChangedNotificationParams
    S request ping PingRequestParams Result
    S request roots/list ListRootsRequestParams ListRootsResult
    S request sampling/createMessage CreateMessageRequestParams! CreateMessageResult
    S notification notifications/cancelled CancelledNotificationParams!
    S notification notifications/message LoggingMessageNotificationParams!
    S notification notifications/progress ProgressNotificationParams!
    S notification notifications/prompts/list_changed PromptListChangedNotificationParams
    S notification notifications/resources/list_changed ResourceListChangedNotificationParams
    S notification notifications/resources/updated ResourceUpdatedNotificationParams!
    S notification notifications/tools/list_changed ToolListChangedNotificationParams
";

/// What 2025-06-18 adds to them.
const ELICITATION: &str = "
    S request elicitation/create ElicitRequestParams! ElicitResult
";

/// 2025-11-25 names the params that requests share, and answers three requests by a task where one is asked for.
const TASKS: &str = "
    C request completion/complete CompleteRequestParams! CompleteResult
    C request initialize InitializeRequestParams! InitializeResult
    C request logging/setLevel SetLevelRequestParams! Result
    C request ping RequestParams Result
    C request prompts/get GetPromptRequestParams! GetPromptResult
    C request prompts/list PaginatedRequestParams ListPromptsResult
    C request resources/list PaginatedRequestParams ListResourcesResult
    C request resources/read ReadResourceRequestParams! ReadResourceResult
    C request resources/subscribe SubscribeRequestParams! Result
    C request resources/templates/list PaginatedRequestParams ListResourceTemplatesResult
    C request resources/unsubscribe UnsubscribeRequestParams! Result
    C request tasks/cancel CancelTaskRequestParams! CancelTaskResult
    C request tasks/get GetTaskRequestParams! GetTaskResult
    C request tasks/list PaginatedRequestParams ListTasksResult
    C request tasks/result GetTaskPayloadRequestParams! GetTaskPayloadResult
    C request tools/call CallToolRequestParams! CallToolOutcome
    C request tools/list PaginatedRequestParams ListToolsResult
    C notification notifications/cancelled CancelledNotificationParams!
    C notification notifications/initialized NotificationParams
    C notification notifications/progress ProgressNotificationParams!
    C notification notifications/roots/list_changed NotificationParams
    C notification notifications/tasks/status TaskStatusNotificationParams!
    S request elicitation/create ElicitRequestParams! ElicitOutcome
    S request ping RequestParams Result
    S request roots/list RequestParams ListRootsResult
    S request sampling/createMessage CreateMessageRequestParams! CreateMessageOutcome
    S request tasks/cancel CancelTaskRequestParams! CancelTaskResult
    S request tasks/get GetTaskRequestParams! GetTaskResult
    S request tasks/list PaginatedRequestParams ListTasksResult
    S request tasks/result GetTaskPayloadRequestParams! GetTaskPayloadResult
    S notification notifications/cancelled CancelledNotificationParams!
    S notification notifications/elicitation/complete ElicitationCompleteNotificationParams!
    S notification notifications/message LoggingMessageNotificationParams!
    S notification notifications/progress ProgressNotificationParams!
    S notification notifications/prompts/list_changed NotificationParams
    S notification notifications/resources/list_changed NotificationParams
    S notification notifications/resources/updated ResourceUpdatedNotificationParams!
    S notification notifications/tasks/status TaskStatusNotificationParams!
    S notification notifications/tools/list_changed NotificationParams
";

/// From 2026-07-28-rc on every request carries `_meta`, and the server asks only inside a result.
const PER_REQUEST: &str = "
    C request completion/complete CompleteRequestParams! CompleteResult
    C request prompts/get GetPromptRequestParams! GetPromptOutcome
    C request prompts/list PaginatedRequestParams! ListPromptsResult
    C request resources/list PaginatedRequestParams! ListResourcesResult
    C request resources/read ReadResourceRequestParams! ReadResourceOutcome
    C request resources/templates/list PaginatedRequestParams! ListResourceTemplatesResult
    C request server/discover RequestParams! DiscoverResult
    C request tools/call CallToolRequestParams! CallToolOutcome
    C request tools/list PaginatedRequestParams! ListToolsResult
    C notification notifications/cancelled CancelledNotificationParams!
    S notification notifications/cancelled CancelledNotificationParams!
    S notification notifications/message LoggingMessageNotificationParams!
    S notification notifications/progress ProgressNotificationParams!
    S notification notifications/prompts/list_changed NotificationParams
    S notification notifications/resources/list_changed NotificationParams
    S notification notifications/resources/updated ResourceUpdatedNotificationParams!
    S notification notifications/subscriptions/acknowledged SubscriptionsAcknowledgedNotificationParams!
    S notification notifications/tools/list_changed NotificationParams
    S input elicitation/create ElicitRequestParams! ElicitResult
    S input sampling/createMessage CreateMessageRequestParams! CreateMessageResult
";

/// What the candidate still had, and a subscription that nothing answers but the end of its stream.
const CANDIDATE: &str = "
    C request subscriptions/listen SubscriptionsListenRequestParams! Result
    C notification notifications/progress ProgressNotificationParams!
    S notification notifications/elicitation/complete ElicitationCompleteNotificationParams!
    S input roots/list RequestParams ListRootsResult
";

/// What the release made of it.
const RELEASE: &str = "
    C request subscriptions/listen SubscriptionsListenRequestParams! SubscriptionsListenResult
    S input roots/list ListRootsRequestParams ListRootsResult
";

/// The lists of a published revision; none for one whose pages nobody has read for this.
fn expected(revision: &str) -> Option<&'static [&'static str]> {
    Some(match revision {
        "2024-11-05" | "2025-03-26" => &[FIRST],
        "2025-06-18" => &[FIRST, ELICITATION],
        "2025-11-25" => &[TASKS],
        "2026-07-28-rc" => &[PER_REQUEST, CANDIDATE],
        "2026-07-28" => &[PER_REQUEST, RELEASE],
        _ => return None,
    })
}

fn line(method: &MethodInfo) -> String {
    let direction = match method.direction {
        Direction::ClientToServer => "C",
        Direction::ServerToClient => "S",
    };
    let kind = match method.kind {
        MethodKind::Request => "request",
        MethodKind::Notification => "notification",
        MethodKind::Input => "input",
    };
    let must = if method.params_required { "!" } else { "" };
    let params = method.params.unwrap_or("-");
    let mut line = format!("{direction} {kind} {} {params}{must}", method.name);
    if let Some(result) = method.result {
        line.push(' ');
        line.push_str(result);
    }
    line
}

#[test]
fn every_revision_has_the_methods_of_its_specification() {
    for revision in Revision::ALL {
        let Some(lists) = expected(revision.id()) else {
            continue;
        };
        let mut expected: Vec<String> = lists
            .iter()
            .flat_map(|list| list.lines())
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect();
        expected.sort();
        let mut found: Vec<String> = revision.methods().iter().map(line).collect();
        found.sort();
        let lost: Vec<&String> = expected
            .iter()
            .filter(|line| !found.contains(line))
            .collect();
        let new: Vec<&String> = found
            .iter()
            .filter(|line| !expected.contains(line))
            .collect();
        assert!(
            lost.is_empty() && new.is_empty(),
            "{revision}\nnot there: {lost:#?}\nnot expected: {new:#?}"
        );
        assert_eq!(
            found.len(),
            expected.len(),
            "{revision} names a method twice"
        );
    }
}

/// Who sends the messages of a union of the schema, and how.
const UNIONS: &[(&str, &str)] = &[
    ("ClientRequest", "C request"),
    ("ClientNotification", "C notification"),
    ("ServerRequest", "S request"),
    ("ServerNotification", "S notification"),
    ("InputRequest", "S input"),
];

#[test]
fn every_revision_has_the_methods_that_its_schema_lists() {
    let spec = crate::specs::spec();
    for of in &spec.revisions {
        let mut listed = BTreeSet::new();
        for (union, sent) in UNIONS {
            let Some(union) = of.definition(union) else {
                continue;
            };
            let single = std::slice::from_ref(union);
            let choices = union["anyOf"].as_array().map_or(single, Vec::as_slice);
            for choice in choices {
                let name = choice["$ref"]
                    .as_str()
                    .and_then(|name| name.rsplit('/').next());
                let message = name.and_then(|name| of.definition(name)).unwrap_or(choice);
                // An extension of the envelope says it in a part of its own.
                let parts = message["allOf"].as_array().map_or(&[][..], Vec::as_slice);
                let parts: Vec<&Value> = std::iter::once(message).chain(parts).collect();
                let required = |part: &&Value| {
                    let names = part["required"].as_array();
                    names.is_some_and(|names| names.iter().any(|name| name == "params"))
                };
                let must = if parts.iter().any(required) { "!" } else { "" };
                let mut methods = parts
                    .iter()
                    .map(|part| &part["properties"]["method"]["const"]);
                let method = methods.find_map(Value::as_str).unwrap();
                listed.insert(format!("{sent} {method}{must}"));
            }
        }
        let revision: Revision = of.id.parse().unwrap();
        let found = revision.methods().iter().map(|method| {
            let mut words = line(method);
            let must = if method.params_required { "!" } else { "" };
            words.truncate(words.find(method.name).unwrap() + method.name.len());
            format!("{words}{must}")
        });
        assert_eq!(found.collect::<BTreeSet<_>>(), listed, "{}", of.id);
    }
}

#[test]
fn the_types_that_a_method_names_are_in_the_table_of_types() {
    for revision in Revision::ALL {
        for method in revision.methods() {
            let named = [Some(method.message), method.params, method.result];
            for name in named.into_iter().flatten() {
                let known = revision.types().iter().any(|row| row.name == name);
                assert!(known, "{}: {} names {name}", revision, method.name);
            }
        }
    }
}

#[test]
fn a_message_of_a_method_is_read_as_the_type_that_the_table_names() {
    for revision in Revision::ALL {
        for method in revision.methods() {
            let row = revision
                .types()
                .iter()
                .find(|row| row.name == method.message);
            let wrong = r#"{"method":"no/such"}"#;
            let error = row.and_then(|row| row.round_trip(wrong).err());
            let found = error.as_ref().map(mcp_wire::Error::expected);
            let expected = format!("{:?}", method.name);
            let place = format!("{}: {}", revision, method.message);
            assert_eq!(found, Some(expected.as_str()), "{place}");
        }
    }
}
