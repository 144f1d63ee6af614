import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { Tool } from '../../tools/core/tool.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { EditorProvidedTools } from '../../tools/editorTools/editorTools.ts';
import type { ToolHost } from '../../tools/host/host.ts';
import { McpApprovalStore } from '../../tools/mcp/approved.ts';
import { type McpConfigSource, readPlainConfigFile } from '../../tools/mcp/config/config.ts';
import type { ServerSignIn } from '../../tools/mcp/oauth/serverSignIn.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import { McpServers } from '../../tools/mcp/servers.ts';
import type { RuleToolState } from '../../tools/mcp/toolChanges.ts';
import type { ServerSandbox } from '../../tools/mcp/transport/sandboxedServer.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notifyWithActions } from '../dialogs/notify.ts';
import type { AuditLog } from '../records/auditLog.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import { settings } from '../settings/settings.ts';
import { openServerAddress } from './addressDialog.ts';
import { McpApprovals } from './mcpQuestions.ts';
import { McpReview } from './mcpReview.ts';
import { McpSignIns } from './mcpSignIn.ts';
import { createEditorTools } from './offeredEditorTools.ts';
import { signInRequiredText } from './signInText.ts';

export const mcpConfigFile = path.join('.vscode', 'mcp.json');
const approvalsName = 'servers';
const textsFile = 'tools';

/** MCP servers of this window: configured in folders and settings, approved by the user, with a log per server. */
export class McpServices implements vscode.Disposable {
  readonly servers: McpServers;
  readonly questions: McpApprovals;
  readonly editorTools: EditorProvidedTools;
  readonly reviews = new McpReview();
  readonly signIns: McpSignIns;
  private readonly logs = new Map<string, vscode.OutputChannel>();
  private readonly reported = new Set<string>();
  private preparing = 0;
  private readonly watching: vscode.Disposable;

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly workspace: Workspace,
    readonly modals: Dialogs,
    audit: Pick<AuditLog, 'note'>,
    readonly sandbox: ServerSandbox,
  ) {
    this.questions = new McpApprovals(context.secrets, this.reviews, modals);
    this.signIns = new McpSignIns(context, modals, (entry) => audit.note(entry));
    this.editorTools = createEditorTools(context);
    const memory = (file: string, name: string) => {
      const decisions = new DecisionFile(vscode.Uri.joinPath(context.globalStorageUri, file).fsPath);
      return { get: () => decisions.get(name), set: async (value: unknown) => decisions.update(name, value) };
    };
    this.servers = new McpServers({
      workspace,
      sources: () => sources(workspace),
      approved: new McpApprovalStore(memory('mcp-approvals.json', approvalsName), memory('mcp-tools.json', textsFile)),
      person: {
        approveServer: (question) => this.questions.approveServer(question),
        approveTools: (question) => {
          this.reported.delete(changeOf(question)); // a postponed review is notified again
          return this.questions.approveTools(question);
        },
        input: (definition, input) => this.questions.input(definition, input),
        openAddress: ({ name }, request) => openServerAddress(modals, name, request),
        approveSite: (definition, site) => this.questions.approveSite(definition, site),
      },
      elicits: true,
      limits: () => ({ startMs: settings()['mcp.timeouts.start'], callMs: settings()['mcp.timeouts.call'] }),
      roots: () => workspace.roots.map((root) => ({ uri: pathToFileURL(root.path).href, name: root.name })),
      log: (server, text) => this.log(server).appendLine(text),
      changed: () => this.reportProblems(),
      signIn: (server) => this.signIns.create(server),
      localizer: localize,
      sandbox,
    });
    this.watching = vscode.Disposable.from(this.reviews, this.signIns, ...this.watch());
  }

  readonly prepare: ToolHost['prepare'] = async (signal, report) => {
    this.preparing += 1;
    for (const server of this.servers.servers) this.reported.delete(changeOf(server)); // notified once per run that may use the server
    try {
      await Promise.all([this.servers.prepare(signal, report), this.prepareEditorTools()]);
    } finally {
      this.preparing -= 1;
      this.reportProblems();
    }
  };

  private async prepareEditorTools(): Promise<void> {
    await this.editorTools
      .refresh()
      .catch((error: Error) => this.log('Towpath').appendLine(`Tools of the editor cannot be used: ${error.message}`));
  }

  tools(): Tool[] {
    return [...this.servers.tools(), ...this.editorTools.tools()];
  }

  /** Returns the state of the tool bound to a rule. */
  whereabouts(server: NonNullable<PermissionRule['server']>): RuleToolState {
    return this.editorTools.whereabouts(server) ?? this.servers.whereabouts(server);
  }

  log(server: string): vscode.OutputChannel {
    const known = this.logs.get(server) ?? vscode.window.createOutputChannel(`Towpath MCP: ${server}`);
    this.logs.set(server, known);
    return known;
  }

  /** Returns the sign-in to a server at an address, also before its first start. */
  signInOf({ signIn, definition }: McpServer): ServerSignIn | undefined {
    if (signIn || definition.type === 'stdio') return signIn;
    const { name, url, oauth } = definition;
    return URL.canParse(url) ? this.signIns.create({ name, url, clientId: oauth?.clientId }) : undefined;
  }

  async signIn(server: McpServer): Promise<void> {
    const isSignedIn = server.signIn && (await this.signIns.signIn(server.signIn));
    if (isSignedIn && server.state.phase !== 'running') await this.servers.restart(server);
  }

  async signOut(server: McpServer): Promise<void> {
    const signIn = this.signInOf(server);
    if (signIn) await this.signIns.signOut(signIn);
    await this.servers.stop(server);
  }

  async forget(server: McpServer): Promise<void> {
    const signIn = this.signInOf(server);
    if (await signIn?.isSignedIn()) await this.signIns.signOut(signIn!);
    await this.servers.forget(server);
    await this.questions.forgetInputs(server.definition);
  }

  async dispose(): Promise<void> {
    this.watching.dispose();
    for (const log of this.logs.values()) log.dispose();
    await this.servers.close();
  }

  private watch(): vscode.Disposable[] {
    const reload = () => void this.servers.reload();
    const files = vscode.workspace.createFileSystemWatcher('**/.vscode/mcp.json');
    return [
      files,
      files.onDidChange(reload),
      files.onDidCreate(reload),
      files.onDidDelete(reload),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('towpath.mcp.servers')) reload();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        reload();
        this.servers.rootsChanged();
      }),
    ];
  }

  /** Notifies about each change once, without a modal dialog. */
  private reportProblems(): void {
    if (this.preparing > 0) return;
    const { servers, problems } = this.servers;
    const [first] = problems;
    if (first !== undefined && this.isNews(problems.join('\n'))) {
      const servers = t('MCP Servers…');
      const text =
        problems.length > 1
          ? t('MCP: {0} (and {1} more: {2})', first, problems.length - 1, servers)
          : t('MCP: {0}', first);
      void this.offer(text, { [servers]: () => vscode.commands.executeCommand('towpath.mcpServers') });
    }
    for (const server of servers) {
      const { state, name } = server;
      const required = server.signIn?.required;
      if (state.phase === 'running') this.reported.delete(failureOf(server));
      if (!required) this.reported.delete(signInKeyOf(server));
      else if (this.isNews(signInKeyOf(server)))
        void this.offer(signInRequiredText(name, required.kind), { [t('Sign In…')]: () => this.signIn(server) });
      if (!required && state.phase === 'failed' && this.isNews(failureOf(server)))
        void this.offer(failureText(server, state.problem), {
          [t('Restart')]: () => this.servers.restart(server),
          [t('Show Output')]: () => this.log(name).show(),
        });
      // a server may change its tools at any time; the next run requests the review
      if (this.servers.isBusy(server) || this.servers.openTools(server).length === 0) continue;
      if (this.isNews(changeOf(server)))
        void this.offer(
          t(
            'The MCP server {0} ({1}) has changed its tools. They are disabled until you allow them.',
            name,
            server.definition.source,
          ),
          { [t('Answer…')]: () => this.servers.reviewTools(server) },
        );
    }
  }

  private isNews(text: string): boolean {
    if (this.reported.has(text)) return false;
    this.reported.add(text);
    return true;
  }

  private async offer(text: string, actions: Record<string, () => unknown>): Promise<void> {
    const chosen = await notifyWithActions('warning', text, ...Object.keys(actions));
    if (chosen !== undefined) await actions[chosen]!();
  }
}

const failureText = ({ name, ownError, failure }: McpServer, problem: string): string =>
  ownError === undefined
    ? localize(failure ?? problem)
    : t('The MCP server “{0}” failed: {1}.', escapeInvisibleInLine(name), ownError);

type DefinedServer = Pick<McpServer, 'definition'>;
const keyOf = ({ definition: { place, name } }: DefinedServer): string => `${place}#${name}`;
const failureOf = (server: DefinedServer): string => `failed ${keyOf(server)}`;
const signInKeyOf = (server: DefinedServer): string => `sign-in ${keyOf(server)}`;
const changeOf = (server: DefinedServer): string => `changed ${keyOf(server)}`;

async function sources(workspace: Workspace): Promise<McpConfigSource[]> {
  const all = workspace.roots;
  const files = all.map(async (root) => {
    const content = await readPlainConfigFile(path.join(root.path, mcpConfigFile)).catch(() => undefined);
    if (content === undefined) return [];
    const name = path.join(all.length > 1 ? root.name : '', mcpConfigFile);
    return [{ name, place: path.join(root.path, mcpConfigFile), content, folder: { path: root.path, all } }];
  });
  const own = {
    name: t('the setting towpath.mcp.servers'),
    place: 'settings',
    content: settings()['mcp.servers'],
    folder: { path: all[0]?.path, all },
  };
  return [own, ...(await Promise.all(files)).flat()]; // the user's own servers first, so that files cannot take their names
}
