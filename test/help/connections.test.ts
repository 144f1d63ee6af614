import assert from 'node:assert/strict';
import path from 'node:path';
import { asking, connecting, programFiles } from '../support/connecting.ts';
import { networkConnections, networkOccasions, startedPrograms } from '../support/help/connections.ts';
import { readPage } from '../support/help/pages.ts';

const root = path.resolve(import.meta.dirname, '../..');
const source = programFiles(path.join(root, 'src'));
const named = (...tables: (readonly { by: readonly string[] }[])[]) => new Set(tables.flat().flatMap(({ by }) => by));
const how = 'name it in a row of test/support/help/connections.ts, then `npm run page`';

describe('the table of what leaves this machine', () => {
  const rows = named(networkConnections, startedPrograms);
  const found = new Map([...source].map(([file, text]) => [file, connecting(file, text)]));

  it('has a row for whatever in the program can open a connection or start a program', () => {
    const silent = [...found].filter(([file, why]) => why.length > 0 && !rows.has(file));
    assert.deepEqual(silent, [], how);
  });

  it('has no row for what does neither', () => {
    assert.deepEqual(
      [...rows].filter((file) => (found.get(file) ?? []).length === 0),
      [],
    );
  });

  it('has a row for whatever asks a model, and for nothing else', () => {
    const asks = [...source].filter(([file, text]) => asking(file, text).length > 0).map(([file]) => file);
    assert.deepEqual(asks.sort(), [...named(networkOccasions)].sort(), how);
  });

  it('has nothing in the panel', () => {
    const panel = programFiles(path.join(root, 'webview'));
    assert.deepEqual(
      [...panel].filter(([file, text]) => connecting(`webview/${file}`, text).length > 0),
      [],
    );
  });

  it('is on the page, and nothing of a page comes from elsewhere when it is shown', () => {
    const page = readPage('privacy');
    for (const { what } of [...networkConnections, ...networkOccasions, ...startedPrograms])
      assert.ok(page.includes(`| ${what} |`), what);
  });

  const planted: [what: string, text: string, ...why: string[]][] = [
    ['a request', "await fetch('https://example.com');", 'uses fetch'],
    ['one by another name', 'const { fetch: get } = globalThis;', 'uses fetch'],
    ['one by its name as a text', "await globalThis['fetch'](url);", 'uses fetch'],
    ['one that is handed on', 'connect({ fetch });', 'uses fetch'],
    ['one of something that is not ours', 'await window.fetch(url);', 'uses fetch'],
    ['a socket', "import { connect } from 'node:net';", 'imports node:net'],
    ['a socket beside a look', "import { connect, isIP } from 'node:net';", 'imports node:net'],
    ['a socket without its prefix', "import net from 'net';", 'imports net'],
    ['a socket of the browser', "const socket = new WebSocket('wss://example.com');", 'uses WebSocket'],
    ['a program', "const { spawn } = await import('node:child_process');", 'imports node:child_process'],
    ['a package that nobody has looked at', "import { init } from '@sentry/node';", 'imports @sentry/node'],
    ['what is loaded by a name that is worked out', 'await import(name);', 'imports what it is told'],
    ['what is required', "const http = require('node:http');", 'uses require'],
    ['telemetry of the editor', 'vscode.env.createTelemetryLogger(sender);', 'uses createTelemetryLogger'],
    ['a sign-in', "await vscode.authentication.getSession('github', []);", 'uses getSession'],
    ['a model of the editor', 'const [model] = await vscode.lm.selectChatModels();', 'uses selectChatModels'],
    ['a page that is opened', "await vscode.commands.executeCommand('vscode.open', uri);", 'runs vscode.open'],
    ['what is passed on', "export { request } from 'node:https';", 'imports node:https'],
    ['a class of it', 'class Live extends WebSocket {}', 'uses WebSocket'],
    ['code that is made', "new Function('return fe' + 'tch')();", 'uses Function'],
    ['a terminal', "vscode.window.createTerminal('x').sendText('curl example.com');", 'uses createTerminal'],
    ['all of it passed on', "export * from 'node:http2';", 'imports node:http2'],
    ['our own way', "import { sendHttpRequest } from './transport/http.ts';", 'connects by llm/transport/http.ts'],
    ['our own way, all of it', "import * as http from './transport/http.ts';", 'connects by llm/transport/http.ts'],
  ];
  for (const [what, text, ...why] of planted)
    it(`would notice ${what}`, () => assert.deepEqual(connecting('llm/new.ts', text), why));

  const quiet: [what: string, text: string][] = [
    ['a type', "import type { Socket } from 'node:net'; type Get = typeof fetch;"],
    ['types alone', "import { type Socket } from 'node:net';"],
    ['an interface of it', 'interface Line extends EventSource {} class Own implements WebSocket {}'],
    ['a look at an address', "import { isIP } from 'node:net';"],
    ['a method of that name', 'class Fetcher { async fetch() { await this.downloads.fetch(); } }'],
    ['a word about it', "// fetch('https://example.com')\nconst text = 'fetch';"],
    ['a name of our own', "import { isLoopback } from './http.ts';"],
  ];
  for (const [what, text] of quiet)
    it(`does not mind ${what}`, () => assert.deepEqual(connecting('llm/new.ts', text), []));
});
