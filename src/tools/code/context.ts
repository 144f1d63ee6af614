import { createReadOnlyTool, type Tool } from '../core/tool.ts';
import { editorContextDefinition } from '../definitions/codeTools.ts';
import type { LanguageService } from './language.ts';
import { createFileVisibilityClassifier } from './shown.ts';

const maxEditors = 50;
const maxCharacters = 10_000;

/**
 * `editor.context`: open files and the selection of the user. Data: `{ active?: { path, line, selection? }, open: [{ path, unsaved?,
 * outside?, secret? }], cut? }`. Text outside the workspace, in secret files or in files guarded by rules is omitted.
 */
export function editorContextTool(language: LanguageService): Tool {
  return createReadOnlyTool(editorContextDefinition, async (_, { workspace, searchExclusionTest }) => {
    const shown = createFileVisibilityClassifier(workspace, searchExclusionTest(''));
    const editors = await Promise.all(
      language.openEditors().map(async (editor) => ({ editor, file: await shown(editor.path, editor.name) })),
    );
    const active = editors.find(({ editor }) => editor.active);
    const open = editors
      .slice(0, maxEditors)
      .map(({ editor, file }) => ({ ...file, ...(editor.unsaved && { unsaved: true as const }) }));
    return {
      ...(active && { active: activeOf(active.editor.selection, active.file) }),
      open,
      ...(editors.length > maxEditors && { cut: `${editors.length - maxEditors} more are open.` }),
    };
  });
}

type Selection = ReturnType<LanguageService['openEditors']>[number]['selection'];

function activeOf(selection: Selection, file: { path: string; outside?: true; secret?: true }) {
  if (!selection || file.outside || file.secret) return file;
  const { startLine, endLine, text } = selection;
  if (text === '') return { ...file, line: startLine };
  const cut = text.length > maxCharacters;
  return {
    ...file,
    selection: { startLine, endLine, text: text.slice(0, maxCharacters), ...(cut && { cut: true as const }) },
  };
}
