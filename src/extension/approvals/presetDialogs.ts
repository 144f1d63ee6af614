import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';

interface AutopilotQuestion {
  when: 'ask' | 'askWhenQuiet';
  text: string;
  /** Sentence about the end of Autopilot. */
  duration: string;
  offersSandbox: boolean;
}

/** Asks for agreement to Autopilot. Undefined: nothing changes. */
export async function confirmAutopilot(
  dialogs: Dialogs,
  { when, text, duration, offersSandbox }: AutopilotQuestion,
): Promise<'autopilot' | 'sandbox' | undefined> {
  const [sandbox, autopilot] = [t('Use Sandbox'), t('Turn On Autopilot')];
  const unasked = t(
    'Commands, web pages and MCP tools run without approval, with your permissions. Protected files and secrets still ask.',
  );
  const chosen = await dialogs[when]({
    text: escapeInvisibleInLine(text),
    detail: `${unasked} ${duration}`,
    buttons: [t('Keep Asking'), ...(offersSandbox ? [sandbox] : []), autopilot],
  });
  if (chosen === autopilot) return 'autopilot';
  return chosen === sandbox ? 'sandbox' : undefined;
}

/** Asks for agreement to the sandbox as the preset of all runs. */
export async function confirmSandbox(dialogs: Pick<Dialogs, 'ask'>): Promise<boolean> {
  const use = t('Use Sandbox');
  const chosen = await dialogs.ask({
    text: t(sandboxQuestion),
    detail: `${t(sandboxEffect)} ${t('It holds for every workspace that you trust. Change it in Approvals…')}`,
    buttons: [t('Keep Asking'), use],
  });
  return chosen === use;
}

export const sandboxQuestion = 'Run commands in a sandbox without approval?';
export const sandboxEffect =
  'Commands and edits can then change files in this workspace only, and you can undo their changes. Network access and other folders still ask.';
