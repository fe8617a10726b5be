//! Sample texts, and seeded mutations of them.

/// Texts that are JSON; between them they show every token.
pub(crate) const SAMPLES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,2.5,-3e-7,true,false,null],"é":"ü😀"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":50,"total":1E+2}}"#,
    r#"{"jsonrpc":"2.0","id":"f","result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"_meta":{}}}"#,
    r#"{"jsonrpc":"2.0","id":-0,"error":{"code":-32601,"message":"no \"such\" method\n","data":[[],{},""]}}"#,
    "  [ 0 , -1 , 0.5 ,\t1e5 ,\r\n { \"a\\u0041\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\\\" : [ { } ] } ]  ",
    r#""a long enough string to run through the words, the chunks and the single bytes of the scanner: 0123456789abcdefghijklmnopqrstuvwxyz, twice: 0123456789abcdefghijklmnopqrstuvwxyz""#,
    "-12.75e+10",
    "null",
];

/// A seeded source of numbers.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }
}

/// Every prefix of every sample, and `count` mutations of the samples.
pub(crate) fn broken(count: usize) -> Vec<Vec<u8>> {
    const BYTES: &[u8] = b"{}[]:,\"\\/ \t\n-+.eE0123456789truefalsn\x00\x1f\x7f\xc3\xa9\xff";
    let mut texts = Vec::new();
    for sample in SAMPLES {
        texts.extend((0..=sample.len()).map(|end| sample.as_bytes()[..end].to_vec()));
    }
    let mut random = Random::new(0x5EED);
    for _ in 0..count {
        let mut text = SAMPLES[random.below(SAMPLES.len())].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            let byte = BYTES[random.below(BYTES.len())];
            match random.below(4) {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                2 if text.len() > 1 => drop(text.remove(at)),
                _ => {
                    let from = random.below(text.len());
                    let piece = text[from..text.len().min(from + 5)].to_vec();
                    text.splice(at..at, piece);
                }
            }
        }
        texts.push(text);
    }
    texts
}
