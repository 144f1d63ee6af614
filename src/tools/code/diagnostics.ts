import { createReadOnlyTool, type Tool, type ToolContext } from '../core/tool.ts';
import { codeDiagnosticsDefinition } from '../definitions/codeTools.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import { planReadApproval } from '../search/askToRead.ts';
import type { LanguageProblem, LanguageService } from './language.ts';
import { createFileVisibilityClassifier, LinesByFile, withLanguageServerTimeout } from './shown.ts';

const order = { error: 0, warning: 1, info: 2 };

/**
 * `code.diagnostics`: problems of a file, a folder or the workspace. Data: `{ errors, warnings, files: [{ path, lines }], cut? }`; a line
 * is `12: error: text (source)`. Files outside the workspace and secret files are omitted.
 */
export function diagnosticsTool(language: LanguageService): Tool {
  return createReadOnlyTool(
    codeDiagnosticsDefinition,
    (args, context) => diagnostics(args, context),
    ({ path }, context) => planReadApproval(path, 'search', context, (context) => diagnostics({ path }, context, true)),
  );

  async function diagnostics({ path }: { path?: string }, { workspace }: ToolContext, allowed = false) {
    const resolved = path === undefined ? undefined : await resolvePathForReading(workspace, path, 'search');
    const asked = resolved?.kind === 'file' ? resolved.path : undefined;
    const problems = await withLanguageServerTimeout(language.diagnostics(asked), 'problems');
    const below = resolved && resolved.relative !== '.' ? resolved.relative : undefined;
    const shown = createFileVisibilityClassifier(workspace);
    const wanted: { problem: LanguageProblem; path: string }[] = [];
    for (const problem of problems) {
      const file = await shown(problem.path, '');
      if (file.outside || (file.secret && !allowed)) continue;
      if (below !== undefined && file.path !== below && !file.path.startsWith(`${below}/`)) continue;
      wanted.push({ problem, path: file.path });
    }
    wanted.sort((a, b) => order[a.problem.severity] - order[b.problem.severity]);
    const found = new LinesByFile();
    for (const { problem, path } of wanted) {
      const source = problem.source ? ` (${problem.source})` : '';
      found.add(
        { path },
        `${problem.line}: ${problem.severity}: ${problem.message.replace(/\s*\n\s*/g, ' ')}${source}`,
      );
    }
    const count = (severity: LanguageProblem['severity']) =>
      wanted.filter(({ problem }) => problem.severity === severity).length;
    return {
      errors: count('error'),
      warnings: count('warning'),
      files: found.files,
      ...(found.left > 0 && { cut: `${found.left} more. Give a path.` }),
    };
  }
}
