//! The models of all revisions and extensions, and the plans of conversions between adjacent revisions.

use crate::sorted::SortedMap;

use serde_json::Value;

use crate::analyze::areas::Areas;
use crate::analyze::join;
use crate::decision::{Decision, QuestionKind, Scope};
use crate::docs::{Docs, LentDocs, TypeDocs};
use crate::draft::{draft, missing_definition};
use crate::model::{BuiltModel, Model};
use crate::pair::RevisionPair;
use crate::rules::{ModelMistake, Rules};
use crate::schema::Schema;
use crate::spec::canonical::definition;
use crate::spec::changes::ProseChanges;
use crate::spec::errors::ErrorRules;
use crate::spec::extensions::Dangling;
use crate::spec::methods::{MethodRules, module};
use crate::spec::rules::RuleTexts;
use crate::spec::{DOCS, ExtensionSpec, Revision, RevisionStage, Spec};
use crate::{Error, Markdown};

/// The model of one revision, with the revision it is of.
#[derive(Debug)]
pub struct RevisionModel<'s> {
    /// The revision.
    pub revision: &'s Revision,
    /// Its model.
    pub model: Model,
    /// The open questions of the schema, each with a safe answer.
    pub decisions: Vec<Decision>,
}

/// The model of an extension, with the extension it is of.
#[derive(Debug)]
pub struct ExtensionModel<'s> {
    /// The extension.
    pub extension: &'s ExtensionSpec,
    /// Its model: its own types, and those of the revision that its schema repeats.
    pub model: Model,
    /// The open questions of the schema, each with a safe answer.
    pub decisions: Vec<Decision>,
    /// The prose of the schema, by `Type` or `Type.member`, where the extension is none of the spec.
    pub prose: SortedMap<String, Markdown>,
}

/// The models of all revisions and extensions, and the docs they share.
#[derive(Debug)]
pub struct Models<'s> {
    /// In the order of `revisions.toml`.
    pub revisions: Vec<RevisionModel<'s>>,
    /// In the order of [`Spec::extensions`].
    pub extensions: Vec<ExtensionModel<'s>>,
    /// All doc lines.
    pub docs: Docs,
    /// The doc lines of what extensions add, by folder.
    pub extension_docs: SortedMap<String, Docs>,
    /// Facts of the protocol outside the schemas.
    pub stated: ErrorRules,
    /// Changes of the prose between adjacent revisions.
    pub changes: ProseChanges,
    /// The values that stand for mistakes of peers.
    pub mistakes: Vec<ModelMistake>,
    /// The rule files of the spec: what is proposed for one pair may follow from the rules of another.
    pub texts: &'s RuleTexts,
}

/// Definitions and members without a doc line.
#[derive(Debug, Clone)]
pub struct Undocumented {
    /// The id of the revision, or the name of the extension.
    pub of: String,
    /// The file that would have the lines, below the spec directory.
    pub file: String,
    /// Each type that has no line, and each member with its type.
    pub missing: Vec<(String, Option<String>)>,
}

impl Undocumented {
    /// Returns the names without a doc line, as `Type` or `Type.member`.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(|(name, member)| match member {
            Some(member) => format!("{name}.{member}"),
            None => name.clone(),
        })
    }
}

impl Model {
    /// Works out the model of one schema in canonical form, by itself.
    ///
    /// `scope` says whose schema it is, and picks the rules of one revision; `prose` is the schema's own, by JSON pointer.
    /// Returns an error for each definition without a type, with its place and the rule that would settle it.
    pub fn build(
        schema: &Value,
        scope: &Scope,
        rules: &Rules,
        methods: &MethodRules,
        prose: &SortedMap<String, Markdown>,
    ) -> Result<BuiltModel, Error> {
        built(schema, scope, rules, methods, prose, &Areas::default())
    }
}

/// Works out the model of one schema, whose types lie where those of the same name do that are `known`.
fn built(
    schema: &Value,
    scope: &Scope,
    rules: &Rules,
    methods: &MethodRules,
    prose: &SortedMap<String, Markdown>,
    known: &Areas,
) -> Result<BuiltModel, Error> {
    let schema = Schema::parse(schema, &scope.to_string())?;
    let held = &rules.of(scope);
    let built = draft(schema, scope, held, methods, prose)?;
    let own = Areas::of([&built.model], |method| module(methods.area(method)));
    join::decide(built, scope, held, &known.or(own))
}

impl<'s> Models<'s> {
    /// Works out the models of all revisions. Fails as [`Models::open`], and what is left open for a revision that is released
    /// or a candidate.
    pub fn build(spec: &'s Spec) -> Result<Self, Error> {
        let models = Self::open(spec)?;
        Error::check(models.refused())?;
        Ok(models)
    }

    /// Works out the models of all revisions, with a safe answer for what is left open in any of them. Returns an error for
    /// each definition without a type, and for every rule that matches nothing.
    pub fn open(spec: &'s Spec) -> Result<Self, Error> {
        let (models, idle) = Self::and_idle(spec)?;
        Error::check(idle)?;
        Ok(models)
    }

    /// Opens the models as [`Models::open`] does, and returns every rule that matches nothing beside them. Returns an error for
    /// each definition without a type.
    pub fn and_idle(spec: &'s Spec) -> Result<(Self, Vec<Error>), Error> {
        let rules = &Rules::read(&spec.rules)?;
        let methods = MethodRules::read(spec)?;
        let docs = Docs::read(&spec.rules)?;
        let mut extension_docs = SortedMap::new();
        for of in &spec.extensions {
            if !extension_docs.contains_key(&of.folder) {
                let order = spec
                    .rules
                    .states
                    .get(&of.folder)
                    .unwrap_or(&spec.rules.order);
                let file = spec.rules.get(&of.docs_file());
                extension_docs.insert(of.folder.clone(), Docs::from_file(file, order)?);
            }
        }
        let stated = ErrorRules::read(spec)?;
        let changes = ProseChanges::of(spec)?;
        let mut errors = Vec::new();
        let nothing = SortedMap::new();
        let undecided = spec.revisions.iter().map(|revision| {
            let scope = Scope::Revision(revision.id.clone());
            let schema = Schema::parse(&revision.schema, &scope.to_string())?;
            let built = draft(schema, &scope, &rules.of(&scope), &methods, &nothing)?;
            Ok((revision, scope, built))
        });
        let undecided = Error::apart(undecided, &mut errors);
        // The file of a type is settled by looking at all revisions together.
        let all = undecided.iter().map(|(_, _, built)| &built.model);
        let areas = Areas::of(all, |method| module(methods.area(method)));
        let revisions = undecided.into_iter().map(|(revision, scope, built)| {
            let BuiltModel {
                model,
                mut decisions,
                ..
            } = join::decide(built, &scope, &rules.of(&scope), &areas)?;
            decisions.extend(stated.open(revision, &spec.rules.order));
            Ok(RevisionModel {
                revision,
                model,
                decisions,
            })
        });
        let revisions = Error::apart(revisions, &mut errors);
        let extensions =
            (spec.extensions.iter()).map(|of| ExtensionModel::build(of, rules, &methods, &areas));
        let extensions = Error::apart(extensions, &mut errors);
        Error::check(errors)?;
        let all = revisions
            .iter()
            .map(|of| &of.model)
            .chain(extensions.iter().map(|of| &of.model));
        let mistakes = rules.mistakes(&all.collect::<Vec<_>>());
        let models = Self {
            revisions,
            extensions,
            docs,
            extension_docs,
            stated,
            changes,
            mistakes,
            texts: &spec.rules,
        };
        // A rule can only be called useless once every revision has had a chance to use it.
        Ok((models, rules.unused()))
    }

    /// Rules and doc lines that none of the revisions has use for, each an error with its line. Returns an error for each
    /// definition without a type.
    pub fn needless(spec: &'s Spec) -> Result<Vec<Error>, Error> {
        let (models, mut errors) = Self::and_idle(spec)?;
        errors.extend(models.unused_docs());
        Ok(errors)
    }

    /// Returns errors for the open questions of revisions that may have none, and of extensions.
    pub fn refused(&self) -> Vec<Error> {
        let is_firm = |of: &&RevisionModel<'_>| of.revision.status != RevisionStage::Draft;
        let firm = self
            .revisions
            .iter()
            .filter(is_firm)
            .flat_map(|of| &of.decisions);
        let is_firm = |of: &&ExtensionModel<'_>| of.extension.status() != RevisionStage::Draft;
        let extensions = self.extensions.iter().filter(is_firm);
        let all = firm.chain(extensions.flat_map(|of| &of.decisions));
        all.cloned().map(Decision::refused).collect()
    }

    /// Returns the model of one revision. Fails for an id that is not there, with the ids that there are.
    pub fn get(&self, id: &str) -> Result<&RevisionModel<'s>, Error> {
        self.revisions
            .iter()
            .find(|candidate| candidate.revision.id == id)
            .ok_or_else(|| {
                let known = self.revisions.iter().map(|of| of.revision.id.as_str());
                Error::unknown_revision(id, known)
            })
    }

    /// Returns the pairs of adjacent revisions that are converted, oldest first.
    pub fn shim_pairs(&self) -> Vec<RevisionPair> {
        let chain = self.chain();
        let ids = |at: usize| &*chain[at].revision.id;
        (1..chain.len())
            .map(|at| RevisionPair::new(ids(at - 1), ids(at)))
            .collect()
    }

    /// Returns the pairs of adjacent revisions, and after them those of the extensions.
    pub fn all_pairs(&self) -> Vec<RevisionPair> {
        [self.shim_pairs(), self.extension_pairs()].concat()
    }

    /// Returns the pairs of adjacent states of each extension, before them that of the first one and the last revision whose
    /// core had the feature, and after them that of the state of handlers and the core that took it back.
    pub fn extension_pairs(&self) -> Vec<RevisionPair> {
        let all = self.extensions.iter().map(|of| of.extension);
        RevisionPair::of_extensions(&all.collect::<Vec<_>>())
    }

    /// Returns the definitions and members without a doc line of each revision, and after them of each extension.
    pub fn undocumented(&self) -> Vec<Undocumented> {
        let revisions = self.revisions.iter().map(|of| Undocumented {
            of: of.revision.id.clone(),
            file: DOCS.to_owned(),
            missing: self.docs_of_revision(of).missing(&of.model),
        });
        let extensions = self.extensions.iter().map(|of| Undocumented {
            of: of.extension.name.clone(),
            file: of.extension.docs_file(),
            missing: self.docs_of(of).missing(&of.model),
        });
        revisions.chain(extensions).collect()
    }

    /// Returns the doc lines of a revision: its own, and those of extensions that rest on an earlier revision, for definitions
    /// that it has exactly alike.
    pub fn docs_of_revision<'d>(&'d self, of: &'d RevisionModel<'_>) -> TypeDocs<'d> {
        let revision = of.revision;
        let place = |id: &str| self.revisions.iter().position(|one| one.revision.id == id);
        let is_earlier =
            |one: &&ExtensionModel<'_>| place(&one.extension.revision) < place(&revision.id);
        let lent = self.extensions.iter().filter(is_earlier).filter_map(|one| {
            let ExtensionModel {
                extension, model, ..
            } = one;
            // Alike as upstream has them, or as both are mended.
            let sides = [
                (&extension.raw, &revision.raw),
                (&extension.schema, &revision.schema),
            ];
            let is_alike = |place: &String| {
                let name = place.split('.').next().unwrap_or_default();
                sides.iter().any(|(theirs, own)| {
                    let theirs = definition(theirs, name);
                    theirs.is_some() && theirs == definition(own, name)
                })
            };
            let alike = model
                .types
                .values()
                .filter(|def| def.places.iter().all(is_alike));
            let sections = alike.map(|def| def.doc_key.as_str()).collect();
            Some(LentDocs {
                docs: self.extension_docs.get(&extension.folder)?,
                state: &extension.state,
                sections,
            })
        });
        TypeDocs {
            lent: lent.collect(),
            reference: &revision.reference,
            ..TypeDocs::new(&self.docs, &revision.id)
        }
    }

    /// Returns the doc lines of an extension.
    pub fn docs_of<'d>(&'d self, of: &'d ExtensionModel<'_>) -> TypeDocs<'d> {
        TypeDocs {
            own: (self.extension_docs.get(&of.extension.folder))
                .map(|docs| (docs, of.extension.state.as_str())),
            reference: &of.extension.reference,
            prose: &of.prose,
            ..TypeDocs::new(&self.docs, &of.extension.revision)
        }
    }

    /// Returns doc lines that no revision uses.
    pub fn unused_docs(&self) -> Vec<Error> {
        self.doc_gaps().1
    }

    /// Returns what [`Models::undocumented`] does, and the doc lines that no revision uses.
    pub fn doc_gaps(&self) -> (Vec<Undocumented>, Vec<Error>) {
        // A line is known to be used only once all have been asked for.
        let undocumented = self.undocumented();
        let own = self.extension_docs.values().flat_map(Docs::unused);
        let unused = self.docs.unused().into_iter().chain(own).collect();
        (undocumented, unused)
    }

    /// Returns the revisions that are converted, oldest first: no candidates, and no draft that is another revision.
    pub fn chain(&self) -> Vec<&RevisionModel<'s>> {
        let converted = |of: &&RevisionModel<'_>| {
            of.revision.status != RevisionStage::Candidate && self.twin(of).is_none()
        };
        self.revisions.iter().filter(converted).collect()
    }

    /// Returns the released revision that equals a draft: in its types, and in what its schema says beside them.
    pub fn twin(&self, of: &RevisionModel<'_>) -> Option<&RevisionModel<'s>> {
        self.revisions.iter().find(|other| {
            of.revision.status == RevisionStage::Draft
                && other.revision.status != RevisionStage::Draft
                && other.model == of.model
        })
    }
}

impl<'s> ExtensionModel<'s> {
    fn build(
        extension: &'s ExtensionSpec,
        rules: &Rules,
        methods: &MethodRules,
        areas: &Areas,
    ) -> Result<Self, Error> {
        let scope = Scope::Extension {
            name: extension.folder.clone(),
            state: extension.state.clone(),
            revision: extension.revision.clone(),
            has_older: extension.has_older,
        };
        let (methods, ExtensionSpec { schema, prose, .. }) = (methods.with(extension), extension);
        let BuiltModel {
            model,
            mut decisions,
            prose,
        } = built(schema, &scope, rules, &methods, prose, areas)?;
        decisions.extend(dangling(extension, &scope));
        Ok(Self {
            extension,
            model,
            decisions,
            prose,
        })
    }
}

/// Asks about references to nothing; the proposed errata define what is missing, or take the references out.
fn dangling(extension: &ExtensionSpec, scope: &Scope) -> Vec<Decision> {
    let asks = |one: &Dangling| {
        let places = one.at.len();
        let open = format!(
            "expected a reference to something in this file, found `{}` in {places} places, which is not there",
            one.reference
        );
        let answer = "any JSON is valid there, kept as text".to_owned();
        let settle = missing_definition(scope, one);
        let place = one.at.first().cloned().unwrap_or_default();
        scope.asks(QuestionKind::Shape, place, open, answer, settle)
    };
    extension.dangling.iter().map(asks).collect()
}
