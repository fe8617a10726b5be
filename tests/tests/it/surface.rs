//! The public items of the crates that people wrote, as a text that is read in review: a change of the API is seen there.
//!
//! `BLESS=1 cargo test -p mcp-tests --test it surface` writes the texts anew: read the difference before you keep it. Items that
//! macros make are not among them, and neither are hidden ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens as _;
use syn::visit_mut::VisitMut;

/// The crates, by their folders in `runtime/`; that folder itself is one of them.
const CRATES: [&str; 8] = [
    "", "auth", "bridge", "convert", "core", "hooks", "sansio", "wire",
];

/// A module of a crate: its items, and which of the modules below it are public.
#[derive(Default)]
struct Module {
    items: Vec<syn::Item>,
    public: BTreeSet<String>,
}

/// A crate by its modules; the path of the root is empty.
type Modules = BTreeMap<Vec<String>, Module>;

#[test]
fn the_public_items_of_each_crate_are_those_of_its_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in CRATES {
        let folder = root.join("runtime").join(folder);
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let package = manifest["package"]["name"].as_str().unwrap();
        let mut modules = Modules::new();
        let lib = folder.join("src/lib.rs");
        read(&mut modules, &lib, &folder.join("src"), Vec::new());
        let text = surface(&modules, &package.replace('-', "_"));
        let path = root.join("tests/surface").join(format!("{package}.txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let held = fs::read_to_string(&path).unwrap_or_default();
        let differs = held.lines().zip(text.lines()).find(|(old, new)| old != new);
        assert!(
            held == text,
            "the public items of {package} are not those of {}, first at {differs:?}: run with BLESS=1 to write it, and read \
             the difference",
            path.display()
        );
    }
}

/// Reads a file of a crate, and the files of the modules that it names; those lie in `folder`.
fn read(modules: &mut Modules, file: &Path, folder: &Path, path: Vec<String>) {
    let text = fs::read_to_string(file).unwrap();
    let items = syn::parse_file(&text).unwrap().items;
    add(modules, items, folder, path);
}

fn add(modules: &mut Modules, items: Vec<syn::Item>, folder: &Path, path: Vec<String>) {
    for item in items {
        let is_public = matches!(visibility(&item), Some(syn::Visibility::Public(_)));
        if is_left_out(&item) {
            continue;
        }
        let syn::Item::Mod(module) = item else {
            modules.entry(path.clone()).or_default().items.push(item);
            continue;
        };
        let name = module.ident.to_string();
        let own = modules.entry(path.clone()).or_default();
        own.public.extend(is_public.then(|| name.clone()));
        let below = [path.clone(), vec![name.clone()]].concat();
        match (module.content, named_file(&module.attrs)) {
            (Some((_, items)), _) => add(modules, items, &folder.join(&name), below),
            (None, Some(file)) => {
                let file = folder.join(file);
                read(modules, &file, &file.with_extension(""), below);
            }
            (None, None) => {
                let inner = folder.join(&name);
                let files = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
                let file: PathBuf = files.into_iter().find(|file| file.exists()).unwrap();
                read(modules, &file, &inner, below);
            }
        }
    }
}

/// Returns the file that `#[path = ".."]` names.
fn named_file(attributes: &[syn::Attribute]) -> Option<String> {
    let of = attributes.iter().find(|it| it.path().is_ident("path"))?;
    let syn::Meta::NameValue(pair) = &of.meta else {
        return None;
    };
    let text = pair.value.to_token_stream().to_string();
    Some(text.trim_matches('"').to_owned())
}

/// Returns whether nobody sees an item: it is hidden, or there for tests.
fn is_left_out(item: &syn::Item) -> bool {
    let texts = attributes(item)
        .iter()
        .map(|it| it.meta.to_token_stream().to_string());
    texts
        .into_iter()
        .any(|text| text == "cfg (test)" || text == "doc (hidden)")
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(of) => &of.attrs,
        syn::Item::Enum(of) => &of.attrs,
        syn::Item::Fn(of) => &of.attrs,
        syn::Item::Impl(of) => &of.attrs,
        syn::Item::Mod(of) => &of.attrs,
        syn::Item::Static(of) => &of.attrs,
        syn::Item::Struct(of) => &of.attrs,
        syn::Item::Trait(of) => &of.attrs,
        syn::Item::Type(of) => &of.attrs,
        syn::Item::Use(of) => &of.attrs,
        _ => &[],
    }
}

fn visibility(item: &syn::Item) -> Option<&syn::Visibility> {
    match item {
        syn::Item::Const(of) => Some(&of.vis),
        syn::Item::Enum(of) => Some(&of.vis),
        syn::Item::Fn(of) => Some(&of.vis),
        syn::Item::Mod(of) => Some(&of.vis),
        syn::Item::Static(of) => Some(&of.vis),
        syn::Item::Struct(of) => Some(&of.vis),
        syn::Item::Trait(of) => Some(&of.vis),
        syn::Item::Type(of) => Some(&of.vis),
        syn::Item::Use(of) => Some(&of.vis),
        _ => None,
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(of) => &of.ident,
        syn::Item::Enum(of) => &of.ident,
        syn::Item::Fn(of) => &of.sig.ident,
        syn::Item::Static(of) => &of.ident,
        syn::Item::Struct(of) => &of.ident,
        syn::Item::Trait(of) => &of.ident,
        syn::Item::Type(of) => &of.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Writes the items that users of a crate reach, module by module, each under the first path that leads to it.
fn surface(modules: &Modules, name: &str) -> String {
    let mut shown = Shown {
        modules,
        at: BTreeMap::new(),
        sections: BTreeMap::new(),
    };
    shown.module(&[], &[name.to_owned()]);
    let mut text = String::new();
    for (path, items) in shown.sections {
        let items: Vec<syn::Item> = items.into_values().flatten().collect();
        let file = syn::File {
            shebang: None,
            frontmatter: None,
            attrs: Vec::new(),
            items,
        };
        text.push_str(&format!("// {path}\n\n{}\n", prettyplease::unparse(&file)));
    }
    text
}

/// What has been written of a crate.
struct Shown<'a> {
    modules: &'a Modules,
    /// The public path of each item, by its own path.
    at: BTreeMap<Vec<String>, String>,
    /// The items of each public path, by their names.
    sections: BTreeMap<String, BTreeMap<String, Vec<syn::Item>>>,
}

impl Shown<'_> {
    /// Adds what is public in a module, which users reach by `public`.
    fn module(&mut self, path: &[String], public: &[String]) {
        let Some(module) = self.modules.get(path) else {
            return;
        };
        for item in &module.items {
            match item {
                syn::Item::Use(of) if matches!(of.vis, syn::Visibility::Public(_)) => {
                    self.import(path, public, &mut Vec::new(), &of.tree);
                }
                item => {
                    if let Some(name) = name_of(item) {
                        self.item(path, &name, &name, public);
                    }
                }
            }
        }
        for name in &module.public {
            let below = |path: &[String]| [path, std::slice::from_ref(name)].concat();
            self.module(&below(path), &below(public));
        }
    }

    /// Adds what a `pub use` leads to.
    fn import(
        &mut self,
        path: &[String],
        public: &[String],
        leads: &mut Vec<String>,
        tree: &syn::UseTree,
    ) {
        match tree {
            syn::UseTree::Path(step) => {
                leads.push(step.ident.to_string());
                self.import(path, public, leads, &step.tree);
                leads.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(path, public, leads, tree);
                }
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.named(path, public, leads, (&name, &name));
            }
            syn::UseTree::Rename(name) => {
                let names = (name.ident.to_string(), name.rename.to_string());
                self.named(path, public, leads, (&names.0, &names.1));
            }
            syn::UseTree::Glob(_) => match self.resolved(path, leads) {
                Some(module) => self.module(&module, public),
                None => self.elsewhere(public, leads, "*", "*"),
            },
        }
    }

    fn named(
        &mut self,
        path: &[String],
        public: &[String],
        leads: &[String],
        (name, shown): (&str, &str),
    ) {
        if name == "self" {
            return self.elsewhere(public, leads, name, shown);
        }
        let Some(module) = self.resolved(path, leads) else {
            return self.elsewhere(public, leads, name, shown);
        };
        let below = [module.as_slice(), &[name.to_owned()]].concat();
        if self.modules.contains_key(&below) {
            self.module(&below, &[public, &[shown.to_owned()]].concat());
        }
        self.item(&module, name, shown, public);
    }

    /// Returns the module of this crate that a path leads to; `None` if it is of another crate.
    fn resolved(&self, path: &[String], leads: &[String]) -> Option<Vec<String>> {
        let mut module = match leads.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") | None => path.to_vec(),
            Some(first) => {
                let below = [path, &[first.to_owned()]].concat();
                self.modules.contains_key(&below).then_some(path.to_vec())?
            }
        };
        for step in leads {
            match step.as_str() {
                "crate" | "self" => {}
                "super" => drop(module.pop()),
                name => module.push(name.to_owned()),
            }
        }
        Some(module)
    }

    /// Adds the re-export of an item of another crate.
    fn elsewhere(&mut self, public: &[String], leads: &[String], name: &str, shown: &str) {
        let path = [leads, &[name.to_owned()]].concat().join("::");
        self.reexport(public, &path, shown);
    }

    fn reexport(&mut self, public: &[String], path: &str, shown: &str) {
        let path = path.strip_suffix("::self").unwrap_or(path);
        let last = path.rsplit("::").next();
        let text = if last == Some(shown) || shown == "self" {
            format!("pub use {path};")
        } else {
            format!("pub use {path} as {shown};")
        };
        let item = syn::parse_str(&text).unwrap();
        let section = self.sections.entry(public.join("::")).or_default();
        section.entry(text).or_default().push(item);
    }

    /// Adds the items of a name in a module.
    fn item(&mut self, path: &[String], name: &str, shown: &str, public: &[String]) {
        let found: Vec<&syn::Item> = self
            .modules
            .get(path)
            .into_iter()
            .flat_map(|module| &module.items)
            .filter(|item| name_of(item).as_deref() == Some(name))
            .filter(|item| matches!(visibility(item), Some(syn::Visibility::Public(_))))
            .collect();
        if found.is_empty() {
            // It came to the module from elsewhere.
            return self.through(path, name, shown, public);
        }
        let key = [path, &[name.to_owned()]].concat();
        if let Some(first) = self.at.get(&key).cloned() {
            return self.reexport(public, &first, shown);
        }
        let first = [public, &[shown.to_owned()]].concat().join("::");
        self.at.insert(key, first);
        let mut items: Vec<syn::Item> = found.into_iter().map(bare).collect();
        items.extend(self.impls(name));
        let section = self.sections.entry(public.join("::")).or_default();
        let entry = section.entry(shown.to_owned()).or_default();
        // An implementation of each feature may be written the same way.
        let mut written = BTreeSet::new();
        items.retain(|item| written.insert(item.to_token_stream().to_string()));
        entry.extend(items);
    }

    /// Follows the imports of a module by which it has a name.
    fn through(&mut self, path: &[String], name: &str, shown: &str, public: &[String]) {
        let Some(module) = self.modules.get(path) else {
            return;
        };
        let mut found = None;
        for item in &module.items {
            if let syn::Item::Use(of) = item {
                let mut leads = Vec::new();
                found = found.or_else(|| imported(&of.tree, name, &mut leads));
            }
        }
        let Some((leads, name)) = found else { return };
        match self.resolved(path, &leads) {
            Some(module) if module != path => self.item(&module, &name, shown, public),
            Some(_) => {}
            None => self.elsewhere(public, &leads, &name, shown),
        }
    }

    /// Returns the public methods of a type and the traits that it has, without their bodies.
    fn impls(&self, name: &str) -> Vec<syn::Item> {
        let all = self.modules.values().flat_map(|module| &module.items);
        let mut impls = Vec::new();
        for item in all {
            let syn::Item::Impl(of) = item else { continue };
            let syn::Type::Path(owner) = &*of.self_ty else {
                continue;
            };
            if owner.path.segments.last().is_none_or(|it| it.ident != name) {
                continue;
            }
            let mut of = of.clone();
            match &of.trait_ {
                Some(_) => of.items.clear(),
                None => of.items.retain(is_public_part),
            }
            if of.trait_.is_some() || !of.items.is_empty() {
                impls.push(bare(&syn::Item::Impl(of)));
            }
        }
        impls
    }
}

/// Returns the path of modules and the name that an import gives this name to.
fn imported(
    tree: &syn::UseTree,
    name: &str,
    leads: &mut Vec<String>,
) -> Option<(Vec<String>, String)> {
    match tree {
        syn::UseTree::Path(step) => {
            leads.push(step.ident.to_string());
            let found = imported(&step.tree, name, leads);
            leads.pop();
            found
        }
        syn::UseTree::Group(group) => {
            let mut trees = group.items.iter();
            trees.find_map(|tree| imported(tree, name, leads))
        }
        syn::UseTree::Name(of) => (of.ident == name).then(|| (leads.clone(), name.to_owned())),
        syn::UseTree::Rename(of) => {
            (of.rename == name).then(|| (leads.clone(), of.ident.to_string()))
        }
        syn::UseTree::Glob(_) => None,
    }
}

fn is_public_part(item: &syn::ImplItem) -> bool {
    let (visibility, attributes) = match item {
        syn::ImplItem::Const(of) => (&of.vis, &of.attrs),
        syn::ImplItem::Fn(of) => (&of.vis, &of.attrs),
        syn::ImplItem::Type(of) => (&of.vis, &of.attrs),
        _ => return false,
    };
    let is_hidden = attributes
        .iter()
        .any(|it| it.meta.to_token_stream().to_string() == "doc (hidden)");
    matches!(visibility, syn::Visibility::Public(_)) && !is_hidden
}

/// Returns an item without docs, bodies and what is private in it.
fn bare(item: &syn::Item) -> syn::Item {
    let mut item = item.clone();
    Bare.visit_item_mut(&mut item);
    item
}

/// Takes out docs, bodies and private fields.
struct Bare;

impl VisitMut for Bare {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        let kept = ["derive", "non_exhaustive", "must_use"];
        attributes.retain(|it| kept.iter().any(|name| it.path().is_ident(name)));
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.clear();
    }

    fn visit_item_const_mut(&mut self, item: &mut syn::ItemConst) {
        item.expr = syn::parse_quote!(..);
        syn::visit_mut::visit_item_const_mut(self, item);
    }

    fn visit_item_struct_mut(&mut self, item: &mut syn::ItemStruct) {
        let is_public = |field: &syn::Field| matches!(field.vis, syn::Visibility::Public(_));
        match &mut item.fields {
            syn::Fields::Named(fields) => {
                let all = std::mem::take(&mut fields.named);
                fields.named = all.into_iter().filter(is_public).collect();
            }
            syn::Fields::Unnamed(fields) => {
                let all = std::mem::take(&mut fields.unnamed);
                fields.unnamed = all.into_iter().filter(is_public).collect();
            }
            syn::Fields::Unit => {}
        }
        syn::visit_mut::visit_item_struct_mut(self, item);
    }
}
