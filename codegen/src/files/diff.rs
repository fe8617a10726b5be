//! A small line diff, for people who look at a failed check.

/// The most cells the table of common lines may have; beyond it, all old lines are shown and then all new ones.
const MAX_CELLS: usize = 4_000_000;

/// The first `limit` differing lines of two texts: `-` with the old ones, `+` with the new ones, the line number in front of each group.
///
/// Empty when nothing differs. Long lines are cut.
#[must_use]
pub fn lines(old: &str, new: &str, limit: usize) -> String {
    if old == new {
        return String::new();
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a[head..]
        .iter()
        .rev()
        .zip(b[head..].iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let changes = changes(&a[head..a.len() - tail], &b[head..b.len() - tail]);

    let mut out = String::new();
    let mut next = None;
    for change in changes.iter().take(limit) {
        let (sign, text, at) = match change {
            Change::Old { at, line } => ('-', line, at + head),
            Change::New { at, line } => ('+', line, at + head),
        };
        if next != Some(at) {
            out.push_str(&format!("@ line {}\n", at + 1));
        }
        next = Some(if sign == '-' { at + 1 } else { at });
        out.push_str(&format!("{sign} {}\n", cut(text)));
    }
    if changes.len() > limit {
        out.push_str(&format!(
            "... and {} more differing lines\n",
            changes.len() - limit
        ));
    }
    out
}

/// `at` counts the lines of the old text that come before.
enum Change<'a> {
    Old { at: usize, line: &'a str },
    New { at: usize, line: &'a str },
}

fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Change<'a>> {
    let width = new.len() + 1;
    let cells = (old.len() + 1).saturating_mul(width);
    let fits = cells <= MAX_CELLS;
    // common[i * width + j]: how many lines old[i..] and new[j..] have in common.
    let mut common = vec![0_u32; if fits { cells } else { 0 }];
    if fits {
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                common[i * width + j] = if old[i] == new[j] {
                    common[(i + 1) * width + j + 1] + 1
                } else {
                    common[(i + 1) * width + j].max(common[i * width + j + 1])
                };
            }
        }
    }
    let (mut i, mut j, mut changes) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        let same = fits && i < old.len() && j < new.len() && old[i] == new[j];
        let old_first = i < old.len()
            && (j == new.len()
                || !fits
                || common[(i + 1) * width + j] >= common[i * width + j + 1]);
        if same {
            (i, j) = (i + 1, j + 1);
        } else if old_first {
            changes.push(Change::Old {
                at: i,
                line: old[i],
            });
            i += 1;
        } else {
            changes.push(Change::New {
                at: i,
                line: new[j],
            });
            j += 1;
        }
    }
    changes
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}
