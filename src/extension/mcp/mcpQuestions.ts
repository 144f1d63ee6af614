import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { McpConfigInput, McpServerDefinition } from '../../tools/mcp/config/config.ts';
import type { McpApprovalRequester, ServerApprovalRequest } from '../../tools/mcp/servers.ts';
import { hashServerTool } from '../../tools/mcp/serverText.ts';
import type { McpToolChangesApprovalRequest } from '../../tools/mcp/toolChanges.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { toolChangesApprovalDiff, toolChangesApprovalText } from './mcpChanges.ts';
import { serverApprovalText } from './mcpQuestionText.ts';
import type { McpReview } from './mcpReview.ts';

/** Dialogs about MCP servers. The first button, selected by Enter, approves only a server that the user has just entered. */
export class McpApprovals implements McpApprovalRequester {
  private readonly reviewed = new Set<string>();
  private readonly entered = new Set<string>();

  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly reviews: McpReview,
    private readonly modals: Dialogs,
  ) {}

  /** A text that exceeds the dialog can be approved only after a review. */
  async approveServer(question: ServerApprovalRequest): ReturnType<McpApprovalRequester['approveServer']> {
    const { definition } = question;
    const { review } = buttons();
    const { start, trust } = startButtons(definition);
    const { message, detail, whole, review: all } = serverApprovalText(question, folderInWorkspace);
    const decisionKey = hashOf(definition.hash);
    const yeses = whole || this.reviewed.has(decisionKey) ? [start, trust] : [];
    const chosen = this.entered.has(definition.hash)
      ? await this.modals.ask({ text: message, detail, buttons: [...yeses, review], opens: review })
      : await this.ask(message, detail, ...yeses);
    if (chosen === review && whole) await openMcpConfiguration(definition);
    if (chosen === review && !whole) {
      await this.reviews.show(definition.name, all);
      this.reviewed.add(decisionKey);
    }
    if (chosen === review) return 'later';
    return chosen === start ? 'allow' : chosen === trust ? 'trust' : 'deny';
  }

  /** Runs the start of a server that the user has just entered: its dialog opens at once. */
  async whileEntered(definition: McpServerDefinition, start: () => Promise<void>): Promise<void> {
    this.entered.add(definition.hash);
    await start().finally(() => this.entered.delete(definition.hash));
  }

  /** Asks if a server in the sandbox may connect to a host. */
  async approveSite(definition: McpServerDefinition, site: string): Promise<boolean> {
    const { review, allow } = buttons();
    const chosen = await this.ask(
      t('Allow network access to {0}?', escapeInvisibleInLine(new URL(site).host)),
      [
        t('The MCP server “{0}” in the sandbox is waiting.', escapeInvisibleInLine(definition.name)),
        t('The answer holds for this server until you remove it.'),
      ].join('\n'),
      allow,
    );
    if (chosen === review) await openMcpConfiguration(definition);
    return chosen === allow;
  }

  async approveTools(question: McpToolChangesApprovalRequest): ReturnType<McpApprovalRequester['approveTools']> {
    const { review, allow } = buttons();
    const { message, detail, whole } = toolChangesApprovalText(question);
    const { definition, added, changed } = question;
    const decisionKey = hashOf(definition.hash, ...[...added, ...changed.map(({ now }) => now)].map(hashServerTool));
    const chosen = await this.ask(message, detail, ...(whole || this.reviewed.has(decisionKey) ? [allow] : []));
    if (chosen === review) {
      const { before, after, whole } = toolChangesApprovalDiff(question);
      await this.reviews.compare(definition.name, before, after);
      if (whole) this.reviewed.add(decisionKey);
    }
    return chosen === review ? 'later' : chosen === allow ? 'allow' : 'deny';
  }

  private ask(what: string, detail: string, ...yeses: string[]): Promise<string | undefined> {
    const { review } = buttons();
    return this.modals.askWhenQuiet({
      text: escapeInvisibleInLine(what),
      detail,
      buttons: [review, ...yeses],
      opens: review,
    });
  }

  /** Returns an input value, stored as a secret of exactly this command or URL. */
  async input(definition: McpServerDefinition, input: McpConfigInput): Promise<string | undefined> {
    const name = secretName(definition, input);
    const stored = await this.secrets.get(name);
    if (stored !== undefined) return stored;
    const title = t('MCP server {0}', definition.name);
    const prompt = disableCommandLinks(input.description ?? input.id);
    const value =
      input.type === 'pickString'
        ? await pick(`${title}: ${prompt}`, input)
        : await vscode.window.showInputBox({
            title,
            prompt,
            value: input.default,
            password: input.password ?? false,
            ignoreFocusOut: true,
          });
    if (value !== undefined) await this.secrets.store(name, value);
    return value;
  }

  /** Stores an entered value, so that it is not requested at the start. */
  async storeInput(definition: McpServerDefinition, id: string, value: string): Promise<void> {
    const input = definition.inputs.find((one) => one.id === id);
    if (input) await this.secrets.store(secretName(definition, input), value);
  }

  async forgetInputs(definition: McpServerDefinition): Promise<void> {
    for (const input of definition.inputs) await this.secrets.delete(secretName(definition, input));
  }
}

const buttons = () => ({
  review: t('Review…'),
  allow: t('Allow'),
});

const startButtons = ({ type }: McpServerDefinition) =>
  type === 'stdio'
    ? { start: t('Start'), trust: t('Start and Trust Read-Only Tools') }
    : { start: t('Connect'), trust: t('Connect and Trust Read-Only Tools') };

/** Returns the path of a folder in the workspace; an absolute path for the workspace itself and outside of it. */
function folderInWorkspace(folder: string): string {
  const relative = vscode.workspace.asRelativePath(folder);
  return relative === '' ? folder : relative;
}

export async function openMcpConfiguration({
  place,
  name,
}: Pick<McpServerDefinition, 'place' | 'name'>): Promise<void> {
  if (place === 'settings') {
    await vscode.commands.executeCommand('workbench.action.openSettingsJson', {
      revealSetting: { key: 'towpath.mcp.servers' },
    });
    return;
  }
  const editor = await vscode.window.showTextDocument(vscode.Uri.file(place));
  const at = editor.document.getText().indexOf(JSON.stringify(name));
  if (at >= 0) editor.revealRange(new vscode.Range(editor.document.positionAt(at), editor.document.positionAt(at)));
}

const secretName = ({ place, name, hash }: McpServerDefinition, { id }: McpConfigInput): string =>
  `towpath.mcp.input:${place}#${name}:${hash}:${id}`;

const hashOf = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

async function pick(title: string, { options = [] }: McpConfigInput): Promise<string | undefined> {
  const items = options.map(
    (option) =>
      typeof option === 'string'
        ? { label: escapeInvisibleInLine(option), value: option }
        : {
            label: escapeInvisibleInLine(option.label),
            description: escapeInvisibleInLine(option.value),
            value: option.value,
          }, // the value passed on
  );
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.value;
}
