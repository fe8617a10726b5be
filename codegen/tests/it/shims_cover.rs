//! Every row of the diffs that people read is covered: by a rule of the conversions, by proof, or by the runtime.

use mcp_revisions_schema::sorted::SortedSet;

use mcp_revisions_diff::render::text::TextOptions;
use mcp_revisions_diff::render::{markdown, text};
use mcp_revisions_diff::{ChangeKind, SideSources};
use mcp_revisions_plans::open::UNDECIDED;
use mcp_revisions_plans::plan::MethodPlan;
use mcp_revisions_plans::rules::PairRules;
use mcp_revisions_plans::{cover, cover_all, places};
use mcp_revisions_schema::Spec;
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::RevisionStage;
use mcp_revisions_schema::spec::changes::ProseChanges;

use crate::diff::{row_at, sources};
use crate::specs::{covered, last_pair, models, planned, plans, spec};

#[test]
fn no_row_between_adjacent_revisions_is_uncovered() {
    let spec = spec();
    let models = models();
    let pairs = models.shim_pairs();
    let (mut rows, mut by_rule) = (0, 0);
    let mut open = Vec::new();
    for plan in plans() {
        let rules = PairRules::of(&plan.pair, spec).unwrap();
        let diff =
            mcp_revisions_diff::between(sources(), &plan.pair.old, &plan.pair.new, false).unwrap();
        // The diff compares an extension with a whole core; the plan has only the methods that the extension succeeds.
        let is_planned = |path: &mcp_revisions_diff::WirePath| {
            let names = |plan: &MethodPlan| {
                plan.was.as_ref() == Some(&path.method) || plan.name == path.method
            };
            plan.methods.iter().any(names)
        };
        let of_core = !pairs.contains(&plan.pair);
        for row in &diff.rows {
            if of_core && !row.paths.iter().all(is_planned) {
                continue;
            }
            rows += 1;
            let met = cover(row, plan);
            if met.is_empty() {
                open.push(format!(
                    "{} {} {:?} {:?}",
                    plan.pair, row.kind, row.subject, row.paths
                ));
            }
            let known = |rule: &String| {
                rules.methods().any(|known| known.id == *rule)
                    || rules.rules().any(|known| known.id == *rule)
                    || rules.errors().any(|known| known.id == *rule)
                    || *rule == UNDECIDED && !plan.open.is_empty()
            };
            for rule in &met {
                let stated = rule == "proven" || rule.starts_with("runtime: ");
                assert!(known(rule) || stated, "{rule} of {:?}", row.paths);
            }
            by_rule += usize::from(met.iter().any(known));
        }
    }
    println!("{rows} rows, {by_rule} of them by rules");
    assert!(open.is_empty(), "{}", open.join("\n"));
    assert!(by_rule > 100, "{by_rule} of {rows}");
}

#[test]
fn rows_name_the_rule_that_was_written_for_them() {
    for (pair, kind, subject, expected) in [
        (
            0,
            ChangeKind::MemberAddedOptional,
            "annotations",
            "tool-annotations",
        ),
        (0, ChangeKind::UnionMemberAdded, "type=audio", "audio-block"),
        (
            2,
            ChangeKind::MemberAddedOptional,
            "execution",
            "tool-execution",
        ),
        (3, ChangeKind::MemberAddedRequired, "ttlMs", "ttl"),
        (
            3,
            ChangeKind::ConstraintChanged,
            "maxItems",
            "completion-limit",
        ),
        (
            3,
            ChangeKind::MemberRemoved,
            "elicitationId",
            "elicitation-id",
        ),
        (3, ChangeKind::MemberRemoved, "type", "output-schema-root"),
        (
            3,
            ChangeKind::ErrorCodeRenumbered,
            "ResourceNotFound",
            "resource-not-found",
        ),
    ] {
        let plan = &plans()[pair];
        let diff =
            mcp_revisions_diff::between(sources(), &plan.pair.old, &plan.pair.new, false).unwrap();
        let is_it = |row: &&mcp_revisions_diff::DiffRow| {
            row.kind == kind && row.subject.as_deref() == Some(subject)
        };
        let met = diff.rows.iter().filter(is_it).map(|row| cover(row, plan));
        let met: Vec<SortedSet<String>> = met.collect();
        assert!(
            met.iter().any(|rules| rules.contains(expected)),
            "{subject}: {met:?}"
        );
    }
}

#[test]
fn a_diff_of_a_core_and_its_extension_is_about_the_feature_and_names_its_rules() {
    let spec = spec();
    let compared = |old: &str, new: &str| {
        let names = [old.to_owned(), new.to_owned()];
        let mut history = mcp_revisions_diff::history(sources(), &names, false).unwrap();
        cover_all(spec, sources(), &mut history.diffs);
        let mut listed = history.methods.iter();
        assert!(
            listed.all(|line| line.name.contains("tasks")),
            "{old}..{new}"
        );
        history.diffs.remove(0)
    };
    for (old, new) in [("2025-11-25", "tasks"), ("tasks", "2025-11-25")] {
        let diff = compared(old, new);
        let mut named = SortedSet::new();
        for row in &diff.rows {
            let about = |method: &str| method.contains("tasks");
            assert!(row.paths.iter().all(|path| about(&path.method)), "{row:?}");
            assert!(!row.rules.is_empty(), "{old}..{new}: {:?}", row.paths);
            named.extend(row.rules.iter().flat_map(|met| met.rules.clone()));
        }
        for rule in ["fetch-result", "no-list"] {
            assert!(named.contains(rule), "{named:?}");
        }
        // What only the pages say of it is told, too.
        let told = |id: &str| diff.prose.iter().any(|change| change.id == id);
        assert!(told("who-decides"), "{old}..{new}: {:?}", diff.prose);
    }
    // Between these two nothing is converted: the extension stands beside the revision.
    let beside = compared("2026-07-28", "tasks");
    let kinds: SortedSet<ChangeKind> = beside.rows.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, SortedSet::from_iter([ChangeKind::MethodAdded]));
}

#[test]
fn a_row_of_another_pair_is_not_covered() {
    let diff = mcp_revisions_diff::between(sources(), "2025-11-25", "2026-07-28", false).unwrap();
    let rows = diff.rows.iter();
    let open = rows
        .filter(|row| cover(row, &plans()[0]).is_empty())
        .count();
    assert!(
        open > 20,
        "the plan of the oldest pair covers all but {open} rows of the latest"
    );
}

/// What a plan was made without it does not know: its silence is no proof.
#[test]
fn a_member_that_the_plan_has_never_seen_is_not_covered() {
    let spec = crate::specs::twin();
    let mut grown = crate::specs::twin();
    let draft = grown.revisions.iter_mut().find(|row| row.id == "draft");
    let tool = &mut draft.unwrap().schema["$defs"]["Tool"];
    tool["properties"]["shelf"] = serde_json::json!({ "type": "string" });
    let pair = last_pair(&spec);
    let sources = SideSources::read(&grown).unwrap();
    let diff = mcp_revisions_diff::between(&sources, &pair.old, &pair.new, false).unwrap();
    let [row] = diff.rows.as_slice() else {
        panic!("{:?}", diff.rows);
    };
    assert_eq!(row.kind, ChangeKind::MemberAddedOptional);
    let met = |spec: &Spec| cover(row, &planned(spec));
    assert_eq!(met(&grown), SortedSet::from_iter([UNDECIDED.to_owned()]));
    assert_eq!(met(&spec), SortedSet::new());
}

/// The diff must not take a result that the plan cannot convert for a part that one side leaves out, which needs no rule.
#[test]
fn a_result_that_is_not_converted_is_not_proven() {
    let mut other = crate::specs::twin();
    let draft = other.revisions.iter_mut().find(|row| row.id == "draft");
    crate::changes::apply(
        &mut draft.unwrap().schema,
        "put OneResult {\"type\": \"object\", \"properties\": {\"one\": {\"type\": \"string\"}}, \"required\": [\"one\"]}\n\
         put OtherResult {\"type\": \"object\", \"properties\": {\"other\": {\"type\": \"string\"}}, \"required\": [\"other\"]}\n\
         put AnyResult {\"anyOf\": [\"@OneResult\", \"@OtherResult\"]}\n\
         put CallToolResultResponse/properties/result \"@AnyResult\"",
    );
    let plan = planned(&other);
    let sources = SideSources::read(&other).unwrap();
    let diff =
        mcp_revisions_diff::between(&sources, &plan.pair.old, &plan.pair.new, false).unwrap();
    let path = "S2C tools/call result $";
    let is_it = |row: &&mcp_revisions_diff::DiffRow| {
        row.paths.iter().any(|is| is.to_string().starts_with(path))
    };
    let rows: Vec<&mcp_revisions_diff::DiffRow> = diff.rows.iter().filter(is_it).collect();
    assert!(!rows.is_empty(), "{:?}", diff.rows);
    for row in rows {
        assert_eq!(
            cover(row, &plan).into_iter().collect::<Vec<_>>(),
            [UNDECIDED],
            "{row:?}"
        );
    }
}

/// What both sides send is two methods of one name, and one of them says nothing of the other.
#[test]
fn a_message_that_one_of_two_sides_sends_no_more_is_not_covered_by_the_other() {
    let mut fewer = crate::specs::twin();
    let draft = fewer.revisions.iter_mut().find(|row| row.id == "draft");
    let sent = &mut draft.unwrap().schema["$defs"]["ServerNotification"]["anyOf"];
    let cancelled = crate::changes::reference("CancelledNotification");
    sent.as_array_mut().unwrap().retain(|one| *one != cancelled);
    let removed = covered(&fewer, &planned(&fewer), ChangeKind::MethodRemoved);
    assert_eq!(removed, [UNDECIDED]);
}

/// A rule that no message leads to is placed by the type that an adapter converts.
#[test]
fn a_rule_of_an_adapter_is_placed_by_its_type() {
    let all = plans().iter().flat_map(places);
    let by_type: Vec<String> = all
        .flat_map(|(_, paths)| paths)
        .filter(|path| path.starts_with("ClientCapabilities"))
        .collect();
    for place in [
        "ClientCapabilities $.extensions",
        "ClientCapabilitiesRoots $.listChanged",
    ] {
        assert!(by_type.iter().any(|path| path == place), "{by_type:?}");
    }
}

/// The rules that the row of a path meets, by step.
fn of(diff: &mcp_revisions_diff::Diff, path: &str) -> Vec<String> {
    let rules = row_at(diff, path).rules.iter();
    let met = rules.map(|met| format!("{} {}", met.step, met.rules.join(", ")));
    met.collect()
}

/// A candidate is converted into nothing; its changes meet the rules of the step over it, and what it alone has says so.
#[test]
fn changes_of_a_candidate_meet_the_rules_of_the_hop_over_it() {
    let spec = spec();
    let is_candidate =
        |row: &mcp_revisions_schema::Revision| row.status == RevisionStage::Candidate;
    let at = spec.revisions.iter().position(is_candidate).unwrap();
    let candidate = &spec.revisions[at].id;
    let models = models();
    let pairs = models.shim_pairs();
    let before = |pair: &&RevisionPair| spec.revisions[..at].iter().any(|row| row.id == pair.old);
    let step = pairs.iter().rfind(before).unwrap();
    let ends = [
        (&step.old, candidate),
        (candidate, &step.new),
        (&pairs[0].old, candidate),
    ];
    let mut diffs =
        ends.map(|(old, new)| mcp_revisions_diff::between(sources(), old, new, false).unwrap());
    cover_all(spec, sources(), &mut diffs);
    for diff in &diffs {
        let open: Vec<_> = diff
            .rows
            .iter()
            .filter(|row| row.rules.is_empty())
            .collect();
        assert!(open.is_empty(), "{} -> {}: {open:?}", diff.old, diff.new);
        assert_eq!(diff.prose, []);
    }
    let handshake = format!("{step} handshake");
    assert_eq!(of(&diffs[0], "C2S initialize"), [handshake.as_str()]);
    let far = of(&diffs[2], "C2S initialize");
    assert_eq!(far, [handshake.as_str()]);
    // The revision beside a candidate names the rule that a row of the step itself names.
    let rules = |diff: &mcp_revisions_diff::Diff| -> SortedSet<String> {
        let met = diff.rows.iter().flat_map(|row| &row.rules);
        met.flat_map(|met| met.rules.clone()).collect()
    };
    assert!(rules(&diffs[0]).len() > 30, "{:?}", rules(&diffs[0]));
}

#[test]
fn revisions_that_are_not_adjacent_meet_the_rules_of_every_step() {
    let spec = spec();
    let models = models();
    let mut ids: Vec<String> = models
        .shim_pairs()
        .iter()
        .map(|pair| pair.old.clone())
        .collect();
    ids.extend(models.shim_pairs().last().map(|pair| pair.new.clone()));
    // A draft that is the latest revision is reached by the same steps.
    let pairs = [(0, 2), (1, 4), (2, 4), (0, 4), (4, 2)]
        .map(|(old, new)| [ids[old].clone(), ids[new].clone()]);
    let pairs = pairs
        .into_iter()
        .chain([[ids[2].clone(), "draft".to_owned()]]);
    let mut diffs: Vec<mcp_revisions_diff::Diff> = pairs
        .map(|[old, new]| mcp_revisions_diff::between(sources(), &old, &new, false).unwrap())
        .collect();
    cover_all(spec, sources(), &mut diffs);
    for diff in &diffs {
        assert!(diff.rows.len() > 20);
        for row in &diff.rows {
            assert!(
                !row.rules.is_empty(),
                "{} -> {}: {:?}",
                diff.old,
                diff.new,
                row.paths
            );
        }
    }
    let far = &diffs[2];
    // What the pages say is told of every step, and not beside a choice of rows.
    let steps: SortedSet<&str> = far
        .prose
        .iter()
        .map(|change| change.step.as_str())
        .collect();
    assert_eq!(
        steps.into_iter().collect::<Vec<_>>(),
        ["2025-06-18..2025-11-25", "2025-11-25..2026-07-28"]
    );
    let said = text::render(far, TextOptions::default());
    assert!(said.contains(&far.prose[0].id) && markdown::render(far).contains(&far.prose[0].says));
    // By the peers that are bound, and the transport.
    let heads = ["  clients, over stdio\n", "  servers, over HTTP\n"];
    assert!(heads.iter().all(|head| said.contains(head)), "{said}");
    let mut some = far.clone();
    let filter = mcp_revisions_diff::RowFilter {
        kinds: vec![ChangeKind::Moved],
        ..mcp_revisions_diff::RowFilter::default()
    };
    filter.apply(&mut some);
    assert_eq!(some.prose, []);
    assert_eq!(
        of(far, "C2S initialize"),
        ["2025-11-25..2026-07-28 handshake"]
    );
    assert_eq!(
        of(far, "S2C sampling/createMessage params $.tools"),
        ["2025-06-18..2025-11-25 sampling-tools"]
    );
}

/// What the changelogs list and no schema shows, by a few words of each: a reader of the diff finds it.
#[test]
fn what_only_the_changelogs_tell_is_told() {
    let spec = spec();
    let changes = ProseChanges::of(spec).unwrap();
    for (between, words) in [
        ("2025-03-26..2025-06-18", "protected resource metadata"),
        ("2025-03-26..2025-06-18", "never passed on"),
        ("2025-06-18..2025-11-25", "standard error"),
        ("2025-06-18..2025-11-25", "The id of an event"),
        ("2025-06-18..2025-11-25", "OpenID Connect"),
        ("2025-06-18..2025-11-25", "well-known path"),
        ("2025-06-18..2025-11-25", "security best practices"),
        ("2025-06-18..2025-11-25", "definitions of their own"),
        ("2025-11-25..2026-07-28", "native or web"),
        ("2025-11-25..2026-07-28", "Bound depth, size and time"),
        ("2025-11-25..2026-07-28", "numbers in forms"),
    ] {
        let told = changes.all().filter(|change| change.between == between);
        let told = told.filter(|change| change.says.contains(words));
        assert_eq!(told.count(), 1, "{between}: {words}");
    }
}
