import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { askModel } from '../../engine/core/modelCall.ts';
import { createAdapter } from '../../llm/adapter/adapter.ts';
import { createLocalModelClient } from '../../llm/local/host/client.ts';
import { deviceText } from '../../llm/local/ipc/deviceInfo.ts';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import type { Message } from '../../protocol/content/messages.ts';
import { type ToolDefinition, toToolResult } from '../../protocol/content/tools.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import {
  currentLocale,
  type LocalizedMessage,
  localizedCount,
  message,
  withDigitGrouping,
} from '../../protocol/text/l10n.ts';
import { localize, storedLocalizableText } from '../../protocol/text/localized.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { McpServers } from '../../tools/mcp/servers.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { localEngineText } from '../localModels/modelDetails.ts';
import type { SelectableModels } from '../models/models.ts';
import { sendTestPrompt } from '../models/testConnection.ts';
import type { LocalEngine } from '../providers/localEngine.ts';
import { demoModelId, providerAddress, providerById, splitModelId } from '../providers/modelIds.ts';
import { providerSettings } from '../providers/providerSettings.ts';
import type { Secrets } from '../settings/secrets.ts';
import { settings } from '../settings/settings.ts';
import { createDoctorFinding, type DoctorCheck, type DoctorFinding } from './doctorReport.ts';
import { doctorNetworkFindings, type NetworkSettings } from './networkFindings.ts';
import { doctorProviderFindings } from './providerFindings.ts';
import { doctorRuleFindings } from './ruleFindings.ts';
import { doctorSandboxFinding } from './sandboxFinding.ts';
import { doctorServerFindings } from './serverFindings.ts';
import { doctorStoreFindings } from './storeFindings.ts';

interface Dependencies {
  context: vscode.ExtensionContext;
  models: SelectableModels;
  engine: LocalEngine;
  secrets: Secrets;
  servers(): Promise<McpServers>;
  workspace: Workspace;
  policies: ApprovalPolicies;
  storage: string;
}

const ok = (text: LocalizedMessage | string): DoctorFinding => createDoctorFinding('ok', text);
const fact = (text: LocalizedMessage | string): DoctorFinding => createDoctorFinding('fact', text);
const warning = (text: LocalizedMessage | string): DoctorFinding => createDoctorFinding('warning', text);
const problem = (text: LocalizedMessage | string): DoctorFinding => createDoctorFinding('problem', text);
const stopped = () => fact(message('Stopped.'));
const unanswered = () => message('It did not answer.');

export function doctorChecks(parts: Dependencies): DoctorCheck[] {
  const { models } = parts;
  return [
    {
      title: message('This machine'),
      run: async () => [...machine(parts), await sandbox(parts)],
    },
    { title: message('The model'), run: (signal, progress) => model(models, signal, progress) },
    { title: message('Providers'), run: () => doctorProviderFindings(settings(), parts.secrets) },
    { title: message('Network'), run: (signal) => doctorNetworkFindings(network(models), signal) },
    { title: message('Tool calls'), run: (signal) => toolCall(models, signal) },
    { title: message('Context window'), run: (signal) => contextWindow(models, signal) },
    { title: message('The local engine'), run: (signal, progress) => localEngine(parts, signal, progress) },
    {
      title: message('MCP servers'),
      run: async (signal, progress) => doctorServerFindings(await parts.servers(), signal, progress),
    },
    { title: message('Rules'), run: async () => doctorRuleFindings(parts.policies) },
    { title: message('Runs'), run: (signal) => doctorStoreFindings(parts.storage, signal) },
    { title: message('Search'), run: () => search(parts.workspace) },
  ];
}

function network({ currentProvider }: SelectableModels): NetworkSettings {
  const http = vscode.workspace.getConfiguration('http');
  return {
    proxy: http.get('proxy', ''),
    support: http.get('proxySupport', 'override'),
    strict: http.get('proxyStrictSSL', true),
    environment: process.env,
    ...(currentProvider && { address: providerAddress(currentProvider.id) }),
  };
}

function machine({ context, workspace }: Dependencies): DoctorFinding[] {
  const { version } = context.extension.packageJSON as { version: string };
  const cores = os.availableParallelism();
  return [
    fact(`Towpath ${version}, ${vscode.env.appName} ${vscode.version}, Node ${process.versions.node}`),
    fact(
      message(
        '{0}, {1} cores, {2} of {3} free',
        `${process.platform}-${process.arch}`,
        cores,
        byteSizeText(os.freemem()),
        byteSizeText(os.totalmem()),
      ),
    ),
    workspace.virtual
      ? warning(virtualUnsupportedMessage('Tools that change or run anything are'))
      : workspace.roots.length > 0
        ? fact(message('{0} open', localizedCount(workspace.roots.length, 'folder is', 'folders are')))
        : warning(message('No folder is open: there are no files to work on.')),
    workspace.trusted
      ? ok(message('The workspace is trusted'))
      : warning(
          message(
            'The workspace is not trusted. Tools that change or run anything are off. Use Manage Workspace Trust.',
          ),
        ),
  ];
}

const sandbox = async ({ policies }: Dependencies): Promise<DoctorFinding> =>
  doctorSandboxFinding(await policies.sandbox.probe(), settings()['approvals.preset'] === 'sandbox');

async function model(
  models: SelectableModels,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<DoctorFinding[]> {
  const reply = await sendTestPrompt(() => models.current(), signal, progress);
  if (!reply) return [stopped()];
  if (!reply.works) return [problem(reply.text)];
  return [
    ok(reply.text),
    reply.pieces > 1
      ? ok(message('It streams: the answer arrived in {0} parts', reply.pieces))
      : warning(message('The answer arrived in one part: it was short, or something on the way buffers it.')),
  ];
}

const echo: ToolDefinition = {
  name: 'towpath.echo',
  description: 'Says back the word it is given.',
  parameters: {
    type: 'object',
    properties: { word: { type: 'string', description: 'The word' } },
    required: ['word'],
    additionalProperties: false,
  },
};

/** Checks a complete tool call: requested, answered, and used by the model. */
async function toolCall(models: SelectableModels, signal: AbortSignal): Promise<DoctorFinding[]> {
  if (models.currentId === demoModelId)
    return [fact(message('The demo model follows a script and calls what its script says.'))];
  const chosen = await models.current();
  const messages: Message[] = [
    { role: 'user', content: 'Call the tool with the word "rope". Then tell me the word it gave back.' },
  ];
  const ask = () => askModel(chosen, { model: chosen.model, messages, tools: [echo], maxTokens: 1000 }, { signal });
  const first = await ask();
  if (first.aborted) return [stopped()];
  if (!first.success || !first.message)
    return [problem(first.error ? storedLocalizableText(first.error) : unanswered())];
  const [call] = first.message.toolCalls ?? [];
  if (!call)
    return [
      warning(
        message(
          'It answered without calling the tool and will not work well as an agent. Select a model that was made for tools.',
        ),
      ),
    ];
  if (call.name !== echo.name) return [problem(message('It called {0}, which was not offered.', call.name))];
  if (call.malformed !== undefined || call.arguments.word !== 'rope')
    return [
      warning(
        message(
          'It called the tool with other arguments than requested: {0}',
          JSON.stringify(call.arguments).slice(0, 200),
        ),
      ),
    ];
  const outcome = { ok: true as const, data: { word: 'epor' } };
  messages.push(first.message, { role: 'tool', content: '', toolResults: [toToolResult(call.id, outcome)] });
  const second = await ask();
  const called = ok(message('It called the tool'));
  if (!second.success)
    return [
      called,
      problem(second.error ? storedLocalizableText(second.error) : message('It stopped after the result.')),
    ];
  const used = second.message?.content.includes('epor');
  return [
    called,
    used ? ok(message('It used the result')) : warning(message('It did not report what the tool returned.')),
  ];
}

async function contextWindow(models: SelectableModels, signal: AbortSignal): Promise<DoctorFinding[]> {
  const { provider, model: name } = splitModelId(models.currentId);
  const now = settings();
  if (provider === 'local')
    return [
      fact(
        message(
          'At most {0} tokens (towpath.local.contextSize)',
          withDigitGrouping(maxContextSize(now['local.contextSize'])),
        ),
      ),
    ];
  const own = providerById(provider) && providerSettings(now, providerById(provider)!.id).windowOf(name);
  const text =
    own === undefined
      ? []
      : [
          fact(
            provider === 'ollama'
              ? message('{0} tokens are requested', withDigitGrouping(own))
              : message('towpath.providers: {0} tokens', withDigitGrouping(own)),
          ),
        ];
  const listed = await models.list(provider, signal).catch((error: Error) => error);
  if (signal.aborted) return [...text, stopped()];
  // The model itself is checked above; many endpoints have no list.
  if (listed instanceof Error)
    return [...text, fact(message('The provider did not list its models: {0}', listed.message))];
  const size = listed.find(({ id }) => id === name)?.contextWindow;
  if (size === undefined) return [...text, fact(message('The provider does not report its size.'))];
  return [
    ...text,
    size < 8192
      ? warning(message('The provider reports {0} tokens, which is little for an agent.', withDigitGrouping(size)))
      : ok(message('The provider reports {0} tokens', withDigitGrouping(size))),
  ];
}

/** Loads the demo model in a separate process, independent of the selected model. */
async function localEngine(
  { context, engine: own }: Dependencies,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<DoctorFinding[]> {
  const engine = own.state();
  const gpu = settings()['local.gpu'];
  const runsOn = message('Local models run on {0}', localEngineText(engine, gpu));
  if (engine.missing) return [problem(runsOn)];
  const lines: string[] = [];
  const dist = path.join(context.extensionPath, 'dist');
  const client = createLocalModelClient({
    workerPath: path.join(dist, 'worker.mjs'),
    modules: () => own.modules(),
    modelPath: path.join(dist, 'demo.gguf'),
    label: 'the demo model',
    contextSize: 2048,
    gpu: gpu ? 'auto' : false,
    onLog: (line) => lines.push(line),
  });
  try {
    const started = performance.now();
    const reply = await createAdapter(client, { connectMs: 0, firstTokenMs: 0, retries: 0 }).complete(
      { model: 'demo', messages: [{ role: 'user', content: 'Hello' }], maxTokens: 40 },
      { signal, onChunk: (chunk) => chunk.progress && progress(localize(chunk.progress.said ?? chunk.progress.text)) },
    );
    if (reply.aborted) return [fact(runsOn), stopped()];
    if (!reply.message)
      return [
        fact(runsOn),
        problem(reply.error ? storedLocalizableText(reply.error) : unanswered()),
        ...lines.slice(-5).map(fact),
      ];
    const seconds = Number(((performance.now() - started) / 1000).toFixed(1)).toLocaleString(currentLocale(), {
      minimumFractionDigits: 1,
      useGrouping: false,
    });
    const device = client.device();
    const unused = gpu && engine.gpu.length > 0 && device?.gpu === false;
    return [
      fact(runsOn),
      ok(
        device
          ? message(
              'The demo model was loaded in its own process on {0} and answered after {1} s',
              deviceText(device),
              seconds,
            )
          : message('The demo model was loaded in its own process and answered after {0} s', seconds),
      ),
      ...(unused ? [warning(unusedGpu(engine.gpu))] : []),
      ...lines.slice(-3).map(fact),
    ];
  } finally {
    await client.dispose();
  }
}

const unusedGpu = (kinds: readonly string[]) =>
  message(
    'A GPU engine ({0}) is installed, but the model was not loaded on the GPU. Check that its driver is installed and recent enough.',
    kinds.join(', '),
  );

async function search({ ripgrep }: Workspace): Promise<DoctorFinding[]> {
  if (!ripgrep) return [problem(message('ripgrep was not found in this editor: fs.search and fs.find do not work.'))];
  const { stdout } = await promisify(execFile)(ripgrep, ['--version'], { timeout: 10_000 });
  return [ok(`${stdout.split('\n')[0]} (${ripgrep})`)];
}
