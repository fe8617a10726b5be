//! The table of sessions: who has one, who goes when there is no room, and that the others stay.

use std::time::Duration;

use crate::support::{Channel, NOW, initialize, server};
use mcp_revisions::sansio::server::{NewSession, Owner, Sessions};
use mcp_revisions::{Limits, Revision};

#[test]
fn a_hundred_thousand_sessions_and_not_one_more() {
    let server = server(Revision::V2025_11_25);
    let limit = server.limits().max_sessions;
    assert_eq!(limit, 100_000);
    let mut sessions: Sessions<Channel> = Sessions::new(server.limits());
    let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let texts = versions.map(initialize);
    for number in 0..limit {
        let mut channel = Channel::new();
        let received = server.receive(
            &mut channel,
            None,
            texts[number % 4].as_bytes(),
            Duration::from_secs(number as u64),
        );
        assert!(received.reply.unwrap().opens_session);
        let at = Duration::from_secs(number as u64);
        sessions
            .open(
                NewSession::new(format!("session-{number}"), channel),
                at,
                NOW,
                |_| true,
            )
            .unwrap();
    }
    let end = Duration::from_secs(100_000);
    let full = sessions
        .open(
            NewSession::new("one more", Channel::new()),
            end,
            NOW,
            |_| false,
        )
        .unwrap_err();
    assert!(full.to_string().contains("100000"));
    assert_eq!(sessions.len(), limit);
    // Each is still its own.
    for number in [0, 1, 2, 3, 50_002, 99_999] {
        let channel = sessions.get_mut(&format!("session-{number}")).unwrap();
        assert_eq!(
            channel.session_revision().unwrap().protocol_version(),
            versions[number % 4]
        );
    }
    // The half that was silent for longest goes, and there is room again.
    let retired = sessions.retire(Duration::from_secs(49_999), end, |_| true);
    // Eight of them had just been looked at, when there was no room.
    assert_eq!((retired.len(), sessions.len()), (49_992, 50_008));
    sessions
        .open(
            NewSession::new("one more", Channel::new()),
            end,
            NOW,
            |_| true,
        )
        .unwrap();
    // Without anybody's leave none goes; with it, one that never said a second word goes before those that did.
    let mut few: Sessions<u8> = Sessions::new(&Limits {
        max_sessions: 2,
        max_session_bytes: 100,
        ..Limits::default()
    });
    few.open(NewSession::new("used", 1).with_bytes(10), NOW, NOW, |_| {
        true
    })
    .unwrap();
    few.use_by(&Owner::Unknown, "used", NOW);
    few.open(
        NewSession::new("unused", 2).with_bytes(10),
        NOW,
        NOW,
        |_| true,
    )
    .unwrap();
    assert_eq!(
        few.open(NewSession::new("new", 3).with_bytes(10), NOW, NOW, |_| true)
            .unwrap(),
        [2]
    );
    assert_eq!((few.get("used"), few.get("unused")), (Some(&1), None));
    // Those that take up much go for one another, too.
    assert_eq!(
        few.open(NewSession::new("large", 4).with_bytes(85), NOW, NOW, |_| {
            true
        })
        .unwrap(),
        [3]
    );
    assert_eq!((few.get("used"), few.len()), (Some(&1), 2));
    assert!(
        few.open(
            NewSession::new("too large", 5).with_bytes(101),
            NOW,
            NOW,
            |_| true
        )
        .is_err()
    );
}

#[test]
fn sessions_that_are_spared_do_not_stay_so_by_being_looked_at() {
    let spared = Duration::from_secs(60);
    let mut sessions: Sessions<usize> = Sessions::new(&Limits {
        max_sessions: 3,
        ..Limits::default()
    });
    for number in 0..3 {
        sessions
            .open(
                NewSession::new(number.to_string(), number),
                NOW,
                spared,
                |_| true,
            )
            .unwrap();
        sessions.use_by(&Owner::Unknown, &number.to_string(), NOW);
    }
    // Somebody knocks all the time: those that are open are in use for a minute, and no longer.
    for second in 0..60 {
        let now = Duration::from_secs(second);
        let full = sessions.open(NewSession::new("new", 9), now, spared, |_| true);
        assert!(full.is_err(), "{second}");
    }
    let gone = sessions.open(NewSession::new("new", 9), spared, spared, |_| true);
    assert_eq!(gone.unwrap(), [0]);
}

#[test]
fn whoever_opens_many_makes_room_among_its_own() {
    let limits = Limits {
        max_sessions: 10,
        max_sessions_per_owner: 4,
        ..Limits::default()
    };
    let mut sessions: Sessions<String> = Sessions::new(&limits);
    let named = |name: &str| Owner::Principal(name.into());
    let address = |text: &str| Owner::at(text.parse().unwrap());
    let open = |sessions: &mut Sessions<String>, owner: &Owner, id: &str, may_go: bool| {
        let new = NewSession::new(id, id.to_owned()).with_owner(owner.clone());
        sessions.open(new, NOW, Duration::from_secs(60), |_| may_go)
    };
    // Somebody is there before the flood, and never says a second word.
    let (quiet, flood) = (named("quiet"), named("flood"));
    open(&mut sessions, &quiet, "quiet", true).unwrap();
    for number in 0_usize..100 {
        let gone = open(&mut sessions, &flood, &format!("flood-{number}"), true).unwrap();
        // Beyond four its own oldest goes, and nobody else's.
        let oldest = number
            .checked_sub(4)
            .map(|oldest| format!("flood-{oldest}"));
        assert_eq!(gone, Vec::from_iter(oldest));
    }
    assert_eq!(sessions.len(), 5);
    // Those that it uses stay before those that it does not; if all are in use, no more are opened.
    sessions.use_by(&flood, "flood-96", NOW);
    let gone = open(&mut sessions, &flood, "flood-100", true).unwrap();
    assert_eq!(gone, ["flood-97"]);
    for id in ["flood-98", "flood-99", "flood-100"] {
        sessions.use_by(&flood, id, NOW);
    }
    let full = open(&mut sessions, &flood, "flood-101", true).unwrap_err();
    assert!(full.to_string().starts_with("4 sessions"), "{full}");
    assert_eq!(sessions.len(), 5);
    // Where there is no room for anybody, one's own goes first, even if another's is older.
    for number in 0..4 {
        open(
            &mut sessions,
            &address("192.0.2.7"),
            &number.to_string(),
            true,
        )
        .unwrap();
    }
    // The same machine, however it says where it is.
    let gone = open(&mut sessions, &address("::ffff:192.0.2.7"), "4", true).unwrap();
    assert_eq!(gone, ["0"]);
    open(&mut sessions, &address("2001:db8::1"), "a", true).unwrap();
    assert_eq!(sessions.len(), 10);
    let gone = open(&mut sessions, &address("2001:db8::2:3"), "b", true).unwrap();
    assert_eq!(gone, ["a"]);
    // Who has none takes the place of whoever never said a second word, the oldest first.
    let gone = open(&mut sessions, &Owner::Unknown, "new", true).unwrap();
    assert_eq!(gone, ["quiet"]);
    assert!(sessions.get("b").is_some() && sessions.get("flood-98").is_some());
}

#[test]
fn a_session_that_is_not_taken_costs_no_other_one() {
    let mut sessions: Sessions<&str> = Sessions::new(&Limits {
        max_sessions: 4,
        max_session_bytes: 100,
        ..Limits::default()
    });
    let open = |sessions: &mut Sessions<&'static str>, id: &'static str, bytes: usize| {
        let new = NewSession::new(id, id).with_bytes(bytes);
        sessions.open(new, NOW, NOW, |id| *id != "busy")
    };
    for (id, bytes) in [("idle", 20), ("busy", 60), ("own", 20)] {
        open(&mut sessions, id, bytes).unwrap();
    }
    for id in ["large", "own"] {
        let full = open(&mut sessions, id, 50).unwrap_err();
        assert!(full.to_string().contains("takes up 100 bytes"), "{full}");
        assert_eq!((full.refusal.status, full.session), (503, id));
        for id in ["idle", "busy", "own"] {
            assert_eq!(sessions.get(id), Some(&id));
        }
    }
    // Each has its bytes and its turn still.
    assert_eq!(open(&mut sessions, "own", 40).unwrap(), ["own", "idle"]);
    assert_eq!(sessions.len(), 2);
}
