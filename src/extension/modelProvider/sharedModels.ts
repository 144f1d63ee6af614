import path from 'node:path';
import { estimateTokenCount } from 'tokenx';
import * as vscode from 'vscode';
import { countedText, tokensBeside } from '../../engine/core/tokenCount.ts';
import type { RunModel } from '../../engine/run/runContext.ts';
import type { AdapterResult } from '../../llm/adapter/adapter.ts';
import { listModelFiles, type ModelFileReader } from '../../llm/local/modelFile/modelLibrary.ts';
import { formatDollars, localizedDollars } from '../../protocol/run/money.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message, t, toEnglishText } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import type { SelectableModels } from '../models/models.ts';
import type { ProvidedModelInformation } from '../providers/editorApi.ts';
import { localContextSize } from '../providers/localContextSize.ts';
import { downloadFolder, localModelFolders } from '../providers/modelFolders.ts';
import { demoModelId, describeModelOption, splitModelId } from '../providers/modelIds.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import { settings } from '../settings/settings.ts';
import { answerIncomingModelRequest, IncomingModelRequestRejected } from './answerRequest.ts';
import { countTextTokens, localModelNames } from './providedNames.ts';
import { fromEditorMessages, requestSize } from './providedWire.ts';
import type { EditorModelProviderMethods } from './registerProvider.ts';
import { type RequestingExtension, RequestingExtensionConsents } from './requesters.ts';
import { IncomingModelRequestQueue } from './requestQueue.ts';

interface Dependencies {
  context: vscode.ExtensionContext;
  models: SelectableModels;
  modals: Dialogs;
  modelsAtWork(): string[];
  recorded(model: RunModel, ask: () => Promise<AdapterResult>): Promise<AdapterResult>;
  readModel: ModelFileReader;
  log: vscode.LogOutputChannel;
}

interface OfferedModel {
  id: string;
  information: ProvidedModelInformation;
}

export const allLocalModelsId = 'local';

/** Models offered to the editor's chat and other extensions, and the answers to their requests. */
export class SharedModels implements EditorModelProviderMethods, vscode.Disposable {
  readonly askers: RequestingExtensionConsents;
  /** Ids of models by the ids that the editor knows. */
  private idOf = new Map<string, string>();
  readonly line = new IncomingModelRequestQueue(() => this.show());
  private readonly item = vscode.window.createStatusBarItem('towpath.asked', vscode.StatusBarAlignment.Left, 0);

  constructor(private readonly parts: Dependencies) {
    const file = vscode.Uri.joinPath(parts.context.globalStorageUri, 'askers.json').fsPath;
    this.askers = new RequestingExtensionConsents(new DecisionFile(file), (asker) => this.mayAsk(asker));
    this.item.name = t('Towpath: requests from the editor');
    this.item.command = 'towpath.editorAsks';
  }

  dispose(): void {
    for (const ask of this.line.all) ask.stop();
    this.item.dispose();
  }

  readonly provideLanguageModelChatInformation: EditorModelProviderMethods['provideLanguageModelChatInformation'] =
    async () => (await this.offered()).map(({ information }) => information);

  readonly provideTokenCount: EditorModelProviderMethods['provideTokenCount'] = async ({ id }, asked) => {
    const count = (text: string) => this.countTokens(id, text);
    const size = requestSize([typeof asked === 'string' ? { role: 1, content: asked } : asked]);
    return countTextTokens(size, async () => {
      if (typeof asked === 'string') return count(asked);
      const messages = fromEditorMessages([asked]);
      const tokens = await Promise.all(messages.map((one) => count(countedText(one))));
      return messages.reduce((sum, one, at) => sum + tokensBeside(one) + tokens[at]!, 0);
    });
  };

  /** Counts by the vocabulary of a loaded local model; estimates for any other model. */
  private async countTokens(id: string, text: string): Promise<number> {
    const { provider, model } = splitModelId(this.idOf.get(id) ?? id);
    const counted = provider === 'local' ? await this.parts.models.countTokens(model, text) : undefined;
    return counted ?? estimateTokenCount(text);
  }

  readonly provideLanguageModelChatResponse: EditorModelProviderMethods['provideLanguageModelChatResponse'] = async (
    { id },
    messages,
    options,
    progress,
    token,
  ) => {
    const stop = new AbortController();
    const subscription = token.onCancellationRequested(() => stop.abort(new vscode.CancellationError()));
    if (token.isCancellationRequested) stop.abort(new vscode.CancellationError());
    try {
      stop.signal.throwIfAborted();
      const model = (await this.offered()).find(({ information }) => information.id === id);
      if (!model)
        throw new IncomingModelRequestRejected(
          'not-found',
          t('Towpath does not share {0} (*Share Models with the Editor…*).', id),
        );
      const asker = askerOf(options.requestInitiator);
      await this.askers.check(asker);
      const { name: label } = model.information;
      const local = splitModelId(model.id).provider === 'local';
      const ask = {
        who: asker.name,
        messages,
        options,
        signal: stop.signal,
        stop: () => stop.abort(new IncomingModelRequestRejected('failed', t('Stopped by you.'))),
        report: (part: Parameters<Parameters<typeof answerIncomingModelRequest>[0]['report']>[0]) =>
          progress.report(
            'text' in part
              ? new vscode.LanguageModelTextPart(part.text)
              : new vscode.LanguageModelToolCallPart(part.call.id, part.call.name, part.call.arguments),
          ),
      };
      const ready = () => this.ready(model.id);
      const { usage } = await answerIncomingModelRequest(ask, {
        line: this.line,
        label,
        local,
        ready,
        recorded: this.parts.recorded,
      });
      const cost = usage?.cost === undefined ? '' : `, ${formatDollars(usage.cost)}`;
      this.parts.log.info(
        `${toEnglishText(asker.name)} was answered by ${model.id}: ${usage ? `${usage.totalTokens} tokens, ${usage.cachedTokens ?? 0} from a cache` : 'tokens not told'}${cost}.`,
      );
    } catch (error) {
      throw toEditorError(error);
    } finally {
      subscription.dispose();
    }
  };

  async offered(): Promise<OfferedModel[]> {
    const wanted = new Set(settings().offeredModels);
    const ids = [...wanted].filter((id) => id !== allLocalModelsId && splitModelId(id).provider !== 'vscode-lm');
    const local = await this.local(wanted.has(allLocalModelsId) ? undefined : ids);
    const remote = ids.filter(
      (id) => splitModelId(id).provider !== 'local' && describeModelOption(id).problem === undefined,
    );
    const all = [...local, ...(await Promise.all(remote.map((id) => this.remote(id))))];
    this.idOf = new Map(all.map(({ id, information }) => [information.id, id]));
    return all;
  }

  private async local(ids: readonly string[] | undefined): Promise<OfferedModel[]> {
    const { models, context, readModel } = this.parts;
    if (ids?.every((id) => splitModelId(id).provider !== 'local')) return [];
    const locations = [...localModelFolders(), downloadFolder(context.globalStorageUri), ...models.localFiles()];
    const named = ids?.filter((id) => id !== demoModelId).map((id) => splitModelId(id).model) ?? [];
    const all = (await listModelFiles([...locations, ...named], readModel)).filter(({ trouble }) => !trouble);
    const wanted = all.filter(({ path: file }) => ids === undefined || ids.includes(`local/${file}`));
    const names = localModelNames(wanted.map(({ path: file }) => file));
    return wanted.map(({ path: file, bytes, info }) => ({
      id: `local/${file}`,
      information: {
        id: `local/${names.get(file)}`,
        name: path.basename(file, '.gguf'),
        family: info?.architecture ?? 'local',
        version: info?.quantisation ?? '1',
        detail: t('On this machine, by Towpath'),
        ...windows(localContextSize({ bytes, info }, settings()['local.contextSize'])),
        capabilities: { imageInput: false, toolCalling: true },
      },
    }));
  }

  private async remote(id: string): Promise<OfferedModel> {
    const { label, detail, images } = describeModelOption(id);
    const { provider } = splitModelId(id);
    return {
      id,
      information: {
        id,
        name: label,
        family: provider,
        version: '1',
        detail: t('{0}, by Towpath', detail),
        tooltip: t('{0}, used by Towpath with your key', id),
        ...windows(await this.parts.models.knownWindow(id)),
        capabilities: { imageInput: images !== false, toolCalling: true },
      },
    };
  }

  /** Returns a model. A local model of a run stays loaded until the run pauses. */
  private async ready(id: string): Promise<RunModel> {
    const isLocal = (one: string) => splitModelId(one).provider === 'local';
    if (isLocal(id) && this.parts.modelsAtWork().some((one) => isLocal(one) && one !== id))
      throw new IncomingModelRequestRejected(
        'blocked',
        t('Towpath is using another model on this machine. Try again when it is done.'),
      );
    return this.parts.models.outside(id);
  }

  private async mayAsk({ id, name }: RequestingExtension): Promise<boolean> {
    const limit = settings()['limits.day'];
    const paid =
      limit > 0
        ? t(
            "It decides what it sends. You pay for a provider's model, up to your limit of {0} per day.",
            localizedDollars(limit),
          )
        : t("It decides what it sends. You pay for a provider's model, and you have no limit per day.");
    const offered = (await this.offered()).map(({ information }) => information.name).join(', ');
    const yes = t('Let It Ask');
    const answer = await this.parts.modals.askWhenQuiet({
      text: t('Allow {0} to use the models that you share?', escapeInvisibleInLine(localize(name))),
      detail: [
        t('{0} uses your models through the editor. You share: {1}.', escapeInvisibleInLine(id ?? ''), offered),
        paid,
        t('Each extension needs your approval once; *Share Models with the Editor…* changes it.'),
      ].join('\n\n'),
      buttons: [t('Not Now'), yes],
    });
    return answer === yes;
  }

  /** Shows active requests in the status bar, with a command to stop them. */
  private show(): void {
    const { all } = this.line;
    if (all.length === 0) {
      this.item.hide();
      return;
    }
    const lines = all.map(({ who, model, waits }) => {
      const line = `${escapeInvisibleInLine(localize(who))}: ${escapeInvisibleInLine(model)}`;
      return waits ? t('{0}, queued', line) : line;
    });
    const tooltip = [t('Towpath: requests from the editor'), ...lines, t('Click to stop it.')].join('\n');
    this.item.text = `$(comment-discussion) ${t('{0} asked', all.length)}`;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip };
    this.item.show();
  }
}

const editor = message('The editor');
const somebody = message('The editor or another extension');

/** Identifies the requester, which only some editors report. An extension's name is freely chosen, so the id is shown too. */
function askerOf(initiator: unknown): RequestingExtension {
  if (initiator === 'core') return { name: editor };
  if (typeof initiator !== 'string' || initiator === '') return { name: somebody };
  const { displayName } = (vscode.extensions.getExtension(initiator)?.packageJSON ?? {}) as { displayName?: unknown };
  return { id: initiator, name: typeof displayName === 'string' ? `${displayName} (${initiator})` : initiator };
}

function toEditorError(error: unknown): unknown {
  if (!(error instanceof IncomingModelRequestRejected)) return error;
  const { kind, message } = error;
  if (kind === 'not-found') return vscode.LanguageModelError.NotFound(message);
  if (kind === 'no-permission') return vscode.LanguageModelError.NoPermissions(message);
  return kind === 'blocked' ? vscode.LanguageModelError.Blocked(message) : new Error(message);
}

/** Default context size; the editor requires a number. */
const unknownWindow = 32_768;

/** Reserves a quarter of the context for the answer, at most 8,192 tokens. */
function windows(window = unknownWindow): Pick<ProvidedModelInformation, 'maxInputTokens' | 'maxOutputTokens'> {
  const maxOutputTokens = Math.min(8192, Math.floor(window / 4));
  return { maxInputTokens: window - maxOutputTokens, maxOutputTokens };
}
