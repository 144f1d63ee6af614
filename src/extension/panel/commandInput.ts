import type { PanelState, ViewMessage } from '../../protocol/panel/panelMessages.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';

/** Returns the commands in the background, and those that wait for the user. */
export const commandsForPanel = ({
  atWork,
  prompts,
}: Pick<BackgroundCommands, 'atWork' | 'prompts'>): Pick<PanelState, 'commands' | 'prompts'> => ({
  commands: atWork.map(({ id, runId, line, startedAt, network }) => ({
    id,
    runId,
    line,
    startedAt,
    ...(network && { isSandboxed: true as const }),
  })),
  prompts: prompts?.waiting ?? [],
});

/** Gives what the user has typed to the command that waits for it. The text is in no error. */
export function answerCommand(
  { runId, toolCallId, text }: Extract<ViewMessage, { type: 'command-input' }>,
  { prompts }: Pick<BackgroundCommands, 'prompts'>,
): void {
  if (!prompts?.answer({ runId, toolCallId }, text))
    throw new UserFacingError(message('The command no longer waits for input.'));
}
