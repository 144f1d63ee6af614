/**
 * Applies the patches of a public corpus, made and recorded for another product, and prints how many are applied as they are meant:
 * `npm run patches`, or `npm run patches -- <folder>` with a copy of the repository. The corpus is fetched into a temporary folder, and
 * never becomes part of this project.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { conversation } from '../tools/conversation.ts';
import { temporaryWorkspace } from './workspace.ts';

const repository = 'https://github.com/microsoft/vscode-copilot-chat';
const corpusFolder = 'src/extension/tools/test/node/applyPatch/corpus';

interface PatchCase {
  name: string;
  file: string;
  before: string;
  patch: string;
  /** The recorded result; without it the patch is read by `expectedOf`. */
  after?: string;
}

/** What became of a case. `blanks`: the same lines, but with other blanks around them. */
type Verdict = 'right' | 'blanks' | 'refused' | 'wrong';

function fetched(): string | undefined {
  const target = mkdtempSync(path.join(tmpdir(), 'patches-'));
  const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    git('clone', '--quiet', '--depth=1', '--filter=blob:none', '--sparse', repository, target);
    git('-C', target, 'sparse-checkout', 'set', corpusFolder);
    return target;
  } catch {
    rmSync(target, { recursive: true, force: true });
    return undefined;
  }
}

async function replay(corpus: string): Promise<void> {
  const counts: { [Name in Verdict]: number } = { right: 0, blanks: 0, refused: 0, wrong: 0 };
  for (const one of casesIn(corpus)) {
    const { verdict, said } = await judge(one);
    counts[verdict] += 1;
    if (verdict !== 'right') console.log(`${verdict.padEnd(8)} ${one.name}: ${said}`);
  }
  const all = Object.values(counts).reduce((sum, count) => sum + count);
  console.log(
    `${all} patches: ${counts.right} applied, ${counts.blanks} applied with other blanks, ${counts.refused} refused, ${counts.wrong} wrong`,
  );
  if (counts.wrong > 0) process.exitCode = 1;
}

async function judge({ file, before, patch, after }: PatchCase): Promise<{ verdict: Verdict; said: string }> {
  const workspace = await temporaryWorkspace({ [file]: before });
  try {
    const outcome = await conversation(workspace).call('fs.apply_patch', { path: file, patch });
    if (!outcome.ok) return { verdict: 'refused', said: outcome.error.message.slice(0, 200).replaceAll('\n', ' ⏎ ') };
    const made = workspace.read(file);
    const wanted = after ?? expectedOf(before, patch);
    const said = (outcome.data as { note?: string }).note ?? '';
    if (made === wanted) return { verdict: 'right', said };
    if (wanted !== undefined && withoutBlanks(made) === withoutBlanks(wanted)) return { verdict: 'blanks', said };
    return { verdict: 'wrong', said: wanted === undefined ? 'no result was expected' : firstDifference(made, wanted) };
  } finally {
    workspace.cleanup();
  }
}

function casesIn(corpus: string): PatchCase[] {
  const read = (name: string) => readFileSync(path.join(corpus, name), 'utf8');
  return readdirSync(corpus).flatMap((name): PatchCase[] => {
    const made = name.endsWith('.patch');
    if (made) {
      const { patch, original, fpath } = JSON.parse(read(name));
      return [{ name, file: path.posix.basename(fpath), before: original, patch }];
    }
    if (!name.endsWith('-call.txt')) return [];
    const stem = name.slice(0, -'-call.txt'.length);
    const patch = read(name);
    const file = /^\*\*\* Update File: (.+)$/m.exec(patch)![1]!;
    const output = `${stem}-output.txt`;
    return [
      {
        name,
        file: path.posix.basename(file),
        before: read(`${stem}-input.txt`),
        patch,
        ...(existsSync(path.join(corpus, output)) && { after: read(output) }),
      },
    ];
  });
}

/** The result of a patch whose hunks are looked for one behind the other, by their lines, or else by them without blanks around. */
function expectedOf(before: string, patch: string): string | undefined {
  const lines = before.split('\n');
  let at = 0;
  for (const hunk of patch.split(/^@@.*$/m).slice(1)) {
    const body = hunk.replace(/\*\*\* End Patch[\s\S]*$/, '').split('\n');
    while (body[0] === '') body.shift();
    while (body.at(-1) === '') body.pop();
    const contentOf = (line: string) => (/^[-+ ]/.test(line) ? line.slice(1) : line);
    const old = body.filter((line) => !line.startsWith('+')).map(contentOf);
    const now = body.filter((line) => !line.startsWith('-'));
    const starts = [...lines.keys()].slice(at);
    const isAt = (start: number, form: (line: string) => string) =>
      old.every((line, index) => form(lines[start + index] ?? '') === form(line));
    const found =
      starts.find((start) => isAt(start, (line) => line)) ?? starts.find((start) => isAt(start, (line) => line.trim()));
    if (found === undefined) return undefined;
    let kept = found;
    const made = now.map((line) => {
      if (line.startsWith('+')) return line.slice(1);
      while (lines[kept]!.trim() !== contentOf(line).trim()) kept += 1;
      return lines[kept++]!;
    });
    lines.splice(found, old.length, ...made);
    at = found + made.length;
  }
  return lines.join('\n');
}

const withoutBlanks = (text: string) =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .join('\n')
    .trim();

function firstDifference(made: string, wanted: string): string {
  const [ours, theirs] = [made.split('\n'), wanted.split('\n')];
  const line = [...ours.keys(), ours.length].find((index) => ours[index] !== theirs[index])!;
  return `line ${line + 1} is ${JSON.stringify(ours[line])}, not ${JSON.stringify(theirs[line])}`;
}

const [given] = process.argv.slice(2);
const folder = given ?? fetched();
const corpus = folder && [path.join(folder, corpusFolder), folder].find((one) => existsSync(path.join(one, '0.patch')));
if (corpus) await replay(corpus);
else {
  console.error(given ? `There is no corpus in ${given}.` : `The corpus could not be fetched from ${repository}.`);
  process.exitCode = 1;
}
if (!given && folder) rmSync(folder, { recursive: true, force: true });
