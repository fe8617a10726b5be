//! `cargo xtask site`: a static site of all revisions, any two of them compared, and of the guides.
//!
//! Each page is self-contained, but for the pictures of a guide. The files are a function of `spec/`, the guides and the days of
//! the draft.

use std::path::{Path, PathBuf};

use clap::Args;
use mcp_revisions_diff::command::CommandOutcome;
use mcp_revisions_diff::command::explain;
use mcp_revisions_diff::render::html::{self, PageLinks};
use mcp_revisions_diff::render::json as as_json;
use mcp_revisions_diff::render::text::conclusion;
use mcp_revisions_diff::{
    ComparedSide, Diff, DiffSettings, RoleCounts, SchemaHistory, SideSources, history_of,
    method_lines,
};
use mcp_revisions_schema::sorted::SortedMap;
use mcp_revisions_schema::spec::{Erratum, RevisionStage, Spec};
use mcp_revisions_schema::{Error, Revision};
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde_json::json;

use crate::replay::dated;
use crate::spec::errata::{Key, patch};
use crate::workspace;

mod guides;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder to write the site to; files of the same names are replaced
    out: PathBuf,
    /// Folder of the guides, in Markdown [default: docs/ of this workspace]
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Folder of the draft's schemas by day, for the feed: YYYY-MM-DD-anything.json
    #[arg(long, value_name = "DIR")]
    days: Option<PathBuf>,
}

/// The files of the site, by their paths in its folder.
type SiteFiles = SortedMap<String, Vec<u8>>;

/// The templates of this module, by name.
const TEMPLATES: [(&str, &str); 5] = [
    (
        "frame.html",
        include_str!("../../templates/frame.html.jinja"),
    ),
    (
        "index.html",
        include_str!("../../templates/index.html.jinja"),
    ),
    (
        "methods.html",
        include_str!("../../templates/methods.html.jinja"),
    ),
    (
        "rules.html",
        include_str!("../../templates/rules.html.jinja"),
    ),
    ("draft.xml", include_str!("../../templates/draft.xml.jinja")),
];
const STYLE: &str = include_str!("../../templates/site.css");
const SCRIPT: &str = include_str!("../../templates/site.js");

/// The pages that all others link to, with their paths.
const PAGES: [(&str, &str); 4] = [
    ("Revisions", "index.html"),
    ("Methods", "methods.html"),
    ("Rules", "rules.html"),
    ("Guides", "guides/SUMMARY.html"),
];
const FEED: &str = "draft.atom";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let out = &arguments.out;
    let spec = Spec::read(&workspace::spec_dir()?)?;
    let docs = match &arguments.docs {
        Some(dir) => dir.clone(),
        None => workspace::root()?.join("docs"),
    };
    let days = arguments.days.as_deref().map(read_days).transpose()?;
    let files = files(&spec, &docs, &days.unwrap_or_default())?;
    for (path, content) in files.iter() {
        let path = out.join(path);
        let folder = path.parent().unwrap_or(out);
        std::fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))?;
        std::fs::write(&path, content).map_err(|cause| Error::io("write", &path, cause))?;
    }
    let size: usize = files.iter().map(|(_, content)| content.len()).sum();
    Ok(CommandOutcome::passed(format!(
        "{}: {} files, {} MB\n",
        out.display(),
        files.len(),
        size.div_ceil(1_000_000)
    )))
}

/// Reads the draft's schemas by day: name and text of each, oldest first.
fn read_days(dir: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let read = |(name, path): (String, PathBuf)| {
        let text = std::fs::read_to_string(&path).map_err(|cause| Error::io("read", &path, cause));
        Ok((name, text?))
    };
    dated(dir)?.into_iter().map(read).collect()
}

/// Builds all files.
fn files(spec: &Spec, docs: &Path, days: &[(String, String)]) -> anyhow::Result<SiteFiles> {
    let sources = SideSources::read(spec)?;
    let mut site = StaticSite {
        spec,
        templates: templates()?,
        rules: explain::rules(spec)?,
        files: SiteFiles::new(),
    };
    let names = side_names(spec);
    let open = |(name, _): &(String, _)| sources.open(name, false);
    let sides: Vec<ComparedSide> = names.iter().map(open).collect::<Result<_, Error>>()?;
    let settings = DiffSettings::read(spec)?;
    let mut pairs: Vec<SchemaHistory> = Vec::new();
    for (at, new) in sides.iter().enumerate() {
        let is_comparable = |old: usize| names[old].1.is_none() || names[old].1 == names[at].1;
        for old in (0..at).filter(|old| is_comparable(*old)) {
            pairs.push(history_of(&[&sides[old], new], false, &settings));
        }
    }
    let mut diffs: Vec<Diff> = pairs
        .iter_mut()
        .flat_map(|pair| pair.diffs.drain(..))
        .collect();
    mcp_revisions_plans::cover_all(spec, &sources, &mut diffs);
    for (pair, diff) in pairs.iter_mut().zip(diffs) {
        pair.diffs.push(diff);
        site.add_pair("diff", pair)?;
    }
    let days = site.add_days(&sources, &sides, &settings, days)?;
    site.add_errata()?;
    site.add_rules()?;
    site.add_methods(&sides, &pairs)?;
    site.add_index(&names, &sides, &pairs)?;
    site.add_feed(&pairs, days)?;
    for (page, guide) in guides::read(docs)? {
        let markup = format!("<article class=\"guide\">{}</article>", guide.markup);
        let body = Value::from_safe_string(markup);
        site.add_page(&format!("guides/{page}"), &guide.title, body, "")?;
        for picture in guide.pictures {
            let path = docs.join(&picture);
            let content = std::fs::read(&path).map_err(|cause| Error::io("read", &path, cause))?;
            site.files.insert(format!("guides/{picture}"), content);
        }
    }
    Ok(site.files)
}

/// Returns the names of all sides, revisions first, each with the extension that it is a state of; an extension without messages
/// is none.
fn side_names(spec: &Spec) -> Vec<(String, Option<&str>)> {
    let revisions = spec.revisions.iter().map(|one| (one.id.clone(), None));
    let talking = spec.extensions.iter().filter(|one| !one.methods.is_empty());
    let states = talking.map(|one| (one.name.clone(), Some(&*one.folder)));
    revisions.chain(states).collect()
}

fn templates() -> Result<Environment<'static>, Error> {
    let mut templates = html::templates()?;
    for (name, text) in TEMPLATES {
        let added = templates.add_template(name, text);
        added.map_err(|error| Error::defect("minijinja", error))?;
    }
    templates.add_global("site_style", Value::from_safe_string(STYLE.to_owned()));
    templates.add_global("site_script", Value::from_safe_string(SCRIPT.to_owned()));
    Ok(templates)
}

/// The site as far as it is built.
struct StaticSite<'s> {
    spec: &'s Spec,
    templates: Environment<'static>,
    /// The conversion rules, with the pairs of revisions that they are for.
    rules: Vec<(String, serde_json::Value)>,
    files: SiteFiles,
}

impl StaticSite<'_> {
    fn add(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), text.into_bytes());
    }

    /// Adds a page: its body, which is markup, in the frame that all pages but those of diffs have.
    fn add_page(
        &mut self,
        path: &str,
        title: &str,
        body: Value,
        script: &str,
    ) -> Result<(), Error> {
        let up = up(path);
        let values = context! {
            title,
            body,
            script => Value::from_safe_string(script.to_owned()),
            pages => linked(&up),
            feed => format!("{up}{FEED}"),
        };
        let page = html::render_template(&self.templates, "frame.html", values)?;
        self.add(path, page);
        Ok(())
    }

    fn body(&self, template: &str, values: Value) -> Result<Value, Error> {
        html::render_template(&self.templates, template, values).map(Value::from_safe_string)
    }

    /// Adds page and document of a pair to a folder.
    fn add_pair(&mut self, folder: &str, pair: &SchemaHistory) -> Result<(), Error> {
        let [diff] = pair.diffs.as_slice() else {
            return Ok(());
        };
        let path = format!("{folder}/{}", file_name(diff));
        let mut pages = linked(&up(&path));
        pages.push(("JSON".to_owned(), format!("{}.json", file_name(diff))));
        let rules = self.rules.iter().filter_map(|(pair, rule)| {
            let loss = rule.get("severity").and_then(|severity| severity.as_str());
            Some((
                rule_anchor(pair, rule)?,
                loss.unwrap_or_default().to_owned(),
            ))
        });
        let links = PageLinks {
            pages,
            rules_page: format!("{}rules.html", up(&path)),
            rules: rules.collect(),
        };
        self.add(&format!("{path}.html"), html::render_among(pair, &links)?);
        self.add(&format!("{path}.json"), as_json::diff(diff)?);
        Ok(())
    }

    /// Adds the draft's days, each compared with the one before it and the first with the latest release, and returns the
    /// entries of the feed, oldest first; a day without a change has none.
    fn add_days(
        &mut self,
        sources: &SideSources<'_>,
        sides: &[ComparedSide],
        settings: &DiffSettings,
        days: &[(String, String)],
    ) -> Result<Vec<Value>, Error> {
        let released = released(self.spec).last();
        let first = sides
            .iter()
            .find(|side| Some(&side.label) == released.map(|one| &one.id));
        let (mut entries, mut before) = (Vec::new(), None);
        for (name, text) in days {
            let day = name.get(..10).unwrap_or_default();
            match sources.of_text(name, text, false) {
                Ok(side) => {
                    if let Some(old) = before.as_ref().or(first) {
                        let pair = history_of(&[old, &side], false, settings);
                        for diff in pair.diffs.iter().filter(|diff| !diff.rows.is_empty()) {
                            self.add_pair("days", &pair)?;
                            entries.push(entry(day, "days", diff));
                        }
                    }
                    before = Some(side);
                }
                Err(error) => entries.push(context! {
                    id => name, title => format!("{name}: it cannot be compared"),
                    summary => error.to_string(), updated => day, link => Value::from(()),
                }),
            }
        }
        Ok(entries)
    }

    /// Adds the errata of each side that has any, as JSON Patches of both spellings of a schema.
    fn add_errata(&mut self) -> Result<(), Error> {
        let revisions = self.spec.revisions.iter().map(|one| (&one.id, &one.errata));
        let states = self
            .spec
            .extensions
            .iter()
            .map(|one| (&one.name, &one.errata));
        for (name, errata) in revisions
            .chain(states)
            .filter(|(_, errata)| !errata.is_empty())
        {
            for (key, spelling) in [(Key::Defs, "defs"), (Key::Definitions, "definitions")] {
                let patch = serde_json::to_string_pretty(&patch(errata, key));
                let text = patch.map_err(|error| Error::defect("serde_json", error))? + "\n";
                let path = format!("errata/{name}.{spelling}.json");
                self.files.insert(path, text.into_bytes());
            }
        }
        Ok(())
    }

    /// Adds the page of the conversion rules, by the pairs of revisions that they are for.
    fn add_rules(&mut self) -> Result<(), Error> {
        let mut pairs: SortedMap<&str, SortedMap<String, Value>> = SortedMap::new();
        for (pair, rule) in &self.rules {
            let Some(anchor) = rule_anchor(pair, rule) else {
                continue;
            };
            let word = |member| {
                rule.get(member)
                    .and_then(|value| value.as_str())
                    .unwrap_or_default()
            };
            let values = context! {
                anchor => &anchor,
                id => word("id"),
                loss => word("severity"),
                reason => word("reason"),
                text => explain::of_rule(pair, rule),
            };
            pairs.entry(pair).or_default().insert(anchor, values);
        }
        let sections = pairs.into_iter().map(|(pair, rules)| {
            let listed = rules.into_iter().map(|(_, values)| values);
            context! { pair, rules => listed.collect::<Value>() }
        });
        let body = self.body(
            "rules.html",
            context! { pairs => sections.collect::<Value>() },
        )?;
        self.add_page("rules.html", "Conversion rules", body, SCRIPT)
    }

    /// Adds the matrix of methods by revision: a cell links to the changes of its method in the step to its revision.
    fn add_methods(
        &mut self,
        sides: &[ComparedSide],
        pairs: &[SchemaHistory],
    ) -> Result<(), Error> {
        let revisions: Vec<&ComparedSide> = sides.iter().take(self.spec.revisions.len()).collect();
        let steps = revisions.windows(2).filter_map(|step| match step {
            [old, new] => pairs
                .iter()
                .find(|pair| pair.revisions == [&*old.label, &*new.label]),
            _ => None,
        });
        let diffs: Vec<Diff> = steps.flat_map(|step| step.diffs.clone()).collect();
        let steps: Vec<String> = diffs.iter().map(page_of).collect();
        let history = SchemaHistory {
            methods: method_lines(&revisions),
            revisions: revisions.iter().map(|side| side.label.clone()).collect(),
            diffs,
        };
        let matrix = html::matrix(&self.templates, &history, &steps)?;
        let heads = self.spec.revisions.iter().map(|revision| {
            context! { id => &revision.id, wire => &revision.wire, status => revision.status.as_str() }
        });
        let values = context! { matrix, heads => heads.collect::<Value>() };
        let body = self.body("methods.html", values)?;
        self.add_page("methods.html", "Methods by revision", body, "")
    }

    fn add_index(
        &mut self,
        names: &[(String, Option<&str>)],
        sides: &[ComparedSide],
        pairs: &[SchemaHistory],
    ) -> Result<(), Error> {
        let diffs: Vec<&Diff> = pairs.iter().flat_map(|pair| &pair.diffs).collect();
        let rows = names.iter().map(|(server, _)| {
            let cells = names
                .iter()
                .map(|(clients, _)| cell(&diffs, server, clients));
            context! { server, cells => cells.collect::<Value>() }
        });
        let has_patch = |errata: &[Erratum]| !errata.is_empty();
        let revisions = self.spec.revisions.iter().map(|one| {
            context! {
                id => &one.id, wire => &one.wire, lifecycle => one.lifecycle.as_str(),
                status => one.status.as_str(), reference => page(&one.reference), has_patch => has_patch(&one.errata),
            }
        });
        let states = self.spec.extensions.iter().map(|one| {
            context! {
                id => &one.name, identifier => &one.identifier, state => &one.state,
                status => one.status().as_str(), stage => one.stage.as_ref().map(|stage| stage.as_str()),
                since => &one.stage_since, revision => &one.revision, reference => page(&one.reference),
                has_patch => has_patch(&one.errata),
            }
        });
        let values = context! {
            names => names.iter().map(|(name, _)| name).collect::<Value>(),
            latest => released(self.spec).last().map(|one| &one.id),
            oldest => released(self.spec).next().map(|one| &one.id),
            rows => rows.collect::<Value>(),
            revisions => revisions.collect::<Value>(),
            states => states.collect::<Value>(),
        };
        let body = self.body("index.html", values)?;
        self.add_page("index.html", "Revisions of MCP", body, SCRIPT)?;
        let documents = diffs.iter().map(|diff| {
            let name = file_name(diff);
            json!({
                "old": diff.old, "new": diff.new, "page": format!("diff/{name}.html"),
                "json": format!("diff/{name}.json"), "summary": diff.summary(),
            })
        });
        let labels: Vec<&String> = sides.iter().map(|side| &side.label).collect();
        let index = json!({ "format": 1, "sides": labels, "pairs": documents.collect::<Vec<_>>() });
        let written = serde_json::to_string_pretty(&index);
        let text = written.map_err(|error| Error::defect("serde_json", error))?;
        self.add("index.json", text + "\n");
        Ok(())
    }

    /// Adds the feed: the released revisions and the days of the draft, the latest first.
    fn add_feed(&mut self, pairs: &[SchemaHistory], days: Vec<Value>) -> Result<(), Error> {
        let released: Vec<&Revision> = released(self.spec).collect();
        let steps = released.windows(2).filter_map(|step| match step {
            [old, new] => pairs
                .iter()
                .find(|pair| pair.revisions == [&*old.id, &*new.id]),
            _ => None,
        });
        let diffs = steps.flat_map(|step| &step.diffs);
        let mut entries: Vec<Value> = diffs.map(|diff| entry(&diff.new, "diff", diff)).collect();
        entries.extend(days);
        entries.reverse();
        let values = context! { entries, feed => FEED, home => env!("CARGO_PKG_REPOSITORY") };
        let feed = html::render_template(&self.templates, "draft.xml", values)?;
        self.add(FEED, feed);
        Ok(())
    }
}

/// Returns the released revisions whose ids are days.
fn released(spec: &Spec) -> impl Iterator<Item = &Revision> {
    let is_day =
        |id: &str| id.len() == 10 && id.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    (spec.revisions.iter())
        .filter(move |one| one.status == RevisionStage::Released && is_day(&one.id))
}

/// Returns the relative path from a file of the site to its root.
fn up(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// Returns the pages that all others link to, with their URLs behind the path to the root.
fn linked(up: &str) -> Vec<(String, String)> {
    let pages = PAGES.iter();
    pages
        .map(|(name, path)| ((*name).to_owned(), format!("{up}{path}")))
        .collect()
}

/// Returns the name of the files of a pair, without characters that have a meaning in a URL.
fn file_name(diff: &Diff) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-@".contains(letter);
    format!("{}..{}", diff.old, diff.new).replace(|letter| !is_plain(letter), "-")
}

/// Returns the URL of the page of a pair, from the folder of the site.
fn page_of(diff: &Diff) -> String {
    format!("diff/{}.html", file_name(diff))
}

/// Returns the URL of a reference page, without the place of a definition.
fn page(reference: &str) -> &str {
    reference
        .split_once('#')
        .map_or(reference, |(page, _)| page)
}

/// Returns the anchor of a rule on the page of rules.
fn rule_anchor(pair: &str, rule: &serde_json::Value) -> Option<String> {
    Some(format!("{pair}.{}", rule.get("id")?.as_str()?))
}

/// Returns a cell of the table of servers by clients, without a URL if no page compares the two.
fn cell(diffs: &[&Diff], server: &str, clients: &str) -> Value {
    let is_of = |diff: &&&Diff| {
        let ends = [&*diff.old, &*diff.new];
        ends == [server, clients] || ends == [clients, server]
    };
    let Some(diff) = diffs.iter().find(is_of) else {
        return context! { url => (), is_same => server == clients };
    };
    let is_old = diff.old == server;
    let [old, new] = ["old", "new"].map(|side| format!("{}#role=server-{side}", page_of(diff)));
    let (url, at) = if is_old { (old, 0) } else { (new, 1) };
    let roles = diff.summary().roles;
    let counts: Option<&RoleCounts> = roles.get(at);
    context! { url, clients, counts => Serde(counts) }
}

/// Returns the entry of a diff in the feed.
fn entry(day: &str, folder: &str, diff: &Diff) -> Value {
    let summary = diff.summary();
    let mut counts = Vec::new();
    for level in &summary.levels {
        counts.push(format!("{} {}", level.rows, level.id));
    }
    let name = file_name(diff);
    context! {
        id => &name,
        title => format!("{}: {}", diff.new, counts.join(", ")),
        summary => format!("since {}: {}", diff.old, conclusion(&summary)),
        updated => day,
        link => format!("{folder}/{name}.html"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use super::*;
    use mcp_revisions_schema::sorted::SortedSet;

    /// A schema whose names are markup, and so are its texts.
    const HOSTILE: &str = r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "<script>alert(1)</script>": {"type": "object", "description": "[x](javascript:alert(1))", "properties": {
                "method": {"const": "x/\"><img src=x onerror=alert(1)>", "type": "string"},
                "params": {"type": "object", "properties": {"</script><script>alert(2)</script>": {"const": "javascript:alert(1)"}}}
            }, "required": ["method"]},
            "ClientRequest": {"anyOf": [{"$ref": "#/$defs/<script>alert(1)<~1script>"}]}
        }
    }"##;

    fn built(docs: &Path, days: &[(String, String)]) -> SiteFiles {
        let spec = Spec::read(&workspace::spec_dir().unwrap()).unwrap();
        files(&spec, docs, days).unwrap()
    }

    fn docs() -> PathBuf {
        workspace::root().unwrap().join("docs")
    }

    /// The pages with their texts.
    fn pages(files: &SiteFiles) -> Vec<(&str, &str)> {
        let pages = files.iter().filter(|(path, _)| path.ends_with(".html"));
        pages
            .map(|(path, text)| (&**path, std::str::from_utf8(text).unwrap()))
            .collect()
    }

    /// The values of an attribute on a page, as a browser reads them.
    fn values<'t>(text: &'t str, attribute: &str) -> Vec<String> {
        let begin = format!(" {attribute}=\"");
        let markup = text.split("<script>").next().unwrap();
        let values = markup
            .split(&*begin)
            .skip(1)
            .map(|rest: &'t str| rest.split('"').next().unwrap());
        values
            .map(|value| value.replace("&amp;", "&").replace("&#x27;", "'"))
            .collect()
    }

    /// Where a link leads from a file, without the place on the page.
    fn target(from: &str, link: &str) -> (String, String) {
        let (path, place) = link.split_once('#').unwrap_or((link, ""));
        let mut steps: Vec<&str> = from.split('/').collect();
        if !path.is_empty() {
            steps.pop();
        }
        for step in path.split('/').filter(|step| !step.is_empty()) {
            match step {
                ".." => drop(steps.pop()),
                step => steps.push(step),
            }
        }
        (steps.join("/"), place.to_owned())
    }

    #[test]
    fn every_link_leads_somewhere_and_every_two_revisions_have_a_page() {
        let files = built(&docs(), &[]);
        let pages = pages(&files);
        let mut ids: SortedMap<&str, BTreeSet<String>> = SortedMap::new();
        for (path, text) in &pages {
            let all = values(text, "id");
            let own: BTreeSet<String> = all.iter().cloned().collect();
            assert_eq!(own.len(), all.len(), "{path}: an id twice");
            ids.insert(path, own);
        }
        let mut count = 0;
        for (path, text) in &pages {
            for link in values(text, "href").iter().chain(&values(text, "src")) {
                if link.starts_with("https://") || link.starts_with("http://") {
                    continue;
                }
                count += 1;
                let (file, place) = target(path, link);
                assert!(files.get(&file).is_some(), "{path}: there is no {link}");
                let is_filter = place.contains('=');
                let leads =
                    place.is_empty() || is_filter || ids.get(&*file).unwrap().contains(&place);
                assert!(leads, "{path}: there is no {link}");
            }
        }
        assert!(count > 5_000, "{count} links");
        let spec = Spec::read(&workspace::spec_dir().unwrap()).unwrap();
        for (at, new) in spec.revisions.iter().enumerate() {
            for old in &spec.revisions[..at] {
                for form in ["html", "json"] {
                    let path = format!("diff/{}..{}.{form}", old.id, new.id);
                    assert!(files.get(&path).is_some(), "there is no {path}");
                }
            }
        }
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".json")) {
            let read = serde_json::from_slice::<serde_json::Value>(text);
            assert!(read.is_ok(), "{path}: {read:?}");
        }
    }

    #[test]
    fn the_site_is_the_same_each_time_and_its_feed_tells_the_days() {
        let days = [
            "2027-01-01-release",
            "2027-01-15-dangling",
            "2027-01-22-praise",
        ]
        .map(|day| {
            let file = workspace::root()
                .unwrap()
                .join("codegen/tests/replay")
                .join(day);
            (
                day.to_owned(),
                std::fs::read_to_string(file.with_extension("json")).unwrap(),
            )
        });
        let files = built(&docs(), &days);
        assert!(files == built(&docs(), &days), "two builds differ");
        let feed = std::str::from_utf8(files.get(FEED).unwrap()).unwrap();
        let mut open: Vec<&str> = Vec::new();
        for tag in feed
            .split('<')
            .skip(2)
            .map(|rest| rest.split('>').next().unwrap())
        {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        for link in values(feed, "href") {
            assert!(files.get(&link).is_some(), "there is no {link}");
        }
        for told in [
            "2027-01-22-praise: 2 compatible",
            "2027-01-15-dangling: it cannot be compared",
        ] {
            assert!(feed.contains(told), "{told}");
        }
        assert!(feed.contains("<updated>2027-01-22T00:00:00Z</updated>"));
    }

    #[test]
    fn what_schemas_and_guides_say_is_never_markup() {
        let day = ("2027-01-01-<img src=x>".to_owned(), HOSTILE.to_owned());
        let files = built(&docs(), &[day]);
        let mut told = 0;
        for (path, text) in pages(&files) {
            assert!(
                !text.contains("<script>alert") && !text.contains("<img src=x"),
                "{path}"
            );
            told += text.matches("&lt;script&gt;alert(1)").count();
        }
        assert!(told > 0, "no page shows the names");
        assert!(
            !std::str::from_utf8(files.get(FEED).unwrap())
                .unwrap()
                .contains("<img")
        );
        let guide = "# A <b>\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) [b](data:text/html,x) ![c](javascript:x) `</code><i>`\n";
        let markup = guides::Guide::of(guide, &SortedSet::new()).markup;
        for text in ["<script", "<b>", "<i>", "javascript:", "data:"] {
            assert!(!markup.contains(text), "{text} in {markup}");
        }
    }
}
