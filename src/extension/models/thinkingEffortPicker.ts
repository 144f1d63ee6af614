import * as vscode from 'vscode';
import { t, withDigitGrouping } from '../../protocol/text/l10n.ts';
import { type ThinkingEffort, thinkingEffortNames } from '../../protocol/values/thinkingEffort.ts';
import { acceptedItem } from '../dialogs/acceptedItem.ts';

/**
 * Asks for the effort of a model, the one in use first selected. Resolves to undefined after Escape.
 *
 * @param budget tokens that the default stands for; 0: left to the provider
 */
export async function askThinkingEffort(
  model: string,
  supported: readonly ThinkingEffort[],
  inUse: ThinkingEffort | undefined,
  budget: number,
): Promise<{ effort: ThinkingEffort | undefined } | undefined> {
  const byDefault = budget > 0 ? t('Default ({0} tokens)', withDigitGrouping(budget)) : t('Default');
  const items = [undefined, ...supported].map((effort) => ({
    label: effort === undefined ? byDefault : t(thinkingEffortNames[effort]),
    description: effort === inUse ? t('in use') : '',
    effort,
  }));
  const picker = vscode.window.createQuickPick<(typeof items)[number]>();
  picker.title = t('Thinking Effort');
  picker.placeholder = model;
  picker.items = items;
  picker.activeItems = items.filter(({ effort }) => effort === inUse);
  return acceptedItem(picker);
}
