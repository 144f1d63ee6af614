import { toMentionNotes } from '../../protocol/content/mention.ts';
import { type LocalizedMessage, localizedCount, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { ResultWithImages } from '../core/imageFiles.ts';
import { fsReadTool } from '../files/read.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import { fsListTool } from '../search/list.ts';
import { listFilesBelow } from '../search/listFiles.ts';
import {
  checkReadAllowed,
  type MentionContext,
  type MentionedFileText,
  ReadNotAllowedError,
  type ResolvedMention,
  runAllowedReadTool,
  wrapInCodeFence,
} from './mentionLimits.ts';

const [maxNames, maxFiles, maxOfFolder] = [500, 50, 40_000];
const maxUnread = 100;

export async function readMentionedFolder(
  { path }: { path: string },
  left: number,
  reading: MentionContext,
): Promise<ResolvedMention> {
  await checkReadAllowed(fsListTool, { path }, reading);
  const folder = await resolvePathForReading(reading.workspace, path, 'list');
  const names = await namesOf(folder.relative, reading);
  const budget = Math.min(left, maxOfFolder);
  const parts: string[] = [];
  const unread: LocalizableText[] = [];
  let characters = 0;
  for (const name of names.slice(0, maxNames)) {
    if (reading.signal.aborted) throw reading.signal.reason;
    const why = parts.length >= maxFiles ? message('too many') : await partOf(name);
    if (why) unread.push(joinLocalizableTexts([name, ' (', why, ')'], ''));
  }
  const others = names.length > maxNames ? [message('more than {0} files in all', maxNames)] : [];
  const rest = [...unread.slice(0, maxUnread), ...(unread.length > maxUnread ? ['…'] : []), ...others];
  const isWhole = rest.length === 0;
  const list = isWhole ? [] : [`(Not read: ${rest.map(toEnglishText).join(', ')})`];
  return {
    name: `${folder.relative}/`,
    text: [
      ...parts,
      ...list,
      ...(names.length === 0 ? ['(There are no files in it, ignored ones left out.)'] : []),
    ].join('\n\n'),
    mention: {
      path: folder.relative,
      ...toMentionNotes({
        note: isWhole ? localizedCount(names.length, 'file') : partNote(parts.length, names.length),
        ...(!isWhole && { why: unreadNote(rest) }),
      }),
    },
  };

  async function partOf(name: string): Promise<LocalizedMessage | undefined> {
    try {
      const { size } = await resolvePathForReading(reading.workspace, name, 'read');
      if (characters + size > budget) return message('no space');
      const given = await runAllowedReadTool(fsReadTool, { path: name }, reading);
      if (given instanceof ResultWithImages) return message('a picture');
      const { text, endLine, totalLines } = given as MentionedFileText;
      if (endLine < totalLines || characters + text.length > budget) return message('no space');
      characters += text.length;
      parts.push(`${name}:\n${wrapInCodeFence(text)}`);
      return undefined;
    } catch (error) {
      if (reading.signal.aborted) throw error;
      return error instanceof ReadNotAllowedError ? error.inShort : message('not readable text');
    }
  }
}

const partNote = (read: number, all: number): LocalizedMessage =>
  all > maxNames ? message('{0} of more than {1} files', read, maxNames) : message('{0} of {1} files', read, all);

function unreadNote(rest: readonly LocalizableText[]): LocalizedMessage {
  const names = joinLocalizableTexts(rest.slice(0, 20), ', ');
  return message('Not read: {0}.', rest.length > 20 ? joinLocalizableTexts([names, ' …'], '') : names);
}

// Returns one name above the limit to indicate more.
async function namesOf(folder: string, { workspace, signal }: MentionContext): Promise<string[]> {
  const names: string[] = [];
  const onName = (path: string) => {
    names.push(path);
    return names.length <= maxNames;
  };
  await listFilesBelow(workspace, folder, onName, signal, true);
  return names;
}
