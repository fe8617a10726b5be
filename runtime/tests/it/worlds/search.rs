//! The search: every state of a world up to a depth, or long ways through it.

use std::collections::{HashSet, VecDeque};

/// A client, a server, and what is between them.
pub(crate) trait World: Sized {
    /// What may happen.
    type Move: Copy;

    /// What may happen now.
    fn moves(&self) -> Vec<Self::Move>;
    /// It happens.
    fn make(&mut self, one: Self::Move);
    /// What tells one state from another.
    fn print(&self) -> u64;
    /// The way on: everything arrives and is answered; then the connection ends, and nothing is left.
    fn run_out(self);
}

/// Visits every state of a world; how many there are.
pub(crate) fn explore<W: World>(begin: impl Fn() -> W, depth: usize) -> usize {
    let mut seen = HashSet::new();
    let mut paths = VecDeque::from([Vec::new()]);
    while let Some(path) = paths.pop_front() {
        let mut world = begin();
        for one in &path {
            world.make(*one);
        }
        if !seen.insert(world.print()) {
            continue;
        }
        if path.len() < depth {
            for one in world.moves() {
                let mut longer = path.clone();
                longer.push(one);
                paths.push_back(longer);
            }
        }
        world.run_out();
    }
    seen.len()
}

/// Walks at random, far deeper than every state can be visited; how many steps. A failure names what was done.
pub(crate) fn walk<W: World>(mut world: W, seed: u64, length: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut steps = 0;
    for _ in 0..length {
        let Some(one) = random.choice(world.moves()) else {
            break;
        };
        world.make(one);
        steps += 1;
    }
    world.run_out();
    steps
}
