import * as vscode from 'vscode';
import type { ExecutionEngine, InterruptionChoice } from '../../engine/run/engine.ts';
import { type InterruptedWork, interruptedWork, interruptionMessage } from '../../protocol/run/interruptions.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, localizedErrorText, messageOf } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { RunStore } from '../../runs/store.ts';
import { notify } from '../dialogs/notify.ts';
import type { PanelConversation } from './conversation.ts';
import { parseUserEnteredResult } from './typedResult.ts';

interface Dependencies {
  conversation: PanelConversation;
  engine: ExecutionEngine;
  store: RunStore;
}

let isAsking = false;

/** Requests the result of interrupted work, records it, and continues the run. */
export async function continueInterruptedWork(dependencies: Dependencies): Promise<void> {
  if (isAsking) return; // a second click would discard the typed text
  isAsking = true;
  try {
    const found = await shownWork(dependencies);
    const text = found && (await askForResult(dependencies, found));
    if (text === undefined) return;
    await decide(dependencies, found!.runId, {
      ...choiceOf(found!.work, 'after'),
      result: parseUserEnteredResult(text),
    });
  } finally {
    isAsking = false;
  }
}

async function askForResult({ engine }: Dependencies, { runId, work }: { runId: string; work: InterruptedWork }) {
  const names = work.step === undefined ? [] : await engine.usedLater(runId, work.node, work.step);
  const label = truncateWithEllipsis(work.label, 60);
  return vscode.window.showInputBox({
    title: escapeInvisibleInLine(t(interruptionMessage(work))),
    prompt:
      names.length > 0
        ? t('Result of “{0}” (optional). Used later: {1}', label, escapeInvisibleInLine(names.join(', ')))
        : t('Result of “{0}” (optional)', label),
    ...(names.length > 0 && { placeHolder: JSON.stringify(Object.fromEntries(names.map((name) => [name, '…']))) }),
    ignoreFocusOut: true,
    validateInput: problemOf,
  });
}

/** Repeats the interrupted work; each call needs its approval. */
export async function repeatInterruptedWork(dependencies: Dependencies): Promise<void> {
  const found = await shownWork(dependencies);
  if (found) await decide(dependencies, found.runId, choiceOf(found.work, 'again'));
}

const choiceOf = (
  { calls: toolCallIds }: InterruptedWork,
  choice: InterruptionChoice['choice'],
): InterruptionChoice => ({
  toolCallIds,
  choice,
});

async function shownWork({ conversation, engine, store }: Dependencies) {
  await conversation.restored;
  const { runId } = conversation;
  const run = runId === undefined ? undefined : (engine.live(runId) ?? (await store.read(runId)));
  const isAtWork = runId !== undefined && engine.liveIds.includes(runId);
  const [work] = run && !isAtWork ? interruptedWork(run) : [];
  if (work) return { runId: runId!, work };
  notify('info', isAtWork ? t('This run is already in progress.') : t('The shown run has no interrupted step.'));
  return undefined;
}

async function decide(
  { conversation, engine }: Dependencies,
  runId: string,
  choice: InterruptionChoice,
): Promise<void> {
  const failure = await engine.chooseAfterInterruption(runId, choice);
  if (failure) return conversation.notice({ level: 'error', text: localizedErrorText(failure) });
  if (conversation.runId === runId) await conversation.goOn();
}

function problemOf(text: string): string | undefined {
  try {
    parseUserEnteredResult(text);
    return undefined;
  } catch (error) {
    return localize(messageOf(error));
  }
}
