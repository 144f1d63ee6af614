import * as vscode from 'vscode';
import type { ComposerCompletion, Mention } from '../../protocol/content/mention.ts';
import {
  estimateBase64Tokens,
  maxCompletions,
  maxMentions,
  mentionTextOf,
} from '../../protocol/content/mentionText.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import type { HostMessage } from '../../protocol/panel/panelMessages.ts';
import { localizedCount, message, t } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, localize, UserFacingError } from '../../protocol/text/localized.ts';
import { ResultWithImages } from '../../tools/core/imageFiles.ts';
import { quoteForMessage } from '../../tools/core/pathSyntax.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { fsReadTool } from '../../tools/files/read.ts';
import { WorkspaceFileNames } from '../../tools/mention/fileNames.ts';
import { bestMatches } from '../../tools/mention/match.ts';
import { type MentionContext, type MentionedFileText, runAllowedReadTool } from '../../tools/mention/mentionLimits.ts';
import { readMentions } from '../../tools/mention/readMention.ts';
import { resolveTypedMention, withoutPunctuation } from '../../tools/mention/typed.ts';
import { createSearchExclusionPredicate } from '../../tools/policy/policy.ts';
import { realOrVirtualRelativePath, resolvePathForReading } from '../../tools/sandbox/resolveReadPath.ts';
import { collectCommitMessageDiff } from '../commit/commitChanges.ts';
import { chooseCommitRepository, type GitExtension } from '../commit/git.ts';
import { editorLanguageService, uriToWorkspacePath } from '../editor/languageService.ts';
import { addSymbolCompletions, type CompletionSources, mentionCompletions, symbolCompletions } from './completions.ts';
import type { TerminalOutputs } from './terminals.ts';

const patience = 10_000;
/** Characters of a message's mentions: a quarter of the context size, between these bounds, with a default. */
const [minBudget, defaultBudget, maxBudget] = [4_000, 40_000, 120_000];
/** Minimum letters for a symbol search, timeout in milliseconds, and maximum examined symbols. */
const [leastOfSymbol, symbolMs, maxLookedAt] = [2, 1000, 30];
const charactersOfToken = 3;

interface Dependencies {
  workspace: Workspace;
  terminals: TerminalOutputs;
  policy(runId: string): ApprovalPolicy;
  window(): number | undefined;
  post(message: HostMessage): void;
}

/** Mentions after `@`: completion, size, and content at the time of sending. */
export class Mentions implements vscode.Disposable {
  private readonly names: WorkspaceFileNames;
  private readonly closed = new AbortController();
  private readonly watched: vscode.Disposable[];
  private asked = 0;

  constructor(private readonly parts: Dependencies) {
    this.names = new WorkspaceFileNames(parts.workspace);
    const changed = () => this.names.changed();
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', false, true, false);
    this.watched = [
      watcher,
      watcher.onDidCreate(changed),
      watcher.onDidDelete(changed),
      vscode.workspace.onDidChangeWorkspaceFolders(changed),
      // a changed ignore file changes the results
      vscode.workspace.onDidSaveTextDocument(({ fileName }) => /[\\/]\.(git|rg)?ignore$/.test(fileName) && changed()),
    ];
  }

  dispose(): void {
    this.closed.abort();
    for (const one of this.watched) one.dispose();
  }

  /** Posts completions by known files, and again after a new listing. */
  async offer(query: string, asked: number): Promise<void> {
    this.asked = asked;
    const fresh = this.names.fresh(this.closed.signal);
    await this.offerCompletions(query, asked);
    if (!fresh) return;
    await fresh;
    await this.offerCompletions(query, asked);
  }

  private async offerCompletions(query: string, asked: number): Promise<void> {
    const isLate = () => this.asked !== asked || this.closed.signal.aborted;
    const found = await bestMatches(this.names.names, query, maxCompletions, isLate);
    const known = await this.known();
    if (!found || isLate()) return;
    const rows = mentionCompletions(query, known, found);
    const { problem } = this.names;
    const postRows = (rows: ComposerCompletion[]) =>
      this.parts.post({ type: 'completions', asked, rows, ...(problem && { problem: localize(problem) }) });
    postRows(rows);
    const symbols = query.length < leastOfSymbol ? [] : await this.symbols(query);
    if (symbols.length > 0 && !isLate()) postRows(addSymbolCompletions(rows, symbols));
  }

  private async symbols(query: string): Promise<ReturnType<typeof symbolCompletions>> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), symbolMs);
    });
    const asked = editorLanguageService.workspaceSymbols(query).catch(() => undefined);
    const found = (await Promise.race([asked, late])) ?? [];
    clearTimeout(timer);
    const located = found.slice(0, maxLookedAt).map(async ({ path, ...one }) => {
      const inside = path === undefined ? undefined : await this.pathOf(path);
      return inside === undefined ? [] : [{ ...one, path: inside }];
    });
    return symbolCompletions((await Promise.all(located)).flat());
  }

  private async known(): Promise<CompletionSources> {
    const editors = editorLanguageService.openEditors();
    const paths = await Promise.all(
      editors.map(({ path }) =>
        path === undefined ? undefined : realOrVirtualRelativePath(this.parts.workspace, path),
      ),
    );
    const open = editors.flatMap((editor, at) => {
      const path = paths[at];
      return path === undefined ? [] : [{ path, active: editor.active, selection: editor.selection }];
    });
    const counts = vscode.languages.getDiagnostics().flatMap(([, all]) => all.map(({ severity }) => severity));
    const count = (severity: vscode.DiagnosticSeverity) => counts.filter((one) => one === severity).length;
    return {
      open,
      errors: count(vscode.DiagnosticSeverity.Error),
      warnings: count(vscode.DiagnosticSeverity.Warning),
      git: vscode.workspace.isTrusted && vscode.extensions.getExtension('vscode.git') !== undefined,
      terminal: vscode.window.activeTerminal?.name,
    };
  }

  async measure(mention: Mention, runId: string): Promise<void> {
    const files = await this.read([mention], runId);
    const tokens = files.reduce(
      (sum, { mediaType, data }) => sum + (mediaType.startsWith('text/') ? estimateBase64Tokens(data) : 0),
      0,
    );
    const { kind: _, path: __, line: ___, ...details } = files[0]?.mention ?? { kind: mention.kind };
    this.parts.post({ type: 'mention-size', mention, tokens: Math.round(tokens), ...details });
  }

  async resolve(word: string): Promise<void> {
    const mention = await this.typed(word);
    const unknown = mention === 'unknown' && { unknown: withoutPunctuation(word) };
    this.parts.post({
      type: 'mention-resolved',
      word,
      ...(typeof mention === 'object' && { mention }),
      ...unknown,
    });
  }

  async namedIn({ mentions = [], typed = [] }: { mentions?: Mention[]; typed?: string[] }): Promise<Mention[]> {
    const found = (await Promise.all(typed.map((word) => this.typed(word)))).filter((one) => typeof one === 'object');
    const all = new Map([...mentions, ...found].map((one) => [mentionTextOf(one), one]));
    return [...all.values()].slice(0, maxMentions);
  }

  private async typed(word: string): ReturnType<typeof resolveTypedMention> {
    await this.names.fresh(this.closed.signal);
    return resolveTypedMention(
      word,
      async (path) => {
        try {
          const { kind } = await resolvePathForReading(this.parts.workspace, path, 'search');
          return kind === 'file' || kind === 'folder' ? kind : undefined;
        } catch {
          return undefined;
        }
      },
      (extension) => this.names.names.some((name) => name.toLowerCase().endsWith(`.${extension}`)),
    );
  }

  read(mentions: readonly Mention[], runId: string): Promise<Attachment[]> {
    const budget = Math.min(maxBudget, Math.max(minBudget, this.parts.window() ?? defaultBudget));
    return readMentions(mentions, budget, this.reading(runId));
  }

  async paths(): Promise<readonly string[]> {
    await this.names.fresh(this.closed.signal);
    return this.names.names;
  }

  /** Returns the text of a file named by the user, read by the file tool. Throws an `Error` with a message. */
  async text(path: string, runId: string): Promise<string> {
    const given = await runAllowedReadTool(fsReadTool, { path }, this.reading(runId));
    if (given instanceof ResultWithImages) throw new Error(t('{0} is a picture.', quoteForMessage(path)));
    return (given as MentionedFileText).text;
  }

  /** Returns mentions for URIs or absolute paths in the open folders. */
  async namedBy(locations: readonly string[]): Promise<Mention[]> {
    const found = locations.map(async (location): Promise<Mention[]> => {
      const uri = uriOfLocation(location);
      const at = uriToWorkspacePath(uri);
      const path = at && (await this.pathOf(at));
      if (path === undefined || path === '') return [];
      try {
        const { type } = await vscode.workspace.fs.stat(uri);
        return [{ kind: type & vscode.FileType.Directory ? 'folder' : 'file', path }];
      } catch {
        return [];
      }
    });
    return (await Promise.all(found)).flat();
  }

  /** Returns the workspace path; undefined outside of the open folders. */
  pathOf(file: string): Promise<string | undefined> {
    return realOrVirtualRelativePath(this.parts.workspace, file);
  }

  private reading(runId: string): MentionContext {
    const { workspace, terminals, policy } = this.parts;
    const signal = AbortSignal.any([this.closed.signal, AbortSignal.timeout(patience)]);
    const now = policy(runId);
    const changes: MentionContext['changes'] = (characters, signal, path) =>
      uncommitted(workspace, now, characters, signal, path);
    const terminal = () => terminals.lastCommand();
    return { workspace, language: editorLanguageService, policy: now, changes, terminal, signal };
  }
}

/** Converts a dragged item; in a remote window its URI is remote, as is this process. */
function uriOfLocation(location: string): vscode.Uri {
  if (!/^[a-z][\w+.-]+:\/\//.test(location)) return vscode.Uri.file(location);
  const uri = vscode.Uri.parse(location);
  return uri.scheme === 'vscode-remote' ? vscode.Uri.file(uri.path) : uri;
}

async function uncommitted(
  workspace: Workspace,
  policy: ApprovalPolicy,
  characters: number,
  signal: AbortSignal,
  only?: string,
): ReturnType<MentionContext['changes']> {
  const { isTrusted } = vscode.workspace;
  const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
  const inFront = only === undefined ? vscode.window.activeTextEditor?.document.uri : fileOf(workspace, only);
  const { repository } = await chooseCommitRepository({ isTrusted, git, inFront });
  const isExcluded = createSearchExclusionPredicate(policy, '');
  const sources = { repository, workspace, isExcluded, signal, withoutStyle: true as const, ...(only && { only }) };
  const changes = await collectCommitMessageDiff(sources, Math.floor(characters / charactersOfToken));
  if (!changes)
    throw new UserFacingError(
      only === undefined
        ? message('Nothing has changed since the last commit.')
        : message('Nothing has changed in {0} since the last commit.', quoteForMessage(only)),
    );
  const { text, files, excluded, cut } = changes;
  const why = [
    ...(excluded.length > 0
      ? [message('Without the text of {0}.', `${excluded.slice(0, 10).join(', ')}${excluded.length > 10 ? ' …' : ''}`)]
      : []),
    ...(cut ? [message('Long changes are shortened.')] : []),
  ];
  return { text, note: localizedCount(files, 'file'), ...(why.length > 0 && { why: joinLocalizableTexts(why) }) };
}

/** Returns the URI of a workspace path, even of a deleted file. */
function fileOf({ roots }: Workspace, path: string): vscode.Uri | undefined {
  const [first = '', ...rest] = path.split('/');
  const root = roots.length > 1 ? roots.find(({ name }) => name === first) : roots[0];
  return root && vscode.Uri.joinPath(vscode.Uri.file(root.path), ...(roots.length > 1 ? rest : [path]));
}
