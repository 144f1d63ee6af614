import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { RunStore } from '../../src/runs/store.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider, type WireRequest } from '../support/provider.ts';
import type { Played } from './case.ts';
import { Witness } from './invariants.ts';
import { randomOf } from './random.ts';
import { firstWords, initialFiles, lastWords, nextCalls, steps, task, words } from './script.ts';

/**
 * The extension host of a real editor, killed at random times of the script's run; then the window is reloaded, the run goes on
 * after a few words, and its Undo gives the files back. VS Code gives up on a host that crashes three times in five minutes in
 * one page: each kill has a page of its own.
 */
export async function killEditors(times: number, seed: number, heard: (played: Played) => void): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-kills-editor-'));
  const workspace = path.join(folder, 'ws');
  const provider = await startProvider(answer);
  writeInitial(workspace);
  let editor: Towpath | undefined;
  try {
    const userDataDir = path.join(folder, 'data');
    const settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      'files.autoSave': 'off',
    };
    editor = await openTowpath({ folder: workspace, userDataDir, settings });
    await editor.panel.send('Hello');
    await editor.panel.waitForPhase('WaitingUser');
    symlinkSync(storeIn(userDataDir), path.join(folder, 'store'));
    const random = randomOf(seed);
    for (let time = 0; time < times; time++) heard(await killOnce(editor, provider, folder, 200 + random(6000)));
  } finally {
    await editor?.stop();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function killOnce(editor: Towpath, provider: Provider, folder: string, afterMs: number): Promise<Played> {
  await eventually('no run is open', () => !isAnyLocked(path.join(folder, 'store', 'runs')));
  await editor.command('Towpath: New Run');
  await eventually('a new run is shown', async () => (await editor.panel.transcript()).length === 0);
  const witness = new Witness(folder, { job: 'work' });
  const asked = provider.requests.length;
  const answering = answerQuestions(editor);
  try {
    const pid = await editor.host.ready();
    await editor.panel.send(task);
    await sleep(afterMs);
    process.kill(pid, 'SIGKILL');
    await editor.page.reload();
    await editor.host.ready(pid);
    await editor.panel.ready();
    await witness.afterBlow([], { afterMs }); // not before: what the page was saving, it has saved
    await restOf(editor, provider);
    checkSent(witness, provider, asked);
    const store = new RunStore(path.join(folder, 'store'));
    await witness.atRest({ run: () => newest(store), undo: () => undoRun(editor, folder) }, []);
  } finally {
    await answering.stop();
  }
  if (witness.breaches.length > 0) writeInitial(path.join(folder, 'ws'));
  for (const { files, command } of steps)
    if (command) for (const file of Object.keys(files)) rmSync(path.join(folder, 'ws', file), { force: true });
  return {
    name: `editor/${afterMs}ms`,
    kills: 1,
    harmed: [`${provider.requests.length - asked} requests`],
    breaches: witness.breaches,
  };
}

/** Says a few words where the run is there, or all of them again, until the script is over. */
async function restOf(editor: Towpath, provider: Provider): Promise<void> {
  const isThere = await eventually(
    'the run is there',
    async () => (await editor.panel.transcript()).length > 0,
    5000,
  ).then(
    () => true,
    () => false,
  );
  const asked = provider.requests.length;
  await editor.panel.send(isThere ? 'Go on.' : task);
  await eventually('the model is asked again', () => provider.requests.length > asked);
  await editor.panel.waitForPhase(['WaitingUser', 'Failed']);
}

async function undoRun(editor: Towpath, folder: string): Promise<object> {
  const witness = new Witness(folder, { job: 'undo' });
  await editor.command('Towpath: Undo Run');
  await eventually('all of it is undone', () => witness.isUndone(), 10_000).catch(() => {}); // the witness says what is not
  await eventually('it is on record', () => !isAnyLocked(path.join(folder, 'store', 'runs')));
  return {};
}

/** A person who says yes to every question as it comes, Undo's too. */
function answerQuestions({ dialog }: Towpath): { stop(): Promise<void> } {
  let isOver = false;
  const yes = /^(Allow All \(\d+\)|Allow|Undo|Restore All \d+)$/;
  const answering = (async () => {
    for (; !isOver; await sleep(100)) {
      if (!(await dialog.isOpen().catch(() => false))) continue;
      const buttons = await dialog.buttons().catch(() => []);
      const button = buttons.findLast((one) => yes.test(one));
      if (button) await dialog.click(button).catch(() => {}); // the page went with it
    }
  })();
  return {
    stop: () => {
      isOver = true;
      return answering;
    },
  };
}

/** What the model was sent had been told before: all of it is in the record. */
function checkSent(witness: Witness, provider: Provider, from: number): void {
  const sent = provider.requests.slice(from).flatMap(({ body }) => messagesOf(body));
  const ids = sent
    .flatMap((message) => (message.role === 'tool' ? message.toolResults : []))
    .map((one) => one.toolCallId);
  witness.mustHaveResults(new Set(ids));
}

function answer(request: WireRequest): ProviderReply {
  const messages = messagesOf(request);
  const isTask = messages.some(({ role, content }) => role === 'user' && content.includes(task));
  const calls = isTask ? nextCalls(messages) : [];
  const isFirst = !messages.some(({ role }) => role === 'assistant');
  const said = calls.length === 0 ? lastWords : isFirst ? firstWords : words;
  return calls.reduce(
    (all, { id, name, arguments: args }) => all.call(name.replaceAll('.', '_'), args, { id, size: 4000 }),
    reply.text(said, 2000).wait(50),
  );
}

/** What the script looks at in a request: who spoke, and what came of each call. */
function messagesOf({ messages }: WireRequest): Message[] {
  return messages.flatMap(({ role, content, tool_call_id: toolCallId, tool_calls: calls = [] }): Message[] => {
    const text = content ?? '';
    if (role === 'user') return [{ role, content: text }];
    if (role === 'assistant') return [{ role, content: text, toolCalls: calls.map(callOf) }];
    if (role !== 'tool' || toolCallId === undefined) return [];
    const { ok, error } = JSON.parse(text) as { ok: boolean; error?: { code: string } };
    return [{ role, content: '', toolResults: [{ toolCallId, content: text, ...(!ok && { error: error!.code }) }] }];
  });
}

function callOf(call: unknown): ToolCall {
  const { id, function: made } = call as { id: string; function: { name: string; arguments: string } };
  return { id, name: made.name, arguments: {} };
}

const isAnyLocked = (runs: string) => readdirSync(runs).some((run) => existsSync(path.join(runs, run, 'lock')));

async function newest(store: RunStore) {
  const [run] = await store.list();
  return run && store.read(run.id);
}

function writeInitial(workspace: string): void {
  rmSync(workspace, { recursive: true, force: true });
  for (const [file, content] of Object.entries(initialFiles)) {
    mkdirSync(path.join(workspace, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(workspace, file), content);
  }
}

function storeIn(userDataDir: string): string {
  const found = readdirSync(userDataDir, { recursive: true, encoding: 'utf8' });
  const runs = found.find((name) => name.endsWith(path.join('store', 'runs')));
  if (!runs) throw new Error('No run is kept below the editor’s data.');
  return path.dirname(path.join(userDataDir, runs));
}
