import type * as z from 'zod';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { createReadOnlyTool, type Tool, type ToolContext, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { codeDefinitionDefinition, codeReferencesDefinition } from '../definitions/codeTools.ts';
import { linesWithoutEndings, readCurrentText } from '../sandbox/fileText.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import { planReadApproval } from '../search/askToRead.ts';
import type { LanguageService } from './language.ts';
import {
  createFileVisibilityClassifier,
  type DisplayedCodeFile,
  LinesByFile,
  withLanguageServerTimeout,
} from './shown.ts';

type Named = z.output<z.ZodObject<typeof codeReferencesDefinition.arguments>> & { references?: boolean };

/**
 * `code.definition` and `code.references` for a name on a given line, because models cannot count columns. Data: `{ places, files: [{ path,
 * lines, outside? }], cut? }`; a line is `12: its text`. Locations outside the workspace, in secret files or in files guarded by rules show
 * only the name and the line number. Models see a single tool; a call with `references` is judged as `code.references`.
 */
export function codeLocationTools(language: LanguageService): Tool[] {
  const references = locationsTool(language, codeReferencesDefinition);
  const definition: Tool = {
    ...locationsTool(language, codeDefinitionDefinition),
    target(args) {
      const { references: used, ...rest } = args as Named;
      return used ? { tool: references, args: rest } : { tool: definition, args };
    },
  };
  return [definition, { ...references, definition: { ...references.definition, within: 'code.definition' } }];
}

function locationsTool(
  language: LanguageService,
  named: typeof codeReferencesDefinition | typeof codeDefinitionDefinition,
): Tool {
  return createReadOnlyTool(
    named as typeof codeReferencesDefinition,
    (args, context) => findLocations(args as Named, context),
    (args, context) =>
      planReadApproval((args as Named).path, 'read', context, (context) => findLocations(args as Named, context)),
  );

  async function findLocations(
    { path, line, symbol, references = named === codeReferencesDefinition }: Named,
    { workspace, searchExclusionTest }: ToolContext,
  ) {
    const file = await resolvePathForReading(workspace, path, 'read');
    const lines = linesWithoutEndings((await readCurrentText(workspace, file)).text);
    const column = columnOf(lines, line, symbol, file.relative);
    const what = references ? 'references' : 'definitions';
    const found = await withLanguageServerTimeout(language[what](file.path, line, column), what);
    const shown = createFileVisibilityClassifier(workspace, searchExclusionTest(file.relative));
    const textOf = lineReader(workspace);
    const shownLines = new LinesByFile(100);
    for (const location of found) {
      const at = await shown(location.path, location.name);
      shownLines.add(at, `${location.line}: ${await textOf(at, location.line)}`.trimEnd());
    }
    return {
      places: found.length,
      files: shownLines.files,
      ...(shownLines.left > 0 && { cut: `${shownLines.left} more.` }),
    };
  }
}

// Returns the column, counted from 1. Throws `TOOL_ARGS_INVALID` with the lines that contain the name if the given line does not.
function columnOf(lines: readonly string[], line: number, symbol: string, path: string): number {
  const on = (text: string | undefined) => wholeName(text ?? '', symbol);
  const column = on(lines[line - 1]);
  if (column >= 0) return column + 1;
  const near = lines
    .map((text, index) => (on(text) >= 0 ? index + 1 : 0))
    .filter(Boolean)
    .sort((a, b) => Math.abs(a - line) - Math.abs(b - line))
    .slice(0, 5);
  const hint = near.length > 0 ? ` It is on line ${near.join(', ')}.` : '';
  throw new ToolError(
    'TOOL_ARGS_INVALID',
    `Line ${line} of ${quoteForMessage(path)} does not hold ${quoteForMessage(symbol)}.${hint}`,
  );
}

// Returns the index of the name as a whole word, or of any other text; -1 if absent.
function wholeName(text: string, symbol: string): number {
  const isLetter = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}_$]/u.test(letter);
  for (let at = text.indexOf(symbol); at >= 0; at = text.indexOf(symbol, at + 1)) {
    const before = isLetter(text[at - 1]) && isLetter(symbol[0]);
    const after = isLetter(text[at + symbol.length]) && isLetter(symbol.at(-1));
    if (!before && !after) return at;
  }
  return -1;
}

function lineReader(workspace: Workspace): (file: DisplayedCodeFile, line: number) => Promise<string> {
  const read = new Map<string, Promise<string[]>>();
  const linesAt = async (path: string) => {
    const file = await resolvePathForReading(workspace, path, 'read');
    return file.protected ? [] : linesWithoutEndings((await readCurrentText(workspace, file)).text);
  };
  return async ({ path, outside, secret }, line) => {
    if (outside || secret) return '';
    const lines = read.get(path) ?? linesAt(path).catch(() => []); // too large, or deleted since
    read.set(path, lines);
    return ((await lines)[line - 1] ?? '').trim();
  };
}
