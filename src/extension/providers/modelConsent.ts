import * as vscode from 'vscode';
import { RunError } from '../../engine/core/errorInfo.ts';
import { providerLabel } from '../../llm/models/providers.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import { type LocalizableText, localize } from '../../protocol/text/localized.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { workflowFileUri } from '../language/workflowFiles.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';
import { describeModelOption, providerAddress, providerById, splitModelId } from './modelIds.ts';

const agreedName = 'models.agreed';
const most = 500;

interface NamedModel {
  /** Absolute URI, so that a folder opened in another's place is not covered. */
  file: string;
  provider: string;
  address: string;
}

/**
 * Consents for models selected by files of the workspace. A model other than the user's choice needs consent, once per file, provider and
 * address, before any request. Closing the dialog denies this time only.
 */
export class ModelConsent {
  private readonly asking = new Map<string, Promise<boolean>>();

  constructor(
    private readonly memory: DecisionFile,
    private readonly modals: Dialogs,
  ) {}

  /**
   * Throws a `RunError` with a solution if the user denies.
   *
   * @param workflowId id of a run's workflow: the file in the workspace
   */
  async agree(workflowId: string, id: string, pickedId: string): Promise<void> {
    const named = namedModelOf(workflowId, id);
    const key = JSON.stringify(named);
    if (this.agreed().some((one) => JSON.stringify(one) === key)) return;
    const answer = this.asking.get(key) ?? this.ask(named, id, pickedId).finally(() => this.asking.delete(key));
    this.asking.set(key, answer);
    if (await answer) return;
    throw new RunError('UNKNOWN', refused(named));
  }

  /** Stores the consent that another dialog obtained for a file and its model. */
  allow(workflowId: string, id: string): void {
    const named = namedModelOf(workflowId, id);
    const key = JSON.stringify(named);
    this.keep([...this.agreed().filter((one) => JSON.stringify(one) !== key), named]);
  }

  agreed(): NamedModel[] {
    const stored = this.memory.get(agreedName);
    return Array.isArray(stored) ? stored.filter(isNamed) : [];
  }

  forget(named: NamedModel): void {
    const key = JSON.stringify(named);
    this.keep(this.agreed().filter((one) => JSON.stringify(one) !== key));
  }

  private async ask(named: NamedModel, id: string, pickedId: string): Promise<boolean> {
    const { file, label, where } = describeNamedModel(named);
    const use = t('Use');
    const model = escapeInvisibleInLine(splitModelId(id).model).slice(0, 200);
    const detail = [
      t('It, or an agent that it uses, names the model {0}.', model),
      t('Its instructions, your messages and what its tools read in this workspace are sent to {0}.', where),
      t('You picked {0}.', escapeInvisibleInLine(describeModelOption(pickedId).label)),
      t('This file in this location asks once.'),
    ].join('\n\n');
    const text = t('Allow {0} to use {1}?', file, label);
    const buttons = [t("Don't Use"), use]; // Enter selects the first button
    if ((await this.modals.askWhenQuiet({ text, detail, buttons })) !== use) return false;
    this.keep([...this.agreed(), named]);
    return true;
  }

  private keep(all: readonly NamedModel[]): void {
    this.memory.update(agreedName, all.slice(-most));
  }
}

function namedModelOf(workflowId: string, id: string): NamedModel {
  const { provider } = splitModelId(id);
  return { file: workflowFileUri(workflowId)?.toString() ?? workflowId, provider, address: addressOf(provider) };
}

/** Returns the sentences of a consent about a model: its name, and where the data goes. */
export function describeModelUse(id: string): string {
  const { where } = describeNamedModel(namedModelOf('', id));
  const model = escapeInvisibleInLine(splitModelId(id).model).slice(0, 200);
  return t('It uses the model {0}. Your messages and what its tools read are sent to {1}.', model, where);
}

export function describeNamedModel({ file, provider, address }: NamedModel): {
  file: string;
  label: string;
  where: string;
} {
  const shown = shownFile(file);
  const label = labelIn(provider);
  if (!label)
    return { file: shown, label: t('a model of the editor'), where: t('any extension of the editor that provides it') };
  return { file: shown, label: localize(label), where: t('{0} at {1}', label, escapeInvisibleInLine(address)) };
}

const shownFile = (file: string): string =>
  escapeInvisibleInLine(vscode.workspace.asRelativePath(vscode.Uri.parse(file)));

function labelIn(id: string): LocalizableText | undefined {
  const provider = providerById(id);
  return provider && providerLabel(provider);
}

const refused = ({ file, provider }: NamedModel) =>
  withMessageLinks(
    message(
      '{0} uses a model of {1}, and you did not allow it. Retry to decide again, or pick that model yourself (*Towpath: Pick Model…*).',
      shownFile(file),
      labelIn(provider) ?? message('a model of the editor'),
    ),
    { commands: ['towpath.pickModel'] },
  );

/** Returns the address without possible secrets; empty without an address. */
function addressOf(id: string): string {
  const provider = providerById(id);
  const address = provider ? providerAddress(provider.id) : '';
  if (!URL.canParse(address)) return address;
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

const isNamed = (one: unknown): one is NamedModel =>
  ['file', 'provider', 'address'].every((name) => typeof Object(one)[name] === 'string');
