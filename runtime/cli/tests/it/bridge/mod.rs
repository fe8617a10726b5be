//! `mcp-rev bridge`: every revision of a client in front of every revision of a server, and what happens when one goes.

mod ends;
mod guarded;
mod http;
mod isolation;
mod judged;
#[cfg(unix)]
mod logs;
mod losses;
mod matrix;
#[cfg(unix)]
mod mistakes;
mod others;
#[cfg(unix)]
mod proxies;
#[cfg(unix)]
mod replicas;
mod same;
mod several;
#[cfg(unix)]
mod sign_in;
mod start;
mod talk;
mod watched;
