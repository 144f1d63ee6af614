import { editorContextTool } from '../code/context.ts';
import { diagnosticsTool } from '../code/diagnostics.ts';
import type { LanguageService } from '../code/language.ts';
import { codeLocationTools } from '../code/locations.ts';
import { symbolsTool } from '../code/symbols.ts';
import type { Tool } from '../core/tool.ts';
import { applyPatchTool } from '../files/applyPatch.ts';
import { type DeleteOptions, fsDeleteTool } from '../files/delete.ts';
import { fsEditTool } from '../files/edit.ts';
import { fsMoveTool } from '../files/move.ts';
import { fsReadTool } from '../files/read.ts';
import { fsWriteTool } from '../files/write.ts';
import { askUserTool } from '../run/askUser.ts';
import { planUpdateTool } from '../run/planUpdate.ts';
import { runTaskTool } from '../run/runTask.ts';
import { fsFindTool } from '../search/find.ts';
import { fsListTool } from '../search/list.ts';
import { fsSearchTool } from '../search/search.ts';
import { BackgroundCommands } from '../shell/background.ts';
import { outputReadTool } from '../shell/outputRead.ts';
import { type ShellOptions, shellStopTool, shellTool } from '../shell/shell.ts';
import { createCommandServedPageLookup } from '../web/localPages.ts';
import { type WebOptions, webTool } from '../web/web.ts';

interface ToolOptions {
  delete?: DeleteOptions;
  shell?: ShellOptions;
  web?: WebOptions;
  /** Language services; without them, the tools for code are absent. */
  language?: LanguageService;
}

/** Returns the tools of every run in a fixed order: providers and the local model cache the definitions. */
export function builtinTools(options: ToolOptions = {}): Tool[] {
  const { background = new BackgroundCommands() } = options.shell ?? {};
  return [
    fsListTool,
    fsFindTool,
    fsSearchTool,
    fsReadTool,
    ...onDisk([
      fsWriteTool,
      fsEditTool,
      applyPatchTool,
      fsMoveTool,
      fsDeleteTool(options.delete),
      shellTool({ ...options.shell, background }),
      shellStopTool(background),
    ]),
    outputReadTool(background),
    ...(options.language ? languageTools(options.language) : []),
    webTool({ ownPages: createCommandServedPageLookup(background), ...options.web }),
    planUpdateTool,
    askUserTool,
    runTaskTool,
  ];
}

const onDisk = (tools: Tool[]): Tool[] => tools.map((tool) => ({ ...tool, onDisk: true }));

const languageTools = (language: LanguageService): Tool[] =>
  [diagnosticsTool(language), symbolsTool(language), ...codeLocationTools(language), editorContextTool(language)].map(
    (tool) => ({
      ...tool,
      extra: true,
    }),
  );
