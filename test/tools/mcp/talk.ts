import path from 'node:path';
import { type ApprovalPolicy, defaultApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { UserQuestionAnswer, UserQuestions } from '../../../src/protocol/content/questions.ts';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../../../src/tools/core/tool.ts';
import { createToolHost, type ToolHost } from '../../../src/tools/host/host.ts';
import { McpApprovalStore } from '../../../src/tools/mcp/approved.ts';
import type { McpConfigSource } from '../../../src/tools/mcp/config/config.ts';
import type { ServerSignIn } from '../../../src/tools/mcp/oauth/serverSignIn.ts';
import type { SignInServer } from '../../../src/tools/mcp/oauth/signInRecord.ts';
import type { McpServer } from '../../../src/tools/mcp/server.ts';
import { type McpApprovalRequester, McpServers, type ServerApprovalRequest } from '../../../src/tools/mcp/servers.ts';
import type { McpToolChangesApprovalRequest } from '../../../src/tools/mcp/toolChanges.ts';
import type { ServerSandbox } from '../../../src/tools/mcp/transport/sandboxedServer.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** A person with prepared answers, servers of a configuration, and the gate in front of their tools. */
export interface Talk {
  workspace: TemporaryWorkspace;
  servers: McpServers;
  host: ToolHost;
  asked: {
    servers: ServerApprovalRequest[];
    tools: McpToolChangesApprovalRequest[];
    calls: ApprovalRequest[];
    inputs: string[];
  };
  said: string[];
  logged: string[];
  /** Hears that something is different. */
  changed?(): void;
  events: RunEventBody[];
  grants: Set<string>;
  stop: AbortController;
  /** What lies where approvals are kept. */
  kept: { value: unknown };
  /** What lies where the words of accepted tools are kept. */
  words: { value: unknown };
  person: McpApprovalRequester;
  answer: ApprovalAnswer['decision'];
  /** Answers questions during calls. */
  ask(questions: readonly UserQuestions[], by?: string): Promise<UserQuestionAnswer>;
  policy: ApprovalPolicy;
  /** What happens while a question about a call is open. */
  meanwhile(): Promise<void>;
  limits: { startMs: number; callMs: number };
  /** Signs in to servers at addresses. */
  signIn?(server: SignInServer): ServerSignIn | undefined;
  /** Sandbox for servers. Absent: there is none. */
  sandbox: ServerSandbox | undefined;
  /** Replaces what is configured. */
  configure(config: unknown): void;
  /** Where it is configured: the folder's file, unless a test says otherwise. */
  sources: McpConfigSource[] | undefined;
  prepare(): Promise<void>;
  server(name: string): McpServer;
  names(): string[];
  call(name: string, args?: unknown): Promise<ToolOutcome>;
  /** Another window: the same person, folder and memory, nothing running. */
  again(): Promise<Talk>;
  close(): Promise<void>;
}

const open: Talk[] = [];

/** Ends everything that a test has left running. */
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((talk) => talk.close()));
}

export const node = (script: string, ...args: string[]) => ({ command: process.execPath, args: [script, ...args] });

export async function talk(config: unknown, before?: Talk): Promise<Talk> {
  const workspace = before?.workspace ?? (await temporaryWorkspace({ 'a.txt': 'one\n' }));
  const self = { workspace, answer: 'allow', said: [], logged: [], events: [], grants: new Set() } as unknown as Talk;
  let current = config;
  let count = 0;
  self.policy = defaultApprovalPolicy;
  self.meanwhile = async () => {};
  self.ask = async () => ({ choices: [] });
  self.asked = { servers: [], tools: [], calls: [], inputs: [] };
  self.stop = new AbortController();
  self.kept = before?.kept ?? { value: undefined };
  self.words = before?.words ?? { value: undefined };
  self.limits = { startMs: 15_000, callMs: 15_000 };
  self.person = {
    approveServer: async (question) => {
      self.asked.servers.push(question);
      return 'allow';
    },
    approveTools: async (question) => {
      self.asked.tools.push(question);
      return 'allow';
    },
    input: async (_, input) => {
      self.asked.inputs.push(input.id);
      return input.default;
    },
  };
  const source = (): McpConfigSource => ({
    name: '.vscode/mcp.json',
    place: path.join(workspace.root, '.vscode/mcp.json'),
    content: typeof current === 'string' ? current : JSON.stringify(current),
    folder: { path: workspace.root, all: workspace.roots },
  });
  self.servers = new McpServers({
    workspace,
    sources: async () => self.sources ?? [source()],
    approved: new McpApprovalStore(memoryIn(self.kept), memoryIn(self.words)),
    person: {
      approveServer: (question, signal) => self.person.approveServer(question, signal),
      approveTools: (question, signal) => self.person.approveTools(question, signal),
      input: (definition, input) => self.person.input(definition, input),
      openAddress: async (...given) => (await self.person.openAddress?.(...given)) ?? 'decline',
      approveSite: async (definition, site, signal) =>
        self.person.approveSite?.(definition, site, signal) ?? Promise.resolve(false),
    },
    sandbox: {
      begin: (request) => self.sandbox!.begin(request),
      availability: async () =>
        self.sandbox?.availability() ?? { isAvailable: false, reason: message('bubblewrap is not installed') },
    },
    limits: () => self.limits,
    roots: () => workspace.roots.map((root) => ({ uri: `file://${root.path}`, name: root.name })),
    log: (server, text) => self.logged.push(`${server}: ${text}`),
    changed: () => self.changed?.(),
    elicits: true,
    signIn: (server) => self.signIn?.(server),
  });
  self.host = createToolHost({
    workspace,
    tools: () => self.servers.tools(),
    prepare: (signal, say) => self.servers.prepare(signal, say),
    policy: () => self.policy,
    approve: async (request) => {
      self.asked.calls.push(request);
      await self.meanwhile();
      return { decision: self.answer };
    },
  });
  self.configure = (next) => {
    current = next;
  };
  self.prepare = () => self.host.prepare(self.stop.signal, (text) => self.said.push(text));
  self.server = (name) => self.servers.servers.find((server) => server.name === name)!;
  self.names = () => self.host.getVisibleTools({ agentId: 'default' }).map((tool) => tool.name);
  self.call = (name, args = {}) => {
    count += 1;
    return self.host.executeToolCall(
      { id: `call-${count}`, name, arguments: args as Record<string, unknown> },
      {
        runId: 'run',
        agentId: 'default',
        signal: self.stop.signal,
        grants: self.grants,
        emit: async (event) => void self.events.push(event),
        keep: async () => '',
        keepOutput: async () => '',
        newPack: () => Promise.reject(new Error('nothing is recorded here')),
        storedOutput: async () => undefined,
        ask: (_, questions, by) => self.ask(questions, by),
      },
    );
  };
  self.again = () => talk(current, self);
  self.close = async () => {
    await self.servers.close();
    workspace.cleanup();
  };
  open.push(self);
  return self;
}

const memoryIn = (place: { value: unknown }) => ({
  get: () => place.value,
  set: async (value: unknown) => {
    place.value = JSON.parse(JSON.stringify(value));
  },
});

/** The path of a file in a workspace. */
export const inside = (workspace: TemporaryWorkspace, file: string): string => path.join(workspace.root, file);
