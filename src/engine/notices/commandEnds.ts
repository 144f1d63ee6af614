import type { SystemNote } from '../../protocol/content/messages.ts';
import {
  callsInStartOrder,
  commandEndMessageForUser,
  commandEndTextForModel,
  type Run,
  unreportedCommandEnds,
} from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import type { RunLog } from '../core/runLog.ts';

const longestName = 200;

/** Reports ended background commands to the model, each once. Called when every call has a result. */
export async function reportCommandEnds({ run, emit }: Pick<RunLog, 'run' | 'emit'>): Promise<void> {
  const unreported = unreportedCommandEnds(run);
  if (unreported.length === 0) return;
  const ends = unreported.map(([id]) => id);
  const note = noteOf(unreported[0]!);
  await emit({ type: 'message', message: { role: 'system', content: commandEndsText(unreported), note }, ends });
}

const commandEndsText = (unreported: ReturnType<typeof unreportedCommandEnds>): string =>
  unreported
    .map(
      ([
        ,
        {
          command: { line },
          background: { id },
          ended,
        },
      ]) => {
        const name = JSON.stringify(nameOf(line));
        const left = ended.stillRunning?.length ? ` Still running: ${ended.stillRunning.join(', ')}.` : '';
        const read = ended.outputId ? ` What it wrote: output.read with the id ${id}.` : '';
        const note = ended.note ? ` ${ended.note}` : '';
        return `The command ${name} (${id}) in the background ${commandEndTextForModel(ended)}.${left}${note}${read}`;
      },
    )
    .join('\n');

function noteOf([, { command, ended }]: ReturnType<typeof unreportedCommandEnds>[number]): SystemNote {
  const line = message(
    'The model is informed: the background command “{0}” {1}',
    nameOf(command.line),
    commandEndMessageForUser(ended),
  );
  if (!ended.stillRunning?.length) return { line };
  return {
    line: { english: '{0}. {1}', values: [line, message('Still running: {0}', ended.stillRunning.join(', '))] },
  };
}

const nameOf = (line: string): string => shortenText(line, longestName);

export const backgroundCommandOutputId = (run: Run, id: string): string | undefined =>
  callsInStartOrder(run).find(([, { background }]) => background?.id === id)?.[1].ended?.outputId;
