import { createReadOnlyTool, type Tool, type ToolContext, ToolError } from '../core/tool.ts';
import { codeSymbolsDefinition } from '../definitions/codeTools.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import { planReadApproval } from '../search/askToRead.ts';
import type { CodeSymbol, LanguageService } from './language.ts';
import { createFileVisibilityClassifier, LinesByFile, withLanguageServerTimeout } from './shown.ts';

/**
 * `code.symbols`: symbols of a file (`path`), or symbols of the workspace by name (`query`). Data: `{ files: [{ path, lines }], cut? }`; a
 * line is `12: function greet (in Greeter)`. Symbols outside the workspace are omitted.
 */
export function symbolsTool(language: LanguageService): Tool {
  return createReadOnlyTool(codeSymbolsDefinition, symbols, async (args, context) =>
    args.path === undefined
      ? undefined
      : planReadApproval(args.path, 'read', context, (context) => symbols(args, context)),
  );

  async function symbols(
    { path, query }: { path?: string; query?: string },
    { workspace, searchExclusionTest }: ToolContext,
  ) {
    const file = path === undefined ? undefined : await resolvePathForReading(workspace, path, 'read');
    if ((file === undefined) === (query === undefined))
      throw new ToolError('TOOL_ARGS_INVALID', 'Give either path, a file, or query, a name.');
    const found = new LinesByFile();
    if (file) {
      const symbols = await withLanguageServerTimeout(language.documentSymbols(file.path), 'symbols');
      for (const symbol of symbols) found.add({ path: file.relative }, symbolLine(symbol));
    } else {
      const symbols = await withLanguageServerTimeout(language.workspaceSymbols(query!), 'symbols');
      const shown = createFileVisibilityClassifier(workspace, searchExclusionTest(''));
      for (const symbol of symbols) {
        const location = await shown(symbol.path, symbol.name);
        if (!location.outside && !location.secret) found.add(location, symbolLine(symbol));
      }
    }
    const narrower = file ? 'Read the file for them.' : 'Give a longer name.';
    return { files: found.files, ...(found.left > 0 && { cut: `${found.left} more. ${narrower}` }) };
  }
}

const symbolLine = ({ line, kind, symbol, container }: CodeSymbol) =>
  `${line}: ${kind} ${symbol}${container ? ` (in ${container})` : ''}`;
