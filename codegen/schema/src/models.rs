//! The models of all revisions and extensions, and the plans of conversions between adjacent revisions.

use crate::sorted::SortedMap;

use serde_json::Value;

use crate::Error;
use crate::analyze::areas::Areas;
use crate::analyze::join;
use crate::decision::{Decision, Question, Scope};
use crate::docs::{Docs, TypeDocs};
use crate::draft::{draft, missing_definition};
use crate::model::{Built, Model};
use crate::open::Undocumented;
use crate::rules::{Mistake, Rules};
use crate::schema::Schema;
use crate::shims::changes::Changes;
use crate::shims::rules::PairRules;
use crate::shims::{self, Pair, PairPlan, Planned, Side};
use crate::spec::errors::ErrorRules;
use crate::spec::methods::{MethodRules, module};
use crate::spec::rules::RuleFile;
use crate::spec::extensions::Dangling;
use crate::spec::{DOCS, Extension, Revision, Spec, Status};

/// The model of one revision, with the revision it is of.
#[derive(Debug)]
pub struct RevisionModel<'s> {
    /// The revision.
    pub revision: &'s Revision,
    /// Its model.
    pub model: Model,
    /// What its schema leaves open, and the model has a safe answer for.
    pub decisions: Vec<Decision>,
}

/// The model of an extension, with the extension it is of.
#[derive(Debug)]
pub struct ExtensionModel<'s> {
    /// The extension.
    pub extension: &'s Extension,
    /// Its model: its own types, and those of the revision that its schema repeats.
    pub model: Model,
    /// What its schema leaves open, and the model has a safe answer for.
    pub decisions: Vec<Decision>,
    /// What its schema says in words, by `Type` or `Type.member`, where the extension is none of the spec.
    pub prose: SortedMap<String, String>,
}

/// The models of all revisions and extensions, and the docs they share.
#[derive(Debug)]
pub struct Models<'s> {
    /// In the order of `revisions.toml`.
    pub revisions: Vec<RevisionModel<'s>>,
    /// In order of their names.
    pub extensions: Vec<ExtensionModel<'s>>,
    /// All doc lines.
    pub docs: Docs,
    /// The doc lines of what extensions add, by folder.
    pub extension_docs: SortedMap<String, Docs>,
    /// What the schemas do not say.
    pub stated: ErrorRules,
    /// What the prose changes between adjacent revisions.
    pub changes: Changes,
    /// What stands for mistakes of peers.
    pub mistakes: Vec<Mistake>,
}

impl Model {
    /// Works out the model of one schema in canonical form, by itself.
    ///
    /// `scope` says whose schema it is, and picks the rules of one revision; `prose` is the
    /// schema's own, by JSON pointer.
    ///
    /// # Errors
    /// What cannot be typed, each with its place and the rule that would settle it.
    pub fn build(
        schema: &Value,
        scope: &Scope,
        rules: &Rules,
        methods: &MethodRules,
        prose: &SortedMap<String, String>,
    ) -> Result<Built, Error> {
        built(schema, scope, rules, methods, prose, &Areas::default())
    }
}

/// Works out the model of one schema, whose types lie where those of the same name do that are `known`.
fn built(
    schema: &Value,
    scope: &Scope,
    rules: &Rules,
    methods: &MethodRules,
    prose: &SortedMap<String, String>,
    known: &Areas,
) -> Result<Built, Error> {
    let schema = Schema::parse(schema, &scope.to_string())?;
    let held = &rules.of(scope);
    let built = draft(&schema, scope, held, methods, prose)?;
    let own = Areas::of([&built.model], |method| module(methods.area(method)));
    join::decide(built, scope, held, &known.or(own))
}

impl<'s> Models<'s> {
    /// Works out the models of all revisions.
    ///
    /// # Errors
    /// As [`Models::open`], and what is left open for a revision that is released or a candidate.
    pub fn build(spec: &'s Spec) -> Result<Self, Error> {
        let models = Self::open(spec)?;
        Error::check(models.refused())?;
        Ok(models)
    }

    /// Works out the models of all revisions, with a safe answer for what is left open in any of them.
    ///
    /// # Errors
    /// What cannot be typed, and every rule that matches nothing.
    pub fn open(spec: &'s Spec) -> Result<Self, Error> {
        let (models, idle) = Self::and_idle(spec)?;
        Error::check(idle)?;
        Ok(models)
    }

    /// Opens the models as [`Models::open`] does, and returns every rule that matches nothing beside them.
    ///
    /// # Errors
    /// What cannot be typed.
    pub fn and_idle(spec: &'s Spec) -> Result<(Self, Vec<Error>), Error> {
        let rules = &Rules::read(&spec.rules)?;
        let methods = MethodRules::read(spec)?;
        let docs = Docs::read(&spec.rules)?;
        let mut extension_docs = SortedMap::new();
        for of in &spec.extensions {
            if !extension_docs.contains_key(&of.folder) {
                let order = spec.rules.states.get(&of.folder).unwrap_or(&spec.rules.order);
                let file = spec.rules.get(&of.docs_file());
                extension_docs.insert(of.folder.clone(), Docs::from_file(file, order)?);
            }
        }
        let stated = ErrorRules::read(spec)?;
        let changes = Changes::of(spec)?;
        let mut errors = Vec::new();
        let nothing = SortedMap::new();
        let undecided = spec.revisions.iter().map(|revision| {
            let scope = Scope::Revision(revision.id.clone());
            let schema = Schema::parse(&revision.schema, &scope.to_string())?;
            let built = draft(&schema, &scope, &rules.of(&scope), &methods, &nothing)?;
            Ok((revision, scope, built))
        });
        let undecided = Error::apart(undecided, &mut errors);
        // Where a type lives is settled by looking at all revisions together.
        let all = undecided.iter().map(|(_, _, built)| &built.model);
        let areas = Areas::of(all, |method| module(methods.area(method)));
        let revisions = undecided.into_iter().map(|(revision, scope, built)| {
            let Built {
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
        let extensions = (spec.extensions.iter())
            .map(|of| ExtensionModel::build(of, rules, &methods, &areas));
        let extensions = Error::apart(extensions, &mut errors);
        Error::check(errors)?;
        let all = revisions.iter().map(|of| &of.model);
        let all = all.chain(extensions.iter().map(|of| &of.model));
        let mistakes = rules.mistakes(&all.collect::<Vec<_>>());
        let models = Self {
            revisions,
            extensions,
            docs,
            extension_docs,
            stated,
            changes,
            mistakes,
        };
        // A rule can only be called useless once every revision has had a chance to use it.
        Ok((models, rules.unused()))
    }

    /// Rules and doc lines that none of the revisions has use for, each an error with its line.
    ///
    /// # Errors
    /// What cannot be typed.
    pub fn needless(spec: &'s Spec) -> Result<Vec<Error>, Error> {
        let (models, mut errors) = Self::and_idle(spec)?;
        errors.extend(models.unused_docs());
        Ok(errors)
    }

    /// Returns what is left open for revisions that may leave nothing open, and for extensions.
    #[must_use]
    pub fn refused(&self) -> Vec<Error> {
        let is_firm = |of: &&RevisionModel<'_>| of.revision.status != Status::Draft;
        let firm = self.revisions.iter().filter(is_firm);
        let firm = firm.flat_map(|of| &of.decisions);
        let is_firm = |of: &&ExtensionModel<'_>| of.extension.status() != Status::Draft;
        let extensions = self.extensions.iter().filter(is_firm);
        let all = firm.chain(extensions.flat_map(|of| &of.decisions));
        all.cloned().map(Decision::refused).collect()
    }

    /// Returns the model of one revision.
    ///
    /// # Errors
    /// An id that is not there, with the ids that there are.
    pub fn get(&self, id: &str) -> Result<&RevisionModel<'s>, Error> {
        self.revisions
            .iter()
            .find(|candidate| candidate.revision.id == id)
            .ok_or_else(|| {
                let known = self.revisions.iter().map(|of| of.revision.id.as_str());
                Error::unknown_revision(id, known)
            })
    }

    /// Returns the definitions and members without a doc line of each revision, and after them of each extension.
    #[must_use]
    pub fn undocumented(&self) -> Vec<Undocumented> {
        let revisions = self.revisions.iter().map(|of| Undocumented {
            of: of.revision.id.clone(),
            file: DOCS.to_owned(),
            missing: TypeDocs::new(&self.docs, &of.revision.id).missing(&of.model),
        });
        let extensions = self.extensions.iter().map(|of| Undocumented {
            of: of.extension.name.clone(),
            file: of.extension.docs_file(),
            missing: self.docs_of(of).missing(&of.model),
        });
        revisions.chain(extensions).collect()
    }

    /// Returns the doc lines of an extension.
    #[must_use]
    pub fn docs_of<'d>(&'d self, of: &'d ExtensionModel<'_>) -> TypeDocs<'d> {
        TypeDocs {
            own: (self.extension_docs.get(&of.extension.folder))
                .map(|docs| (docs, of.extension.state.as_str())),
            reference: &of.extension.reference,
            prose: &of.prose,
            ..TypeDocs::new(&self.docs, &of.extension.revision)
        }
    }

    /// Returns doc lines that no revision uses; asks for every line first.
    #[must_use]
    pub fn unused_docs(&self) -> Vec<Error> {
        let _ = self.undocumented();
        let own = self.extension_docs.values().flat_map(Docs::unused);
        self.docs.unused().into_iter().chain(own).collect()
    }

    /// Plans the conversions between adjacent revisions: those that can be negotiated, and drafts that differ; and
    /// those between an extension and the core that had the feature before. A change to a draft without a rule is listed
    /// in [`PairPlan::open`].
    ///
    /// # Errors
    /// Every change between released revisions without a rule, and every rule without a change.
    pub fn plan_shims(&self, spec: &Spec) -> Result<Vec<PairPlan>, Error> {
        let mut errors = Vec::new();
        let pairs = self.all_pairs();
        let files: Vec<String> = pairs.iter().map(Pair::file).collect();
        let plans = pairs.iter().zip(&files);
        let plans = plans.map(|(pair, name)| self.plan_pair(pair, spec.rules.get(name)));
        let plans = Error::apart(plans, &mut errors);
        errors.extend(self.changes.faults(&pairs));
        // Rules between revisions that are not adjacent would never be looked at.
        for (name, file) in spec.rules.iter() {
            if Pair::is_rule_file(name) && !files.iter().any(|known| known == name) {
                let problem = "no two adjacent revisions of that name are converted";
                let help = format!("known: {}", files.join(", "));
                errors.push(Error::file(file.path.as_str(), problem, "", help));
            }
        }
        Error::check(errors)?;
        Ok(plans)
    }

    /// Returns the pairs of adjacent revisions that are converted, oldest first.
    #[must_use]
    pub fn shim_pairs(&self) -> Vec<Pair> {
        let chain = self.chain();
        let ids = |at: usize| &*chain[at].revision.id;
        (1..chain.len())
            .map(|at| Pair::new(ids(at - 1), ids(at)))
            .collect()
    }

    /// Returns the pairs of adjacent revisions, and after them those of the extensions.
    #[must_use]
    pub fn all_pairs(&self) -> Vec<Pair> {
        [self.shim_pairs(), self.extension_pairs()].concat()
    }

    /// Returns the pairs of adjacent states of each extension, and before them that of the first one and the last revision
    /// whose core had the feature.
    #[must_use]
    pub fn extension_pairs(&self) -> Vec<Pair> {
        let all = self.extensions.iter().map(|of| of.extension);
        Pair::of_extensions(&all.collect::<Vec<_>>())
    }

    /// Plans the conversions of a pair by the rules in a file.
    ///
    /// # Errors
    /// As [`Models::plan_shims`].
    pub fn plan_pair(&self, pair: &Pair, file: RuleFile) -> Result<PairPlan, Error> {
        let mut extensions = self.extensions.iter();
        match extensions.find(|of| of.extension.name == pair.new) {
            Some(of) => self.plan_extension(pair, of, file),
            None => self.plan_adjacent(pair, file),
        }
    }

    /// Plans the conversions between the methods that a core or an older state had for a feature and those of a state of its
    /// extension.
    fn plan_extension(
        &self,
        pair: &Pair,
        of: &ExtensionModel<'_>,
        file: RuleFile,
    ) -> Result<PairPlan, Error> {
        let ExtensionModel {
            extension, model, ..
        } = of;
        let base = self.get(&extension.revision)?;
        let mut older = self.extensions.iter();
        let older = older.find(|other| other.extension.name == pair.old);
        let (before, old) = match older {
            Some(older) => {
                let own = older.extension.methods.iter().map(|method| &method.name);
                let model = with_methods(&older.model, &own.collect::<Vec<_>>());
                (self.get(&older.extension.revision)?, model)
            }
            None => {
                let before = self.get(&pair.old)?;
                let of_core = extension.core.iter().flat_map(|core| &core.methods);
                (before, with_methods(&before.model, &of_core.collect::<Vec<_>>()))
            }
        };
        let own = extension.methods.iter().map(|method| &method.name);
        let new = with_methods(model, &own.collect::<Vec<_>>());
        // What the codes of errors mean is the business of the revisions.
        // The errors of an extension are those of the revision that it rests on.
        let sent = [before, base].map(|of| sent(&self.stated, of.revision));
        let [old_codes, new_codes] = &sent;
        let old = Side {
            id: &pair.old,
            model: &old,
            ..side(before, old_codes)
        };
        let new = Side {
            id: &extension.name,
            model: &new,
            ..side(base, new_codes)
        };
        let is_draft = |of: &ExtensionModel<'_>| of.extension.status() == Status::Draft;
        let may_be_open = is_draft(of) || older.is_some_and(is_draft);
        let mut plan = self.planned(pair, [old, new], file, may_be_open)?;
        // So are the types that the extension repeats.
        plan.alike.retain(|name| base.model.get(name).is_none());
        Ok(plan)
    }

    fn plan_adjacent(&self, pair: &Pair, file: RuleFile) -> Result<PairPlan, Error> {
        let (old, new) = (self.get(&pair.old)?, self.get(&pair.new)?);
        let sent = [old, new].map(|of| sent(&self.stated, of.revision));
        let [old_codes, new_codes] = &sent;
        let is_draft = |of: &RevisionModel<'_>| of.revision.status == Status::Draft;
        let sides = [side(old, old_codes), side(new, new_codes)];
        self.planned(pair, sides, file, is_draft(old) || is_draft(new))
    }

    /// Returns the rules of two adjacent revisions that match nothing, among rules that may be unfinished.
    pub(crate) fn idle_rules(&self, pair: &Pair, file: RuleFile) -> Result<Vec<Error>, Error> {
        let (old, new) = (self.get(&pair.old)?, self.get(&pair.new)?);
        let [old_codes, new_codes] = [old, new].map(|of| sent(&self.stated, of.revision));
        let (rules, _) = PairRules::unfinished(file)?.answering(&self.changes, pair);
        let _ = shims::plan(side(old, &old_codes), side(new, &new_codes), &rules);
        Ok(rules.unused())
    }

    /// Plans a pair, which `may_be_open` or not: then what no rule answers is an error.
    fn planned(
        &self,
        pair: &Pair,
        [old, new]: [Side<'_>; 2],
        file: RuleFile,
        may_be_open: bool,
    ) -> Result<PairPlan, Error> {
        let (rules, unanswered) = PairRules::read(file)?.answering(&self.changes, pair);
        let Planned { plan, mut faults } = shims::plan(old, new, &rules);
        if !may_be_open {
            faults.extend(plan.open.iter().cloned().map(Decision::refused));
        }
        faults.extend(unanswered);
        Error::check(faults)?;
        Ok(plan)
    }

    /// Returns the revisions that are converted, oldest first: no candidates, and no draft that is another revision.
    #[must_use]
    pub fn chain(&self) -> Vec<&RevisionModel<'s>> {
        let converted = |of: &&RevisionModel<'_>| {
            of.revision.status != Status::Candidate && self.twin(of).is_none()
        };
        self.revisions.iter().filter(converted).collect()
    }

    /// Returns the released revision that equals a draft: in its types, and in what its schema says beside them.
    #[must_use]
    pub fn twin(&self, of: &RevisionModel<'_>) -> Option<&RevisionModel<'s>> {
        self.revisions.iter().find(|other| {
            of.revision.status == Status::Draft
                && other.revision.status != Status::Draft
                && other.model == of.model
        })
    }
}

impl<'s> ExtensionModel<'s> {
    fn build(
        extension: &'s Extension,
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
        let (methods, Extension { schema, prose, .. }) = (methods.with(extension), extension);
        let Built {
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
fn dangling(extension: &Extension, scope: &Scope) -> Vec<Decision> {
    let asks = |one: &Dangling| {
        let places = one.at.len();
        let open = format!(
            "expected a reference to something in this file, found `{}` in {places} places, which is not there",
            one.reference
        );
        let answer = "any JSON is valid there, kept as text".to_owned();
        let settle = missing_definition(scope, one);
        let place = one.at.first().cloned().unwrap_or_default();
        scope.asks(Question::Shape, place, open, answer, settle)
    };
    extension.dangling.iter().map(asks).collect()
}

fn side<'m>(of: &'m RevisionModel<'_>, errors: &'m [(i64, String)]) -> Side<'m> {
    Side {
        id: &of.revision.id,
        wire: &of.revision.wire,
        model: &of.model,
        errors,
    }
}

/// A model with these methods alone.
fn with_methods(model: &Model, names: &[&String]) -> Model {
    let mut model = model.clone();
    model.methods.retain(|method| names.contains(&&method.name));
    model
}

/// The error codes that a peer of a revision may send: those that are said of it, and what else its schema carries.
fn sent(codes: &ErrorRules, revision: &Revision) -> Vec<(i64, String)> {
    let said = (codes.errors.iter())
        .filter(|error| error.send && error.revisions.contains(&revision.id))
        .map(|error| (error.code, error.name.clone()));
    let unlisted = codes.unlisted(revision).into_iter();
    said.chain(unlisted.map(|(code, name)| (code, name.to_owned())))
        .collect()
}
