//! Work spread over all cores, its results in the order of the work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` for each item, on as many threads as there are cores.
///
/// # Panics
/// When `work` does.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                match items.get(index) {
                    Some(item) => done.push((index, work(item))),
                    None => return done,
                }
            }
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let mut done = Vec::with_capacity(items.len());
        for handle in handles {
            match handle.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
