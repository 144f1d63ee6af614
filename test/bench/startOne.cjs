// node startOne.cjs <program> [activate]: prints the milliseconds of CPU time that loading an extension's program costs this process,
// where `vscode` has every name and does nothing; with `activate`, its activation as well.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');

/** Can be read, called and made, and is the same again. */
const anything = () => {
  const known = new Map();
  const get = (target, name) => {
    if (name === Symbol.toPrimitive) return () => '';
    if (name === 'prototype') return target.prototype;
    if (name === 'then' || name === '__esModule' || typeof name === 'symbol') return undefined;
    if (!known.has(name)) known.set(name, anything());
    return known.get(name);
  };
  return new Proxy(function Anything() {}, { get, set: () => true, apply: anything, construct: anything });
};

const types = readFileSync(require.resolve('@types/vscode/index.d.ts'), 'utf8');
const names = [...types.matchAll(/^\texport (?:namespace|class|enum|const|function|let) (\w+)/gm)].map(
  ([, name]) => name,
);
const declared = Object.fromEntries(names.map((name) => [name, anything()]));
const rest = anything(); // names that only the editor's own extensions know
const vscode = new Proxy(declared, { get: (_, name) => declared[name] ?? rest[name] });

const load = Module._load;
Module._load = function (request, ...others) {
  return request === 'vscode' ? vscode : load.call(this, request, ...others);
};

const program = path.resolve(process.argv[2]);
const packageJSON = JSON.parse(readFileSync(path.join(path.dirname(program), '../package.json'), 'utf8'));
const context = { extensionUri: anything(), extension: { packageJSON }, subscriptions: [] };
const before = process.cpuUsage();
const extension = require(program);
if (process.argv[3] === 'activate') extension.activate(context);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
process.exit();
