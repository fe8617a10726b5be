//! A revision as a test speaks it: valid texts of its types, and a judge of what others make of them.

use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::{Direction, Json, Kind, MethodInfo, MethodKind};
use mcp_revisions_schema::{Models, RevisionModel};
use mcp_tests::judge::Judge;
use mcp_tests::random::{Random, seed};
use mcp_tests::sampler::{Recipe, Sampler};

/// Samples of each definition.
const SAMPLES: usize = 12;

/// Every revision that endpoints can speak.
pub(crate) fn voices<'m>(models: &'m Models<'m>) -> Vec<Voice<'m>> {
    let listed = |id: &str| id.parse::<Revision>().unwrap();
    let spoken = (models.revisions.iter()).filter(|of| listed(&of.revision.id).is_converted());
    let voices: Vec<Voice<'m>> = spoken.map(Voice::new).collect();
    assert_eq!(voices.len(), Revision::CONVERTED.len());
    voices
}

/// What a revision needs to be spoken here.
pub(crate) struct Voice<'m> {
    /// Which one.
    pub(crate) revision: Revision,
    judge: Judge,
    sampler: Sampler<'m>,
}

impl<'m> Voice<'m> {
    /// Prepares the judge of its schema and the sampler of its model.
    pub(crate) fn new(of: &'m RevisionModel<'m>) -> Self {
        Self {
            revision: of.revision.id.parse().unwrap(),
            judge: Judge::new(of.revision, &of.model).unwrap(),
            sampler: Sampler::new(&of.model, &of.revision.id),
        }
    }

    /// The Rust name of a definition, which is what judge and sampler know it by.
    fn name(&self, definition: &str) -> &'static str {
        let types = self.revision.types();
        let by_name = types.iter().find(|row| row.name == definition);
        by_name
            .or_else(|| types.iter().find(|row| row.rust_name == definition))
            .unwrap()
            .rust_name
    }

    /// Valid texts of a definition that are objects; other ones in each round.
    pub(crate) fn samples(&self, definition: Option<&str>, round: &str) -> Vec<String> {
        let Some(definition) = definition else {
            return vec!["{}".to_owned()];
        };
        let name = self.name(definition);
        let mut samples: Vec<String> = self
            .sampler
            .instances(name, SAMPLES)
            .into_iter()
            .map(|instance| instance.text)
            .collect();
        Random::new(seed(&[round, definition])).shuffle(&mut samples);
        // Lone surrogates and the like are for the tests of the types: this is about messages that are read.
        samples.retain(|text| Json::from_text(text).is_ok_and(|json| json.kind() == Kind::Object));
        samples.truncate(SAMPLES);
        samples
    }

    /// What an implementation of the revision says of itself, at the least.
    pub(crate) fn info(&self) -> Json {
        let least = self
            .sampler
            .instance(self.name("Implementation"), Recipe::Least, 1);
        Json::from_text(&least.text).unwrap()
    }

    /// Whether a text meets the schema of a definition.
    pub(crate) fn judged(&self, definition: Option<&str>, text: &str) -> Result<(), String> {
        match definition {
            Some(definition) => self.judge.check(self.name(definition), text).map(drop),
            None => Ok(()),
        }
    }

    /// What one side sends in one way.
    pub(crate) fn rows(
        &self,
        direction: Direction,
        kind: MethodKind,
    ) -> impl Iterator<Item = &'static MethodInfo> {
        let rows = self.revision.methods().iter();
        rows.filter(move |row| row.direction == direction && row.kind == kind)
    }
}
