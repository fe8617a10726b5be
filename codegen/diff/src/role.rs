//! The outcome of changes for a server that speaks one side and clients that speak the other.

use mcp_revisions_schema::model::Direction;
use mcp_revisions_schema::sorted::SortedSet;

use serde::Serialize;

use super::row::DiffRow;
use super::verdict::{ChangeLevel, ComparedEnd, DirectionVerdict};

/// The outcome of a change between a server and its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RoleOutcome {
    /// The server rejects a message of its clients.
    ServerRejects,
    /// A client rejects a message of the server.
    ClientRejects,
    /// Nothing that both sides have is rejected, and the receiver passes over a part, takes it for something else, or does not
    /// have the message.
    Lost,
}

mcp_wire::strings! {
    RoleOutcome {
        ServerRejects "server-rejects";
        ClientRejects "client-rejects";
        Lost "lost";
    }
}

/// Numbers of changes by their outcome between a server and its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RoleCounts {
    /// The side that the server speaks; its clients speak the other one.
    pub server: ComparedEnd,
    /// Number of breaking changes by which the server rejects a message of its clients.
    pub server_rejects: usize,
    /// Number of breaking changes by which a client rejects a message of the server.
    pub client_rejects: usize,
    /// Number of changes by which the receiver passes over a part, takes it for something else, or does not have a message that
    /// only one side has.
    pub lost: usize,
}

/// Returns the counts for a server of the old side, and for one of the new side.
pub(crate) fn role_counts(rows: &[DiffRow]) -> [RoleCounts; 2] {
    [ComparedEnd::Old, ComparedEnd::New].map(|server| {
        let count = |outcome| {
            let those = rows
                .iter()
                .filter(|row| outcomes(row, server).contains(&outcome));
            those.count()
        };
        RoleCounts {
            server,
            server_rejects: count(RoleOutcome::ServerRejects),
            client_rejects: count(RoleOutcome::ClientRejects),
            lost: count(RoleOutcome::Lost),
        }
    })
}

/// Returns the outcomes of a change if the server speaks this side and its clients the other.
pub(crate) fn outcomes(row: &DiffRow, server: ComparedEnd) -> SortedSet<RoleOutcome> {
    let of = |direction| {
        let (sender, rejected) = match direction {
            Direction::ClientToServer => (server.other(), RoleOutcome::ServerRejects),
            Direction::ServerToClient => (server, RoleOutcome::ClientRejects),
        };
        let verdict = sender.of(row.verdicts.old_to_new, row.verdicts.new_to_old);
        if verdict == DirectionVerdict::FINE {
            None
        } else if !verdict.valid && row.level == ChangeLevel::Breaking {
            Some(rejected)
        } else {
            Some(RoleOutcome::Lost)
        }
    };
    row.paths
        .iter()
        .filter_map(|path| of(path.direction))
        .collect()
}
