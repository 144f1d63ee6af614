import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { failedToolOutcome, type ToolOutcome } from '../../../src/protocol/content/tools.ts';
import type { CallState } from '../../../src/protocol/run/run.ts';
import type { TowpathErrorCode } from '../../../src/protocol/text/codes.ts';
import {
  editFailureReasonTexts,
  errorCodeTexts,
  errorMessageForUser,
  isErrorCode,
  pathRefusalReasonTexts,
} from '../../../src/protocol/text/codeText.ts';
import { toolNames } from '../../../src/tools/definitions/definitions.ts';
import {
  type CardLine,
  type CardLineInput,
  type CardStatusIcon,
  cardLine,
  cardLineAriaLabel,
  streamedCallCardLine,
} from '../../../webview/cards/cardLine.ts';
import { pieceText } from '../../../webview/cards/cardText.ts';
import { exitCodeMeaning } from '../../../webview/cards/exitText.ts';
import { editProgressFromDraft } from '../../../webview/cards/partialArguments.ts';
import { toolTextTable } from '../../../webview/cards/toolText.ts';
import { root } from '../browser.ts';
import { outcomes, rows, seenOf } from '../cardRows.ts';

/** What no first line says: a code, data, a name of ours with its dot or underscore. */
function checkWords(line: CardLine): void {
  const own = [
    line.verb,
    ...line.object.filter(({ code }) => !code).map(pieceText),
    ...line.outcome.map(pieceText),
  ].join(' ');
  assert.doesNotMatch(own, /[_{}[\]<>`]|undefined|null|NaN|\b[A-Z]{3,}\b/, own);
  for (const name of toolNames()) assert.ok(!own.includes(name), own);
}

describe('The first line of a card', () => {
  it('has words for every tool', () => {
    assert.deepEqual(Object.keys(toolTextTable).filter((name) => !name.startsWith('mcp.')).sort(), [...new Set([...toolNames(), 'task.run'])].sort()); // biome-ignore format: one line
    for (const name of Object.keys(toolTextTable)) assert.ok(rows.some(([one]) => one === name), name); // biome-ignore format: one line
  });

  it('is about the arguments that a call was understood to have', () => {
    const call = { id: 'c', name: 'fs.read', arguments: { input: '{"path": "/src/a.ts"}' } };
    const state: CallState = { status: 'running', understood: { arguments: { path: 'src/a.ts' }, leftOut: ['input'] } };
    const plain = { ...call, arguments: { path: 'src/a.ts' } };
    const line = (one: typeof call | typeof plain, of: CallState) =>
      cardLine({ call: one, state: of, phase: 'Running', now: 0 });
    assert.deepEqual(line(call, state), line(plain, { status: 'running' }));
    assert.equal(cardLineAriaLabel(line(call, { ...state, status: 'waiting' })), 'Read src/a.ts · Queued');
  });

  for (const [name, row] of rows) {
    const [asked, doing, done, not] = row.says;
    it(`of ${name} says: ${done}`, () => {
      const line = (more: Partial<CardLineInput>) => {
        const one = cardLine(seenOf(name, row, more));
        checkWords(one);
        return one;
      };
      const answered = row.data === undefined ? {} : { outcome: { ok: true, data: row.data } as ToolOutcome };
      const plain = { ...row, state: undefined };
      assert.equal(cardLineAriaLabel(cardLine(seenOf(name, plain))), `${asked} · Queued`);
      assert.equal(
        cardLineAriaLabel(cardLine(seenOf(name, plain, { state: { status: 'running', startedAt: 0 } }))),
        doing,
      );
      assert.equal(cardLineAriaLabel(line({ ...answered, state: { status: 'done', ok: true, ms: 40 } })), done);
      const failed = cardLineAriaLabel(
        cardLine(seenOf(name, plain, { outcome: failedToolOutcome('TOOL_EXEC_FAILED', 'a_b {}') })),
      );
      assert.equal(failed, `${not}: it failed`);
    });

    it(`of ${name} tells every other outcome, and names its object: ${done}`, () => {
      for (const [says, mark, seen] of outcomes) {
        const one = cardLine(seenOf(name, { args: row.args }, seen));
        checkWords(one);
        assert.deepEqual([one.mark, one.outcome.map(pieceText).join(' · ')], [mark, says]);
        assert.ok(one.object.length > 0 || name === 'plan.update', says);
      }
    });

    it(`of ${name} has words for every code: ${done}`, () => {
      for (const code of Object.keys(errorCodeTexts) as TowpathErrorCode[]) {
        const state: CallState = { status: 'done', ok: false, code, ms: 5, startedAt: 0 };
        const outcome = failedToolOutcome(code, `${code} x_y {"a":1}`);
        const one = cardLine(seenOf(name, { args: row.args }, { state, outcome }));
        checkWords(one);
        assert.ok(one.mark === 'cross' || one.mark === 'none', code);
        assert.ok(one.outcome.length > 0, code);
      }
    });
  }

  it('says why an edit or a path was refused, in words', () => {
    const says = (name: string, code: 'E_PRECONDITION_FAILED' | 'E_SANDBOX_VIOLATION' | 'ENOENT' | 'TOOL_ARGS_INVALID' | 'TOOL_EXEC_FAILED', message: string, details?: unknown) =>
      cardLineAriaLabel(cardLine(seenOf(name, { args: { path: 'src/a.ts', pattern: '(', name: 'x' } }, { outcome: failedToolOutcome(code, message, details) }))); // biome-ignore format: one line
    for (const [reason, words] of Object.entries(editFailureReasonTexts))
      assert.equal(says('fs.edit', 'E_PRECONDITION_FAILED', 'oldText …', { reason, lines: [] }), `Could not edit src/a.ts: ${words}`);
    for (const [reason, words] of Object.entries(pathRefusalReasonTexts))
      assert.equal(says('fs.read', 'E_SANDBOX_VIOLATION', 'x', { reason }), `Could not read src/a.ts: ${words}`);
    assert.equal(
      says('fs.edit', 'E_PRECONDITION_FAILED', 'x', { reason: 'ABSENT', lines: [12, 13, 18] }),
      'Could not edit src/a.ts: the text was not found (nearest: lines 12-18)',
    );
    assert.equal(
      says('fs.edit', 'E_PRECONDITION_FAILED', 'x', { reason: 'NOT_UNIQUE', lines: [3, 9] }),
      'Could not edit src/a.ts: the text was found more than once (lines 3-9)',
    );
    assert.equal(says('fs.read', 'ENOENT', 'x'), 'Could not read src/a.ts: the file does not exist');
    assert.equal(says('fs.search', 'TOOL_ARGS_INVALID', 'pattern: bad'), 'Could not search ( in src/a.ts: the pattern is invalid');
    assert.equal(says('mcp.docs.get', 'TOOL_EXEC_FAILED', 'The page was moved. Try get_page.'), 'Could not use docs: get “src/a.ts”: The page was moved');
    assert.equal(says('mcp.docs.get', 'TOOL_EXEC_FAILED', '{"error":"x"}'), 'Could not use docs: get “src/a.ts”: it failed');
  }); // biome-ignore format: rows

  const commands: [line: string, data: object, mark: CardStatusIcon, says: string][] = [
    ['npm test', { exitCode: 0 }, 'check', ''],
    ['npm test', { exitCode: 1 }, 'dot', 'exit code 1'],
    ['grep -rn x src', { exitCode: 1 }, 'check', 'no match'],
    ['cat a | grep x', { exitCode: 1 }, 'check', 'no match'],
    ['grep x a', { exitCode: 2 }, 'dot', 'exit code 2'],
    ['npm test; grep x a', { exitCode: 1 }, 'dot', 'exit code 1'],
    ['diff a b', { exitCode: 1 }, 'check', 'they differ'],
    ['npm test', { exitCode: null, signal: 'SIGKILL' }, 'cross', 'was killed'],
    ['cat a', { exitCode: null, cut: 'It wrote more' }, 'cross', 'was stopped: it wrote too much'],
  ];
  for (const [command, data, mark, says] of commands)
    it(`of ${command}, with ${JSON.stringify(data)}, has a ${mark}`, () => {
      const one = cardLine(seenOf('shell.run', { args: { command } }, { outcome: { ok: true, data } }));
      assert.deepEqual([one.mark, one.outcome.map(pieceText).join()], [mark, says]);
    });

  it('of a command that was ended says by what', () => {
    const state: CallState = { status: 'done', ok: false, startedAt: 1, ms: 60_000, code: 'TOOL_TIMEOUT' };
    const says = (outcome: ToolOutcome, code: string) =>
      cardLineAriaLabel(cardLine(seenOf('shell.run', { args: { command: 'npm test' } }, { state: { ...state, code }, outcome })));
    assert.equal(says(failedToolOutcome('TOOL_TIMEOUT', 'x'), 'TOOL_TIMEOUT'), 'Ran npm test · timed out · 1 min');
    const limit = (reason: string) => says(failedToolOutcome('TOOL_EXEC_FAILED', 'x', { reason }), 'TOOL_EXEC_FAILED');
    assert.equal(limit('MEMORY_LIMIT'), 'Ran npm test · was stopped: not enough memory · 1 min');
    assert.equal(limit('PROCESS_LIMIT'), 'Ran npm test · was stopped: too many processes · 1 min');
    assert.equal(limit('DISK_LIMIT'), 'Ran npm test · was stopped: not enough disk space · 1 min');
    assert.equal(says(failedToolOutcome('TOOL_INTERRUPTED', 'Stopped while it ran; x.'), 'TOOL_INTERRUPTED'), 'Ran npm test · you stopped it · 1 min');
  }); // biome-ignore format: rows

  it('knows what the codes of programs mean that only read, and of no other line', () => {
    for (const line of ['grep x a', 'FOO=1 rg x', 'cat a | rg "a;b"', 'git grep x', 'git diff --quiet', 'test -f a', '[ -f a ]', "grep 'a|b' f"])
      assert.ok(exitCodeMeaning(line, 1), line); // biome-ignore format: one line
    for (const line of ['npm test', 'grep x a || false', 'grep x a && npm test', 'grep x $(cat y)', 'git diff', 'grep x a; exit 1', 'grep x a > b && false', 'toString x'])
      assert.equal(exitCodeMeaning(line, 1), undefined, line); // biome-ignore format: one line
  });

  it('of an edit that is being written has its path, and its newest lines', () => {
    const draft = { name: 'fs.write', argumentsText: '{"path":"src/a.ts","content":"one\\ntwo\\nth\\"ree\\nfour\\u00' };
    assert.equal(cardLineAriaLabel(streamedCallCardLine(draft)), 'Writing src/a.ts');
    assert.deepEqual(editProgressFromDraft(draft), {
      lines: 4,
      newest: ['two', 'th"ree', 'four'].map((text) => ({ sign: '+', text })),
    });
    assert.equal(
      editProgressFromDraft({ name: 'fs.edit', argumentsText: '{"path":"a","edits":[{"oldText":"x"' }),
      undefined,
    );
    assert.deepEqual(
      editProgressFromDraft({
        name: 'fs.edit',
        argumentsText: '{"edits":[{"oldText":"x","newText":"a\\\\nb\\nc"}],"path":"a"}',
      })?.newest,
      [
        { sign: '+', text: 'a\\nb' },
        { sign: '+', text: 'c' },
      ],
    );
    assert.deepEqual(editProgressFromDraft({ name: 'fs.apply_patch', argumentsText: '{"patch":"--- a\\n-old\\n+new\\n same' })?.newest.map(({ sign }) => sign).join(''), '-+ '); // biome-ignore format: one line
    const grows = { name: 'fs.write', argumentsText: '{"path":"a","content":"' };
    for (const piece of ['one\\', 'ntwo\\\\', 'n\\n', 'three"}']) {
      grows.argumentsText += piece;
      assert.deepEqual(
        editProgressFromDraft(grows),
        editProgressFromDraft({ ...grows }),
        'piece by piece as all at once',
      );
    }
    assert.equal(editProgressFromDraft(grows)?.lines, 3);
    assert.equal(cardLineAriaLabel(streamedCallCardLine({ name: '', argumentsText: '' })), 'Writing');
  });
});

describe('A card of a model that means harm', () => {
  it('costs no more than its text, and shows no more of it than can be read', () => {
    const long = 'a'.repeat(300_000);
    for (const path of [long, `${long}//`, '/'.repeat(300_000), `${long}\n{"x":`, 'a/'.repeat(150_000)])
      for (const name of Object.keys(toolTextTable)) {
        const args = {
          path,
          command: path,
          pattern: path,
          url: `https://${path}`,
          from: path,
          to: path,
          patch: path,
          name: path,
        };
        const line = cardLine(
          seenOf(
            name,
            { args },
            { state: { status: 'done', ok: false, code: path }, outcome: failedToolOutcome('TOOL_EXEC_FAILED', path) },
          ),
        );
        assert.ok(line.outcome.every((one) => pieceText(one).length < 300));
      }
    assert.ok(exitCodeMeaning('"'.repeat(100_000) + "'".repeat(100_000), 1) === undefined);
  });
});

describe('The words of a code', () => {
  it('are there for every code that stands in the sources', () => {
    const files = (folder: string): string[] =>
      readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((one) => one.isFile() && one.name.endsWith('.ts'))
        .map((one) => path.join(one.parentPath, one.name));
    const found = files(path.join(root, 'src')).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bcode: '([A-Z_]{3,})'|failedEngineResult\('([A-Z_]+)'/g)].map(
        ([, one, other]) => one ?? other!,
      ),
    );
    assert.ok(found.length > 20);
    assert.deepEqual([...new Set(found.filter((code) => !isErrorCode(code)))], []);
  });

  it('are sentences for who has no others', () => {
    assert.equal(
      errorMessageForUser({ code: 'STORE_FULL', message: '' }),
      'The disk is full, so the run is not recorded.',
    );
    assert.equal(errorMessageForUser({ code: 'X', message: 'It broke.' }), 'It broke.');
    for (const words of [errorCodeTexts, pathRefusalReasonTexts, editFailureReasonTexts].flatMap((one) =>
      Object.values(one),
    ))
      assert.match(words, /^[a-z][^_{}.]*$/);
  });
});
