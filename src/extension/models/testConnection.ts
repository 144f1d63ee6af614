import * as vscode from 'vscode';
import { askModel } from '../../engine/core/modelCall.ts';
import type { RunModel } from '../../engine/run/runContext.ts';
import { referencedSecretNames } from '../../llm/core/headers.ts';
import type { ProviderId } from '../../llm/models/providers.ts';
import { type LocalizedMessage, localizedCount, message, t } from '../../protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  localize,
  messageOf,
  storedLocalizableText,
  toStoredText,
  withoutFullStop,
} from '../../protocol/text/localized.ts';
import { withCancellation } from '../dialogs/cancellable.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import { providerSettings } from '../providers/providerSettings.ts';
import { settings } from '../settings/settings.ts';
import type { SelectableModels } from './models.ts';

/** Tests the selected model with a short request and shows the exact result. */
export async function testConnection(models: SelectableModels, log: vscode.LogOutputChannel): Promise<void> {
  const id = models.currentId;
  const result = await withCancellation(t('Towpath is testing {0}', id), (signal, progress) =>
    sendTestPrompt(() => models.current(), signal, progress),
  );
  if (!result) return; // cancelled by the user
  log.info(`Test of ${id}: ${result.text}`);
  const text = localize(result.said ?? result.text);
  if (result.works) notify('info', text);
  else void showConnectionProblem(text, result.code === 'LLM_AUTH_FAILED' ? models.currentProvider?.id : undefined);
}

interface TestResult {
  works: boolean;
  text: string;
  said?: LocalizedMessage;
  code?: string;
  first?: LocalizedMessage;
  pieces: number;
}

/** Sends a short request; returns undefined if stopped. */
export async function sendTestPrompt(
  made: () => Promise<RunModel>,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<TestResult | undefined> {
  let pieces = 0;
  const started = performance.now();
  const seconds = (at: number) => {
    const tenths = Math.round((at - started) / 100);
    return message('{0}.{1} s', Math.floor(tenths / 10), tenths % 10);
  };
  try {
    const chosen = await made();
    let firstAt: number | undefined;
    const reply = await askModel(
      chosen,
      { model: chosen.model, messages: [{ role: 'user', content: 'Answer with the one word: ready' }], maxTokens: 200 },
      {
        signal,
        onChunk: (chunk) => {
          if (chunk.progress) progress(localize(chunk.progress.said ?? chunk.progress.text));
          if (!chunk.content && !chunk.thinking) return;
          firstAt ??= performance.now();
          pieces++;
        },
        onRetry: (wait) => progress(t('{0} · retrying', withoutFullStop(storedLocalizableText(wait.error)))),
      },
    );
    if (reply.aborted) return undefined;
    const answered = reply.success || reply.finishReason === 'length';
    if (!answered) {
      const why = reply.error ? storedLocalizableText(reply.error) : message('It failed.');
      return { works: false, ...toStoredText(why), code: reply.error?.code, pieces };
    }
    const firstAfter = firstAt === undefined ? undefined : seconds(firstAt);
    const first = firstAfter && message('first token after {0}', firstAfter);
    const done = message('done after {0}', seconds(performance.now()));
    const tokens = reply.usage && localizedCount(reply.usage.totalTokens, 'token');
    const facts = [first, done, tokens].filter((fact) => typeof fact === 'object');
    const said = toStoredText(message('{0} answers: {1}.', chosen.id, joinLocalizableTexts(facts, ', ')));
    return { works: true, ...said, ...(firstAfter && { first: firstAfter }), pieces };
  } catch (error) {
    const { code } = error as { code?: string };
    return { works: false, ...toStoredText(messageOf(error)), ...(code && { code }), pieces };
  }
}

export async function showConnectionProblem(text: string, keyOf: ProviderId | undefined): Promise<void> {
  const setSecret = t('Set Secret…');
  const ways = keyOf ? [t('Set API Key…'), ...(namesSecrets(keyOf) ? [setSecret] : [])] : [t('Pick Model…')];
  const chosen = await notifyWithActions('error', text, ...ways);
  if (chosen === setSecret) await vscode.commands.executeCommand('towpath.setSecret');
  else if (chosen) await vscode.commands.executeCommand(keyOf ? 'towpath.setKey' : 'towpath.pickModel', keyOf);
}

const namesSecrets = (provider: ProviderId): boolean =>
  Object.values(providerSettings(settings(), provider).headers).some(
    (value) => referencedSecretNames(value).length > 0,
  );
