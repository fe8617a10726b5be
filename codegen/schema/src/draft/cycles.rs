//! Cycles of a graph: strongly connected components.

use crate::sorted::{SortedMap, SortedSet};

/// Returns the groups of types that hold each other, and the types that hold themselves: Tarjan's strongly
/// connected components, without recursion, since a schema may chain as many types as it likes.
pub(crate) fn cycles(edges: &SortedMap<String, SortedSet<String>>) -> Vec<Vec<String>> {
    let names: Vec<&String> = edges.keys().collect();
    let number: SortedMap<&String, usize> = (names.iter().enumerate())
        .map(|(index, name)| (*name, index))
        .collect();
    let targets: Vec<Vec<usize>> = (edges.values())
        .map(|held| {
            held.iter()
                .filter_map(|name| number.get(name).copied())
                .collect()
        })
        .collect();
    let count = names.len();
    let (mut order, mut low) = (vec![usize::MAX; count], vec![0; count]);
    let (mut on_stack, mut stack) = (vec![false; count], Vec::new());
    let mut groups = Vec::new();
    let mut next = 0;
    for root in 0..count {
        // Each step: a type, and how many of its targets are done.
        let mut path = vec![(root, 0)];
        if order[root] != usize::MAX {
            continue;
        }
        while let Some((at, done)) = path.pop() {
            if done == 0 {
                order[at] = next;
                low[at] = next;
                next += 1;
                stack.push(at);
                on_stack[at] = true;
            } else {
                low[at] = low[at].min(low[targets[at][done - 1]]);
            }
            let unseen = (done..targets[at].len()).find(|index| {
                let target = targets[at][*index];
                if order[target] != usize::MAX && on_stack[target] {
                    low[at] = low[at].min(order[target]);
                }
                order[target] == usize::MAX
            });
            if let Some(index) = unseen {
                path.push((at, index + 1));
                path.push((targets[at][index], 0));
                continue;
            }
            if low[at] != order[at] {
                continue;
            }
            let start = stack.iter().rposition(|member| *member == at);
            let group = stack.split_off(start.unwrap_or_default());
            group.iter().for_each(|member| on_stack[*member] = false);
            if group.len() > 1 || targets[at].contains(&at) {
                groups.push(group.iter().map(|member| names[*member].clone()).collect());
            }
        }
    }
    groups
}
