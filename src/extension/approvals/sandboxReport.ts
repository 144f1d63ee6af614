import { type ApprovalPreset, approvalPresetNames } from '../../protocol/content/policy.ts';
import { escapeInvisible } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../tools/core/commandSandbox.ts';

interface SandboxState {
  availability: SandboxAvailability;
  trusted: boolean;
  /** Effective preset. */
  preset: ApprovalPreset;
  /** Open folders, absolute. */
  workspace: readonly string[];
  /** Hosts that rules open for sandboxed commands. */
  hosts: readonly string[];
}

/** Renders the state of the sandbox in a window as Markdown. */
export function sandboxReport(state: SandboxState): string {
  const { availability, trusted } = state;
  const lines = availability.isAvailable && trusted ? availableLines(state, availability) : missingLines(state);
  const more = t('*Towpath: Help…* has a page about the sandbox: what it protects, and what not.');
  return escapeInvisible([`# ${t('Sandbox')}`, '', ...lines, '', more, ''].join('\n'));
}

function missingLines({ availability, trusted }: SandboxState): string[] {
  const untrusted = trusted ? [] : [`- ${t('This workspace is not trusted: there are no commands.')}`];
  if (availability.isAvailable) return untrusted;
  const { reason, steps } = availability;
  const missing = t('The sandbox is not available in this window: {0}. Commands ask for approval.', reason);
  return [...untrusted, `- ${missing}`, ...(steps ? [`- ${t(steps)}`] : [])];
}

function availableLines(
  { preset, workspace, hosts }: SandboxState,
  { program, isPreview }: Extract<SandboxAvailability, { isAvailable: true }>,
): string[] {
  const code = (values: readonly string[]) => values.map((value) => `\`${value.replaceAll('`', '')}\``).join(', ');
  const name = t(approvalPresetNames.sandbox);
  const approval =
    preset === 'sandbox'
      ? t('Commands run in it without approval.')
      : preset === 'autopilot'
        ? t('Commands run without approval and outside of it: Autopilot is on.')
        : t('Commands ask for approval. Select “{0}” in *Towpath: Approvals…* to run them in it without.', name);
  return [
    `- ${isPreview ? t('The sandbox is available as a preview: {0}.', program) : t('The sandbox is available: {0}.', program)}`,
    `- ${approval}`,
    '',
    `## ${t('What a command can do in it')}`,
    '',
    isPreview
      ? `- ${t('Write: {0}, and a temporary folder of its own. Protected files and Git repositories cannot be changed.', code(workspace))}`
      : `- ${t('Write: {0}, and a temporary folder of its own. Protected files ask.', code(workspace))}`,
    `- ${t('Read: files of this machine, except for files that usually contain secrets.')}`,
    hosts.length > 0 ? `- ${t('Connect: {0}.', code(hosts))}` : `- ${t('Connect: no hosts.')}`,
  ];
}
