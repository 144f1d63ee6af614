import { callsInStartOrder, commandEndTextForModel, type Run, unreportedCommandEnds } from '../../protocol/run/run.ts';
import type { RunLog } from '../core/runLog.ts';

const longestName = 200;

/** Reports ended background commands to the model, each once. Called when every call has a result. */
export async function reportCommandEnds({ run, emit }: Pick<RunLog, 'run' | 'emit'>): Promise<void> {
  const untold = unreportedCommandEnds(run);
  if (untold.length === 0) return;
  const ends = untold.map(([id]) => id);
  await emit({ type: 'message', message: { role: 'system', content: wordsOf(untold) }, ends });
}

const wordsOf = (untold: ReturnType<typeof unreportedCommandEnds>): string =>
  untold
    .map(
      ([
        ,
        {
          command: { line },
          background: { id },
          ended,
        },
      ]) => {
        const name = JSON.stringify(line.length > longestName ? `${line.slice(0, longestName)}…` : line);
        const left = ended.stillRunning?.length ? ` Still running: ${ended.stillRunning.join(', ')}.` : '';
        const read = ended.outputId ? ` What it wrote: output.read with the id ${id}.` : '';
        return `The command ${name} (${id}) in the background ${commandEndTextForModel(ended)}.${left}${read}`;
      },
    )
    .join('\n');

export const outputOfCommand = (run: Run, id: string): string | undefined =>
  callsInStartOrder(run).find(([, { background }]) => background?.id === id)?.[1].ended?.outputId;
