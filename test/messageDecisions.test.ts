import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { messageDecisions, unlinked } from './support/messageDecisions.ts';

const root = path.resolve(import.meta.dirname, '..');
const sources = (folder: string) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(root, folder, file));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  root,
);

/** Files that may go by the words of a text, and the reason. */
const exceptions: readonly { file: string; code: RegExp; why: string }[] = [
  { file: 'src/protocol/run/formerText.ts', code: /./, why: 'text that earlier versions stored without a code' },
  { file: 'src/protocol/text/l10n.ts', code: /bundle/, why: 'sentences are the keys of their translations' },
  { file: 'src/build/manifestText.ts', code: /keys/, why: 'sentences are the keys of their translations' },
  { file: 'src/protocol/text/networkReason.ts', code: /ERR_/, why: 'a code of Chromium, which has no field for it' },
  { file: 'src/workflows/read/check.ts', code: /received undefined/, why: 'an issue of zod, which has no code for it' },
  { file: 'src/workflows/template/template.ts', code: /Unknown statement/, why: 'an error of the template parser' },
  { file: 'src/extension/editor/problems.ts', code: /left/, why: 'problems of language servers, which have no ids' },
  {
    file: 'src/tools/policy/rules.ts',
    code: /readOnlyCommandsRuleId/,
    why: 'the id of a row, as it is stored in rules',
  },
  { file: 'src/tools/commands/grants/launchers.ts', code: /docker compose exec/, why: 'words of a command line' },
  { file: 'src/protocol/content/promptBlocks.ts', code: /NODE_BRIEF/, why: 'a format that the same file writes' },
  { file: 'src/engine/context/promptMessages.ts', code: /summaryHeading/, why: 'a summary as the same file writes it' },
  { file: 'src/extension/doctor/doctorChecks.ts', code: /epor/, why: 'the answer of a model that is tried' },
  { file: 'webview/cards/commandCard.ts', code: /npm/, why: 'the output of npm' },
  {
    file: 'src/tools/commandSandbox/linux/overlayNamespace.ts',
    code: /busy/,
    why: 'the output of mount, which has one exit code for all errors',
  },
  { file: 'webview/markdown/links.ts', code: /anchor/, why: 'an address' },
  { file: 'src/check/tasks/calling.ts', code: /failing/, why: 'a line that the task itself prints' },
];

/** Other folders read the text of providers, programs and files, which have no codes. */
const readsStored = (file: string) => /^(webview|src\/(engine|extension|protocol|runs))\//.test(file);

/** Holds the invariant `codes-decide`. */
describe('decisions by the words of a message', () => {
  it('are made nowhere: messages have codes', () => {
    const found = messageDecisions([...sources('src'), ...sources('webview')], options, root, readsStored);
    const isException = (one: string) =>
      exceptions.find(({ file, code }) => one.startsWith(`${file}:`) && code.test(one));
    assert.deepEqual(
      found.filter((one) => !isException(one)),
      [],
    );
    const unused = exceptions.filter((exception) => !found.some((one) => isException(one) === exception));
    assert.deepEqual(unused, []);
  });

  it('are not needed for the buttons of an error: what it names is linked', () => {
    const folders = ['src/engine', 'src/llm', 'src/runs', 'src/extension/models'];
    assert.deepEqual(unlinked(folders.flatMap(sources), root), []);
  });

  it('are noticed in every form', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'decisions-'));
    try {
      const file = path.join(folder, 'a.ts');
      const text = `
declare const error: { message: string; code: string } | undefined;
declare const record: { note?: string };
declare const run: { english: string; automatic?: string; name: string };
const closedMessage = 'The editor closed this run.';
const begins = 'It wrote';
const pattern = /^Allowed by (.*)/;
const sentences = ['It ends a command.', 'It only reads files.'] as const;
const table: Record<string, number> = {};
export const all = [
  error?.message === closedMessage,
  error!.message !== 'Stopped.',
  run.name === closedMessage,
  (error?.message ?? '').startsWith('Too many'),
  error!.message.trim().toLowerCase().includes(begins),
  /pattern/.test(error?.message ?? ''),
  pattern.exec(run.automatic!),
  run.english.match(/\\*Towpath: (.*)\\*/),
  sentences.find((one) => one === run.name),
  (sentences as readonly string[]).includes(run.english),
  table[error!.message],
  new Set<string>().has(run.english),
  new Map<string, string>().get(error!.message),
];
const match = (forms: readonly string[], text: string) => forms.includes(text);
export const inText = [
  run.name.startsWith('Of files that you opened'),
  /^The user( has)? changed (.*)$/.exec(run.name),
  match(sentences, run.name),
  record.note === 'not read',
];
switch (run.english) {
  case 'It failed':
}
export const fine = [
  error?.code === 'ENGINE_ABORTED',
  error?.message === '',
  /[.!?]$/.test(error?.message ?? ''),
  error?.message.startsWith('{'),
  run.name === 'closed',
  run.name.startsWith('git log'),
  /^[a-z] [a-z] (?<name>\\w+)$/.test(run.name),
  match(['--all'], run.name),
];
`;
      writeFileSync(file, text);
      const lines = messageDecisions([file], { ...options, types: [] }, folder).map((one) =>
        Number(/:(\d+) /.exec(one)![1]),
      );
      assert.deepEqual(lines, [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 27, 28, 29, 30, 33]);
      writeFileSync(
        file,
        "withMessageLinks(message('Run *Towpath: A*.'), {});\nmessage('Run *Towpath: A*.');\nmessage('It is towpath.model.');",
      );
      assert.deepEqual(unlinked([file], folder), ['a.ts:2', 'a.ts:3']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
