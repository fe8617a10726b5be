//! The page: whole in itself, every change on it, and its filters at work in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_revisions_diff::render::html;
use mcp_revisions_diff::render::themes::themes;
use mcp_revisions_diff::{ChangeLevel, DiffRow, SchemaHistory, history};

use super::sources;

pub(super) fn whole() -> (SchemaHistory, String) {
    let history = history(sources(), &[], false).unwrap();
    let page = html::render(&history).unwrap();
    (history, page)
}

#[test]
fn the_page_has_every_change_and_loads_nothing() {
    let (history, page) = whole();
    for diff in &history.diffs {
        for row in &diff.rows {
            let link = format!("{}..{}.{}", diff.old, diff.new, row.fingerprint);
            assert_eq!(page.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
            assert!(page.contains(&format!("href=\"#{link}\"")), "{link}");
        }
    }
    // The summary stands above the matrix, and the matrix above the changes.
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("class=\"brief\"") < place("class=\"matrix\""));
    assert!(place("class=\"matrix\"") < place("class=\"pair\""));
    let unescaped = page.replace("&#x2f;", "/");
    for line in &history.methods {
        assert!(
            unescaped.contains(&format!("data-method=\"{}:{}\"", line.direction, line.name)),
            "{}",
            line.name
        );
    }
    for loads in [
        "src=",
        "<link",
        "url(",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        assert!(!page.contains(loads), "{loads}");
    }
    // Nor may a browser load anything for it: the policy stands under the name that browsers know.
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';";
    assert!(page.contains(policy));
    assert_eq!(
        page,
        html::render(&history).unwrap(),
        "the same bytes each time"
    );
}

#[test]
fn what_a_schema_says_is_never_markup() {
    let mut old = super::schema("2025-11-25");
    old["$defs"]["Tool"]["properties"]["<script>alert(1)</script>"] =
        serde_json::json!({"type": "string"});
    let open = |name: &str, text: &str| {
        let dir = scratch("markup");
        fs::write(dir.join(name), text).unwrap();
        dir.join(name).to_str().unwrap().to_owned()
    };
    let names = [
        open("old.json", &old.to_string()),
        open("new.json", &super::schema("2025-11-25").to_string()),
    ];
    let page = html::render(&history(sources(), &names, false).unwrap()).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(!page.contains("<script>alert(1)"));
}

/// Clicks through the page and writes what is to be seen into the title.
const PROBE: &str = r#"
<script>
const seen = [];
const shown = () => [...document.querySelectorAll("details.row")].filter((row) => row.getClientRects().length > 0).length;
const far = () => [...document.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("pre")).length;
const click = (selector) => document.querySelector(selector).click();
seen.push(shown());
click('[data-filter=level][data-value=breaking]'); seen.push(shown());
click('[data-filter=direction][data-value=C2S]'); seen.push(shown());
click('#reset'); seen.push(shown());
click('[data-filter=kind][data-value=moved]'); seen.push(shown());
click('#reset');
click('.matrix td button[data-method="C2S:tools/list"]'); seen.push(shown());
const cells = [...document.querySelectorAll(".matrix td button")];
const counted = () => document.getElementById("count").textContent.split(" ")[0];
seen.push(cells.filter((cell) => { cell.click(); return counted() !== cell.querySelector(".n").textContent; }).length);
click('#reset');
const outcomes = [...document.querySelectorAll("td [data-role]")];
seen.push(outcomes.length > 0 && outcomes.filter((cell) => { cell.click(); return counted() !== cell.textContent; }).length);
click('#reset');
click('details.row summary');
seen.push(document.querySelectorAll("details.row[open] .shapes figure").length);
seen.push(document.documentElement.scrollWidth <= innerWidth);
seen.push(far());
const link = document.querySelector(".rows li:last-child").id;
location.hash = '#' + link;
dispatchEvent(new HashChangeEvent("hashchange"));
seen.push(document.getElementById(link).closest("details.row").open);
document.title = seen.join(" ");
</script>
"#;

#[test]
fn the_filters_work_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!(
            "skipped: no Chromium on this machine (chromium, chromium-browser, google-chrome)"
        );
        return;
    };
    let (history, page) = whole();
    // A card is shown if one of its rows fits.
    let cards: Vec<(usize, Vec<DiffRow>)> = (history.diffs.iter().enumerate())
        .flat_map(|(index, diff)| {
            let changes = themes(diff).into_iter().flat_map(|theme| theme.changes);
            changes.map(move |change| (index, change.rows().iter().copied().cloned().collect()))
        })
        .collect();
    let count = |fits: &dyn Fn(usize, &DiffRow) -> bool| {
        let shown = cards
            .iter()
            .filter(|(index, rows)| rows.iter().any(|row| fits(*index, row)));
        shown.count()
    };
    let reaches = |row: &DiffRow, method: &str| row.paths.iter().any(|path| path.method == method);
    let sent = |row: &DiffRow, way: &str| {
        row.paths
            .iter()
            .any(|path| path.to_string().starts_with(way))
    };
    let first_with_tools = history
        .diffs
        .iter()
        .position(|diff| diff.rows.iter().any(|row| reaches(row, "tools/list")));
    let expected = [
        count(&|_, _| true).to_string(),
        count(&|_, row| row.level == ChangeLevel::Breaking).to_string(),
        count(&|_, row| row.level == ChangeLevel::Breaking && sent(row, "C2S")).to_string(),
        count(&|_, _| true).to_string(),
        count(&|_, row| row.kind == mcp_revisions_diff::ChangeKind::Moved).to_string(),
        count(&|index, row| Some(index) == first_with_tools && reaches(row, "tools/list"))
            .to_string(),
        // No cell of the matrix counts others than it shows, and none of the tables of who speaks which revision.
        "0".to_owned(),
        "0".to_owned(),
        "2".to_owned(),
        "true".to_owned(),
        "0".to_owned(),
        "true".to_owned(),
    ]
    .join(" ");

    let dir = scratch("browser");
    let file = dir.join("page.html");
    fs::write(&file, page.replace("</body>", &format!("{PROBE}</body>"))).unwrap();
    for width in ["1280,900", "500,900"] {
        let output = Command::new(&browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .arg(format!("--user-data-dir={}", dir.join("profile").display()))
            .arg(format!("--window-size={width}"))
            .arg("--dump-dom")
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let title = dom
            .split("<title>")
            .nth(1)
            .and_then(|rest| rest.split("</title>").next());
        assert_eq!(
            title,
            Some(expected.as_str()),
            "{width}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// A browser of the machine, by the names that it goes by.
fn browser() -> Option<PathBuf> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|dir| names.map(|name| dir.join(name)))
        .find(|file| file.is_file())
}

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("diff-{name}"));
    fs::create_dir_all(&dir).unwrap();
    dir
}
