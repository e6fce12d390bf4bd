// Compiles a component of Svelte: svelte.cjs FILE. It prints JavaScript with its source map, without
// the places in column -1 that the compiler writes, for which esbuild refuses a map as a whole.
const { readFileSync } = require('node:fs');
const { basename } = require('node:path');
const { decode, encode } = require('@jridgewell/sourcemap-codec');
const { compile } = require('svelte/compiler');

const [file] = process.argv.slice(2);
const { js } = compile(readFileSync(file, 'utf8'), { filename: basename(file), generate: 'client' });
const lines = decode(js.map.mappings).map((line) => line.filter((place) => place.every((number) => number >= 0)));
const map = { ...js.map, mappings: encode(lines) };
process.stdout.write(js.code + '\n//# sourceMappingURL=data:application/json;base64,' + Buffer.from(JSON.stringify(map)).toString('base64') + '\n');
