import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Prompt, Resource } from '@modelcontextprotocol/client';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizableText } from '../../protocol/text/localized.ts';
import { englishCount } from '../../protocol/text/plurals.ts';
import type { SandboxedCommand } from '../commandSandbox/commandSandbox.ts';
import { ToolError } from '../core/tool.ts';
import type { McpServerDefinition, StdioServerConfig } from './config/config.ts';
import type { ResolvedServerLaunch } from './config/resolveLaunch.ts';
import { connectMcpServer } from './connection.ts';
import type { ElicitationHandler } from './elicitation/elicitationForm.ts';
import { ElicitationQueue } from './elicitation/elicitationQueue.ts';
import { callErrorText } from './failures/callErrorText.ts';
import { ErrorOutput } from './failures/errorOutput.ts';
import { errorSentence } from './failures/errorSentence.ts';
import { parseCallToolResult, parseGetPromptResult, parseReadResourceResult } from './forms/contentForms.ts';
import {
  type OmittedListItem,
  type ParsedMcpItemList,
  parsePromptList,
  parseResourceList,
  parseToolList,
  parseToolListWithHeaders,
} from './forms/listForms.ts';
import { parameterHeaders } from './forms/paramHeaders.ts';
import type { ListedTool } from './forms/toolSchema.ts';
import { maxListItems, readListPages } from './listPages.ts';
import { loadMcpSdk, type McpSdk } from './loadSdk.ts';
import type { ServerSignIn } from './oauth/serverSignIn.ts';
import { SignInRequiredError } from './oauth/signInErrors.ts';
import type { SignInServer } from './oauth/signInRecord.ts';
import type { ConnectionHooks, McpConnection, McpOpening } from './openClient.ts';
import { redactor } from './redactSecrets.ts';
import { type McpRequestOptions, RequestClock, sendWithTimeout } from './request.ts';
import { McpServerFault } from './transport/stdio.ts';
import { UnresponsiveRuns } from './unresponsiveRuns.ts';

class NoResult extends ToolError {}

type ServerState = { phase: 'stopped' | 'starting' | 'running' } | { phase: 'failed'; problem: string };

export interface OmittedServerItems {
  kind: 'tools' | 'resources' | 'prompts';
  names: readonly string[];
  of: number;
}

export interface McpTimeouts {
  startMs: number;
  callMs: number;
}

interface McpServerOptions {
  limits(): McpTimeouts;
  roots: ConnectionHooks['roots'];
  log(text: string): void;
  /** See `ConnectionHooks`. `pauseDuring` stops the time limits while the user is asked. */
  confine?(
    launch: StdioServerConfig,
    pauseDuring: <Result>(work: () => Promise<Result>) => Promise<Result>,
  ): Promise<SandboxedCommand | undefined>;
  launch(): Promise<ResolvedServerLaunch | undefined>;
  /** The calls can ask the user. */
  elicits: boolean;
  /** Creates the sign-in to a server at an address; undefined: none is possible. */
  signIn?(server: SignInServer): ServerSignIn | undefined;
  changed(): void;
}

interface CallOptions {
  signal: AbortSignal;
  output?(text: string): void;
  /** The run that waits for the answer. */
  runId?: string;
  /** Asks the user what the server wants to know during the call. Absent: it is declined. */
  elicit?: ElicitationHandler;
}

const loggedLeftOut = 50;
// Milliseconds between two list requests.
const listPause = 250;

/** Configured server: start, stop, lists and calls. Errors stay within this class. */
export class McpServer {
  state: ServerState = { phase: 'stopped' };
  failure?: LocalizedMessage;
  /** Reason of the failure in the server's own output, as a sentence without a period; untrusted. */
  ownError?: string;
  /** Tools of the last listing (also after a failure); untrusted. */
  tools: readonly ListedTool[] = [];
  leftOut: readonly OmittedServerItems[] = [];
  /** Failed after having run, so a restart may help. */
  mayReturn = false;
  /** Sign-in of a server at an address, from its first start. */
  signIn?: ServerSignIn;
  private connection?: McpConnection;
  private opening: McpOpening = 'negotiated';
  sdk?: McpSdk;
  private starting?: Promise<void>;
  private stopping = new AbortController();
  private isListing = false;
  private listIsOld = false;
  private redact = redactor([]);
  private readonly errors = new ErrorOutput();
  private readonly clock = new RequestClock();
  private readonly unresponsive = new UnresponsiveRuns();
  private readonly elicitation = new ElicitationQueue(this.clock, (text) => this.log(text));

  constructor(
    readonly definition: McpServerDefinition,
    private readonly options: McpServerOptions,
  ) {}

  get name(): string {
    return this.definition.name;
  }

  get hasResources(): boolean {
    return this.state.phase === 'running' && this.connection?.client.getServerCapabilities()?.resources !== undefined;
  }

  /** The server is skipped in a run, because it gave no sign of life. */
  get isUnresponsive(): boolean {
    return this.state.phase === 'running' && !this.unresponsive.isEmpty;
  }

  /** Starts the server unless it runs. Never rejects; the result is in `state`. */
  start(): Promise<void> {
    if (this.state.phase === 'running') return Promise.resolve();
    if (this.starting) return this.starting;
    const starting = this.begin().finally(() => {
      if (this.starting === starting) this.starting = undefined;
    });
    this.starting = starting;
    return starting;
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('was stopped'));
    this.stopping = new AbortController();
    this.starting = undefined; // ends by itself, and another start does not wait
    const { connection } = this;
    this.enter({ phase: 'stopped' });
    await connection?.close();
  }

  call(name: string, args: Record<string, unknown>, options: CallOptions) {
    const tool = this.mirrorsArguments ? this.tools.find((one) => one.name === name) : undefined;
    const headers = tool && parameterHeaders(tool, args);
    return this.request('tools/call', { name, arguments: args }, parseCallToolResult, options, headers);
  }

  // Over HTTP, the stateless revision repeats the arguments that a tool declares in headers.
  private get mirrorsArguments(): boolean {
    return this.definition.type !== 'stdio' && this.connection?.client.getProtocolEra() === 'modern';
  }

  resources(options: CallOptions): Promise<Resource[]> {
    return this.pages('resources', parseResourceList, options);
  }

  readResource(uri: string, options: CallOptions) {
    return this.request('resources/read', { uri }, (result, sdk) => parseReadResourceResult(result, uri, sdk), options);
  }

  get hasPrompts(): boolean {
    return this.state.phase === 'running' && this.connection?.client.getServerCapabilities()?.prompts !== undefined;
  }

  prompts(options: CallOptions): Promise<Prompt[]> {
    return this.pages('prompts', parsePromptList, options);
  }

  prompt(name: string, args: Record<string, string>, options: CallOptions) {
    return this.request('prompts/get', { name, arguments: args }, parseGetPromptResult, options);
  }

  rootsChanged(): void {
    this.connection?.client.sendRootsListChanged().catch(() => {});
  }

  private async begin(): Promise<void> {
    this.enter({ phase: 'starting' });
    this.errors.clear();
    this.unresponsive.clear();
    const { signal } = this.stopping;
    const { startMs } = this.options.limits();
    const limit = new AbortController();
    let stopTimer = () => {};
    try {
      const launched = await this.options.launch(); // may wait for the user
      if (signal.aborted) return;
      if (!launched) return this.enter({ phase: 'stopped' });
      this.useSecrets(launched);
      const late = message('did not start within {0} s', startMs / 1000);
      stopTimer = this.clock.start(startMs, () => limit.abort(new McpServerFault(late)));
      this.sdk = await loadMcpSdk();
      const connection = await connectMcpServer(
        launched.launch,
        this.sdk,
        this.hooks(),
        AbortSignal.any([signal, limit.signal]),
        this.opening,
      );
      this.opening = connection.client.getProtocolEra() === 'legacy' ? 'initialize' : 'negotiated';
      if (signal.aborted) return void connection.close();
      this.connection = connection;
      const tools = await this.firstList(limit.signal);
      if (signal.aborted) return;
      this.tools = tools;
      this.enter({ phase: 'running' });
    } catch (error) {
      const why = limit.signal.aborted ? limit.signal.reason : error;
      if (signal.aborted) return;
      if (why instanceof ToolError) this.failList(why);
      else
        this.fail(
          why instanceof McpServerFault
            ? storedLocalizableText(why)
            : message('could not be connected to: {0}', why.message),
        );
    } finally {
      stopTimer();
    }
  }

  private hooks(): ConnectionHooks {
    const { signal } = this.stopping;
    return {
      roots: this.options.roots,
      confine: async (launch) => this.options.confine?.(launch, (work) => this.clock.pauseDuring(work)),
      ...(this.options.elicits && { elicit: (params, signal) => this.elicitation.answer(params, signal) }),
      log: (text) => this.log(text),
      errors: (text) => {
        this.errors.add(text);
        this.log(text.trimEnd());
      },
      fault: (what, died) => {
        if (!signal.aborted) this.fail(what, died);
      },
      toolsChanged: () => this.listAgain(),
      signIn: this.signIn,
    };
  }

  private useSecrets({ launch, secrets }: ResolvedServerLaunch): void {
    if (launch.type !== 'stdio' && URL.canParse(launch.url)) {
      const { url, oauth: { clientId, clientSecret } = {} } = launch;
      const server: SignInServer = { name: this.name, url, ...(clientId && { clientId, clientSecret }) };
      if (!isDeepStrictEqual(server, this.signIn?.server)) this.signIn = this.options.signIn?.(server);
    }
    const redactAll = () => {
      this.redact = redactor([...secrets, ...(this.signIn?.secrets ?? [])]);
    };
    redactAll();
    if (this.signIn) this.signIn.onSecret = redactAll;
  }

  private failList(error: Error): void {
    const { message: text } = error;
    const prefix = `${this.subject} `;
    const why = text.startsWith(prefix) ? `it ${text.slice(prefix.length)}` : text;
    const reason = error instanceof NoResult ? message('the answer is not a list') : why.replace(/\.$/, '');
    this.fail(message('did not list its tools: {0}', reason));
  }

  private fail(what: LocalizableText, died = false): void {
    if (this.state.phase === 'failed') return;
    const { connection } = this;
    this.mayReturn = this.state.phase === 'running' || this.signIn?.required !== undefined;
    const why = this.hidden(message('The MCP server {0} {1}.', JSON.stringify(this.name), what));
    const last = this.errors.lastLine(this.redact, died);
    this.ownError = last && errorSentence(last);
    this.failure = last === undefined ? why : message('{0} Last output: {1}.', why, JSON.stringify(last));
    const problem = toEnglishText(this.failure);
    this.enter({ phase: 'failed', problem });
    this.log(problem);
    void connection?.close().catch(() => {});
  }

  private hidden(text: LocalizedMessage): LocalizedMessage {
    const values = text.values?.map((value) =>
      typeof value === 'object' && 'english' in value ? this.hidden(value) : this.redact(value),
    );
    return { ...text, ...(values && { values }) };
  }

  private enter(state: ServerState): void {
    this.state = state;
    if (state.phase === 'stopped' || state.phase === 'starting') [this.tools, this.leftOut] = [[], []];
    if (state.phase === 'failed' || state.phase === 'stopped') this.connection = undefined;
    this.options.changed();
  }

  private log(text: string): void {
    if (text.trim() !== '') this.options.log(this.redact(text));
  }

  /** Reads the first list. Some servers add tools after initialization; changes in between belong to the first list. */
  private async firstList(signal: AbortSignal): Promise<ListedTool[]> {
    let tools: ListedTool[] = [];
    for (let count = 0; count < 3; count++) {
      this.listIsOld = false;
      tools = await this.list(signal);
      if (!this.listIsOld) break;
    }
    return tools;
  }

  /** Re-reads a list that changed during reading; a pause limits a server with constant changes. */
  private listAgain(): void {
    this.listIsOld = true;
    if (!this.isListing && this.state.phase === 'running') void this.readList();
  }

  private async readList(): Promise<void> {
    const { signal } = this.stopping;
    this.isListing = true;
    try {
      while (this.listIsOld && this.state.phase === 'running' && !signal.aborted) {
        this.listIsOld = false;
        const tools = await this.list(signal);
        if (this.state.phase !== 'running' || signal.aborted) return;
        this.tools = tools;
        this.options.changed();
        await pause(listPause, undefined, { signal, ref: false });
      }
    } catch (error) {
      if (!signal.aborted) this.failList(error as Error);
    } finally {
      this.isListing = false;
    }
  }

  private async list(signal: AbortSignal): Promise<ListedTool[]> {
    if (this.connection?.client.getServerCapabilities()?.tools === undefined) return [];
    const parse = this.mirrorsArguments ? parseToolListWithHeaders : parseToolList;
    const tools = await this.pages('tools', parse, { signal });
    const byName = new Map(tools.toReversed().map((tool) => [tool.name, tool])); // one tool per name: the first
    const single = tools.filter((tool) => byName.get(tool.name) === tool);
    if (single.length < tools.length)
      this.log(`${englishCount(tools.length - single.length, 'tool has', 'tools have')} another one's name: left out.`);
    return single.slice(0, maxListItems);
  }

  private async pages<Item>(
    kind: OmittedServerItems['kind'],
    read: (result: Record<string, unknown>, sdk: McpSdk) => ParsedMcpItemList<Item> | undefined,
    options: CallOptions,
  ): Promise<Item[]> {
    const { items, leftOut, of } = await readListPages((params) => this.request(`${kind}/list`, params, read, options));
    this.noteLeftOut(kind, leftOut, of);
    return items;
  }

  private noteLeftOut(kind: OmittedServerItems['kind'], items: readonly OmittedListItem[], of: number): void {
    const names = items.map(({ name }) => name);
    const before = this.leftOut.find((one) => one.kind === kind);
    if (String(before?.names ?? '') !== String(names))
      for (const { name, why } of items.slice(0, loggedLeftOut))
        this.log(`Left out of its ${kind}: ${JSON.stringify(name)} (${why.slice(0, 300)})`);
    const others = this.leftOut.filter((one) => one.kind !== kind);
    this.leftOut = names.length > 0 ? [...others, { kind, names, of }] : others;
  }

  /** @param read parses the result; undefined if invalid */
  private async request<Result>(
    method: string,
    params: Record<string, unknown>,
    read: (result: Record<string, unknown>, sdk: McpSdk) => Result | undefined,
    { signal, output, runId, elicit }: CallOptions,
    headers?: Record<string, string>,
  ): Promise<Result> {
    const { connection, sdk, subject } = this;
    const redact = <Value>(value: Value) => this.redact(value); // tokens may be replaced during the request
    if (!connection || !sdk) throw this.notRunning();
    if (this.unresponsive.has(runId)) throw new ToolError('TOOL_NOT_AVAILABLE', this.skipped);
    const { callMs } = this.options.limits();
    const redactedOutput = output && ((text: string) => output(redact(text)));
    try {
      const limits = { signal, ms: callMs, clock: this.clock, subject, output: redactedOutput };
      const send = (request: McpRequestOptions) => connection.request(method, params, { ...request, headers });
      const answer = await this.elicitation.during(elicit, () =>
        sendWithTimeout(limits, send).catch((error) => this.openPages(error, sdk, signal)),
      );
      const result = read(answer, sdk);
      if (result === undefined) throw this.noResult();
      if (this.isUnresponsive) this.noteResponse();
      return redact(result);
    } catch (error) {
      if (!(error instanceof ToolError)) throw this.callFailed(error, sdk);
      if (error.code !== 'TOOL_TIMEOUT' || runId === undefined) throw error;
      if (!(await this.unresponsive.add(runId, connection.client))) throw error;
      this.log(this.skipped);
      this.options.changed();
      throw new ToolError('TOOL_TIMEOUT', `${error.message} ${this.skipped}`);
    }
  }

  // Revision 2025-11-25: a call can fail until the user has been to a page.
  private async openPages(error: unknown, sdk: McpSdk, signal: AbortSignal): Promise<never> {
    const isPage = error instanceof sdk.UrlElicitationRequiredError;
    if (!isPage || !(await this.elicitation.openPages(error.elicitations, signal))) throw error;
    const text = `${this.subject} needs something of the person on a page that was opened. Call it again when that is done.`;
    throw new ToolError('TOOL_EXEC_FAILED', text);
  }

  private noteResponse(): void {
    this.unresponsive.clear();
    this.options.changed();
  }

  private get skipped(): string {
    return `${this.subject} is not responding and is skipped in this run. The person can restart it with "Towpath: MCP Servers…".`;
  }

  private callFailed(error: unknown, sdk: McpSdk): ToolError {
    if (this.state.phase === 'failed') return this.notRunning();
    if (error instanceof SignInRequiredError) this.options.changed();
    const text = callErrorText(error, this.subject, sdk);
    if (text === 'invalid') return this.noResult();
    if (text !== undefined) return new ToolError('TOOL_EXEC_FAILED', this.redact(text));
    this.fail(message('is no longer connected ({0})', (error as Error).message.slice(0, 200))); // lost network, or expired session
    return this.notRunning();
  }

  private noResult = (): ToolError =>
    new NoResult('TOOL_EXEC_FAILED', `${this.subject} answered with something that is no result.`);

  private get subject(): string {
    return `The MCP server ${JSON.stringify(this.name)}`;
  }

  private notRunning(): ToolError {
    const why = this.state.phase === 'failed' ? this.state.problem : `${this.subject} is not running.`;
    return new ToolError('TOOL_EXEC_FAILED', `${why} The person can start it again with "Towpath: MCP Servers…".`);
  }
}
