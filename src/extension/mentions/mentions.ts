import * as vscode from 'vscode';
import type { Completion, Mention } from '../../protocol/content/mention.ts';
import { maxCompletions, maxMentions, tokensOfData, wordOf } from '../../protocol/content/mentionText.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import type { Policy } from '../../protocol/content/policy.ts';
import type { HostMessage } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { counted } from '../../protocol/text/plurals.ts';
import { WithImages } from '../../tools/core/imageFiles.ts';
import { quoted } from '../../tools/core/pathSyntax.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { fileReadTool } from '../../tools/files/read.ts';
import { FileNames } from '../../tools/mention/fileNames.ts';
import { bestMatches } from '../../tools/mention/match.ts';
import { type FileGiven, type MentionReading, run } from '../../tools/mention/mentionLimits.ts';
import { readMentions } from '../../tools/mention/readMention.ts';
import { typedMention, withoutPunctuation } from '../../tools/mention/typed.ts';
import { excludedFromSearch } from '../../tools/policy/policy.ts';
import { relativeIn, resolveToRead } from '../../tools/sandbox/resolveReadPath.ts';
import { commitChanges } from '../commit/commitChanges.ts';
import { type GitExtension, repositoryOf } from '../commit/git.ts';
import { editorLanguage, pathOf } from '../editor/languageService.ts';
import { type CompletionSources, completionsFor, symbolCompletions, withSymbols } from './completions.ts';
import type { Terminals } from './terminals.ts';

/** Milliseconds that all that a message names has to be read. */
const patience = 10_000;
/** Characters that go with a message: a quarter of the model's window, or of a usual one, within these. */
const [leastRoom, usualRoom, mostRoom] = [4_000, 40_000, 120_000];
/** Letters from which on symbols are asked for, milliseconds that their servers have, and how many of theirs are looked at. */
const [leastOfSymbol, symbolMs, mostLookedAt] = [2, 1000, 30];
/** Roughly; the text of a diff is cut by tokens. */
const charactersOfToken = 3;

interface Dependencies {
  workspace: Workspace;
  terminals: Terminals;
  /** The person's policy for a run. */
  policy(runId: string): Policy;
  /** Tokens of the picked model's window, when known. */
  window(): number | undefined;
  post(message: HostMessage): void;
}

/** What the person names after an `@`: completes it, says how much it is, and reads it when the message is sent. */
export class Mentions implements vscode.Disposable {
  private readonly names: FileNames;
  private readonly closed = new AbortController();
  private readonly watched: vscode.Disposable[];
  /** The newest question; an older one is not answered any more. */
  private asked = 0;

  constructor(private readonly parts: Dependencies) {
    this.names = new FileNames(parts.workspace);
    const changed = () => this.names.changed();
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', false, true, false);
    this.watched = [
      watcher,
      watcher.onDidCreate(changed),
      watcher.onDidDelete(changed),
      vscode.workspace.onDidChangeWorkspaceFolders(changed),
      // What an ignore file leaves out is another question then.
      vscode.workspace.onDidSaveTextDocument(({ fileName }) => /[\\/]\.(git|rg)?ignore$/.test(fileName) && changed()),
    ];
  }

  dispose(): void {
    this.closed.abort();
    for (const one of this.watched) one.dispose();
  }

  /** Tells what may be meant, by what is known now; and again once the files are listed anew. */
  async offer(query: string, asked: number): Promise<void> {
    this.asked = asked;
    const fresh = this.names.fresh(this.closed.signal);
    await this.tell(query, asked);
    if (!fresh) return;
    await fresh;
    await this.tell(query, asked);
  }

  private async tell(query: string, asked: number): Promise<void> {
    const isLate = () => this.asked !== asked || this.closed.signal.aborted;
    const found = await bestMatches(this.names.names, query, maxCompletions, isLate);
    const known = await this.known();
    if (!found || isLate()) return;
    const rows = completionsFor(query, known, found);
    const { problem } = this.names;
    const tell = (rows: Completion[]) =>
      this.parts.post({ type: 'completions', asked, rows, ...(problem && { problem: localize(problem) }) });
    tell(rows);
    const symbols = query.length < leastOfSymbol ? [] : await this.symbols(query);
    if (symbols.length > 0 && !isLate()) tell(withSymbols(rows, symbols));
  }

  /** What language servers say in time. */
  private async symbols(query: string): Promise<ReturnType<typeof symbolCompletions>> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), symbolMs);
    });
    const asked = editorLanguage.workspaceSymbols(query).catch(() => undefined);
    const found = (await Promise.race([asked, late])) ?? [];
    clearTimeout(timer);
    const placed = found.slice(0, mostLookedAt).map(async ({ path, ...one }) => {
      const inside = path === undefined ? undefined : await this.pathOf(path);
      return inside === undefined ? [] : [{ ...one, path: inside }];
    });
    return symbolCompletions((await Promise.all(placed)).flat());
  }

  private async known(): Promise<CompletionSources> {
    const editors = editorLanguage.openEditors();
    const paths = await Promise.all(
      editors.map(({ path }) => (path === undefined ? undefined : relativeIn(this.parts.workspace, path))),
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

  /** Tells what naming this would come to if the message were sent now. */
  async measure(mention: Mention, runId: string): Promise<void> {
    const files = await this.read([mention], runId);
    const tokens = files.reduce(
      (sum, { mediaType, data }) => sum + (mediaType.startsWith('text/') ? tokensOfData(data) : 0),
      0,
    );
    const { note, why } = files[0]?.mention ?? {};
    const told = { ...(note && { note }), ...(why && { why }) };
    this.parts.post({ type: 'mention-size', mention, tokens: Math.round(tokens), ...told });
  }

  /** Tells what a word names that was typed after an `@`. */
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

  /** Returns the picked mentions, and those that typed words name. */
  async namedIn({ mentions = [], typed = [] }: { mentions?: Mention[]; typed?: string[] }): Promise<Mention[]> {
    const found = (await Promise.all(typed.map((word) => this.typed(word)))).filter((one) => typeof one === 'object');
    const all = new Map([...mentions, ...found].map((one) => [wordOf(one), one]));
    return [...all.values()].slice(0, maxMentions);
  }

  private async typed(word: string): ReturnType<typeof typedMention> {
    await this.names.fresh(this.closed.signal);
    return typedMention(
      word,
      async (path) => {
        try {
          const { kind } = await resolveToRead(this.parts.workspace, path, 'search');
          return kind === 'file' || kind === 'folder' ? kind : undefined;
        } catch {
          return undefined; // not there, or not to be seen
        }
      },
      (extension) => this.names.names.some((name) => name.toLowerCase().endsWith(`.${extension}`)),
    );
  }

  /** What these stand for now. */
  read(mentions: readonly Mention[], runId: string): Promise<Attachment[]> {
    const room = Math.min(mostRoom, Math.max(leastRoom, this.parts.window() ?? usualRoom));
    return readMentions(mentions, room, this.reading(runId));
  }

  /** Names of files and folders, as they are now. */
  async paths(): Promise<readonly string[]> {
    await this.names.fresh(this.closed.signal);
    return this.names.names;
  }

  /** The text of a file that the person means, as a tool would read it. Throws an `Error` with a sentence. */
  async text(path: string, runId: string): Promise<string> {
    const given = await run(fileReadTool, { path }, this.reading(runId));
    if (given instanceof WithImages) throw new Error(t('{0} is a picture.', quoted(path)));
    return (given as FileGiven).text;
  }

  /** What these addresses or whole paths are, of the open folders. */
  async namedBy(places: readonly string[]): Promise<Mention[]> {
    const found = places.map(async (place): Promise<Mention[]> => {
      const uri = uriOfPlace(place);
      const at = pathOf(uri);
      const path = at && (await this.pathOf(at));
      if (path === undefined || path === '') return [];
      try {
        const { type } = await vscode.workspace.fs.stat(uri);
        return [{ kind: type & vscode.FileType.Directory ? 'folder' : 'file', path }];
      } catch {
        return []; // not there
      }
    });
    return (await Promise.all(found)).flat();
  }

  /** As the tools have it; undefined: it is in none of the open folders. */
  pathOf(file: string): Promise<string | undefined> {
    return relativeIn(this.parts.workspace, file);
  }

  private reading(runId: string): MentionReading {
    const { workspace, terminals, policy } = this.parts;
    const signal = AbortSignal.any([this.closed.signal, AbortSignal.timeout(patience)]);
    const now = policy(runId);
    const changes: MentionReading['changes'] = (characters, signal, path) =>
      uncommitted(workspace, now, characters, signal, path);
    const terminal = () => terminals.lastCommand();
    return { workspace, language: editorLanguage, policy: now, changes, terminal, signal };
  }
}

/** What is dragged in a window of a remote machine has an address of that; this program runs there. */
function uriOfPlace(place: string): vscode.Uri {
  if (!/^[a-z][\w+.-]+:\/\//.test(place)) return vscode.Uri.file(place);
  const uri = vscode.Uri.parse(place);
  return uri.scheme === 'vscode-remote' ? vscode.Uri.file(uri.path) : uri;
}

async function uncommitted(
  workspace: Workspace,
  policy: Policy,
  characters: number,
  signal: AbortSignal,
  only?: string,
): ReturnType<MentionReading['changes']> {
  const { isTrusted } = vscode.workspace;
  const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
  const inFront = only === undefined ? vscode.window.activeTextEditor?.document.uri : fileOf(workspace, only);
  const { repository } = await repositoryOf({ isTrusted, git, inFront });
  const isKept = excludedFromSearch(policy, '');
  const sources = { repository, workspace, isKept, signal, withoutStyle: true as const, ...(only && { only }) };
  const changes = await commitChanges(sources, Math.floor(characters / charactersOfToken));
  if (!changes)
    throw new Error(`Nothing has changed${only === undefined ? '' : ` in ${quoted(only)}`} since the last commit.`);
  const { text, files, kept, cut } = changes;
  const why = [
    ...(kept.length > 0 ? [`Without the text of ${kept.slice(0, 10).join(', ')}${kept.length > 10 ? ' …' : ''}.`] : []),
    ...(cut ? ['Long changes are told in part.'] : []),
  ];
  return { text, note: counted(files, 'file'), ...(why.length > 0 && { why: why.join(' ') }) };
}

/** Where a file of the workspace is, also one that is gone. */
function fileOf({ roots }: Workspace, path: string): vscode.Uri | undefined {
  const [first = '', ...rest] = path.split('/');
  const root = roots.length > 1 ? roots.find(({ name }) => name === first) : roots[0];
  return root && vscode.Uri.joinPath(vscode.Uri.file(root.path), ...(roots.length > 1 ? rest : [path]));
}
