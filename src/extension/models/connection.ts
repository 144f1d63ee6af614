import * as vscode from 'vscode';
import { askModel } from '../../engine/modelCall.ts';
import { secretsIn } from '../../llm/headers.ts';
import type { ProviderId } from '../../llm/providers.ts';
import { counted } from '../../protocol/counted.ts';
import { stoppable } from '../dialogs/stoppable.ts';
import { offer, tell } from '../dialogs/tell.ts';
import { settings } from '../settings/settings.ts';
import type { Models } from './models.ts';
import { providerSettings } from './providerSettings.ts';

/** Tries the picked model with one short question, and says precisely what came of it. */
export async function testConnection(models: Models, log: vscode.LogOutputChannel): Promise<void> {
  const id = models.currentId;
  const result = await stoppable(`Towpath asks ${id} for one word`, (signal, progress) =>
    askOneWord(models, signal, progress),
  );
  if (!result) return; // given up by the person
  log.info(`Test of ${id}: ${result.text}`);
  if (result.works) tell('info', result.text);
  else void showProblem(result.text, result.code === 'LLM_AUTH_FAILED' ? models.currentProvider?.id : undefined);
}

export interface TestResult {
  works: boolean;
  text: string;
  code?: string;
  /** In how many pieces the answer came. */
  pieces: number;
}

/** One short question to the picked model; undefined when stopped. */
export async function askOneWord(
  models: Models,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<TestResult | undefined> {
  let pieces = 0;
  const started = performance.now();
  const seconds = (at: number) => `${((at - started) / 1000).toFixed(1)} s`;
  try {
    const chosen = await models.current();
    let firstAt: number | undefined;
    const reply = await askModel(
      chosen,
      { model: chosen.model, messages: [{ role: 'user', content: 'Answer with the one word: ready' }], maxTokens: 200 },
      {
        signal,
        onChunk: (chunk) => {
          if (chunk.progress) progress(chunk.progress.text);
          if (!chunk.content && !chunk.thinking) return;
          firstAt ??= performance.now();
          pieces++;
        },
        onRetry: (wait) => progress(`${wait.error.message} Trying again.`),
      },
    );
    if (reply.aborted) return undefined;
    const answered = reply.success || reply.finishReason === 'length';
    if (!answered) return { works: false, text: reply.error?.message ?? 'It failed.', code: reply.error?.code, pieces };
    const tokens = reply.usage ? `, ${counted(reply.usage.totalTokens, 'token')}` : '';
    const first = firstAt === undefined ? '' : `first word after ${seconds(firstAt)}, `;
    return {
      works: true,
      text: `${chosen.id} answers: ${first}done after ${seconds(performance.now())}${tokens}.`,
      pieces,
    };
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    return { works: false, text: message, ...(code && { code }), pieces };
  }
}

/** `keyOf`: the provider that wants another key. (The editor's own models have none of ours.) */
export async function showProblem(text: string, keyOf: ProviderId | undefined): Promise<void> {
  const setSecret = 'Set Secret…';
  const ways = keyOf ? ['Set API Key…', ...(namesSecrets(keyOf) ? [setSecret] : [])] : ['Pick Model…'];
  const chosen = await offer('error', text, ...ways);
  if (chosen === setSecret) await vscode.commands.executeCommand('towpath.setSecret');
  else if (chosen) await vscode.commands.executeCommand(keyOf ? 'towpath.setKey' : 'towpath.pickModel', keyOf);
}

const namesSecrets = (provider: ProviderId): boolean =>
  Object.values(providerSettings(settings(), provider).headers).some((value) => secretsIn(value).length > 0);
