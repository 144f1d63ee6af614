import * as vscode from 'vscode';
import type { Mention } from '../../protocol/content/mention.ts';
import { maxMentions, mentionTextOf } from '../../protocol/content/mentionText.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import { splitSlashCommand } from '../../protocol/content/slash.ts';
import { intentOfSlashAction, type SlashAction } from '../../protocol/panel/intents.ts';
import type { HostMessage, ViewMessage } from '../../protocol/panel/panelMessages.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { createDictionary } from '../../protocol/values/dictionary.ts';
import type { Skill } from '../../tools/instructions/skillList.ts';
import { fetchServerPrompt, type ServerPrompt, serverPrompts } from '../../tools/mcp/prompts.ts';
import type { McpServers } from '../../tools/mcp/servers.ts';
import {
  fillPromptFile,
  isPromptFile,
  parsePromptFile,
  promptName,
  resolvePromptFileReference,
} from '../../tools/mention/promptFile.ts';
import { agentNameOfFile } from '../../workflows/agents/agentLocations.ts';
import type { AgentServices } from '../agents/agentServices.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import { editorLanguageService } from '../editor/languageService.ts';
import { type WorkflowFiles, workflowNameOf, workspaceRelativeId } from '../language/workflowFiles.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import type { TaskDelegation } from '../tasks/delegateTask.ts';
import type { Mentions } from './mentions.ts';
import {
  assignSlashNames,
  builtInSlashCommands,
  type SlashCommandEntry,
  slashCompletions,
} from './slashCommandRows.ts';

const maxPrompts = 200;
/** Milliseconds for servers to list prompts, and to return a prompt. */
const [listMs, giveMs] = [3000, 30_000];

type Sent = Extract<ViewMessage, { type: 'send' }>;

interface Dependencies {
  mentions(): Promise<Mentions>;
  files: WorkflowFiles;
  repositoryAgents(): Promise<Pick<AgentServices, 'agents'>>;
  servers(): Promise<McpServers>;
  skills(): Promise<Skill[]>;
  conversation: PanelConversation;
  delegation(): Promise<Pick<TaskDelegation, 'delegateTyped'>>;
  post(message: HostMessage): void;
  focus(): Promise<void>;
}

type Source = undefined | { file: string } | { skill: string } | { id: string } | { prompt: ServerPrompt };

/** Commands after `/`: Towpath's commands, prompts, skills, workflows and agents of the workspace, and prompts of MCP servers. */
export class SlashCommands {
  private commands = assignSlashNames<Source>(builtInSlashCommands);
  private isFound = false;
  private finding: Promise<void> | undefined;
  private asked = 0;

  constructor(private readonly parts: Dependencies) {}

  /** Posts completions by known entries, and again after the refresh that `/` starts. */
  async offer(query: string, asked: number): Promise<void> {
    this.asked = asked;
    const postRows = () =>
      this.parts.post({ type: 'completions', asked, rows: slashCompletions(this.commands, query) });
    postRows();
    if (query === '' || !this.isFound)
      this.finding ??= this.find().finally(() => {
        this.finding = undefined;
      });
    await this.finding;
    if (this.asked === asked) postRows();
  }

  async act(act: SlashAction): Promise<void> {
    const { id, slash } = intentOfSlashAction(act);
    await vscode.commands.executeCommand(id, ...(slash.argument === undefined ? [] : [slash.argument]));
    await this.parts.focus();
  }

  /** Runs the command at the start of a message. Returns false if cancelled, undefined without a command. */
  async runTyped(message: Sent): Promise<boolean | undefined> {
    const typed = splitSlashCommand(message.text);
    if (!typed) return undefined;
    if (!this.commands.has(typed.word) || typed.word.includes('.')) await this.find();
    const one = this.commands.get(typed.word);
    if (!one) return undefined;
    const typedText = typed.rest.trim();
    if (one.kind === 'act') return this.runTypedAction(one.name as SlashAction, typedText, message);
    const { of } = one;
    if (of && 'id' in of) {
      const isBegun: boolean | undefined = await (one.kind === 'workflow'
        ? vscode.commands.executeCommand('towpath.runWorkflow', of.id, undefined, typedText)
        : vscode.commands.executeCommand('towpath.runAgent', of.id, typedText || undefined));
      if (isBegun === undefined) await this.parts.focus(); // the cancelled dialog had the focus
      return isBegun === true;
    }
    if (of && 'skill' in of) {
      const mention: Mention = { kind: 'file', path: of.skill };
      const text = `${t('Use the skill {0}.', mentionTextOf(mention))}${typedText && `\n\n${typedText}`}`;
      this.send(message, text, { named: [mention] });
      return true;
    }
    const given =
      of && ('file' in of ? await this.fromFile(of.file, typedText) : await this.fromServer(of.prompt, typedText));
    if (!given) return false;
    this.send(message, given.text, given);
    return true;
  }

  private async runTypedAction(act: SlashAction, typedText: string, message: Sent): Promise<boolean | undefined> {
    if (act === 'task') return this.delegate(typedText, message);
    if (typedText !== '' && !intentOfSlashAction(act).slash.takesText) return undefined;
    await this.act(act);
    if (typedText !== '') this.send(message, typedText);
    return true;
  }

  private async delegate(typedText: string, message: Sent): Promise<boolean> {
    const { attachments, when } = message;
    const rest = { attachments, when, named: () => this.read(message) };
    const isSent = await (await this.parts.delegation()).delegateTyped(typedText, rest);
    if (isSent === undefined) await this.parts.focus(); // the cancelled dialog had the focus
    return isSent === true;
  }

  /** Sends a text instead of the command message. */
  private send(
    message: Sent,
    text: string,
    { pictures = [], named = [] }: { pictures?: Attachment[]; named?: Mention[] } = {},
  ): void {
    const { attachments = [], when } = message;
    const read = this.read(message, named);
    void this.parts.conversation.send(text, [...attachments, ...pictures], undefined, when, read);
  }

  /** Reads the mentions of a message; undefined: there are none. */
  private read({ mentions = [], typed = [] }: Sent, named: Mention[] = []): Promise<Attachment[]> | undefined {
    const all = [...mentions, ...named].slice(0, maxMentions);
    if (all.length + typed.length === 0) return undefined;
    const meant = this.parts.conversation.id;
    return this.parts.mentions().then(async (part) => part.read(await part.namedIn({ mentions: all, typed }), meant));
  }

  private async fromFile(path: string, typedText: string) {
    const mentions = await this.parts.mentions();
    const prompt = parsePromptFile(await mentions.text(path, this.parts.conversation.id));
    const values = await this.ask(promptName(path), prompt.inputs, typedText);
    if (!values) return undefined;
    const file = await this.inFront();
    const { text, namesSelection, names } = fillPromptFile(prompt, { values, typedText, file });
    const existing = new Set(await mentions.paths());
    const named = names.flatMap((name): Mention[] => {
      const location = resolvePromptFileReference(name, path, (one) => existing.has(one));
      return location === undefined ? [] : [{ kind: 'file', path: location }];
    });
    const isNamed = file !== undefined && text.includes(mentionTextOf({ kind: 'file', path: file }));
    const inEditor: Mention[] = [
      ...(namesSelection ? [{ kind: 'selection' as const }] : []),
      ...(isNamed ? [{ kind: 'file' as const, path: file }] : []),
    ];
    return { text, named: [...inEditor, ...named] };
  }

  private async inFront(): Promise<string | undefined> {
    const path = editorLanguageService.openEditors().find(({ active }) => active)?.path;
    return path === undefined ? undefined : (await this.parts.mentions()).pathOf(path);
  }

  private async fromServer(prompt: ServerPrompt, typedText: string) {
    const values = await this.ask(prompt.name, prompt.inputs, typedText);
    return values && fetchServerPrompt(prompt, values, AbortSignal.timeout(giveMs));
  }

  /** Returns the arguments and focuses the message box at once, because a server may respond slowly. */
  private async ask(...request: Parameters<typeof askFor>): Promise<Record<string, string> | undefined> {
    const values = await askFor(...request);
    await this.parts.focus();
    return values;
  }

  private async find(): Promise<void> {
    const none = (): SlashCommandEntry<Source>[] => [];
    const all = [this.promptFiles(), this.skills(), this.workflows(), this.agents(), this.ofServers()];
    const found = await Promise.all(all.map((one) => one.catch(none)));
    this.commands = assignSlashNames([...builtInSlashCommands, ...found.flat()]);
    this.isFound = true;
  }

  private async promptFiles(): Promise<SlashCommandEntry<Source>[]> {
    if (!vscode.workspace.isTrusted) return [];
    const { conversation } = this.parts;
    const mentions = await this.parts.mentions();
    const files = (await mentions.paths()).filter(isPromptFile).sort().slice(0, maxPrompts);
    const read = files.map(async (file): Promise<SlashCommandEntry<Source>[]> => {
      const text = await mentions.text(file, conversation.id).catch(() => undefined); // denied by a rule
      if (text === undefined) return [];
      return [
        { kind: 'prompt', name: promptName(file), detail: parsePromptFile(text).description || file, of: { file } },
      ];
    });
    return (await Promise.all(read)).flat();
  }

  private async skills(): Promise<SlashCommandEntry<Source>[]> {
    const skills = await this.parts.skills();
    return skills.map(({ name, description, path }) => ({
      kind: 'skill',
      name,
      detail: description || path,
      of: { skill: path },
    }));
  }

  private async workflows(): Promise<SlashCommandEntry<Source>[]> {
    const { files } = this.parts;
    const uris = await files.find('workflow');
    return Promise.all(
      uris.map(async (uri) => {
        const { value, problems } = await files.load(uri, 'workflow');
        const wrong = problems.length > 0 ? t('cannot be used: {0}', localizedCount(problems.length, 'problem')) : '';
        const detail = value ? (value.description ?? value.name ?? '') : wrong;
        const of = { id: workspaceRelativeId(uri) };
        return { kind: 'workflow', name: workflowNameOf(uri), detail: detail || t('workflow'), of };
      }),
    );
  }

  private async agents(): Promise<SlashCommandEntry<Source>[]> {
    const { agents } = await this.parts.repositoryAgents();
    return (await agents.list()).map(({ id, uri, description, problem }) => ({
      kind: 'agent',
      name: agentNameOfFile(uri.path.replace(/\.(ya?ml|json)$/, '')),
      detail: problem ? t('cannot be used: {0}', localize(problem)) : description || id,
      of: { id },
    }));
  }

  private async ofServers(): Promise<SlashCommandEntry<Source>[]> {
    const { servers } = await this.parts.servers();
    const prompts = await serverPrompts(servers, AbortSignal.timeout(listMs));
    return prompts.map((prompt) => ({
      kind: 'server-prompt',
      name: `mcp.${prompt.server.name}.${prompt.name}`,
      detail: prompt.description || t('of the MCP server {0}', prompt.server.name),
      of: { prompt },
    }));
  }
}

/** Returns the arguments: the text is the first, others are requested. Undefined: cancelled. */
async function askFor(
  title: string,
  inputs: readonly { name: string; asks: string; needed?: boolean }[],
  typedText: string,
): Promise<Record<string, string> | undefined> {
  const values = createDictionary<string>();
  for (const [at, { name, asks, needed = true }] of inputs.entries()) {
    const given = at === 0 && typedText !== '' ? typedText : await ask(title, asks, needed);
    if (given === undefined) return undefined;
    if (given !== '') values[name] = given;
  }
  return values;
}

const ask = (title: string, asks: string, needed: boolean) =>
  vscode.window.showInputBox({
    title: disableCommandLinks(`Towpath: ${title}`),
    prompt: disableCommandLinks(asks),
    ignoreFocusOut: true,
    validateInput: (text) => (needed && text.trim() === '' ? t('Enter some text.') : undefined),
  });
