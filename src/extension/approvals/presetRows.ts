import { type ApprovalPreset, approvalPresetNames, approvalPresets } from '../../protocol/content/policy.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { SandboxAvailability } from '../../tools/core/commandSandbox.ts';

/** Row of a picker of presets. */
interface PresetRow {
  preset: ApprovalPreset;
  name: string;
  description: string;
}

/** Returns the rows of the presets. An untrusted workspace has none for the sandbox. */
export function presetRows({ trusted, sandbox }: { trusted: boolean; sandbox: SandboxAvailability }): PresetRow[] {
  const isPreview = sandbox.isAvailable && sandbox.isPreview;
  return approvalPresets
    .filter((preset) => preset !== 'sandbox' || trusted)
    .map((preset) => {
      const isMissing = preset === 'sandbox' && !sandbox.isAvailable;
      return {
        preset,
        name: t(approvalPresetNames[preset]),
        description: isMissing
          ? t('Not available: {0}', sandbox.reason)
          : preset === 'sandbox' && isPreview
            ? t('preview: network access and other folders ask; protected files cannot be changed')
            : t(presetDescriptions[preset]),
      };
    });
}

const presetDescriptions = {
  'ask-everything': 'reading files asks, too',
  'reads-free': 'edits, commands and web pages ask',
  'edits-free': 'commands and web pages ask; edits can be undone',
  sandbox: 'network access and other folders ask; changes can be undone',
  autopilot: 'only protected files and secrets ask; trusted workspaces only',
} as const satisfies Record<ApprovalPreset, string>;
