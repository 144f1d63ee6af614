import { quoteForMessage } from '../core/pathSyntax.ts';
import { type TextSeenByModel, ToolError } from '../core/tool.ts';
import { applyEdits, type EditResult, type SearchReplaceEdit } from './applyEdits.ts';
import { splitLines } from './lines.ts';
import { areSeenLinesUnchanged } from './movedLines.ts';
import { replaceLines } from './replaceLines.ts';

/**
 * Change of one file by a patch. `path` comes from the headers without `a/` and `b/` (undefined without headers); `to` is the new name of a
 * renamed file. `noNewline`: `\ No newline at end of file` followed a line of the old or the new side. `stray` is a change line outside of
 * any hunk, whose hunk ended too early.
 */
export interface FilePatch {
  path?: string;
  to?: string;
  kind: 'change' | 'create' | 'delete' | 'rename' | 'binary';
  hunks: PatchHunk[];
  noNewline: { old?: boolean; now?: boolean };
  stray?: string;
}

/**
 * Hunk of a patch. `start` is the first old line (from 1), if the header has correct counts. `headers` are the texts after `@@`. `atEnd`:
 * `*** End of File` follows.
 */
interface PatchHunk {
  old: string[];
  now: string[];
  start?: number;
  headers?: string[];
  atEnd?: true;
}

/**
 * Parses a unified diff, with or without `diff --git` headers, and the `*** Update File:` form known to some models. Tolerates wrong
 * counts, context lines without the leading blank, code fences, and prose before the first header.
 */
export function parsePatch(text: string): FilePatch[] {
  const files: FilePatch[] = [];
  let file: FilePatch | undefined;
  let hunk: (PatchHunk & { counts?: [number, number] }) | undefined;
  let side: 'old' | 'now' | 'both' = 'both';
  let fenced = false;
  let isNew = false; // the hunk has no line yet
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n/);
  const begin = (kind: FilePatch['kind'], path?: string) => {
    close();
    file = { kind, hunks: [], noNewline: {}, ...(path !== undefined && { path }) };
    files.push(file);
  };
  const open = (hunk_: typeof hunk) => {
    close();
    if (!file) begin('change');
    hunk = hunk_;
    file!.hunks.push(hunk!);
    isNew = true;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    const starred = /^\*\*\* (Update|Add|Delete) File: (.+)$/.exec(line);
    const ranges = /^@@+(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@)?(.*)$/.exec(line);
    if (starred) {
      begin(starKinds[starred[1] as keyof typeof starKinds], starred[2]!.trim());
      if (starred[1] === 'Add') open({ old: [], now: [] });
    } else if (/^\*\*\* Move to: /.test(line) && file) {
      file.kind = 'rename';
      file.to = line.slice('*** Move to: '.length).trim();
    } else if (/^(\*\*\* (Begin Patch|End Patch|End of File)|```)/.test(line)) {
      if (!file) fenced = true;
      if (hunk && line.startsWith('*** End of File')) hunk.atEnd = true;
      close();
    } else if (line.startsWith('diff --git ')) begin('change');
    else if (!wantsMore() && line.startsWith('--- ') && lines[index + 1]?.startsWith('+++ ')) {
      if (!file || file.hunks.length > 0 || file.path !== undefined) begin('change');
      Object.assign(file!, sides(line, lines[index + 1]!, file!.kind));
      index += 1;
      close();
    } else if (ranges) {
      const [start, oldCount = '1', , nowCount = '1', header = ''] = ranges.slice(1);
      const counts = start === undefined ? undefined : ([Number(oldCount), Number(nowCount)] as [number, number]);
      const outer = hunk && isNew && !hunk.counts ? file!.hunks.pop()!.headers : undefined;
      const headers = [...(outer ?? []), header.replace(/\s*@@\s*$/, '')].filter((text) => text.trim() !== '');
      hunk = outer ? undefined : hunk;
      open({
        old: [],
        now: [],
        ...(start !== undefined && { start: Number(start) }),
        ...(counts && { counts }),
        ...(headers.length > 0 && { headers }),
      });
    } else if (!hunk) {
      if (/^(rename|copy) (from|to) /.test(line) && file) file.kind = 'rename';
      if (/^(Binary files |GIT binary patch)/.test(line) && file) file.kind = 'binary';
      if (/^deleted file mode /.test(line) && file) file.kind = 'delete';
      // After the end of a code fence, a dash may begin a list of prose.
      if (/^[-+]/.test(line) && file && file.hunks.length > 0 && !(fenced && /^- \S/.test(line))) file.stray ??= line;
    } else if (line.startsWith('\\')) {
      if (side !== 'now') file!.noNewline.old = true;
      if (side !== 'old') file!.noNewline.now = true;
    } else {
      isNew = false;
      side = line.startsWith('-') ? 'old' : line.startsWith('+') ? 'now' : 'both';
      const content = /^[-+ ]/.test(line) ? line.slice(1) : line;
      if (side !== 'now') hunk.old.push(content);
      if (side !== 'old') hunk.now.push(content);
    }
  }
  close();
  return files;

  /** Tests if the header promises more lines: then `--- x` deletes `-- x`. */
  function wantsMore(): boolean {
    const [old, now] = hunk?.counts ?? [0, 0];
    return hunk !== undefined && hunk.old.length < old && hunk.now.length < now;
  }

  /** Ends a hunk. The patch's final line ending is no context line, and wrong counts carry no position. */
  function close(): void {
    if (!hunk) return;
    const { counts } = hunk;
    const agrees = () => counts?.[0] === hunk!.old.length && counts?.[1] === hunk!.now.length;
    while (!agrees() && hunk.old.at(-1) === '' && hunk.now.at(-1) === '') {
      hunk.old.pop();
      hunk.now.pop();
    }
    if (!agrees()) delete hunk.start;
    delete hunk.counts;
    hunk = undefined;
  }
}

const starKinds = { Update: 'change', Add: 'create', Delete: 'delete' } as const;

function sides(minus: string, plus: string, kind: FilePatch['kind']): Pick<FilePatch, 'kind' | 'path'> {
  const [from, to] = [minus, plus].map((line) => {
    const name = line.slice(4).split('\t')[0]!.trim();
    return /^".*"$/.test(name) ? name.slice(1, -1) : name;
  }) as [string, string];
  if (from === '/dev/null') return { kind: 'create', path: to.replace(/^b\//, '') };
  if (to === '/dev/null') return { kind: 'delete', path: from.replace(/^a\//, '') };
  const prefixed = from.startsWith('a/') && to.startsWith('b/');
  const [old, now] = prefixed ? [from.slice(2), to.slice(2)] : [from, to];
  return { kind: old === now ? kind : 'rename', path: now };
}

/**
 * Applies all hunks, or none. Line numbers are hints, used only if every hunk matches exactly there, and, in a changed file, if the model
 * read the text there.
 * @param seen lines last read by the model, if the file has changed since
 */
export function applyPatch(text: string, file: FilePatch, seen?: TextSeenByModel): EditResult {
  const { hunks, noNewline } = file;
  if (text === '' && hunks.every((hunk) => hunk.old.length === 0)) {
    const lines = hunks.flatMap((hunk) => hunk.now);
    return { ok: true, text: lines.join('\n') + (noNewline.now || lines.length === 0 ? '' : '\n'), matched: 'exact' };
  }
  const result = applyAtHeader(text, hunksWithChanges(file), seen) ?? applyEdits(text, hunks.map(hunkToEdit), seen);
  if (!result.ok) return result;
  if (noNewline.now && !noNewline.old) return { ...result, text: result.text.replace(/(\r\n|\n)$/, '') };
  if (noNewline.old && !noNewline.now && !result.text.endsWith('\n'))
    return { ...result, text: result.text + (text.includes('\r\n') ? '\r\n' : '\n') };
  return result;
}

/** Returns the hunks with changes; the last may change only the final line ending. */
export const hunksWithChanges = ({ hunks, noNewline }: FilePatch): PatchHunk[] =>
  hunks.filter(
    ({ old, now }, index) =>
      old.length !== now.length ||
      old.some((line, at) => line !== now[at]) ||
      (old.length > 0 && index === hunks.length - 1 && noNewline.old !== noNewline.now),
  );

/** Converts a hunk to an edit matched by lines, independent of line numbers. */
export const hunkToEdit = ({ old, now, headers = [], atEnd }: PatchHunk): SearchReplaceEdit => ({
  oldText: old.map((line) => `${line}\n`).join(''),
  newText: now.map((line) => `${line}\n`).join(''),
  lines: true,
  ...((headers.length > 0 || atEnd) && { location: { headers, ...(atEnd && { atEnd }) } }),
});

function applyAtHeader(text: string, hunks: readonly PatchHunk[], seen?: TextSeenByModel): EditResult | undefined {
  const lines = splitLines(text);
  const areInPlace = hunks.every(
    ({ start, old }) =>
      start !== undefined && old.length > 0 && old.every((line, index) => lines[start - 1 + index]?.text === line),
  );
  if (!areInPlace) return undefined;
  const texts = lines.map((line) => line.text);
  if (seen && !hunks.every(({ start, old }) => areSeenLinesUnchanged(texts, seen, start!, old.length)))
    return undefined;
  let made = text;
  for (const { start, old, now } of hunks.toReversed()) {
    const run = { at: old.map((_, index) => start! - 1 + index), similar: new Set<number>(), gaps: [] };
    const result = replaceLines(splitLines(made), run, old, now);
    if ('unsure' in result) return undefined;
    made = result.text;
  }
  return { ok: true, text: made, matched: 'exact' };
}

/** Returns the single file of a patch. Throws `TOOL_ARGS_INVALID` for other patches, with the right call. */
export function parseSingleFilePatch(text: string): FilePatch {
  const files = parsePatch(text).filter((file) => file.hunks.length > 0 || file.kind !== 'change');
  const [file] = files;
  const refuse = (message: string) => new ToolError('TOOL_ARGS_INVALID', `patch: ${message} Nothing was changed.`);
  if (!file) throw refuse('this is no unified diff with "@@" hunks.');
  if (files.length > 1) {
    const calls = files.slice(0, maxFilesNamed).map((one) => `- ${callFor(one)}`);
    const more = files.length > calls.length ? `\n- and so on for ${files.length - calls.length} more` : '';
    throw refuse(`it is for ${files.length} files, and one call changes one. Call:\n${calls.join('\n')}${more}\n`);
  }
  if (file.kind === 'delete') throw refuse('use fs.delete to remove a file.');
  if (file.kind === 'rename') throw refuse(`use fs.move to rename a file, then patch it: ${callFor(file)}.`);
  if (file.kind === 'binary') throw refuse('only text can be patched.');
  if (file.stray !== undefined)
    throw refuse(`${quoteForMessage(file.stray)} stands in no hunk. Begin lines that stay as they are with a blank.`);
  if (hunksWithChanges(file).length === 0)
    throw refuse(file.hunks.some(({ old }) => old.length > 0) ? 'no hunk changes anything.' : 'hunk 1 is empty.');
  return file;
}

const maxFilesNamed = 20;

function callFor(file: FilePatch): string {
  const { kind, path = '?', to } = file;
  const name = quoteForMessage(path.slice(0, 200));
  if (kind === 'delete') return `fs.delete for ${name}`;
  if (kind === 'create') return `fs.apply_patch (or fs.write) for ${name}, which is new`;
  if (kind === 'binary') return `nothing for ${name}: only text can be patched`;
  if (kind !== 'rename') return `fs.apply_patch for ${name} with its hunks alone`;
  const target = to === undefined ? 'its new name' : quoteForMessage(to.slice(0, 200));
  return `fs.move from ${name} to ${target}${hunksWithChanges(file).length > 0 ? `, then fs.apply_patch for ${target}` : ''}`;
}
