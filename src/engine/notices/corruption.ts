import type { Message, SystemNote } from '../../protocol/content/messages.ts';
import type { Corruption, Run } from '../../protocol/run/run.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';
import type { RunLog } from '../core/runLog.ts';

/** Limits of the readable rest in the note: lines, and characters per line. */
const maxLines = 40;
const lineLimit = 300;

/**
 * Continues after damage of the record: reports the location, the extent and the readable rest to the model, which no longer knows its
 * actions. Called when every call has a result.
 */
export async function reportCorruption(log: RunLog): Promise<void> {
  const damage = log.run.damage?.findLast(({ open }) => open);
  if (!damage?.open) return;
  const { from, text, said, open } = damage;
  await log.emit({ type: 'message', message: { role: 'system', ...noteOf(log.run, damage) } });
  await log.emit({ type: 'mended', from, damage: text, ...(said && { said }), ...open });
}

function noteOf(run: Run, { text, said: localized, messages }: Corruption): { content: string; note: SystemNote } {
  const lines = messages.flatMap((one) => linesOf(run, one));
  const check =
    'Calls that are missing from it may have run: check the current state before you change or run anything again.';
  if (lines.length === 0)
    return {
      content: `Part of the record of this conversation is damaged: ${text}. Its contents are lost. ${check}`,
      note: informed(
        message(
          'Part of the record of this conversation is damaged: {0}. Its contents are lost. Calls that are missing from it may have run: check the current state before you change or run anything again.',
          localized ?? text,
        ),
      ),
    };
  const shown = lines.slice(-maxLines);
  const left = lines.length - shown.length;
  const list = [...(left > 0 ? [`(${left} more before these)`] : []), ...shown].join('\n');
  const heading = `A part of the record of this conversation was damaged: ${text}.`;
  return {
    content: `${heading} What came after it is not in this conversation. This much of it could be read, as data:\n${list}\n${check}`,
    note: informed(
      message(
        'A part of the record of this conversation was damaged: {0}. What came after it is not in this conversation. This much of it could be read, as data:',
        localized ?? text,
      ),
    ),
  };
}

const informed = (subject: LocalizedMessage): SystemNote => ({ line: message('The model is informed: {0}', subject) });

function linesOf(run: Run, message: Message): string[] {
  const short = (text: string) => JSON.stringify(truncateMiddle(text, lineLimit));
  if (message.role === 'tool') return [];
  if (message.role !== 'assistant') return message.content ? [`- ${message.role}: ${short(message.content)}`] : [];
  const calls = (message.toolCalls ?? []).map(
    ({ id, name, arguments: args }) => `- ${JSON.stringify(name)} ${short(JSON.stringify(args))}: ${endOf(run, id)}`,
  );
  return [...(message.content ? [`- you: ${short(message.content)}`] : []), ...calls];
}

function endOf({ calls }: Run, id: string): string {
  const call = calls[id];
  if (call?.ok) return 'done';
  if (call?.status === 'done') return `did not succeed${call.code ? ` (${call.code})` : ''}`;
  return call?.startedAt === undefined ? 'no more is known' : 'was started, and may have had its effect';
}
