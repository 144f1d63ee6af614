import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import { t } from '../../protocol/text/l10n.ts';
import { findPackageRegistries } from '../../tools/commandSandbox/packageRegistries.ts';
import { networkAccessTool } from '../../tools/core/commandSandbox.ts';
import { diskFolders } from '../dialogs/folders.ts';
import type { AllowRulesAddedInWindow } from './addedRules.ts';
import { type RuleChoice, ruleChoices } from './ruleChoices.ts';

/**
 * Offers rules for the hosts that a command could not reach, for later commands: the command is not run again.
 * @param blocked hosts as the card shows them: `registry.example`, `localhost:5432`
 */
export async function allowBlockedHosts(
  key: ToolCallKey,
  blocked: readonly string[],
  addedRules: AllowRulesAddedInWindow,
): Promise<void> {
  const sites = blocked.map(siteOfBlockedHost);
  const folders = await Promise.all(diskFolders().map(({ uri }) => realpath(uri.fsPath).catch(() => uri.fsPath)));
  const registries = await findPackageRegistries({ environment: process.env, home: homedir(), folders });
  const allow = (more: Partial<PermissionRule>): PermissionRule[] => [
    { effect: 'allow', tool: networkAccessTool, ...more },
  ];
  const all = sites.some((site) => registries.includes(site)) ? [allow({ registries })] : [];
  const offered = [...sites.slice(0, 3 - all.length).map((site) => allow({ site })), ...all];
  const options = {
    title: t('Always Allow'),
    placeHolder: t('Towpath: Approvals… shows these rules and can delete them'),
  };
  // A held Enter may reach the list: it goes back.
  const back: RuleChoice = { label: `$(arrow-left) ${t('Back')}` };
  const pick = (everywhere = false) =>
    vscode.window.showQuickPick([back, ...ruleChoices(offered, everywhere)], options);
  let chosen = await pick();
  if (chosen && chosen !== back && !chosen.made) chosen = await pick(true);
  if (chosen?.made) await addedRules.add({ key, ...chosen.made });
}

function siteOfBlockedHost(host: string): string {
  return host.endsWith(':80') ? `http://${host.slice(0, -':80'.length)}` : `https://${host}`;
}
