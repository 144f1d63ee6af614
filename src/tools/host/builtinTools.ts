import { contextTool } from '../code/context.ts';
import { diagnosticsTool } from '../code/diagnostics.ts';
import type { LanguageService } from '../code/language.ts';
import { codeLocationTools } from '../code/places.ts';
import { symbolsTool } from '../code/symbols.ts';
import type { Tool } from '../core/tool.ts';
import { applyPatchTool } from '../files/applyPatch.ts';
import { type DeleteOptions, deleteTool } from '../files/delete.ts';
import { editTool } from '../files/edit.ts';
import { moveTool } from '../files/move.ts';
import { fileReadTool } from '../files/read.ts';
import { writeTool } from '../files/write.ts';
import { askUserTool } from '../run/askUser.ts';
import { planUpdateTool } from '../run/planUpdate.ts';
import { findTool } from '../search/find.ts';
import { listTool } from '../search/list.ts';
import { searchTool } from '../search/search.ts';
import { BackgroundCommands } from '../shell/background.ts';
import { outputTool } from '../shell/outputRead.ts';
import { type ShellOptions, shellTool, stopTool } from '../shell/shell.ts';
import { ownPages } from '../web/localPages.ts';
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
    listTool,
    findTool,
    searchTool,
    fileReadTool,
    ...onDisk([
      writeTool,
      editTool,
      applyPatchTool,
      moveTool,
      deleteTool(options.delete),
      shellTool({ ...options.shell, background }),
      stopTool(background),
    ]),
    outputTool(background),
    ...(options.language ? languageTools(options.language) : []),
    webTool({ ownPages: ownPages(background), ...options.web }),
    planUpdateTool,
    askUserTool,
  ];
}

const onDisk = (tools: Tool[]): Tool[] => tools.map((tool) => ({ ...tool, onDisk: true }));

const languageTools = (language: LanguageService): Tool[] =>
  [diagnosticsTool(language), symbolsTool(language), ...codeLocationTools(language), contextTool(language)].map(
    (tool) => ({
      ...tool,
      extra: true,
    }),
  );
