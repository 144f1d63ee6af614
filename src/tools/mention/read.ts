import { counted } from '../../protocol/counted.ts';
import type { Mention, Mentioned } from '../../protocol/mention.ts';
import type { Attachment } from '../../protocol/messages.ts';
import type { Policy } from '../../protocol/policy.ts';
import { contextTool } from '../code/context.ts';
import { diagnosticsTool } from '../code/diagnostics.ts';
import type { Language } from '../code/language.ts';
import { listTool } from '../files/list.ts';
import { searchPlaces, workspacePath } from '../files/places.ts';
import { fileReadTool } from '../files/read.ts';
import { ripgrep } from '../files/ripgrep.ts';
import { isInLeftover } from '../gate/leftovers.ts';
import { resolvePath } from '../gate/paths.ts';
import { keptFromSearch } from '../gate/policy.ts';
import { quoted } from '../gate/spelling.ts';
import { WithImages } from '../images.ts';
import { judge } from '../subject.ts';
import { type Tool, type ToolContext, ToolError } from '../tool.ts';
import type { Workspace } from '../workspace.ts';

/** Files of a folder that are looked at, and read; characters that one folder takes. */
const [mostNames, mostFiles, mostOfFolder] = [500, 50, 40_000];
/** Characters below which nothing is begun. */
const least = 200;
/** Files of a folder that were not read and are named. */
const mostUnread = 100;

/** What it takes to read what a person names. */
export interface Reading {
  workspace: Workspace;
  language: Language;
  /** The person's, for the run that it is said to. */
  policy: Policy;
  /** What is not committed, in so many characters. Throws an `Error` with a sentence. */
  changes(characters: number, signal: AbortSignal): Promise<{ text: string; note?: string; why?: string }>;
  signal: AbortSignal;
}

/**
 * What a message names, as files that go with it: read now, in so many characters at most, and as the tools would: within the open
 * folders, and nothing that may hold secrets or that a rule denies or asks about, which the model can ask to read. What was not read is
 * said to both. Never throws.
 */
export async function readMentions(
  mentions: readonly Mention[],
  most: number,
  reading: Reading,
): Promise<Attachment[]> {
  let left = most;
  const files: Attachment[] = [];
  for (const mention of mentions) {
    const read = await readOne(mention, left, reading);
    left -= read.reduce((sum, { mediaType, data }) => sum + (mediaType === textType ? data.length * 0.75 : 0), 0);
    files.push(...read);
  }
  return files;
}

const textType = 'text/plain';

/** What one mention comes to. `text` is data: it stands in a fence that nothing in it ends. */
interface Read {
  name: string;
  text: string;
  told: Omit<Mentioned, 'kind'>;
}

async function readOne(mention: Mention, left: number, reading: Reading): Promise<Attachment[]> {
  try {
    reading.signal.throwIfAborted();
    if (left < least) throw new ToolError('E_READ_LIMIT', 'What this message names is more than can go with it.');
    if (mention.kind === 'file') {
      const given = await readFile(mention.path, left, reading);
      if (given instanceof WithImages) return given.images.map((image) => ({ ...image }));
      return [asFile(mention.kind, given)];
    }
    const read = { folder: readFolder, selection, problems, changes }[mention.kind];
    return [asFile(mention.kind, await read(mention as never, left, reading))];
  } catch (error) {
    const why = reading.signal.aborted ? 'It took too long.' : error instanceof Error ? error.message : String(error);
    const name = 'path' in mention ? mention.path : mention.kind;
    const text = `(Not read with this message: ${why} If it matters, use the tools; the person is asked where that is needed.)`;
    const path = 'path' in mention && { path: mention.path };
    return [asFile(mention.kind, { name, text, told: { ...path, note: 'not read', why } })];
  }
}

const asFile = (kind: Mentioned['kind'], { name, text, told }: Read): Attachment => ({
  mediaType: textType,
  data: Buffer.from(text).toString('base64'),
  name,
  mention: { kind, ...told },
});

/** The text of a file, or its picture. */
async function readFile(path: string, left: number, reading: Reading): Promise<Read | WithImages> {
  const given = await run(fileReadTool, { path }, reading);
  if (given instanceof WithImages) return given;
  const { text, endLine, totalLines, note, path: name } = given as FileGiven;
  const { short, lines } = cutAt(text, left, endLine);
  const isCut = lines < totalLines;
  const part = isCut && `Lines 1-${lines} of ${totalLines}; fs.read reads on.`;
  return {
    name,
    text: [fenced(short), ...[part, note].filter(Boolean).map((one) => `(${one})`)].join('\n'),
    told: {
      path: name,
      ...(isCut && { note: `lines 1-${lines} of ${totalLines}`, why: `The rest of ${quoted(name)} is not read.` }),
    },
  };
}

interface FileGiven {
  path: string;
  text: string;
  endLine: number;
  totalLines: number;
  note?: string;
}

/** Whole lines, as many as fit; one that is too long in part. */
function cutAt(text: string, most: number, endLine: number): { short: string; lines: number } {
  if (text.length <= most) return { short: text, lines: endLine };
  const end = text.lastIndexOf('\n', most);
  const short = text.slice(0, end > 0 ? end : most);
  return { short, lines: short.split('\n').length };
}

async function readFolder({ path }: { path: string }, left: number, reading: Reading): Promise<Read> {
  await checkFree(listTool, { path }, reading);
  const folder = await resolvePath(reading.workspace.roots, path, 'list');
  const names = await namesBelow(folder.relative, reading);
  const room = Math.min(left, mostOfFolder);
  const parts: string[] = [];
  const unread: string[] = [];
  let characters = 0;
  for (const name of names.slice(0, mostNames)) {
    if (reading.signal.aborted) throw reading.signal.reason;
    const why = parts.length >= mostFiles ? 'too many' : await partOf(name);
    if (why) unread.push(`${name} (${why})`);
  }
  const all = `${names.length > mostNames ? `more than ${mostNames}` : names.length}`;
  const others = names.length > mostNames ? [`more than ${mostNames} files in all`] : [];
  const rest = [...unread.slice(0, mostUnread), ...(unread.length > mostUnread ? ['…'] : []), ...others];
  const isWhole = rest.length === 0;
  const list = isWhole ? [] : [`(Not read: ${rest.join(', ')})`];
  return {
    name: `${folder.relative}/`,
    text: [
      ...parts,
      ...list,
      ...(names.length === 0 ? ['(There are no files in it, ignored ones left out.)'] : []),
    ].join('\n\n'),
    told: {
      path: folder.relative,
      note: isWhole ? counted(names.length, 'file') : `${parts.length} of ${all} files`,
      ...(!isWhole && { why: `Not read: ${rest.slice(0, 20).join(', ')}${rest.length > 20 ? ' …' : ''}.` }),
    },
  };

  /** Takes a file in, or says in a word or two why not. */
  async function partOf(name: string): Promise<string | undefined> {
    try {
      const { size } = await resolvePath(reading.workspace.roots, name, 'read');
      if (characters + size > room) return 'no room';
      const given = await run(fileReadTool, { path: name }, reading);
      if (given instanceof WithImages) return 'a picture';
      const { text, endLine, totalLines } = given as FileGiven;
      if (endLine < totalLines || characters + text.length > room) return 'no room';
      characters += text.length;
      parts.push(`${name}:\n${fenced(text)}`);
      return undefined;
    } catch (error) {
      if (reading.signal.aborted) throw error;
      return error instanceof NotFree ? error.inShort : 'not a text that can be read';
    }
  }
}

/** The files below a folder that no ignore file leaves out, in order; one more than is looked at says that there are more. */
async function namesBelow(folder: string, { workspace, signal }: Reading): Promise<string[]> {
  const names: string[] = [];
  for (const place of await searchPlaces(workspace, folder)) {
    const onName = (name: string) => {
      const path = workspacePath(place, name);
      if (!isInLeftover(path)) names.push(path);
      return names.length <= mostNames;
    };
    await ripgrep(workspace, place, ['--files', '--sort=path'], onName, signal);
  }
  return names;
}

async function selection(_: unknown, left: number, reading: Reading): Promise<Read> {
  const { active } = (await run(contextTool(reading.language), {}, reading)) as ContextGiven;
  const { path = '', selection: selected, outside, secret } = active ?? {};
  if (outside) throw new ToolError('E_SANDBOX_VIOLATION', 'What is selected is in no file of the open folders.');
  if (secret) throw new ToolError('TOOL_DENIED', `${quoted(path)} may hold secrets, or is kept by a rule of yours.`);
  if (!selected) throw new ToolError('E_PRECONDITION_FAILED', 'Nothing is selected in the editor.');
  const { short } = cutAt(selected.text, left, selected.endLine);
  const isCut = selected.cut || short.length < selected.text.length;
  return {
    name: `${path}:${selected.startLine}-${selected.endLine}`,
    text: `${fenced(short)}${isCut ? '\n(The rest of what is selected did not fit.)' : ''}`,
    told: { path, line: selected.startLine, ...(isCut && { note: 'its beginning', why: 'The rest did not fit.' }) },
  };
}

interface ContextGiven {
  active?: {
    path: string;
    outside?: true;
    secret?: true;
    selection?: { startLine: number; endLine: number; text: string; cut?: true };
  };
}

async function problems(_: unknown, left: number, reading: Reading): Promise<Read> {
  const given = (await run(diagnosticsTool(reading.language), {}, reading)) as ProblemsGiven;
  const { errors, warnings, files, cut } = given;
  const text = files.map(({ path, lines }) => [`${path}:`, ...lines.map((line) => `  ${line}`)].join('\n')).join('\n');
  const { short } = cutAt(text, left, 0);
  const isCut = cut !== undefined || short.length < text.length;
  const none = files.length === 0;
  return {
    name: 'problems',
    text: none
      ? '(The editor knows of no problems.)'
      : `${fenced(short)}${isCut ? '\n(There are more: code.diagnostics.)' : ''}`,
    told: {
      note: none ? 'none' : `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
      ...(isCut && { why: 'Not all of them fit.' }),
    },
  };
}

interface ProblemsGiven {
  errors: number;
  warnings: number;
  files: { path: string; lines: string[] }[];
  cut?: string;
}

async function changes(_: unknown, left: number, { changes, signal }: Reading): Promise<Read> {
  const { text, ...told } = await changes(left, signal);
  return { name: 'changes', text: fenced(text), told };
}

class NotFree extends ToolError {
  constructor(
    readonly inShort: 'asked about' | 'denied',
    why: string,
  ) {
    super('TOOL_DENIED', why);
  }
}

/** What a tool that only reads gives, where that takes nobody's yes. */
async function run(tool: Tool, args: unknown, reading: Reading): Promise<unknown> {
  await checkFree(tool, args, reading);
  return tool.run!(args, quiet(reading));
}

/** Throws where a call of the tool would be denied or asked about. */
async function checkFree(tool: Tool, args: unknown, reading: Reading): Promise<void> {
  const { policy, workspace } = reading;
  const plan = await tool.plan?.(args, quiet(reading));
  const { effect, byRule, reason } = await judge({ tool, args, plan }, policy, { grants: new Set() }, workspace);
  if (effect === 'deny') throw new NotFree('denied', reason);
  if (plan) throw new NotFree('asked about', plan.why);
  // Who names a thing has said yes to what is asked about because everything is. A rule is about this very thing.
  if (effect === 'ask' && byRule) throw new NotFree('asked about', reason);
}

/** Nothing is told or kept of it but what goes with the message. */
const quiet = ({ workspace, policy, signal }: Reading): ToolContext => ({
  runId: '',
  toolCallId: '',
  workspace,
  signal,
  keptFromSearch: (place) => keptFromSearch(policy, place),
  output: () => undefined,
  leaves: async () => undefined,
  commandStarted: () => undefined,
  commandGoesOn: () => undefined,
  keepOutput: async () => '',
  keptOutput: async () => undefined,
  ask: () => Promise.reject(new Error('Nobody is asked.')),
});

function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}
