import type { PermissionRule } from '../../protocol/content/rule.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { Localizer } from '../../protocol/text/localized.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import { createIsolatedListener } from '../../protocol/values/listeners.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import type { McpApprovalStore } from './approved.ts';
import {
  type DisabledMcpServer,
  type McpConfigInput,
  type McpConfigSource,
  type McpServerDefinition,
  parseMcpConfig,
} from './config/config.ts';
import { resolveServerLaunch } from './config/resolveLaunch.ts';
import { type AddressRequest, createCallElicitation } from './elicitation/callElicitation.ts';
import type { ElicitationHandler } from './elicitation/elicitationForm.ts';
import type { ServerSignIn } from './oauth/serverSignIn.ts';
import type { SignInServer } from './oauth/signInRecord.ts';
import { McpServer, type McpTimeouts } from './server.ts';
import { hashServerTool } from './serverText.ts';
import { serverIdentity } from './serverTool.ts';
import { hashFileStates, serverCommandFiles } from './startedFiles.ts';
import {
  createMcpToolChangesApprovalRequest,
  findRuleToolState,
  type McpToolChangesApprovalRequest,
  type RuleToolState,
  type UnacceptedTool,
  unacceptedTools,
} from './toolChanges.ts';
import { mcpToolList } from './toolList.ts';
import { confineServer, type ServerSandbox } from './transport/sandboxedServer.ts';

/**
 * Approval request for a server. `changed`: another command or address was approved under this name. `meanwhile`: the definition or a file
 * of its command changed during the request.
 */
export interface ServerApprovalRequest {
  definition: McpServerDefinition;
  changed: boolean;
  meanwhile?: true;
}

/** Decisions of the user. Anything except a clear approval is a denial; `later` asks again with the next run. */
export interface McpApprovalRequester {
  approveServer(question: ServerApprovalRequest, signal: AbortSignal): Promise<'allow' | 'trust' | 'deny' | 'later'>;
  approveTools(question: McpToolChangesApprovalRequest, signal: AbortSignal): Promise<'allow' | 'deny' | 'later'>;
  /** Asks whether to open an address for a server in the browser, and opens it; absent: servers cannot ask for that. */
  openAddress?(
    definition: McpServerDefinition,
    request: AddressRequest,
    signal: AbortSignal,
  ): Promise<'accept' | 'decline' | 'cancel'>;
  /** Returns the stored or entered value of an input; undefined if none. */
  input(definition: McpServerDefinition, input: McpConfigInput): Promise<string | undefined>;
  /** Asked for each site that a sandboxed server connects to. Absent: none is allowed. */
  approveSite?(definition: McpServerDefinition, site: string, signal: AbortSignal): Promise<boolean>;
}

interface McpServersOptions {
  workspace: Workspace;
  sources(): Promise<McpConfigSource[]>;
  approved: McpApprovalStore;
  person: McpApprovalRequester;
  limits(): McpTimeouts;
  roots(): { uri: string; name: string }[];
  log(server: string, text: string): void;
  changed(): void;
  /** The calls of tools can ask the user. */
  elicits?: boolean;
  /** Creates the sign-in to a server at an address. */
  signIn?(server: SignInServer): ServerSignIn | undefined;
  localizer?: Localizer;
  env?: NodeJS.ProcessEnv;
  /** Absent: servers that must run in the sandbox do not start. */
  sandbox?: ServerSandbox;
}

/** All configured servers and their tools. A server runs only if the user approved exactly this command or address. */
export class McpServers {
  servers: readonly McpServer[] = [];
  switchedOff: readonly DisabledMcpServer[] = [];
  problems: readonly string[] = [];
  private readonly resting = new WeakSet<McpServer>();
  /** Declined definitions of tools; a declined definition is not requested again. */
  private readonly declined = new WeakMap<McpServer, Set<string>>();
  private readonly busy = new Map<McpServer, number>();
  private asking: Promise<unknown> = Promise.resolve();
  private reading: Promise<void> = Promise.resolve();
  private built?: readonly Tool[];
  private started: readonly string[] = [];

  private readonly notifyChanged: (event?: unknown) => void;

  constructor(private readonly options: McpServersOptions) {
    this.notifyChanged = createIsolatedListener([() => options.changed()], (error) =>
      options.log('Towpath', String(error)),
    );
  }

  /** Reads the configuration again. Changed servers stop and need a new approval. */
  reload(): Promise<void> {
    this.reading = this.reading.then(() => this.read());
    return this.reading;
  }

  /**
   * Approves and starts servers before a run, in parallel. Resolves early if the signal aborts; starts then continue within their limit.
   * `report` receives the reason of the wait.
   */
  async prepare(signal: AbortSignal, report: (text: string) => void): Promise<void> {
    if (!this.options.workspace.trusted) return;
    const ready = async () => {
      await this.reload();
      // A server that failed at its start would only delay the next run.
      const wanted = this.servers.filter(
        (server) => !this.resting.has(server) && (server.state.phase !== 'failed' || server.mayReturn),
      );
      await Promise.all(wanted.map((server) => this.makeReady(server, signal, report)));
    };
    const prepared = ready().catch((error: Error) =>
      this.options.log('Towpath', `Servers could not be prepared: ${error.message}`),
    );
    await raceWithAbort(prepared, signal, () => undefined);
  }

  /** Starts all approved servers, also after a failure, without approval requests. Resolves on abort. */
  async examine(signal: AbortSignal, report: (text: string) => void): Promise<void> {
    if (!this.options.workspace.trusted) return;
    const look = async () => {
      await this.reload();
      const wanted = this.servers.filter(
        (server) => server.state.phase !== 'running' && this.isAllowed(server) && !this.resting.has(server),
      );
      for (const { name } of wanted) report(this.starting(name));
      await Promise.all(wanted.map((server) => this.during(server, () => server.start())));
    };
    await raceWithAbort(look(), signal, () => undefined);
  }

  tools(): readonly Tool[] {
    if (!this.options.workspace.trusted) return [];
    this.built ??= mcpToolList(this.servers, this.options.approved, this.options.elicits ? this.elicit : undefined);
    return this.built;
  }

  async start(server: McpServer): Promise<void> {
    if (!this.options.workspace.trusted) return;
    this.resting.delete(server);
    await this.makeReady(server, new AbortController().signal, () => {});
  }

  async stop(server: McpServer): Promise<void> {
    this.resting.add(server);
    await server.stop();
  }

  async restart(server: McpServer): Promise<void> {
    await server.stop();
    await this.start(server);
  }

  async trust(server: McpServer, trusted: boolean): Promise<void> {
    if (this.isAllowed(server)) await this.options.approved.allow(server.definition, trusted);
    this.changed();
  }

  /** Tests if a server runs in the sandbox: its configuration says so, or the user has selected it. */
  isSandboxed({ definition }: Pick<McpServer, 'definition'>): boolean {
    if (definition.type !== 'stdio') return false;
    return definition.sandboxEnabled === true || this.options.approved.entry(definition)?.sandboxed === true;
  }

  /** Selects where a server runs, and restarts it. */
  async setSandboxed(server: McpServer, sandboxed: boolean): Promise<void> {
    await this.options.approved.setSandboxed(server.definition, sandboxed);
    if (server.state.phase === 'stopped') this.changed();
    else await this.restart(server);
  }

  /** Tools of the last list that the user has deselected. */
  deselectedTools(server: McpServer): string[] {
    const off = new Set(this.options.approved.entry(server.definition)?.off);
    return server.tools.flatMap(({ name }) => (off.has(name) ? [name] : []));
  }

  async deselectTools(server: McpServer, names: readonly string[]): Promise<void> {
    await this.options.approved.setOff(server.definition, names);
    this.changed();
  }

  startedFiles(): readonly string[] {
    return this.started;
  }

  isAllowed(server: McpServer): boolean {
    return this.options.approved.entry(server.definition) !== undefined;
  }

  isTrusted(server: McpServer): boolean {
    return this.options.approved.entry(server.definition)?.trusted ?? false;
  }

  async forget(server: McpServer): Promise<void> {
    await this.options.approved.forget(server.definition);
    await this.stop(server);
    this.resting.delete(server);
  }

  /** Tests if a start or an approval is in progress, which also reports on the tools. */
  isBusy(server: McpServer): boolean {
    return this.busy.has(server);
  }

  waitingTools(server: McpServer): UnacceptedTool[] {
    return unacceptedTools(server, this.options.approved.entry(server.definition));
  }

  openTools(server: McpServer): UnacceptedTool[] {
    const declined = this.declined.get(server);
    return this.waitingTools(server).filter(({ tool }) => !declined?.has(hashServerTool(tool)));
  }

  whereabouts(server: NonNullable<PermissionRule['server']>): RuleToolState {
    return findRuleToolState(server, this.servers, this.options.approved);
  }

  async reviewTools(server: McpServer): Promise<void> {
    this.declined.delete(server);
    await this.during(server, () => this.settleTools(server, new AbortController().signal));
  }

  rootsChanged(): void {
    for (const server of this.servers) server.rootsChanged();
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  private readonly elicit = (server: McpServer, context: ToolContext): ElicitationHandler => {
    const { person, localizer = toEnglishText } = this.options;
    const openAddress = (request: AddressRequest, signal: AbortSignal) =>
      this.oneByOne(async () => (await person.openAddress?.(server.definition, request, signal)) ?? 'decline');
    return createCallElicitation({ server: server.name, localizer, openAddress }, context);
  };

  private async read(): Promise<void> {
    const { workspace, sources } = this.options;
    const all = workspace.trusted ? await sources() : [];
    const read = await Promise.all(all.map((source) => parseMcpConfig(source, this.options.localizer)));
    const before = this.servers;
    const problems = read.flatMap((one) => one.problems);
    const isUnchanged = ({ place, name, hash }: McpServerDefinition) =>
      before.find(({ definition: one }) => one.place === place && one.name === name && one.hash === hash);
    // A half-written, invalid file does not remove servers.
    const after = read.flatMap(({ definitions }, index) =>
      definitions
        ? definitions.map((definition) => isUnchanged(definition) ?? this.create(definition))
        : before.filter(({ definition }) => definition.place === all[index]!.place),
    );
    const { roots } = workspace;
    this.started = [...new Set(after.flatMap(({ definition }) => serverCommandFiles(definition, roots)))];
    const isSame = after.length === before.length && after.every((server, index) => server === before[index]);
    const switchedOff = read.flatMap((one, index) => {
      const { place } = all[index]!;
      return one.switchedOff ?? this.switchedOff.filter((before) => before.place === place);
    });
    const isSameOff = JSON.stringify(switchedOff) === JSON.stringify(this.switchedOff);
    if (isSame && isSameOff && String(problems) === String(this.problems)) return;
    this.switchedOff = switchedOff;
    this.servers = after;
    this.problems = problems;
    this.changed();
    await Promise.all(before.filter((server) => !after.includes(server)).map((server) => server.stop()));
  }

  private create(definition: McpServerDefinition): McpServer {
    const { limits, roots, log, person, elicits = false, signIn } = this.options;
    return new McpServer(definition, {
      limits,
      roots,
      log: (text) => log(definition.name, text),
      launch: () =>
        resolveServerLaunch(definition, this.options.env ?? process.env, (input) =>
          this.oneByOne(() => person.input(definition, input)),
        ),
      confine: async (launch, pauseDuring) =>
        this.isSandboxed({ definition })
          ? confineServer(launch, {
              key: serverIdentity(definition),
              folders: this.options.workspace.roots.map((root) => root.path),
              sandbox: this.options.sandbox,
              mayConnect: (site, signal) => pauseDuring(() => this.mayConnect(definition, site, signal)),
            })
          : undefined,
      elicits,
      changed: () => this.changed(),
      signIn,
    });
  }

  private makeReady(
    server: McpServer,
    signal: AbortSignal,
    report: (text: string) => void,
    meanwhile = false,
  ): Promise<void> {
    return this.during(server, async () => {
      if (server.state.phase !== 'running') {
        const isApproved = await this.isApproved(server, signal, meanwhile);
        if (signal.aborted) return;
        if (!this.isConfigured(server)) {
          const { place, name } = server.definition;
          const instead = this.servers.find(({ definition: one }) => one.place === place && one.name === name);
          if (instead && !this.resting.has(server)) await this.makeReady(instead, signal, report, true);
          return;
        }
        if (!isApproved) return;
        report(this.starting(server.name));
        await server.start();
        if (!this.isConfigured(server)) return server.stop(); // removed from the configuration, so nothing else stops it
      }
      await this.settleTools(server, signal);
    });
  }

  private async mayConnect(definition: McpServerDefinition, site: string, signal: AbortSignal): Promise<boolean> {
    const { approved, person } = this.options;
    const isKnown = () => approved.entry(definition)?.sites?.includes(site) ?? false;
    if (isKnown() || !person.approveSite) return isKnown();
    return this.oneByOne(async () => {
      if (isKnown()) return true;
      const isAllowed = !signal.aborted && (await person.approveSite!(definition, site, signal));
      if (isAllowed) await approved.allowSite(definition, site);
      return isAllowed;
    });
  }

  private starting(name: string): string {
    const { localizer = toEnglishText } = this.options;
    return localizer(message('Starting MCP server {0}', name));
  }

  private async during(server: McpServer, work: () => Promise<void>): Promise<void> {
    this.busy.set(server, (this.busy.get(server) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = this.busy.get(server)! - 1;
      if (left > 0) this.busy.set(server, left);
      else this.busy.delete(server);
      this.changed();
    }
  }

  private isConfigured(server: McpServer): boolean {
    return this.options.workspace.trusted && this.servers.includes(server);
  }

  /**
   * Requests approvals until the approved definition is the current definition: configuration, files and trust may change during a request.
   */
  private isApproved(server: McpServer, signal: AbortSignal, meanwhile: boolean): Promise<boolean> {
    const { approved, person, workspace } = this.options;
    const { definition } = server;
    const state = () => hashFileStates(serverCommandFiles(definition, workspace.roots));
    return this.oneByOne(async () => {
      if (approved.entry(definition)) return this.isConfigured(server);
      const changed = approved.wasOther(definition);
      for (let again = meanwhile; ; again = true) {
        if (signal.aborted || this.resting.has(server) || !this.isConfigured(server)) return false;
        const before = await state();
        const asking = person.approveServer({ definition, changed, ...(again && { meanwhile: true }) }, signal);
        const answer = await raceWithAbort(asking, signal).catch(() => 'later' as const);
        if (signal.aborted) return false; // an answer after the stop does not count
        if (answer === 'deny') this.resting.add(server);
        if (answer !== 'allow' && answer !== 'trust') return false;
        await this.reload();
        if (!this.isConfigured(server)) return false; // the replacement is approved separately
        if (before !== (await state())) continue;
        await approved.allow(definition, answer === 'trust');
        return true;
      }
    });
  }

  /** Accepts the first list with the server; requests later differences together, each once. */
  private settleTools(server: McpServer, signal: AbortSignal): Promise<void> {
    const { approved, person } = this.options;
    const { definition } = server;
    return this.oneByOne(async () => {
      if (server.state.phase !== 'running') return;
      if (approved.entry(definition)?.tools === undefined) await approved.acceptTools(definition, server.tools);
      const listed = server.tools;
      const open = this.openTools(server);
      if (open.length > 0 && !signal.aborted) {
        const asking = person.approveTools(createMcpToolChangesApprovalRequest(server, open, approved), signal);
        const answer = await raceWithAbort(asking, signal).catch(() => 'later' as const);
        if (signal.aborted) return;
        const tools = open.map(({ tool }) => tool);
        if (answer === 'allow') await approved.acceptTools(definition, tools, listed);
        if (answer === 'deny')
          this.declined.set(server, new Set([...(this.declined.get(server) ?? []), ...tools.map(hashServerTool)]));
      }
    });
  }

  /** Serializes requests: the user answers one at a time. */
  private oneByOne<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const answer = this.asking.then(ask);
    this.asking = answer.catch(() => {});
    return answer;
  }

  private changed(): void {
    this.built = undefined;
    this.notifyChanged();
  }
}
